"""Reading content: whole, ranges, conditions, redirects."""

from urllib.parse import quote

import pytest

from graveler.ports import StoredContent
from graveler_functions.api.routes.content import CONTENT_BYTES_MAX
from tests.support.clients.api import ApiClient

READ = "/repositories/repo/refs/main/objects"


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    api.upload("dir/a.txt", b"0123456789")
    api.upload("empty", b"")
    return api


def large(api: ApiClient, size_bytes: int) -> bytes:
    """An object that came by presigned URL, at path `large`."""
    content = b"\xfe" * size_bytes
    path = "/repositories/repo/branches/main/staging/backing"
    address = api.ask("GET", path, path="large", presign="true").json
    api.world.objects.request_presigned(address["presigned_url"], content)
    body = {"staging": address, "checksum": "c", "size_bytes": size_bytes}
    assert api.ask("PUT", path, body, path="large").status == 200
    return content


def test_the_content_comes_with_its_headers(api):
    reply = api.ask("GET", READ, path="dir/a.txt")
    assert (reply.status, reply.content) == (200, b"0123456789")
    stat = api.ask("GET", f"{READ}/stat", path="dir/a.txt").json
    assert reply.headers["ETag"] == f'"{stat["checksum"]}"'
    assert reply.headers["Content-Type"] == "text/plain"
    assert reply.headers["Content-Disposition"] == "inline"
    assert reply.headers["Last-Modified"].endswith("GMT")
    assert api.ask("GET", READ, path="empty").content == b""


@pytest.mark.parametrize("content", [b'{"a": 1}', b'"', b"\xff\x00", b""])
def test_content_that_says_it_is_json_comes_as_it_is(api, content):
    api.upload("a", content, headers={"content-type": "application/json"})
    reply = api.ask("GET", READ, path="a", headers={"accept-encoding": "gzip"})
    assert (reply.status, reply.content) == (200, content)
    assert reply.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("asked", "content", "told"),
    [
        ("bytes=2-4", b"234", "bytes 2-4/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=-2", b"89", "bytes 8-9/10"),
        ("bytes=0-99", b"0123456789", "bytes 0-9/10"),
    ],
)
def test_a_range_request_returns_part_of_the_content(api, asked, content, told):
    reply = api.ask("GET", READ, path="dir/a.txt", headers={"range": asked})
    assert (reply.status, reply.content) == (206, content)
    assert reply.headers["Content-Range"] == told
    head = api.ask("HEAD", READ, path="dir/a.txt", headers={"range": asked})
    assert (head.status, head.content) == (206, b"")
    assert head.headers["Content-Range"] == told
    assert head.headers["Content-Length"] == str(len(content))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_range_past_the_end_returns_416_and_the_size(api, method):
    for path, size in (("dir/a.txt", 10), ("empty", 0)):
        reply = api.ask(method, READ, path=path, headers={"range": "bytes=10-"})
        assert reply.status == 416
        assert reply.headers["Content-Range"] == f"bytes */{size}"
        assert (reply.content == b"") == (method == "HEAD")


@pytest.mark.parametrize(
    ("asked", "status"),
    [("bytes=5-2", 416), ("bytes=1-2,4-5", 416), ("bytes=a-b", 400), ("lines=1-2", 400)],
)
def test_a_range_that_is_none_is_refused_without_a_size(api, asked, status):
    reply = api.ask("GET", READ, path="dir/a.txt", headers={"range": asked})
    assert reply.status == status
    assert "Content-Range" not in reply.headers


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_range_of_content_that_was_overwritten_gives_the_new_content_whole(api, method):
    etag = api.ask("HEAD", READ, path="dir/a.txt").headers["ETag"]
    resumed = {"range": "bytes=4-", "if-range": etag}
    assert api.ask(method, READ, path="dir/a.txt", headers=resumed).status == 206
    api.upload("dir/a.txt", b"new")
    reply = api.ask(method, READ, path="dir/a.txt", headers=resumed)
    assert reply.status == 200
    assert "Content-Range" not in reply.headers
    assert reply.content == (b"new" if method == "GET" else b"")


def test_head_returns_the_headers_without_the_content(api):
    reply = api.ask("HEAD", READ, path="dir/a.txt")
    assert (reply.status, reply.content) == (200, b"")
    assert reply.headers["Content-Length"] == "10"
    assert reply.headers["Accept-Ranges"] == "bytes"
    assert reply.headers["ETag"] == api.ask("GET", READ, path="dir/a.txt").headers["ETag"]
    missing = api.ask("HEAD", READ, path="nothing")
    assert (missing.status, missing.content) == (404, b"")


