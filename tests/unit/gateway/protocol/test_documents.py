"""botocore reads from the documents what was written into them."""

import datetime as dt
import re
import xml.etree.ElementTree as ET
from functools import cache
from urllib.parse import unquote_plus

import botocore.session
from botocore.parsers import create_parser
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.documents import deletions, multipart_uploads, pages, results
from graveler_gateway.protocol.listings import (
    ObjectsQuery,
    PartsQuery,
    objects_query,
    parts_query,
    uploads_query,
)
from tests.support.checks.cases import for_each

NS = 1_000_000_000
TIME_NS = 1_795_424_746 * NS + 999_999_999
TIME = dt.datetime.fromtimestamp(1_795_424_746, dt.UTC)
ETAG = "d41d8cd98f00b204e9800998ecf8427e"
OWNER = {"ID": "me", "DisplayName": "me"}

# What XML 1.0 can carry; the writer is free to use references.
XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs"]).filter(
        lambda c: not re.match("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", c)
    )
)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@cache
def service():
    return botocore.session.Session().get_service_model("s3")


def parsed(operation: str, body: bytes, status: int = 200) -> dict:
    model = service().operation_model(operation)
    answer = create_parser("rest-xml").parse(
        {"status_code": status, "headers": {}, "body": body}, model.output_shape
    )
    del answer["ResponseMetadata"]
    return answer


def query(**parameters: str) -> ObjectsQuery:
    return objects_query({name.replace("_", "-"): text for name, text in parameters.items()})


def test_an_error_arrives_with_its_details():
    body = results.error(
        "NoSuchKey",
        "The key <a&b> does not exist.",
        resource="/lake/main/a<b",
        request_id="7",
        details={"Key": "main/a<b", "BucketName": "lake"},
        host_id="h",
    )
    error = parsed("GetObject", body, 404)["Error"]
    assert error == {
        "Code": "NoSuchKey",
        "Message": "The key <a&b> does not exist.",
        "Key": "main/a<b",
        "BucketName": "lake",
        "Resource": "/lake/main/a<b",
    }
    root = ET.fromstring(body)
    assert root.tag == "Error"
    assert (root.findtext("RequestId"), root.findtext("HostId")) == ("7", "h")


def test_a_result_begins_with_the_declaration_and_is_in_s3s_namespace():
    body = results.versioning()
    assert body.startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
    assert ET.fromstring(body).tag.startswith("{http://s3.amazonaws.com/doc/2006-03-01/}")


