"""The API with nothing but HTTP, as curl and browsers use it: sessions, headers, encodings."""

import gzip
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import requests

from graveler.http import untrusted

pytestmark = pytest.mark.server

ETAG_OF_HELLO = '"5d41402abc4b2a76b9719d911017c592"'


@pytest.fixture
def session(stack) -> Iterator[requests.Session]:
    with requests.Session() as opened:
        opened.auth = (stack.access_key_id, stack.secret_access_key)
        yield opened


@pytest.fixture
def api(stack) -> str:
    return f"{stack.endpoint}/api/v1"


@pytest.fixture
def objects(api, repository) -> str:
    """The URL of the objects on main, for writing."""
    return f"{api}/repositories/{repository.id}/branches/main/objects"


@pytest.fixture
def hello(api, objects, session, repository) -> str:
    """The URL that reads the object `hello.txt`."""
    query = {"path": "hello.txt"}
    session.post(objects, params=query, data=b"hello", headers={"Content-Type": "text/plain"})
    return f"{api}/repositories/{repository.id}/refs/main/objects?path=hello.txt"


def test_health_needs_no_key_and_everything_else_does(stack, api):
    assert requests.get(f"{api}/healthcheck", timeout=300).status_code == 204
    assert requests.get(f"{stack.endpoint}/_health", timeout=300).text == "alive!"
    for path in ("repositories", "config", "repositories/x/branches"):
        answer = requests.get(f"{api}/{path}", timeout=300)
        assert answer.status_code == 401
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json() == {"message": "error authenticating request"}


def test_a_browser_logs_in_with_a_cookie_and_out_again(stack, api):
    keys = {
        "access_key_id": stack.access_key_id,
        "secret_access_key": stack.secret_access_key,
    }
    with requests.Session() as browser:
        assert browser.get(f"{api}/user").json()["user"]["id"] == ""
        assert browser.post(f"{api}/auth/login", json=keys).status_code == 200
        assert browser.get(f"{api}/user").json()["user"]["id"]
        browser.get(f"{stack.endpoint}/logout", allow_redirects=False)
        assert browser.get(f"{api}/user").json()["user"]["id"] == ""


