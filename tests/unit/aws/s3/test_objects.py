"""Requests to S3 and its answers where the local endpoint is less strict."""

import re
from email.header import decode_header, make_header
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from graveler.aws.s3.client import S3Error
from graveler.aws.s3.objects import S3ObjectStore
from graveler.data_headers import DataHeaders
from graveler.errors import (
    BadPartsError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    ThrottledError,
    UnknownOutcomeError,
    UploadNotFoundError,
)
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.ports import ObjectDescription, PartInfo, PartsPage, UploadedPart
from tests.unit.aws.scripted_s3 import Answer, ScriptedS3, refusal

COPIED = Answer(
    200,
    {},
    b'<CopyObjectResult><ETag>"e2"</ETag><LastModified>2027-01-15T08:00:00.000Z</LastModified>'
    b"</CopyObjectResult>",
)
FOUND = Answer(
    200,
    {
        "ETag": '"e1"',
        "Last-Modified": "Fri, 15 Jan 2027 08:00:00 GMT",
        "Content-Length": "7",
        "Content-Type": "a/b",
        "Content-Encoding": "gzip",
        "Cache-Control": "no-store",
        "Expires": "never",
        "x-amz-meta-key": "value",
    },
)
KMS = {"x-amz-server-side-encryption": "aws:kms"}
BEGUN = Answer(200, {}, b"<R><UploadId>u1</UploadId></R>")
PART = Answer(200, {}, b'<CopyPartResult><ETag>"p"</ETag></CopyPartResult>')
COMPLETED = Answer(200, {}, b'<R><ETag>"whole-1"</ETag></R>')
DELETED = Answer(200, {}, b"<DeleteResult></DeleteResult>")


def header(request: object, name: str) -> str | None:
    value = request.headers.get(name)  # type: ignore[attr-defined]
    return value.decode() if isinstance(value, bytes) else value


def listed(body: Any) -> list[str]:
    """The keys that a request to delete many names."""
    namespace = "{http://s3.amazonaws.com/doc/2006-03-01/}"
    return [key.text or "" for key in ET.fromstring(body).iter(f"{namespace}Key")]


