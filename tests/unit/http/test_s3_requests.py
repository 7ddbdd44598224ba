from xml.etree import ElementTree as ET

from graveler.http.s3_requests import error_document, is_s3_request
from tests.support.checks.cases import for_each


@for_each(
    ("headers", "query"),
    [
        ({"authorization": "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/s3/x"}, ""),
        ({"authorization": "AWS AKIA:c2lnbmF0dXJl"}, ""),
        ({}, "list-type=2&X-Amz-Credential=AKIA%2F20260101&X-Amz-Signature=ab"),
        ({}, "X-Amz-Signature=ab"),
        ({}, "AWSAccessKeyId=AKIA&Signature=c2ln&Expires=1"),
        ({"host": "s3.local.lakefs.io:8000"}, ""),
        ({"host": "LAKE.s3.local.lakefs.io"}, ""),
    ],
)
def test_a_request_signed_or_addressed_as_s3_is_recognized(headers, query):
    assert is_s3_request(headers, query)


@for_each(
    ("headers", "query"),
    [
        ({}, ""),
        ({"authorization": "Basic QVdTOng="}, "path=a"),
        ({"authorization": "Bearer AWS4"}, "prefix=X-Amz-Signature"),
        ({"host": "graveler.example.com"}, "path=AWSAccessKeyId%3D1"),
        ({"host": "nots3.local.lakefs.io"}, ""),
    ],
)
def test_a_request_to_the_api_is_not_mistaken_for_s3(headers, query):
    assert not is_s3_request(headers, query)


def test_an_error_is_xml_whatever_its_texts_hold():
    document = error_document("Code", "<&>", resource='/a"<b>', request_id="1&2")
    error = ET.fromstring(document.encode())
    assert error.tag == "Error"
    assert {field.tag: field.text for field in error} == {
        "Code": "Code",
        "Message": "<&>",
        "Resource": '/a"<b>',
        "RequestId": "1&2",
    }
