"""A presigned URL is good for one method, one object and a while; the store refuses the rest."""

import time
from uuid import uuid4

import pytest
import requests

from graveler.aws.retries import RetryPolicy
from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from graveler.limits import PRESIGNED_URL_LIFE_S
from tests.support.clients.api import ApiClient
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import Keys, s3_client

server = pytest.mark.server


@pytest.fixture
def objects(s3_endpoint: str) -> S3ObjectStore:
    keys = Keys(KEYS.access_key_id, KEYS.secret_access_key)
    s3 = S3(s3_client(s3_endpoint, keys), RetryPolicy(2.0, 0.005))
    return S3ObjectStore(s3, credentials=lambda: keys)


@pytest.fixture
def uri(objects: S3ObjectStore) -> str:
    """An object, and beside it another one whose name begins with its name."""
    made = f"s3://{BUCKET}/{uuid4().hex}/data/a"
    for each in (made, f"{made}b"):
        objects.put(each, b"content", "a/b")
    return made


def status(method: str, url: str, **more: object) -> int:
    return requests.request(method, url, timeout=10, **more).status_code  # type: ignore[arg-type]


@server
def test_a_url_for_uploading_uploads_to_its_object_and_does_nothing_else(objects, uri):
    url = objects.presign_put(uri, 60)
    for method in ("GET", "HEAD", "DELETE", "POST"):
        assert status(method, url, data=b"") in (400, 403)
    assert status("PUT", url.replace("/data/a?", "/data/ab?"), data=b"other") == 403
    assert status("PUT", url.replace("/data/a?", "/_lakefs/a?"), data=b"other") == 403
    assert status("PUT", f"{url}&uploadId=x&partNumber=1", data=b"other") == 403
    assert status("PUT", url, headers={"x-amz-copy-source": f"{BUCKET}/x"}, data=b"") != 200
    assert (objects.get(uri), objects.get(f"{uri}b")) == (b"content", b"content")
    assert status("PUT", url, data=b"new") == 200
    assert objects.get(uri) == b"new"


@server
def test_a_url_for_reading_reads_its_object_and_does_nothing_else(objects, uri):
    url = objects.presign_get(uri, 60, "a")
    for method in ("PUT", "DELETE"):
        assert status(method, url, data=b"other") == 403
    assert status("GET", url.replace("/data/a?", "/data/ab?")) == 403
    assert status("GET", url.replace("/data/a?", "/?")) == 403
    assert objects.get(uri) == b"content"
    assert status("GET", url) == 200


@server
def test_a_url_for_a_part_takes_that_part_of_that_upload(objects, uri):
    first, second = (objects.create_upload(uri, "a/b").id for _ in range(2))
    alone, of_many = (
        objects.presign_part(uri, first, 2, 60),
        objects.presign_parts(uri, first, 2, 60),
    )
    for url in (alone, of_many[1]):
        assert status("PUT", url.replace("partNumber=2", "partNumber=1"), data=b"x") == 403
        assert status("PUT", url.replace(first, second), data=b"x") == 403
        assert status("DELETE", url) == 403
        assert status("PUT", url, data=b"x") == 200


@server
def test_a_url_expires_and_cannot_be_extended(objects, uri):
    url = objects.presign_get(uri, 1, "a")
    assert status("GET", url.replace("X-Amz-Expires=1&", "X-Amz-Expires=3600&")) == 403
    time.sleep(2.1)
    assert status("GET", url) == 403


@server
def test_a_url_reads_nothing_after_its_object_is_collected(objects, uri):
    url = objects.presign_get(uri, 60, "a")
    objects.delete(uri)
    assert status("GET", url) == 404


def test_every_url_that_the_api_hands_out_lives_for_a_quarter_of_an_hour(monkeypatch):
    api = ApiClient()
    lives = []
    for name in ("presign_get", "presign_put", "presign_part", "presign_parts"):
        real = getattr(api.world.objects, name)

        def presign(*arguments, real=real):
            lives.extend(each for each in arguments if each == PRESIGNED_URL_LIFE_S)
            return real(*arguments)

        monkeypatch.setattr(api.world.objects, name, presign)
    api.repository()
    api.upload("a")
    main = "/repositories/repo/branches/main"
    read = "/repositories/repo/refs/main/objects"
    api.ask("GET", read, path="a", presign="true")
    api.ask("GET", f"{read}/stat", path="a", presign="true")
    api.ask("GET", f"{read}/ls", presign="true")
    api.ask("GET", f"{main}/staging/backing", path="b", presign="true")
    api.ask("POST", f"{main}/staging/pmpu", path="b", parts=2)
    upload_id = api.ask("POST", f"{main}/uploads", {}, path="b").json["upload_id"]
    api.ask("PUT", f"{main}/uploads/{upload_id}/parts/1", path="b")
    assert lives == [15 * 60] * 6
