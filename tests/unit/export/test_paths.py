"""Exports write only where the deployment allows it."""

import pytest

from graveler.errors import InvalidInputError
from graveler.export.paths import allowed_location, is_within, object_uri, overlap
from tests.support.checks.cases import for_each


@for_each("uri", ["s3://lake/exports", "s3://lake/exports/", "s3://lake/exports/a"])
def test_a_path_under_an_allowed_prefix_loses_its_last_slash(uri):
    assert allowed_location(uri, "export path", ["s3://lake/exports/"]) == uri.rstrip("/")


def test_a_prefix_of_the_whole_store_allows_every_bucket():
    assert allowed_location("s3://any", "export path", ["s3://"]) == "s3://any"


@for_each("uri", ["s3://lake/exports-too/a", "s3://lake", "s3://other/exports/a"])
def test_a_path_outside_the_allowed_prefixes_is_refused_and_the_message_names_them(uri):
    with pytest.raises(InvalidInputError, match=r"only under s3://lake/exports .*EXPORT_PREFIXES"):
        allowed_location(uri, "export path", ["s3://lake/exports"])


@for_each("prefixes", [[], [""]])
def test_without_allowed_prefixes_every_path_is_refused_and_the_message_names_the_setting(prefixes):
    with pytest.raises(InvalidInputError, match=r"nowhere .*GRAVELER_EXPORT_PREFIXES"):
        allowed_location("s3://lake/exports", "export path", prefixes)


@for_each("uri", ["", "lake/exports", "gs://lake/a", "s3://", "s3://B/a", "s3://a/b?c"])
def test_a_uri_outside_s3_is_refused(uri):
    with pytest.raises(InvalidInputError, match="invalid export path"):
        allowed_location(uri, "export path", ["s3://"])


def test_places_overlap_if_one_is_inside_the_other():
    assert is_within("s3://a/b/c", "s3://a/b")
    assert is_within("s3://a/b", "s3://a/b")
    assert not is_within("s3://a/bc", "s3://a/b")
    assert overlap("s3://a/b", "s3://a/b/c")
    assert overlap("s3://a/b/c", "s3://a/b")
    assert not overlap("s3://a/b", "s3://a/c")


def test_an_objects_uri_is_path_and_key():
    assert object_uri("s3://a/b", "é/ü x".encode()) == "s3://a/b/é/ü x"
    assert object_uri("s3://a", b"/k") == "s3://a//k"


def test_a_key_of_1024_bytes_with_its_path_is_the_longest():
    assert object_uri("s3://bucket/p", b"k" * 1022)
    with pytest.raises(InvalidInputError, match="at most 1024 bytes"):
        object_uri("s3://bucket/p", b"k" * 1023)
    with pytest.raises(InvalidInputError, match="at most 1024 bytes"):
        object_uri("s3://bucket/p", "é".encode() * 512)


def test_a_key_that_is_not_utf_8_cannot_be_exported():
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        object_uri("s3://bucket/p", b"\xff")


@for_each("uri", ["s3://lake/exports/../repo", "s3://lake/..", "s3://lake/./exports"])
def test_dots_do_not_lead_out_of_an_allowed_prefix(uri):
    with pytest.raises(InvalidInputError, match="may lead elsewhere"):
        allowed_location(uri, "export path", ["s3://lake/exports", "s3://"])


@for_each("key", [b"../x", b"../../repo/_lakefs/x", b"a/../../x", b".."])
def test_dots_in_a_key_do_not_lead_out_of_the_export_path(key):
    with pytest.raises(InvalidInputError, match=r"segment '\.\.'"):
        object_uri("s3://lake/exports", key)


def test_dots_within_names_are_allowed():
    assert object_uri("s3://lake/exports", b"a..b/...") == "s3://lake/exports/a..b/..."