def test_a_matching_etag_returns_304_even_when_presigning(api):
    etag = api.ask("HEAD", READ, path="dir/a.txt").headers["ETag"]
    for presign in ("false", "true"):
        reply = api.ask(
            "GET", READ, path="dir/a.txt", presign=presign, headers={"if-none-match": etag}
        )
        assert (reply.status, reply.content) == (304, b"")
    assert api.ask("GET", READ, path="dir/a.txt", headers={"if-none-match": '"x"'}).status == 200


def test_a_presigned_read_is_a_redirect(api):
    reply = api.ask("GET", READ, path="dir/a.txt", presign="True")
    assert (reply.status, reply.content) == (302, b"")
    assert api.world.objects.request_presigned(reply.headers["Location"]) == b"0123456789"
    assert "file_name=a.txt" in reply.headers["Location"]
    stored = api.ask("HEAD", READ, path="dir/a.txt").headers["Content-Type"]
    assert f"content_type={quote(stored, safe='')}" in reply.headers["Location"]


def test_what_is_too_large_for_lambda_is_read_from_the_object_store(api):
    content = large(api, CONTENT_BYTES_MAX + 1)
    whole = api.ask("GET", READ, path="large")
    assert whole.status == 302
    assert api.world.objects.request_presigned(whole.headers["Location"]) == content
    part = api.ask("GET", READ, path="large", headers={"range": "bytes=1-4"})
    assert (part.status, part.content) == (206, content[1:5])
    rest = api.ask("GET", READ, path="large", headers={"range": "bytes=0-"})
    assert rest.status == 302
    assert api.ask("HEAD", READ, path="large").headers["Content-Length"] == str(len(content))


def test_what_just_fits_comes_whole(api):
    content = large(api, CONTENT_BYTES_MAX)
    reply = api.ask("GET", READ, path="large")
    assert (reply.status, reply.content) == (200, content)


def staged(api: ApiClient, content: bytes, size_bytes: int) -> list[tuple[int, int] | None]:
    """An object somewhere else, staged at path `staged`; collects the ranges asked of the store."""
    uri = "s3://elsewhere/object"
    api.world.objects.put(uri, content, "text/plain")
    body = {"physical_address": uri, "checksum": "c", "size_bytes": size_bytes}
    path = "/repositories/repo/branches/main/objects"
    assert api.ask("PUT", path, body, path="staged").status == 201
    asked = []
    read = api.world.objects.get_stored

    def watched(
        uri: str, byte_range: tuple[int, int] | None = None, *, if_match: str = ""
    ) -> StoredContent:
        asked.append(byte_range)
        return read(uri, byte_range, if_match=if_match)

    api.world.objects.get_stored = watched  # type: ignore[method-assign]
    return asked


@pytest.mark.parametrize(
    ("headers", "status", "content", "asked"),
    [
        ({}, 200, b"01234", [(0, 4)]),
        ({"range": "bytes=2-"}, 206, b"234", [(2, 4)]),
        ({"range": "bytes=3-8"}, 206, b"34", [(3, 4)]),
        ({"range": "bytes=-2"}, 206, b"34", [(3, 4)]),
        ({"range": "bytes=5-8"}, 416, None, []),
    ],
)
def test_no_more_bytes_are_read_than_the_entry_records(api, headers, status, content, asked):
    read = staged(api, b"0123456789" * 10, 5)
    reply = api.ask("GET", READ, path="staged", headers=headers)
    assert (reply.status, read) == (status, asked)
    if content is not None:
        assert reply.content == content


def test_an_entry_recorded_as_empty_is_never_read(api):
    read = staged(api, b"0123456789", 0)
    reply = api.ask("GET", READ, path="staged")
    assert (reply.status, reply.content, read) == (200, b"", [])


@pytest.mark.parametrize("stored", [b"", b"0123456"])
@pytest.mark.parametrize("asked", [None, "bytes=0-9", "bytes=7-", "bytes=9-9"])
def test_data_that_are_shorter_than_recorded_are_no_answer(api, stored, asked):
    staged(api, stored, 10)
    headers = {} if asked is None else {"range": asked}
    reply = api.ask("GET", READ, path="staged", headers=headers)
    assert reply.status == 410
    assert "shorter than the 10 bytes that are recorded" in reply.message
    if stored:
        part = api.ask("GET", READ, path="staged", headers={"range": "bytes=0-6"})
        assert (part.status, part.content) == (206, stored)


