from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.addressing import (
    BucketAndKey,
    CopySource,
    RefAndPath,
    copy_source,
    split_key,
    target_of,
)
from graveler_gateway.protocol.errors import Code, S3ResponseError
from tests.support.checks.cases import for_each

DOMAINS = ["example.org", "S3.example.org"]


def code_of(call, *arguments) -> Code:
    with pytest.raises(S3ResponseError) as caught:
        call(*arguments)
    return caught.value.code


@for_each(
    ("raw_path", "bucket", "key"),
    [
        ("/", "", b""),
        ("//", "", b""),
        ("/lake", "lake", b""),
        ("/lake/", "lake", b""),
        ("/lake/main", "lake", b"main"),
        ("/lake/main/", "lake", b"main/"),
        ("/lake//a", "lake", b"/a"),
        ("/lake/main/a//b/", "lake", b"main/a//b/"),
        ("/lake/main/./../a", "lake", b"main/./../a"),
        ("/lake/main%2Fa%20b+c", "lake", b"main/a b+c"),
        ("/lake/%e2%82%ac%25", "lake", "€%".encode()),
        ("/lake/Ã¼", "lake", "ü".encode()),
        ("/lake/a%00", "lake", b"a\0"),
    ],
)
def test_a_path_names_bucket_and_key(raw_path, bucket, key):
    assert target_of(raw_path, "localhost:8000", DOMAINS) == BucketAndKey(bucket, key)


@for_each(
    ("host", "bucket"),
    [
        ("lake.example.org", "lake"),
        ("LAKE.Example.ORG:8000", "lake"),
        ("lake.example.org.", "lake"),
        ("lake.s3.example.org", "lake"),
        ("a.b.example.org:", "a.b"),
    ],
)
def test_a_host_below_a_domain_names_the_bucket(host, bucket):
    assert target_of("/main/a", host, DOMAINS) == BucketAndKey(bucket, b"main/a")
    assert target_of("//a/", host, DOMAINS) == BucketAndKey(bucket, b"/a/")
    assert target_of("/", host, DOMAINS) == BucketAndKey(bucket, b"")


@for_each(
    "host",
    [
        None,
        "",
        "example.org",
        "s3.EXAMPLE.org:80",
        "localhost",
        "[::1]:8000",
        "evilexample.org",
        ".example.org",
    ],
)
def test_any_other_host_means_path_style(host):
    assert target_of("/lake/main/a", host, DOMAINS) == BucketAndKey("lake", b"main/a")


@for_each(
    "raw_path",
    [
        "",
        "*",
        "lake",
        "/lake/%",
        "/lake/%4",
        "/lake/%zz",
        "/lake/%ff",
        "/%ff/a",
        "/lake/€",
        "/lake/%ed%a0%80",
    ],
)
def test_a_path_that_is_no_encoded_utf8_is_refused(raw_path):
    assert code_of(target_of, raw_path, "localhost", DOMAINS) is Code.INVALID_URI


def test_a_key_needs_a_bucket():
    assert code_of(target_of, "//main/a", "localhost", DOMAINS) is Code.INVALID_BUCKET_NAME


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", "/", "/a%"]))
def test_any_encoded_key_arrives_unchanged(key, safe):
    encoded = quote(key, safe=safe.replace("%", ""))
    assert target_of(f"/lake/{encoded}", "localhost", DOMAINS) == BucketAndKey("lake", key.encode())
    assert target_of(f"/{encoded}", "lake.example.org", DOMAINS) == BucketAndKey(
        "lake", key.encode()
    )


@given(st.text(), st.text())
def test_any_head_is_read_or_refused(raw_path, host):
    try:
        target = target_of(raw_path, host, DOMAINS)
    except S3ResponseError:
        return
    target.key.decode()


@for_each(
    ("key", "split"),
    [
        (b"main", RefAndPath("main", b"", has_slash=False)),
        (b"main/", RefAndPath("main", b"", has_slash=True)),
        (b"main//", RefAndPath("main", b"/", has_slash=True)),
        (b"main~1/a/b", RefAndPath("main~1", b"a/b", has_slash=True)),
        (b"/a", RefAndPath("", b"a", has_slash=True)),
        (b"", RefAndPath("", b"", has_slash=False)),
        (b"\xff/a", RefAndPath("\udcff", b"a", has_slash=True)),
    ],
)
def test_a_key_begins_with_its_ref(key, split):
    assert split_key(key) == split


@for_each(
    ("header", "source"),
    [
        ("lake/main/a", CopySource("lake", "main", b"a")),
        ("/lake/main/a", CopySource("lake", "main", b"a")),
        ("lake%2Fmain%2Fa%20b", CopySource("lake", "main", b"a b")),
        ("%2Flake/main/a", CopySource("lake", "main", b"a")),
        ("lake/main//a/", CopySource("lake", "main", b"/a/")),
        # s5cmd sends a space as a plus, and boto3 as %20.
        ("lake/main/a+b", CopySource("lake", "main", b"a b")),
        ("lake/main/a%2Bb", CopySource("lake", "main", b"a+b")),
        ("lake/main/a%252Bb%2520c", CopySource("lake", "main", b"a%2Bb%20c")),
        ("lake/main/Ã¼", CopySource("lake", "main", "ü".encode())),
        ("lake/main/a?b", CopySource("lake", "main", b"a?b")),
        ("lake/main/a%3FversionId=7", CopySource("lake", "main", b"a?versionId=7")),
        ("lake/main/a?versionId=null", CopySource("lake", "main", b"a", "null")),
    ],
)
def test_a_copy_names_its_source(header, source):
    assert copy_source(header) == source


@for_each(
    "header",
    ["", "/", "lake", "lake/", "lake/main", "lake/main/", "//main/a", "lake//a", "lake/main/%", "lake/main/%ff",
     "lake/main/a?versionId="],
)  # fmt: skip
def test_a_copy_without_a_readable_source_is_refused(header):
    assert code_of(copy_source, header) is Code.INVALID_ARGUMENT


def test_a_copy_of_a_version_is_not_implemented():
    assert code_of(copy_source, "lake/main/a?versionId=7") is Code.NOT_IMPLEMENTED
