"""Patterns select the directories with success marks, and the objects that are copied last."""

import pytest

from graveler.errors import InvalidInputError
from graveler.export.patterns import PATTERNS_MAX, Patterns, directories_of, directory_of
from tests.support.checks.cases import for_each


@for_each(
    ("pattern", "directory"),
    [
        ("^a/b$", b"a/b/"),
        ("^a/b/$", b"a/b/"),
        ("b", b"a/b/"),
        (".*", b""),
        ("^$", b""),
        ("^tables/[^/]+$", b"tables/users/"),
        ("dt=2026-[0-9]{2}", b"events/dt=2026-11/"),
        ("é", "données/".encode()),
    ],
)
def test_a_pattern_is_searched_for_in_directory_names_with_and_without_the_slash(
    pattern, directory
):
    assert Patterns((pattern,)).match_directory(directory)


@for_each(
    ("pattern", "directory"),
    [("^a$", b"a/b/"), ("^a/b$", b"a/b/c/"), ("/", b""), ("A", b"a/"), (".+", b"")],
)
def test_other_directories_get_no_mark(pattern, directory):
    assert not Patterns((pattern,)).match_directory(directory)


# The examples of the API's documentation.
HADOOP = Patterns(("^SUCCESS$", ".*/_SUCCESS$"))


@for_each("key", [b"SUCCESS", b"a/_SUCCESS", b"a/b/_SUCCESS"])
def test_a_pattern_that_matches_success_files_sets_them_apart(key):
    assert HADOOP.set_apart(key)


@for_each("key", [b"a/SUCCESS", b"_SUCCESS", b"a/_SUCCESS.crc", b"a/part-0"])
def test_other_objects_are_not_set_apart(key):
    assert not HADOOP.set_apart(key)


def test_a_pattern_that_matches_a_directory_sets_no_object_in_it_apart():
    for pattern in ("tables/", "tables", ".*"):
        assert not Patterns((pattern,)).set_apart(b"tables/users.csv")


@for_each(
    ("pattern", "names"),
    [
        (".*/_SUCCESS$", (b"_SUCCESS",)),
        ("^SUCCESS$", (b"SUCCESS",)),
        ("_SUCCESS", (b"_SUCCESS",)),
        (r"/done\.flag$", (b"done.flag",)),
        (r"\.parquet$", (b".parquet",)),
        ("part-[0-9]+", ()),
        ("a|b", ()),
    ],
)
def test_the_name_of_an_object_is_extracted_from_a_pattern_that_contains_it(pattern, names):
    assert Patterns((pattern,)).last_names == names


@for_each("pattern", ["(", "[", "(?<=a)b", "(?P<x", "\\", "*", "\ud800"])
def test_an_invalid_pattern_is_refused_and_named(pattern):
    with pytest.raises(InvalidInputError, match="not a regular expression of RE2"):
        Patterns((pattern,))


def test_a_pattern_that_hangs_other_engines_is_searched_in_linear_time():
    assert not Patterns(("(a+)+$",)).match_directory(b"a" * 1000 + b"!/")


def test_too_many_and_too_long_patterns_are_refused():
    with pytest.raises(InvalidInputError, match="too many"):
        Patterns(("a",) * (PATTERNS_MAX + 1))
    with pytest.raises(InvalidInputError, match="1000 bytes"):
        Patterns(("é" * 501,))


def test_names_that_are_not_utf_8_can_be_searched():
    assert Patterns((".*",)).match_directory(b"\xff/")


def test_directories_around_a_key():
    assert directories_of(b"a") == [b""]
    assert directories_of(b"a/b/c") == [b"", b"a/", b"a/b/"]
    assert directories_of(b"/a//b") == [b"", b"/", b"/a/", b"/a//"]
    assert (directory_of(b"a"), directory_of(b"a/b/c"), directory_of(b"a/")) == (
        b"",
        b"a/b/",
        b"a/",
    )