@pytest.mark.parametrize(
    ("method", "parameters", "headers", "status"),
    [
        ("GET", {}, {}, 410),
        ("GET", {}, {"range": "bytes=0-3"}, 410),
        ("GET", {"presign": "true"}, {}, 410),
        ("HEAD", {}, {}, 200),
    ],
)
@pytest.mark.parametrize("path", ["a", "large", "empty"])
def test_data_that_were_collected_are_410(api, method, parameters, headers, status, path):
    api.upload("a", b"0123456789")
    large(api, CONTENT_BYTES_MAX + 1)
    api.commit()
    for ref in ("main", "main~0"):
        made = api.ask("GET", f"{READ}/stat", path=path).json
        api.world.objects.delete(made["physical_address"])
        address = f"/repositories/repo/refs/{ref}/objects"
        reply = api.ask(method, address, path=path, headers=headers, **parameters)
        if path == "empty" and "range" in headers:
            status = 416  # whatever there is, no range lies in it
        assert reply.status == status
        if status == 410:
            assert reply.message == "No data"


def test_collected_objects_are_listed_and_have_a_stat(api):
    made = api.upload("a")
    api.world.objects.delete(made["physical_address"])
    stat = api.ask("GET", f"{READ}/stat", path="a")
    assert (stat.status, stat.json) == (200, made)
    assert api.ask("GET", f"{READ}/stat", path="a", presign="true").status == 200
    listed = api.ask("GET", f"{READ}/ls", prefix="a", presign="true").json["results"]
    assert [row["path"] for row in listed] == ["a"]


@pytest.mark.parametrize(
    ("ref", "parameters", "status", "named"),
    [
        ("main", {"path": "nothing"}, 404, "nothing"),
        ("nowhere", {"path": "dir/a.txt"}, 404, "nowhere"),
        ("main", {}, 400, '"path"'),
        ("main", {"path": "dir/a.txt", "presign": "1x"}, 400, '"presign"'),
    ],
)
def test_a_bad_read_names_the_mistake(api, ref, parameters, status, named):
    reply = api.ask("GET", f"/repositories/repo/refs/{ref}/objects", **parameters)
    assert reply.status == status
    assert named in reply.message


def test_a_damaged_file_fails_until_it_is_repaired(api):
    api.commit()
    whole = dict(api.world.files.files)
    api.engine.committed.forget()  # as a process that has not read them yet
    for name, content in whole.items():
        api.world.files.files[name] = bytes(len(content))
    for path in (f"{READ}/ls", READ):
        assert api.ask("GET", path, path="dir/a.txt").status == 500
    api.world.files.files.update(whole)
    for path in (f"{READ}/ls", READ):
        assert api.ask("GET", path, path="dir/a.txt").status == 200


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", READ, "If-None-Match"),
        ("GET", READ, "Range"),
        ("POST", "/repositories/repo/branches/main/objects", "If-None-Match"),
        ("POST", "/repositories/repo/branches/main/objects", "If-Match"),
        ("PUT", "/repositories/repo/settings/branch_protection", "If-Match"),
    ],
)
def test_an_empty_condition_is_refused_as_lakefs_refuses_it(api, method, path, name):
    reply = api.ask(method, path, [], path="dir/a.txt", headers={name.lower(): ""})
    message = f'parameter "{name}" in header has an error: empty value is not allowed'
    assert (reply.status, reply.json["message"]) == (400, message)
    assert api.ask("GET", READ, path="dir/a.txt").content == b"0123456789"


def test_replaced_data_are_gone_and_get_no_presigned_url(api):
    uri = "s3://elsewhere/object"
    info = api.world.objects.put(uri, b"old", "text/plain")
    body = {"physical_address": uri, "checksum": info.checksum, "size_bytes": 3, "mtime": 0}
    path = "/repositories/repo/branches/main/objects"
    assert api.ask("PUT", path, body, path="staged").status == 201
    api.world.objects.put(uri, b"new", "text/plain")
    for place, more in ((READ, {}), (READ, {"presign": True}), (f"{READ}/stat", {"presign": True})):
        reply = api.ask("GET", place, path="staged", **more)
        assert reply.status == 410
        assert "import or stage it again" in reply.json["message"]
    assert api.ask("GET", f"{READ}/stat", path="staged").status == 200