class TestCopies:
    def test_a_described_copy_keeps_the_sources_headers_and_asks_nothing_of_the_copy(self) -> None:
        aws = ScriptedS3(FOUND, COPIED)
        description = ObjectDescription("text/csv", {"key": "value"})
        info = aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, description)
        assert (info.size_bytes, info.checksum, info.content_type) == (7, "e2", "text/csv")
        assert info.last_modified_ns == 1_800_000_000 * 10**9
        asked, request = aws.requests
        assert (asked.method, request.method) == ("HEAD", "PUT")
        assert header(request, "x-amz-metadata-directive") == "REPLACE"
        assert header(request, "x-amz-meta-key") == "value"
        assert header(request, "Content-Encoding") == "gzip"
        assert header(request, "Cache-Control") == "no-store"
        assert header(request, "Expires") == "never"

    def test_a_copy_with_headers_of_its_own_is_one_request(self) -> None:
        aws = ScriptedS3(COPIED)
        headers = DataHeaders({"content-language": "de"}, KMS)
        description = ObjectDescription("text/csv", {})
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, description, headers=headers)
        (request,) = aws.requests
        assert header(request, "content-language") == "de"
        assert "content-language" in (header(request, "Authorization") or "")
        assert header(request, "x-amz-server-side-encryption") == "aws:kms"
        assert header(request, "Content-Encoding") is None

    def test_a_copy_may_be_encrypted_in_another_way(self) -> None:
        aws = ScriptedS3(COPIED, FOUND)
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, headers=DataHeaders(None, KMS))
        assert header(aws.requests[0], "x-amz-metadata-directive") is None
        assert header(aws.requests[0], "x-amz-server-side-encryption") == "aws:kms"

    def test_an_upload_has_its_headers_from_its_beginning(self) -> None:
        told = {"x-amz-server-side-encryption": "aws:kms"}
        aws = ScriptedS3(Answer(200, told, BEGUN.body))
        headers = DataHeaders({"expires": "never"}, KMS)
        begun = aws.objects.create_upload("s3://bucket/a", "a/b", headers)
        assert (begun.id, begun.headers) == ("u1", told)
        assert header(aws.requests[0], "expires") == "never"
        assert header(aws.requests[0], "x-amz-server-side-encryption") == "aws:kms"

    def test_a_key_that_s3_refuses_is_bad_input(self) -> None:
        aws = ScriptedS3(refusal(400, "KMS.NotFoundException"))
        with pytest.raises(InvalidInputError, match=r"s3://bucket/a .*KMS\.NotFoundException"):
            aws.objects.create_upload("s3://bucket/a", "a/b", DataHeaders({}, KMS))

    @pytest.mark.parametrize("description", [None, ObjectDescription("text/csv", {})])
    def test_a_copy_asks_for_no_tags_which_would_take_permissions_of_their_own(
        self, description: ObjectDescription | None
    ) -> None:
        aws = ScriptedS3(*([COPIED, FOUND] if description is None else [FOUND, COPIED]))
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, description)
        (copied,) = (request for request in aws.requests if request.method == "PUT")
        assert header(copied, "x-amz-tagging-directive") == "REPLACE"
        assert header(copied, "x-amz-tagging") is None

    def test_a_copy_in_parts_keeps_what_describes_its_source(self) -> None:
        aws = ScriptedS3(FOUND, BEGUN, PART, COMPLETED, FOUND)
        S3ObjectStore(aws.s3, copy_bytes_max=7).copy("s3://bucket/a", "s3://bucket/b", 8)
        begin = aws.requests[1]
        assert {
            name: header(begin, name)
            for name in ("Content-Type", "Content-Encoding", "Cache-Control", "x-amz-meta-key")
        } == {
            "Content-Type": "a/b",
            "Content-Encoding": "gzip",
            "Cache-Control": "no-store",
            "x-amz-meta-key": "value",
        }

    def test_a_copy_in_parts_that_nobody_confirms_is_of_unknown_outcome(self) -> None:
        unavailable = refusal(500, "InternalError")

        def complete(aws: ScriptedS3) -> Answer:
            # Every attempt to complete fails on its way back; the upload is gone all the same.
            is_abort = aws.requests[-1].method == "DELETE"
            return refusal(404, "NoSuchUpload") if is_abort else unavailable

        aws = ScriptedS3(FOUND, BEGUN, PART, complete)
        with pytest.raises(UnknownOutcomeError):
            S3ObjectStore(aws.s3, copy_bytes_max=7).copy("s3://bucket/a", "s3://bucket/b", 8)

    def test_the_bucket_that_refuses_is_named(self) -> None:
        refused = refusal(403, "AccessDenied")
        aws = ScriptedS3(refused, Answer(403))
        with pytest.raises(InvalidInputError, match="bucket source refuses"):
            aws.objects.copy("s3://source/a", "s3://target/b", 7)
        aws = ScriptedS3(refused, FOUND)
        with pytest.raises(InvalidInputError, match="bucket target refuses"):
            aws.objects.copy("s3://source/a", "s3://target/b", 7)
        aws = ScriptedS3(refusal(404, "NoSuchBucket"), Answer(404))
        with pytest.raises(GoneError, match="s3://source/a"):
            aws.objects.copy("s3://source/a", "s3://target/b", 7)

    @pytest.mark.parametrize("code", ["MetadataTooLarge", "KeyTooLongError", "InvalidObjectState"])
    def test_a_copy_that_can_never_be_is_bad_input(self, code: str) -> None:
        aws = ScriptedS3(refusal(400, code))
        with pytest.raises(InvalidInputError, match=f"s3://bucket/a .* s3://bucket/b: .*{code}"):
            aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7)

    def test_throttling_is_throttling(self) -> None:
        with pytest.raises(ThrottledError):
            ScriptedS3(refusal(503, "SlowDown")).objects.copy("s3://b/a", "s3://b/b", 7)


