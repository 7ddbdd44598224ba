import re

from graveler.http import object_headers
from graveler.model import AddressType, Entry
from tests.support.checks.cases import for_each


def entry(content_type="text/plain", checksum="abc"):
    return Entry("data/x", AddressType.RELATIVE, 5, checksum, 1_700_000_000 * 10**9, content_type)


def test_a_read_has_its_type_and_must_not_be_cached():
    headers = object_headers.of_object(entry(), b"dir/a b.txt")
    assert headers["ETag"] == '"abc"'
    assert headers["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert headers["Content-Type"] == "text/plain"
    assert headers["Cache-Control"] == "no-store, must-revalidate"


def test_a_page_among_the_objects_runs_nothing_and_posts_nothing_for_its_reader():
    policy = object_headers.of_object(entry("text/html"), b"a.html")["Content-Security-Policy"]
    assert set(policy.split("; ")) == {
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "sandbox",
    }


@for_each(
    "content_type", ["image/png", "text/plain", "text/markdown", "application/pdf", "audio/mpeg"]
)
def test_a_browser_shows_the_types_that_it_shows_with_lakefs(content_type):
    headers = object_headers.of_object(entry(content_type), b"a")
    assert headers["Content-Disposition"] == "inline"
    assert headers["X-Frame-Options"] == "SAMEORIGIN"


@for_each(
    "content_type",
    ["application/octet-stream", "", "text/csv", "image/tiff", "text/plain; charset=utf-8"],
)
def test_everything_else_is_a_download_under_its_own_name(content_type):
    headers = object_headers.of_object(entry(content_type), 'dir/ä "b\n'.encode())
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''%C3%A4%20%22b%0A"


def test_a_stored_content_type_cannot_add_headers():
    headers = object_headers.of_object(entry("text/plain\r\nSet-Cookie: a=b"), b"a")
    assert "\n" not in headers["Content-Type"]
    assert "\r" not in headers["Content-Type"]


@for_each(
    "checksum", ["x\r\nSet-Cookie: a=b", 'a"b', "a b", "\x00", "\u2603", "\udc80", "x" * 300, ""]
)
def test_a_stored_checksum_cannot_add_headers(checksum):
    stored = entry(checksum=checksum)
    etag = object_headers.of_object(stored, b"a")["ETag"]
    assert re.fullmatch('"[!#-~]{1,256}"', etag)
    assert object_headers.is_unmodified(etag, stored)
    assert not object_headers.is_unmodified(etag, entry())


def test_a_long_content_type_leaves_room_for_other_headers():
    headers = object_headers.of_object(entry("a/" + "b" * 100_000), b"a")
    assert headers["Content-Type"] == "application/octet-stream"


@for_each("tag", ['"abc"', 'W/"abc"', '"x", "abc"', "*"])
def test_a_reader_that_has_the_content_is_up_to_date(tag):
    assert object_headers.is_unmodified(tag, entry())


@for_each("tag", [None, '"abd"', "abc", '""'])
def test_a_reader_that_has_other_content_is_not_up_to_date(tag):
    assert not object_headers.is_unmodified(tag, entry())


@for_each("if_range", [None, '"abc"', ' "abc" '])
def test_a_range_of_the_content_that_the_reader_has_counts(if_range):
    assert object_headers.honors_range(if_range, entry())


@for_each("if_range", ['"abd"', 'W/"abc"', "abc", "", "Tue, 14 Nov 2023 22:13:20 GMT"])
def test_a_range_of_other_content_does_not_count(if_range):
    assert not object_headers.honors_range(if_range, entry())


def test_metadata_come_from_both_kinds_of_headers():
    headers = {
        "x-lakefs-meta-owner": "me",
        "x-lakefs-internal-client-mtime": "5",
        "x-lakefs-client": "lakectl",
    }
    assert object_headers.user_metadata_of(headers) == {
        "owner": "me",
        "::lakefs::client-mtime": "5",
    }
