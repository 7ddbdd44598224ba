"""A server of S3 accepts our own signatures, sent by a plain HTTP client."""

from collections.abc import Mapping
from hashlib import sha256
from http.client import HTTPConnection
from uuid import uuid4

import pytest
import requests

from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.signed_requests import UNSIGNED_PAYLOAD, Endpoint, S3Requests
from graveler.ports import SignedS3Request, UploadedPart
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import REGION, Keys, s3_client

pytestmark = pytest.mark.server

STACK_KEYS = Keys(KEYS.access_key_id, KEYS.secret_access_key)


@pytest.fixture
def signed(s3_endpoint: str) -> S3Requests:
    return S3Requests(Endpoint(s3_endpoint, REGION), lambda: STACK_KEYS)


@pytest.fixture
def objects(s3_endpoint: str) -> S3ObjectStore:
    return S3ObjectStore(S3(s3_client(s3_endpoint, STACK_KEYS)))


@pytest.fixture(params=["plain", "data/a b/é+%~?#&=", "x/'(*)!,;@$"])
def uri(request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{uuid4().hex}/{request.param}"


def send(request: SignedS3Request, content: bytes = b"") -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers and body of the answer."""
    connection = HTTPConnection(request.host, request.port, timeout=300)
    try:
        connection.putrequest(
            request.method, request.target, skip_host=True, skip_accept_encoding=True
        )
        for name, value in request.headers.items():
            connection.putheader(name, value)
        if request.method == "PUT":
            connection.putheader("content-length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("payload_hash", [UNSIGNED_PAYLOAD, sha256(b"content").hexdigest()])
def test_stored_content_is_read(
    signed: S3Requests, objects: S3ObjectStore, uri: str, payload_hash: str
) -> None:
    put = signed.sign_put(uri, {"content-type": "text/csv"}, payload_hash)
    status, headers, _ = send(put, b"content")
    assert status == 200
    found = objects.head(uri)
    assert found is not None
    assert (found.checksum, found.content_type) == (headers["etag"].strip('"'), "text/csv")
    status, _, content = send(signed.sign_get(uri, {"range": "bytes=1-3"}))
    assert (status, content) == (206, b"ont")


def test_parts_make_the_object(signed: S3Requests, objects: S3ObjectStore, uri: str) -> None:
    upload = objects.create_upload(uri, "text/csv").id
    part = signed.sign_part(uri, upload, 3, {}, UNSIGNED_PAYLOAD)
    _, headers, _ = send(part, b"part")
    objects.complete_upload(uri, upload, [UploadedPart(3, headers["etag"].strip('"'))])
    assert objects.get(uri) == b"part"


def test_a_presigned_read_is_for_those_who_send_the_signed_headers(
    signed: S3Requests, objects: S3ObjectStore, uri: str
) -> None:
    objects.put(uri, b"content", "text/plain")
    headers = {"x-amz-checksum-mode": "ENABLED"}
    url = signed.presign_read(uri, 60, headers, {"response-content-type": "text/csv"})
    answer = requests.get(url, headers={**headers, "Range": "bytes=0-2"}, timeout=300)
    assert (answer.status_code, answer.content) == (206, b"con")
    assert answer.headers["Content-Type"] == "text/csv"
    assert requests.get(url, timeout=300).status_code == 403