class TestDescriptions:
    @pytest.mark.parametrize(
        "text",
        [
            "é",
            "日本語" * 40,
            "two  spaces",
            " around ",
            "a\nb\r\n",
            "=?UTF-8?B?eA==?=",
            "\x00\x7f",
            "",
        ],
    )
    def test_any_text_is_metadata(self, text: str) -> None:
        aws = ScriptedS3(FOUND, COPIED)
        description = ObjectDescription("a/b", {"key": text})
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, description)
        sent = header(aws.requests[-1], "x-amz-meta-key")
        assert sent is not None
        assert re.fullmatch("[!-~]([ -~]*[!-~])?|", sent)
        assert all(len(word) <= 75 for word in sent.split(" ") if word.startswith("=?"))
        assert (str(make_header(decode_header(sent))) if sent else "") == text

    @pytest.mark.parametrize(
        ("name", "sent"),
        [
            ("Key", "x-amz-meta-key"),
            ("X-Amz-Meta-Key", "x-amz-meta-key"),
            ("a b:é%", "x-amz-meta-a%20b%3a%c3%a9%25"),
            ("mtime_1.x~", "x-amz-meta-mtime_1.x~"),
        ],
    )
    def test_any_name_is_metadata(self, name: str, sent: str) -> None:
        aws = ScriptedS3(FOUND, COPIED)
        description = ObjectDescription("a/b", {name: "value"})
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, description)
        names = [each.lower() for each in aws.requests[-1].headers if "meta-" in each.lower()]
        assert names == [sent]

    def test_names_that_differ_in_case_are_one(self) -> None:
        aws = ScriptedS3(FOUND, COPIED)
        description = ObjectDescription("a/b", {"Key": "1", "key": "2"})
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, description)
        assert header(aws.requests[-1], "x-amz-meta-key") == "2"

    @pytest.mark.parametrize("content_type", ["", '"', "text", "a/b c", "a/" + "b" * 1023, "/"])
    def test_no_content_type_leaves_the_choice_to_s3(self, content_type: str) -> None:
        aws = ScriptedS3(FOUND, COPIED)
        described = ObjectDescription(content_type, {"a": "b"})
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, described)
        assert header(aws.requests[-1], "Content-Type") is None

    @pytest.mark.parametrize("content_type", ["text/csv", 'a/b; c="d, e"', "a/b ;charset=utf-8"])
    def test_a_content_type_reaches_s3_as_it_is(self, content_type: str) -> None:
        aws = ScriptedS3(FOUND, COPIED)
        described = ObjectDescription(content_type, {"a": "b"})
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, described)
        assert header(aws.requests[-1], "Content-Type") == content_type


class TestDeletingMany:
    def test_a_request_names_a_thousand(self) -> None:
        aws = ScriptedS3(DELETED)
        uris = [f"s3://bucket/{n}" for n in range(2 * DELETE_OBJECTS_MAX + 1)]
        assert aws.objects.delete_many(uris) == {}
        batches = [listed(request.body) for request in aws.requests]
        assert list(map(len, batches)) == [DELETE_OBJECTS_MAX, DELETE_OBJECTS_MAX, 1]
        assert [f"s3://bucket/{key}" for batch in batches for key in batch] == uris

    def test_those_that_stay_are_named_with_the_reason(self) -> None:
        errors = (
            b"<Error><Key>a b</Key><Code>InternalError</Code><Message>sorry</Message></Error>"
            b"<Error><Key>gone</Key><Code>NoSuchKey</Code></Error>"
        )
        aws = ScriptedS3(Answer(200, {}, b"<DeleteResult>" + errors + b"</DeleteResult>"))
        uris = ["s3://bucket/a b", "s3://bucket/gone", "s3://bucket/c"]
        assert aws.objects.delete_many(uris) == {"s3://bucket/a b": "InternalError: sorry"}

    def test_keys_that_no_list_can_carry_are_deleted_one_by_one(self) -> None:
        aws = ScriptedS3(Answer(204), DELETED)
        assert aws.objects.delete_many(["s3://bucket/a\x01", "s3://bucket/b\t"]) == {}
        assert [request.method for request in aws.requests] == ["DELETE", "POST"]
        assert aws.requests[0].url.endswith("/a%01")
        assert listed(aws.requests[1].body) == ["b\t"]

    @pytest.mark.parametrize("code", ["NoSuchBucket", "AccessDenied"])
    def test_a_bucket_that_refuses_is_bad_input(self, code: str) -> None:
        with pytest.raises(InvalidInputError, match="bucket"):
            ScriptedS3(refusal(404, code)).objects.delete_many(["s3://bucket/a"])


