"""Names: lakeFS's verdicts on names, our colons, and what the messages tell."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from graveler import names
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors" / "refs.json").read_text())
Check = Callable[[str], None]


def accepts(check: Check, name: str) -> bool:
    try:
        check(name)
    except InvalidInputError:
        return False
    return True


@for_each(
    "case",
    [case for case in VECTORS["names"] if ":" not in case["name"]],
    ids=lambda case: ascii(case["name"])[:40],
)
def test_names_without_a_colon_are_good_here_exactly_when_they_are_good_in_lakefs(case):
    verdicts = [
        accepts(check, case["name"])
        for check in (names.check_repository_name, names.check_branch_name, names.check_tag_name)
    ]
    assert verdicts == [case["repository_ok"], case["branch_ok"], case["tag_ok"]]


@for_each("name", ["dev:joe-bugfix-1234", "a:b", "a::b", "a:-", "_:1", "1:a:" + "b" * 900])
def test_branches_and_tags_may_have_colons_inside_their_names(name):
    names.check_branch_name(name)
    names.check_tag_name(name)
    assert not accepts(names.check_repository_name, name)


@for_each("name", [":", "::", ":a", "a:", "a::", "a:b:", "a:b\n", "a:/b"])
def test_a_name_neither_starts_nor_ends_with_a_colon(name):
    assert not accepts(names.check_branch_name, name)
    assert not accepts(names.check_tag_name, name)


def test_a_tag_with_a_colon_keeps_the_other_rules():
    names.check_tag_name("dev:jane-before-v2.3-merge")
    names.check_tag_name("dev:é@~$")
    for name in ("dev:a..b", "dev:.lock", "dev:a*", "dev: a"):
        assert not accepts(names.check_tag_name, name)


@for_each(
    ("name", "told"),
    [
        ("a~1", "leave out '~'"),
        ("a@b", "leave out '@'"),
        ("$a", "leave out '\\$'"),
        ("a^", "contains no"),
        ("a%23b", "would name 'a#b': leave out '%'"),
        ("%25", "would name '%'"),
    ],
)
def test_a_new_tag_has_a_name_by_which_requests_find_it(name, told):
    with pytest.raises(InvalidInputError, match=f"tag id: .*{told}"):
        names.check_new_tag_name(name)
    names.check_new_tag_name("dev:v1.é+#%")


@for_each(
    ("text", "name"),
    [
        ("main%5E1", "main^1"),
        ("a%2523b", "a%23b"),
        ("dev:a+%C3%A9", "dev:a+é"),
        ("%41", "%41"),
        ("a%20b", "a%20b"),
        ("a%2Fb", "a%2Fb"),
        ("50%", "50%"),
        ("%c3%a9", "%c3%a9"),
        ("%FF", "%FF"),
    ],
)
def test_a_text_of_an_address_is_decoded_again_if_an_encoder_made_it_of_a_ref(text, name):
    assert names.decoded_again(text) == name


@for_each("case", VECTORS["parse"], ids=lambda case: ascii(case["expr"])[:40])
def test_a_ref_is_a_text_without_white_space(case):
    assert accepts(names.check_ref, case["expr"]) == case["validate_ref_ok"]


@for_each("space", [*"\t\n\f\r ", "\v", "\u00a0", "\u2028"])
def test_white_space_in_a_ref_is_ascii_white_space_as_go_sees_it(space):
    assert accepts(names.check_ref, f"a{space}b") == (space not in "\t\n\f\r ")


@for_each("length", [1, 1024])
def test_a_path_of_1_to_1024_bytes_is_good(length):
    names.check_path(b"\xff" * length)


@for_each(("length", "told"), [(0, "missing path.*1 to 1024"), (1025, "1025 is above.*1024")])
def test_a_path_of_another_length_is_refused_with_the_rule(length, told):
    with pytest.raises(InvalidInputError, match=told):
        names.check_path(b"a" * length)


@for_each(
    ("check", "name", "told"),
    [
        (names.check_repository_name, "Lake", "repository id: .*'Lake': .*lower-case"),
        (names.check_branch_name, "a/b", "branch id: .*'a/b': .*underscores"),
        (names.check_branch_name, "-a", "branch id: .*'-a': .*does not start with a hyphen"),
        (names.check_branch_name, "a:", "branch id: .*'a:': .*does not end in a colon"),
        (names.check_tag_name, ":a", "tag id: .*':a': .*does not start with ':'"),
        (names.check_tag_name, "a\nb", r"tag id: .*'a\\nb': .*control characters"),
        (names.check_ref, "a b", "ref: .*'a b' .*white space"),
    ],
)
def test_the_message_names_the_name_and_the_rule(check, name, told):
    with pytest.raises(InvalidInputError, match=told):
        check(name)


def test_the_message_cuts_a_long_name():
    with pytest.raises(InvalidInputError) as raised:
        names.check_branch_name("/" * 100_000)
    assert len(raised.value.message) < 300


@for_each("check", [names.check_branch_name, names.check_tag_name])
def test_a_name_that_no_key_of_the_store_can_hold_is_refused(check):
    check("a" * names.NAME_BYTES_MAX)
    with pytest.raises(InvalidInputError, match=str(names.NAME_BYTES_MAX)):
        check("a" * (names.NAME_BYTES_MAX + 1))


def test_a_tag_name_is_measured_in_bytes():
    assert names.is_tag_name("é" * (names.NAME_BYTES_MAX // 2))
    assert not names.is_tag_name("é" * (names.NAME_BYTES_MAX // 2 + 1))


def test_half_a_surrogate_pair_is_no_tag_name():
    assert not names.is_tag_name("a\ud800")


@for_each(
    ("uri", "normal"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("s3://bucket/a/b///", "s3://bucket/a/b"),
        ("s3://my.bucket-1/é f", "s3://my.bucket-1/é f"),
    ],
)
def test_a_storage_namespace_loses_its_trailing_slashes(uri, normal):
    assert names.normalized_storage_namespace(uri) == normal


@for_each("uri", ["gs://bucket/a", "local://a", "S3://bucket", "bucket/a", "", "s3:/b"])
def test_a_storage_namespace_outside_s3_is_refused_with_the_form_that_is_served(uri):
    with pytest.raises(InvalidInputError, match="only S3 is served, as s3://<bucket>/<prefix>"):
        names.normalized_storage_namespace(uri)


@for_each(
    "uri",
    ["s3://", "s3:///a", "s3://ab/a", "s3://Bucket/a", "s3://a_b/c", "s3://a..b/c", "s3://-ab",
     "s3://ab-/x", "s3://127.0.0.1/x", "s3://a:b@c/x", "s3://" + "a" * 64],
)  # fmt: skip
def test_a_storage_namespace_needs_a_bucket_of_a_possible_name(uri):
    with pytest.raises(InvalidInputError, match="not the name of an S3 bucket"):
        names.normalized_storage_namespace(uri)


@for_each("uri", ["s3://bucket/a?b", "s3://bucket/a#b", "s3://bucket/a\nb", "s3://bucket/\ud800"])
def test_a_storage_namespace_that_other_tools_would_read_differently_is_refused(uri):
    with pytest.raises(InvalidInputError, match="must not contain"):
        names.normalized_storage_namespace(uri)


@for_each("prefix", ["..", ".", "a/..", "a/../b", "./a", "a/."])
def test_a_storage_namespace_that_leads_elsewhere_by_dots_is_refused(prefix):
    with pytest.raises(InvalidInputError, match="may lead elsewhere"):
        names.normalized_storage_namespace(f"s3://bucket/{prefix}")


def test_a_storage_namespace_leaves_room_for_the_keys_below_it():
    with pytest.raises(InvalidInputError, match="at most 800 bytes"):
        names.normalized_storage_namespace("s3://bucket/" + "a" * 800)