def test_a_token_works_instead_of_the_key(stack, api):
    keys = {
        "access_key_id": stack.access_key_id,
        "secret_access_key": stack.secret_access_key,
    }
    token = requests.post(f"{api}/auth/login", json=keys, timeout=300).json()["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert requests.get(f"{api}/repositories", headers=bearer, timeout=300).status_code == 200
    forged = {"Authorization": f"Bearer {token[:-4]}AAAA"}
    assert requests.get(f"{api}/repositories", headers=forged, timeout=300).status_code == 401


def test_what_curl_sends_without_a_content_type_is_stored(session, objects, api, repository):
    form = "application/x-www-form-urlencoded"
    sent = session.post(
        objects, params={"path": "curl"}, data=b"a=1&b=2", headers={"Content-Type": form}
    )
    assert (sent.status_code, sent.json()["content_type"]) == (201, form)
    at = f"{api}/repositories/{repository.id}/refs/main/objects"
    for presign in ("false", "true"):
        read = session.get(at, params={"path": "curl", "presign": presign})
        assert (read.content, read.headers["Content-Type"]) == (b"a=1&b=2", form)


def test_a_browser_form_uploads_a_file(session, objects, api, repository):
    sent = session.post(
        objects,
        params={"path": "form.csv"},
        files={"content": ("local name.csv", b"1,2\r\n--x\r\n3", "text/csv")},
        headers={"X-Lakefs-Meta-Owner": "me"},
    )
    assert sent.status_code == 201
    assert sent.json()["content_type"] == "text/csv"
    assert sent.json()["metadata"] == {"owner": "me"}
    read = session.get(
        f"{api}/repositories/{repository.id}/refs/main/objects", params={"path": "form.csv"}
    )
    assert read.content == b"1,2\r\n--x\r\n3"


def test_a_form_may_have_other_fields_before_the_file(session, objects, hello):
    fields = [
        ("note", (None, b"about the file")),
        ("content", ("new.txt", b"from a form", "text/markdown")),
        ("content", ("other.txt", b"ignored", "text/plain")),
    ]
    sent = session.post(objects, params={"path": "hello.txt"}, files=fields)
    assert (sent.status_code, sent.json()["content_type"]) == (201, "text/markdown")
    assert session.get(hello).content == b"from a form"
    whole = sent.request.body
    kind = {"Content-Type": sent.request.headers["Content-Type"]}
    cut = session.post(objects, params={"path": "hello.txt"}, data=whole[:-20], headers=kind)
    assert cut.status_code == 400
    assert session.get(hello).content == b"from a form"


def test_a_table_is_downloaded_and_a_text_is_shown(session, objects, api, repository, hello):
    session.post(objects, params={"path": "a.csv"}, data=b"1", headers={"Content-Type": "text/csv"})
    table = session.head(f"{api}/repositories/{repository.id}/refs/main/objects?path=a.csv")
    assert table.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a.csv"
    assert session.head(hello).headers["Content-Disposition"] == "inline"


def test_a_resumed_download_begins_anew_when_the_object_changed(session, objects, hello):
    resumed = {"Range": "bytes=3-", "If-Range": ETAG_OF_HELLO}
    assert session.get(hello, headers=resumed).content == b"lo"
    session.post(objects, params={"path": "hello.txt"}, data=b"another")
    anew = session.get(hello, headers=resumed)
    assert (anew.status_code, anew.content) == (200, b"another")


def test_an_error_of_a_head_request_has_neither_body_nor_type(session, api, hello):
    for url, headers, status in (
        (hello.replace("hello", "none"), {}, 404),
        (f"{api}/repositories/nobody/refs/main/objects?path=a", {}, 404),
        (hello, {"Range": "bytes=9-"}, 416),
        (hello, {"Authorization": "Bearer x"}, 401),
    ):
        auth = None if "Authorization" in headers else session.auth
        answer = requests.head(url, headers=headers, auth=auth, timeout=300)
        assert (answer.status_code, answer.content) == (status, b"")
        assert "Content-Type" not in answer.headers


def test_a_body_of_unknown_length_is_stored_whole(session, objects, hello):
    blocks = [bytes([number]) * 50_000 for number in range(20)]
    sent = session.post(objects, params={"path": "hello.txt"}, data=iter(blocks))
    assert sent.request.headers["Transfer-Encoding"] == "chunked"
    assert sent.status_code == 201
    assert session.get(hello).content == b"".join(blocks)


def test_compressed_content_is_stored_as_it_is(session, objects, hello):
    packed = gzip.compress(b"hello" * 1_000)
    session.post(objects, params={"path": "hello.txt"}, data=packed)
    assert session.get(hello).content == packed


def test_an_object_is_read_with_the_headers_that_caches_and_browsers_need(session, hello):
    read = session.get(hello)
    assert (read.status_code, read.text) == (200, "hello")
    expected = {
        "Content-Type": "text/plain",
        "Content-Length": "5",
        "ETag": ETAG_OF_HELLO,
        "Accept-Ranges": "bytes",
        "Content-Disposition": "inline",
        "X-Frame-Options": "SAMEORIGIN",
        **untrusted.HEADERS,
    }
    assert {name: read.headers[name] for name in expected} == expected
    head = session.head(hello)
    assert {name: head.headers[name] for name in expected} == expected
    assert head.content == b""
    assert session.get(hello, headers={"If-None-Match": ETAG_OF_HELLO}).status_code == 304


@pytest.mark.parametrize(
    ("wanted", "status", "content", "content_range"),
    [
        ("bytes=0-0", 206, b"h", "bytes 0-0/5"),
        ("bytes=1-3", 206, b"ell", "bytes 1-3/5"),
        ("bytes=3-", 206, b"lo", "bytes 3-4/5"),
        ("bytes=-2", 206, b"lo", "bytes 3-4/5"),
        ("bytes=0-99", 206, b"hello", "bytes 0-4/5"),
        ("bytes=5-", 416, None, "bytes */5"),
        ("bytes=9-10", 416, None, "bytes */5"),
        ("lines=1-2", 400, None, None),
    ],
)
def test_a_range_gives_just_those_bytes(session, hello, wanted, status, content, content_range):
    read = session.get(hello, headers={"Range": wanted})
    assert (read.status_code, read.headers.get("Content-Range")) == (status, content_range)
    if content is not None:
        assert read.content == content


def test_names_in_a_url_may_be_percent_encoded_or_not(session, api, repository, main):
    main.object("a").upload("1")
    main.commit("a")
    here = f"{api}/repositories/{repository.id}"
    for ref in ("main~1", "main@", "main$", "main^"):
        for written in (ref, quote(ref, safe="")):
            assert session.get(f"{here}/refs/{written}/objects/ls").status_code == 200, written
    plus = session.get(f"{here}/refs/main/objects/ls?prefix=a+b").json()
    assert plus["results"] == []


def test_what_is_no_endpoint_says_so(session, api, stack):
    for url in (f"{api}/nothing", f"{api}/repositories/x/nothing", f"{api}/repositories/"):
        answer = session.get(url)
        assert answer.status_code == 404
        assert answer.json() == {"message": "invalid API endpoint"}
    for path, status, kind in (("", 200, "text/html"), ("nothing", 404, "text/plain")):
        answer = session.get(f"{stack.endpoint}/{path}")
        found = (answer.status_code, answer.headers["Content-Type"].split(";")[0])
        assert found == (status, kind)
    wrong_method = session.patch(f"{api}/repositories")
    assert (wrong_method.status_code, wrong_method.headers["Allow"]) == (405, "GET, POST")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b'{"name": 5}', b"\xff\xfe", b"null"])
def test_a_body_that_is_not_what_it_should_be_is_a_bad_request(session, api, body):
    answer = session.post(
        f"{api}/repositories", data=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    assert "body" in answer.json()["message"]


def test_an_answer_carries_the_request_id_that_was_sent(session, api):
    answer = session.get(f"{api}/repositories", headers={"X-Request-ID": "mine-7"})
    assert answer.headers["X-Request-ID"] == "mine-7"
    assert session.get(f"{api}/repositories").headers["X-Request-ID"]