def test_only_a_missing_key_means_missing_data() -> None:
    with pytest.raises(GoneError):
        ScriptedS3(refusal(404, "NoSuchKey")).objects.get("s3://b/k")
    for other in (refusal(404, "MethodNotFound"), Answer(404)):
        with pytest.raises(S3Error):
            ScriptedS3(other).objects.get("s3://b/k")


def test_an_object_that_its_owner_encrypted_with_a_key_of_its_own_is_bad_input() -> None:
    aws = ScriptedS3(Answer(400))  # S3 says no more to HEAD
    with pytest.raises(InvalidInputError, match="s3://b/k"):
        aws.objects.head("s3://b/k")
    with pytest.raises(InvalidInputError, match="s3://b/k"):
        aws.objects.copy("s3://b/k", "s3://b/t", 7, ObjectDescription("a/b", {}))


@pytest.mark.parametrize(("status", "code"), [(403, "InvalidObjectState"), (400, "InvalidRequest")])
def test_an_object_that_is_archived_or_encrypted_by_its_owner_is_bad_input(
    status: int, code: str
) -> None:
    with pytest.raises(InvalidInputError, match=rf"s3://b/k .*{code}"):
        ScriptedS3(refusal(status, code)).objects.get("s3://b/k")


def test_content_whose_headers_s3_refuses_is_bad_input() -> None:
    aws = ScriptedS3(refusal(400, "KMS.NotFoundException"))
    with pytest.raises(InvalidInputError, match=r"s3://b/k .*KMS\.NotFoundException"):
        aws.objects.put("s3://b/k", b"1", "a/b", headers=DataHeaders({}, KMS))
    with pytest.raises(S3Error):  # nobody chose what it refuses
        aws.objects.put("s3://b/k", b"1", "a/b")


def test_a_part_of_an_unknown_upload_is_not_found() -> None:
    with pytest.raises(NotFoundError):
        ScriptedS3(refusal(404, "NoSuchUpload")).objects.upload_part("s3://b/k", "u", 1, b"1")


def test_a_part_is_sent_at_once() -> None:
    aws = ScriptedS3(Answer(200, {"ETag": '"p1"'}))
    assert aws.objects.upload_part("s3://b/k", "u", 1, b"content") == "p1"
    assert aws.requests[0].body == b"content"
    assert header(aws.requests[0], "Expect") is None


PARTS = Answer(
    200,
    {},
    b"<ListPartsResult><IsTruncated>true</IsTruncated>"
    b"<Part><PartNumber>8</PartNumber><LastModified>2027-01-15T08:00:00.000Z</LastModified>"
    b'<ETag>"e8"</ETag><Size>9</Size></Part></ListPartsResult>',
)


def test_parts_are_listed_page_by_page() -> None:
    aws = ScriptedS3(PARTS)
    page = aws.objects.list_parts("s3://b/k", "u", 7, 1)
    assert page == PartsPage((PartInfo(8, "e8", 9, 1_800_000_000 * 10**9),), has_more=True)
    (request,) = aws.requests
    assert "part-number-marker=7" in request.url
    assert "max-parts=1" in request.url


def test_parts_of_an_unknown_upload_are_not_found() -> None:
    with pytest.raises(UploadNotFoundError):
        ScriptedS3(refusal(404, "NoSuchUpload")).objects.list_parts("s3://b/k", "u", 0, 1)


@pytest.mark.parametrize("code", ["EntityTooSmall", "InvalidPart", "InvalidPartOrder"])
def test_parts_that_cannot_be_joined_are_refused_with_the_reason(code: str) -> None:
    with pytest.raises(BadPartsError) as caught:
        ScriptedS3(refusal(400, code)).objects.complete_upload(
            "s3://b/k", "u", [UploadedPart(1, "0" * 32)]
        )
    assert caught.value.reason == code