def test_buckets_arrive_with_their_creation():
    body = results.buckets("me", [("lake", TIME_NS // NS), ("pond", 0)], "p", "t")
    assert parsed("ListBuckets", body) == {
        "Owner": OWNER,
        "Buckets": [
            {"Name": "lake", "CreationDate": TIME},
            {"Name": "pond", "CreationDate": dt.datetime.fromtimestamp(0, dt.UTC)},
        ],
        "Prefix": "p",
        "ContinuationToken": "t",
    }


@for_each(("region", "text"), [("us-east-1", ""), ("eu-west-1", "eu-west-1")])
def test_the_location_is_empty_in_the_first_region_only(region, text):
    assert (ET.fromstring(results.location(region)).text or "") == text


def test_a_bucket_has_no_versions():
    assert parsed("GetBucketVersioning", results.versioning()) == {}


def test_copies_arrive_with_etag_and_time():
    result = {"ETag": f'"{ETAG}"', "LastModified": TIME}
    copy = parsed("CopyObject", results.copied(ETAG, TIME_NS))
    part = parsed("UploadPartCopy", results.copied(ETAG, TIME_NS, is_part=True))
    assert copy == {"CopyObjectResult": result}
    assert part == {"CopyPartResult": result}
    assert b"<CopyPartResult" in results.copied(ETAG, TIME_NS, is_part=True)


def test_attributes_arrive_without_quotes_and_only_as_asked():
    everything = results.Attributes(ETAG, "STANDARD", 0, 3)
    assert parsed("GetObjectAttributes", results.object_attributes(everything)) == {
        "ETag": ETAG,
        "StorageClass": "STANDARD",
        "ObjectSize": 0,
        "ObjectParts": {"TotalPartsCount": 3},
    }
    nothing = results.object_attributes(results.Attributes())
    assert parsed("GetObjectAttributes", nothing) == {}


def test_the_answer_to_a_form_names_the_object():
    root = ET.fromstring(results.post_response("http://h/b/k", "b", "k", ETAG))
    assert [(child.tag, child.text) for child in root] == [
        ("Location", "http://h/b/k"),
        ("Bucket", "b"),
        ("Key", "k"),
        ("ETag", f'"{ETAG}"'),
    ]


def test_deletions_arrive_with_what_failed():
    failed = deletions.FailedDeletion("main/b", "AccessDenied", "Access Denied")
    body = deletions.deletion_result(["main/a", "main/a&"], [failed])
    assert parsed("DeleteObjects", body) == {
        "Deleted": [{"Key": "main/a"}, {"Key": "main/a&"}],
        "Errors": [{"Key": "main/b", "Code": "AccessDenied", "Message": "Access Denied"}],
    }


def test_an_upload_arrives_with_its_id():
    body = multipart_uploads.upload_created("lake", "main/a b", "u1")
    assert parsed("CreateMultipartUpload", body) == {
        "Bucket": "lake",
        "Key": "main/a b",
        "UploadId": "u1",
    }


def test_a_completed_upload_arrives_with_its_checksums():
    body = multipart_uploads.completed(
        "http://h/k", "lake", "main/a", f"{ETAG}-2", {"ChecksumCRC32": "AAAAAA=="}
    )
    assert parsed("CompleteMultipartUpload", body) == {
        "Location": "http://h/k",
        "Bucket": "lake",
        "Key": "main/a",
        "ETag": f'"{ETAG}-2"',
        "ChecksumCRC32": "AAAAAA==",
    }


def test_parts_arrive_with_the_marker_of_the_next_page():
    rows = [multipart_uploads.PartElement(number, TIME_NS, ETAG, 5) for number in (3, 7)]
    asked = parts_query({"uploadId": "u1", "part-number-marker": "2", "max-parts": "2"})
    body = multipart_uploads.parts("lake", "main/a", asked, rows, is_truncated=True, owner_id="me")
    part = {"LastModified": TIME, "ETag": f'"{ETAG}"', "Size": 5}
    assert parsed("ListParts", body) == {
        "Bucket": "lake",
        "Key": "main/a",
        "UploadId": "u1",
        "Initiator": OWNER,
        "Owner": OWNER,
        "StorageClass": "STANDARD",
        "PartNumberMarker": 2,
        "NextPartNumberMarker": 7,
        "MaxParts": 2,
        "IsTruncated": True,
        "Parts": [{"PartNumber": 3, **part}, {"PartNumber": 7, **part}],
    }


def test_an_upload_without_parts_has_an_empty_list():
    body = multipart_uploads.parts(
        "lake", "k", PartsQuery("u1", 0, 1000), [], is_truncated=False, owner_id="me"
    )
    answer = parsed("ListParts", body)
    assert "Parts" not in answer
    assert (answer["NextPartNumberMarker"], answer["IsTruncated"]) == (0, False)


def test_uploads_arrive_encoded_as_asked():
    asked = uploads_query(
        {
            "prefix": "main/ü",
            "delimiter": "/",
            "key-marker": "main/ü\x01",
            "upload-id-marker": "u0",
            "max-uploads": "1",
            "encoding-type": "url",
        }
    )
    row = multipart_uploads.UploadElement("main/ü b", "u1", TIME_NS)
    page = multipart_uploads.UploadsPage(
        [row], ["main/ü/"], is_truncated=True, next_key_marker="main/ü b",
        next_upload_id_marker="u1",
    )  # fmt: skip
    assert parsed("ListMultipartUploads", multipart_uploads.uploads("lake", asked, page, "me")) == {
        "Bucket": "lake",
        "KeyMarker": "main/%C3%BC%01",
        "UploadIdMarker": "u0",
        "NextKeyMarker": "main/%C3%BC%20b",
        "NextUploadIdMarker": "u1",
        "Prefix": "main/%C3%BC",
        "Delimiter": "/",
        "EncodingType": "url",
        "MaxUploads": 1,
        "IsTruncated": True,
        "Uploads": [
            {
                "UploadId": "u1",
                "Key": "main/%C3%BC%20b",
                "Initiated": TIME,
                "StorageClass": "STANDARD",
                "Owner": OWNER,
                "Initiator": OWNER,
            }
        ],
        "CommonPrefixes": [{"Prefix": "main/%C3%BC/"}],
    }


ROW = pages.ObjectElement("main/a", TIME_NS, ETAG, 5)
CONTENT = {
    "Key": "main/a",
    "LastModified": TIME,
    "ETag": f'"{ETAG}"',
    "Size": 5,
    "StorageClass": "STANDARD",
}


def test_a_listing_of_version_1_arrives_with_owners_and_markers():
    asked = query(prefix="main/", delimiter="/", marker="main/0", max_keys="2")
    page = pages.ObjectsPage([ROW], ["main/b/"], is_truncated=True, next_marker="main/b/")
    assert parsed("ListObjects", pages.objects_v1("lake", asked, page, "me")) == {
        "Name": "lake",
        "Prefix": "main/",
        "Marker": "main/0",
        "NextMarker": "main/b/",
        "MaxKeys": 2,
        "Delimiter": "/",
        "IsTruncated": True,
        "Contents": [{**CONTENT, "Owner": OWNER}],
        "CommonPrefixes": [{"Prefix": "main/b/"}],
    }


def test_a_listing_of_version_2_arrives_with_its_token():
    asked = query(list_type="2", prefix="main/", start_after="main/0", continuation_token="bWFpbg")
    page = pages.ObjectsPage([ROW], ["main/b/"], is_truncated=True, next_marker="TOKEN")
    assert parsed("ListObjectsV2", pages.objects_v2("lake", asked, page, "me")) == {
        "Name": "lake",
        "Prefix": "main/",
        "StartAfter": "main/0",
        "ContinuationToken": "bWFpbg",
        "NextContinuationToken": "TOKEN",
        "KeyCount": 2,
        "MaxKeys": 1000,
        "IsTruncated": True,
        "Contents": [CONTENT],
        "CommonPrefixes": [{"Prefix": "main/b/"}],
    }


def test_version_2_has_owners_only_if_they_are_fetched():
    asked = query(list_type="2", fetch_owner="true")
    body = pages.objects_v2("lake", asked, pages.ObjectsPage([ROW], []), "me")
    answer = parsed("ListObjectsV2", body)
    assert answer["Contents"] == [{**CONTENT, "Owner": OWNER}]


@given(XML_TEXT, XML_TEXT)
def test_any_key_that_xml_can_carry_arrives_unchanged(key, prefix):
    row = pages.ObjectElement(key, TIME_NS, ETAG, 5)
    asked = query(prefix=prefix)
    answer = parsed(
        "ListObjects",
        pages.objects_v1("lake", asked, pages.ObjectsPage([row], [prefix]), "me"),
    )
    assert answer["Contents"][0]["Key"] == key
    assert answer["CommonPrefixes"] == [{"Prefix": prefix}]
    assert answer["Prefix"] == prefix


@given(ANY_TEXT, ANY_TEXT)
def test_any_key_arrives_unchanged_with_url_encoding(key, prefix):
    row = pages.ObjectElement(key, TIME_NS, ETAG, 5)
    asked = query(list_type="2", prefix=prefix, encoding_type="url")
    answer = parsed(
        "ListObjectsV2",
        pages.objects_v2("lake", asked, pages.ObjectsPage([row], [prefix]), "me"),
    )
    assert unquote_plus(answer["Contents"][0]["Key"]) == key
    assert unquote_plus(answer["CommonPrefixes"][0]["Prefix"]) == prefix
    assert unquote_plus(answer["Prefix"]) == prefix
    assert answer["EncodingType"] == "url"


@given(st.text())
def test_no_key_makes_the_document_unreadable(key):
    body = results.error("NoSuchKey", key, resource=key, request_id="7", details={"Key": key})
    read = parsed("GetObject", body, 404)["Error"]["Key"] or ""
    assert len(read) == len(key)
    assert all(
        new in (old, "\N{REPLACEMENT CHARACTER}") for old, new in zip(key, read, strict=True)
    )


@given(st.binary())
def test_bytes_that_are_no_text_arrive_with_url_encoding(key):
    text = key.decode("utf-8", "surrogateescape")
    asked = query(encoding_type="url")
    row = pages.ObjectElement(text, TIME_NS, ETAG, 5)
    body = pages.objects_v1("lake", asked, pages.ObjectsPage([row], []), "me")
    answer = parsed("ListObjects", body)
    read = unquote_plus(answer["Contents"][0]["Key"], errors="surrogateescape")
    assert read.encode("utf-8", "surrogateescape") == key
