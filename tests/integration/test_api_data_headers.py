"""The headers that stay with an object's data, as the API keeps and answers them."""

import pytest

from graveler.data_headers import DataHeaders
from graveler.ports import UploadedPart
from tests.support.clients.api import ApiClient

BRANCH = "/repositories/repo/branches/main"
READ = "/repositories/repo/refs/main/objects"
SENT = {
    "content-disposition": "inline",
    "content-encoding": "br",
    "content-language": "de",
}
OTHERS = {"cache-control": "max-age=60", "expires": "never"}
KMS = {"x-amz-server-side-encryption": "aws:kms"}


@pytest.fixture
def api() -> ApiClient:
    made = ApiClient()
    made.repository()
    return made


@pytest.fixture
def uploaded(api: ApiClient) -> ApiClient:
    """A repository with the object `a`, whose data have the headers."""
    reply = api.ask(
        "POST",
        f"{BRANCH}/objects",
        b"content",
        path="a",
        headers={**SENT, **OTHERS, "x-other": "1"},
    )
    assert reply.status == 201
    return api


def kept(api: ApiClient, path: str) -> dict[str, str]:
    return dict(api.ask("GET", f"{READ}/underlyingProperties", path=path).json.get("headers", {}))


def test_an_upload_keeps_what_its_headers_say_of_the_body(uploaded: ApiClient) -> None:
    assert kept(uploaded, "a") == SENT  # the others are about the request


def test_a_form_has_headers_of_its_own(api: ApiClient) -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="content"\r\n\r\n1\r\n--b--\r\n'
    sent = {**SENT, **KMS, "content-type": "multipart/form-data; boundary=b"}
    assert api.ask("POST", f"{BRANCH}/objects", form, path="a", headers=sent).status == 201
    assert kept(api, "a") == KMS


def test_a_read_and_a_head_answer_them_beside_those_of_the_answer(uploaded: ApiClient) -> None:
    for method in ("GET", "HEAD"):
        headers = uploaded.ask(method, READ, path="a").headers
        found = {name.lower(): value for name, value in headers.items()}
        assert SENT.keys() & found.keys() == SENT.keys() - {"content-encoding"}
        assert found["content-disposition"] == "inline"
        assert found["cache-control"] == "no-store, must-revalidate"


def test_no_answer_is_said_to_be_coded_because_clients_count_the_stored_bytes(
    uploaded: ApiClient,
) -> None:
    for method in ("GET", "HEAD"):
        for headers in ({}, {"range": "bytes=1-2"}):
            reply = uploaded.ask(method, READ, path="a", headers=headers)
            assert "content-encoding" not in {name.lower() for name in reply.headers}


def test_a_copy_keeps_them_or_gets_its_own(uploaded: ApiClient) -> None:
    def copied(**more: object) -> dict[str, str]:
        body = {"src_path": "a", **more}
        reply = uploaded.ask("POST", f"{BRANCH}/objects/copy", body, dest_path="b")
        assert reply.status == 201, reply
        return kept(uploaded, "b")

    assert copied() == SENT
    assert copied(content_type="a/b", user_metadata={"k": "v"}) == SENT
    assert copied(headers={"Expires": "never", "x-other": "1"}) == {"expires": "never"}
    assert copied(headers={}) == {}
    assert copied(encryption=KMS) == {**SENT, **KMS}


def test_a_shallow_copy_cannot_have_headers_of_its_own(uploaded: ApiClient) -> None:
    uploaded.ask("POST", f"{BRANCH}/commits", {"message": "m"})
    for more in ({"headers": {}}, {"encryption": KMS}):
        body = {"src_path": "a", "shallow": True, **more}
        reply = uploaded.ask("POST", f"{BRANCH}/objects/copy", body, dest_path="b")
        assert reply.status == 400
        assert "make a full copy" in reply.json["message"]
    body = {"src_path": "a", "shallow": True, "user_metadata": {"k": "v"}}
    assert uploaded.ask("POST", f"{BRANCH}/objects/copy", body, dest_path="b").status == 201
    assert kept(uploaded, "b") == SENT


def test_headers_that_the_store_cannot_keep_are_refused(uploaded: ApiClient) -> None:
    bad = {"cache-control": "a\r\nx-amz-acl: public-read"}
    wrong = {"x-amz-server-side-encryption": "x"}
    copied = {"src_path": "a", "headers": bad}
    assert uploaded.ask("POST", f"{BRANCH}/objects/copy", copied, dest_path="b").status == 400
    ignored = {"x-amz-server-side-encryption-customer-key": "k"}
    for body in ({"headers": bad}, {"encryption": wrong}, {"encryption": ignored}):
        assert uploaded.ask("POST", f"{BRANCH}/uploads", body, path="b").status == 400
    reply = uploaded.ask(
        "GET", f"{BRANCH}/staging/backing", headers=wrong, path="b", presign="true"
    )
    assert reply.status == 400


def test_an_upload_is_encrypted_as_its_headers_ask(uploaded: ApiClient) -> None:
    reply = uploaded.ask("POST", f"{BRANCH}/objects", b"1", path="b", headers=KMS)
    assert reply.status == 201
    assert kept(uploaded, "b") == KMS
    begun = uploaded.ask("POST", f"{BRANCH}/staging/pmpu", path="c", headers=KMS).json
    address, store_id = begun["physical_address"], begun["upload_id"]
    objects = uploaded.engine.objects
    part = UploadedPart(1, objects.upload_part(address, store_id, 1, b"1"))
    assert objects.complete_upload(address, store_id, [part]).headers == KMS
    wrong = {"x-amz-server-side-encryption": "x"}
    for path in ("objects", "staging/pmpu"):
        assert uploaded.ask("POST", f"{BRANCH}/{path}", b"", path="d", headers=wrong).status == 400


def test_a_url_signs_the_encryption_and_no_other_header(uploaded: ApiClient) -> None:
    sent = {**KMS, "x-amz-acl": "public-read", "x-amz-copy-source": "graveler/others"}
    reply = uploaded.ask("GET", f"{BRANCH}/staging/backing", headers=sent, path="b", presign="true")
    url = reply.json["presigned_url"]
    assert "aws%3Akms" in url
    assert "acl" not in url
    assert "copy-source" not in url


def test_imported_objects_have_the_headers_of_their_own_place(api: ApiClient) -> None:
    api.engine.objects.put("s3://others/a", b"content", "a/b", headers=DataHeaders(SENT))
    body = {"physical_address": "s3://others/a", "checksum": "c", "size_bytes": 7}
    assert api.ask("PUT", f"{BRANCH}/objects", body, path="a").status == 201
    assert kept(api, "a") == SENT
    assert api.ask("GET", READ, path="a").headers["Content-Language"] == "de"
