"""Writes that go straight to the object store: one address, or many parts."""

from urllib.parse import unquote

import pytest
from lakefs_sdk import models

from tests.support.clients.api import ApiClient

REPO = "/repositories/repo"
BACKING = f"{REPO}/branches/main/staging/backing"
UPLOADS = f"{REPO}/branches/main/staging/pmpu"
READ = f"{REPO}/refs/main/objects"


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    return api


def test_an_object_put_at_a_physical_address_is_linked(api):
    address = api.ask("GET", BACKING, path="a", presign="True")
    models.StagingLocation.from_dict(address.json)
    assert address.json["presigned_url_expiry"] > 0
    checksum = api.world.objects.request_presigned(address.json["presigned_url"], b"hello")
    body = {
        "staging": address.json,
        "checksum": f'"{checksum.decode()}"',
        "size_bytes": 5,
        "user_metadata": {"k": "v"},
        "content_type": "text/csv",
    }
    reply = api.ask("PUT", BACKING, body, path="a")
    assert reply.status == 200
    models.ObjectStats.from_dict(reply.json)
    assert reply.json["physical_address"] == address.json["physical_address"]
    assert reply.json["checksum"] == checksum.decode()
    assert reply.json["metadata"] == {"k": "v"}
    assert api.ask("GET", READ, path="a").content == b"hello"


def test_an_address_alone_needs_no_url(api):
    address = api.ask("GET", BACKING, path="a").json
    assert address["physical_address"].startswith("s3://bucket/repo/data/")
    assert address == {"physical_address": address["physical_address"], "presigned_url": None}


def test_an_object_put_at_its_physical_address_is_linked_committed_and_read(api):
    address = api.ask("GET", BACKING, path="a").json
    uri = address["physical_address"]
    checksum = api.world.objects.put(uri, b"hello", "text/csv").checksum
    body = {"staging": address, "checksum": checksum, "size_bytes": 5}
    assert api.ask("PUT", BACKING, body, path="a").json["physical_address"] == uri
    api.commit()
    assert api.ask("GET", f"{READ}/stat", path="a").json["physical_address"] == uri
    assert api.ask("GET", READ, path="a").content == b"hello"
    copies = f"{REPO}/branches/main/objects/copy"
    copied = api.ask("POST", copies, {"src_path": "a"}, dest_path="b")
    assert copied.status == 201
    assert api.ask("GET", READ, path="b").content == b"hello"


def test_a_presigned_url_leads_to_the_address_beside_it(api):
    for presigned in (
        api.ask("GET", BACKING, path="a", presign="true").json,
        upload := begin(api, parts=1),
    ):
        url = presigned.get("presigned_url") or upload["presigned_urls"][0]
        assert presigned["physical_address"].removeprefix("s3://bucket/") in unquote(url)


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        ({"staging": {"physical_address": "s3://bucket/repo/data/forged,abc"}}, 400, "address"),
        ({"staging": {}}, 400, "physical_address"),
        ({"checksum": ""}, 400, "checksum"),
        ({"size_bytes": -1}, 400, "size_bytes"),
        ({"user_metadata": {"a": 1}}, 400, "user_metadata"),
    ],
)
def test_a_bad_link_links_nothing(api, change, status, named):
    address = api.ask("GET", BACKING, path="a").json
    body = {"staging": address, "checksum": "c", "size_bytes": 1, **change}
    reply = api.ask("PUT", BACKING, body, path="a")
    assert reply.status == status
    assert named in reply.message
    assert api.paths() == []


def test_an_address_is_good_for_its_own_path_and_for_a_day(api):
    address = api.ask("GET", BACKING, path="a").json
    body = {"staging": address, "checksum": "c", "size_bytes": 1}
    assert api.ask("PUT", BACKING, body, path="b").status == 400
    api.world.clock.tick(25 * 60 * 60)
    assert api.ask("PUT", BACKING, body, path="a").status == 400
    assert api.paths() == []


def test_a_link_may_require_that_the_path_is_free(api):
    api.upload("a", b"1")
    body = {"staging": api.ask("GET", BACKING, path="a").json, "checksum": "c", "size_bytes": 1}
    assert api.ask("PUT", BACKING, body, path="a", headers={"if-none-match": "*"}).status == 412
    assert api.ask("PUT", BACKING, body, path="a", headers={"if-match": '"c"'}).status == 412
    assert api.ask("GET", READ, path="a").content == b"1"


def test_a_wish_for_an_address_without_a_path_is_refused(api):
    assert api.ask("GET", BACKING).status == 400


@pytest.mark.parametrize(
    ("branch", "path", "refusal"),
    [
        ("nothing", "a", (404, "branch not found: 'nothing'")),
        (
            "main",
            "p" * 1025,
            (
                400,
                (
                    "argument path: invalid value: validation error: "
                    "1025 is above maximum length (1024)"
                ),
            ),
        ),
    ],
)
def test_linking_to_a_missing_branch_or_a_long_path_is_refused(api, branch, path, refusal):
    backing = f"{REPO}/branches/{branch}/staging/backing"
    given = api.ask("GET", backing, path=path)
    assert given.status == 200  # lakectl would show "request failed" for any error here
    body = {"staging": given.json, "checksum": "c", "size_bytes": 1}
    linked = api.ask("PUT", backing, body, path=path)
    assert (linked.status, linked.message) == refusal


# Multipart


def begin(api, parts=2):
    reply = api.ask("POST", UPLOADS, path="big", parts=parts)
    assert reply.status == 201
    models.PresignMultipartUpload.from_dict(reply.json)
    assert len(reply.json.get("presigned_urls", ())) == parts
    return reply.json


@pytest.mark.parametrize("parts", [{}, {"parts": 0}])
def test_an_upload_without_parts_has_no_field_for_their_urls(api, parts):
    reply = api.ask("POST", UPLOADS, path="big", **parts)
    assert (reply.status, set(reply.json)) == (201, {"upload_id", "physical_address"})


def test_an_object_is_put_together_from_parts(api):
    upload = begin(api)
    etags = [
        api.world.objects.request_presigned(url, content).decode()
        for url, content in zip(upload["presigned_urls"], (b"one", b"two"), strict=True)
    ]
    body = {
        "physical_address": upload["physical_address"],
        "parts": [
            {"part_number": number, "etag": f'"{etag}"'} for number, etag in enumerate(etags, 1)
        ],
        "user_metadata": {"k": "v"},
        "content_type": "text/csv",
    }
    reply = api.ask("PUT", f"{UPLOADS}/{upload['upload_id']}", body, path="big")
    assert reply.status == 200
    models.ObjectStats.from_dict(reply.json)
    assert reply.json["size_bytes"] == 6
    assert reply.json["content_type"] == "text/csv"
    # Relative, as lakeFS answers here and nowhere else.
    assert f"s3://bucket/repo/{reply.json['physical_address']}" == upload["physical_address"]
    found = api.ask("GET", f"{READ}/stat", path="big").json
    assert found["physical_address"] == upload["physical_address"]
    assert api.ask("GET", READ, path="big").content == b"onetwo"


def test_a_part_may_get_its_url_later(api):
    upload = begin(api, parts=0)
    part = f"{UPLOADS}/{upload['upload_id']}/parts/1"
    address = {"physical_address": upload["physical_address"]}
    reply = api.ask("PUT", part, address, path="big")
    assert reply.status == 200
    models.UploadTo.from_dict(reply.json)
    etag = api.world.objects.request_presigned(reply.json["presigned_url"], b"x").decode()
    body = {**address, "parts": [{"part_number": 1, "etag": etag}]}
    assert api.ask("PUT", f"{UPLOADS}/{upload['upload_id']}", body, path="big").status == 200


@pytest.mark.parametrize(
    ("asked", "content"), [(None, b"0123456789"), ("bytes=2-4", b"234"), ("bytes=-3", b"789")]
)
def test_a_part_may_be_copied_from_an_object(api, asked, content):
    api.upload("source", b"0123456789")
    upload = begin(api, parts=0)
    address = {"physical_address": upload["physical_address"]}
    source = {"repository": "repo", "ref": "main", "path": "source"}
    if asked:
        source["range"] = asked
    part = f"{UPLOADS}/{upload['upload_id']}/parts/1/copy"
    reply = api.ask("PUT", part, {**address, "copy_source": source}, path="big")
    assert (reply.status, reply.content) == (204, b"")
    body = {**address, "parts": [{"part_number": 1, "etag": reply.headers["ETag"]}]}
    assert api.ask("PUT", f"{UPLOADS}/{upload['upload_id']}", body, path="big").status == 200
    assert api.ask("GET", READ, path="big").content == content


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ({"repository": "repo", "ref": "main", "path": "nothing"}, 404),
        ({"repository": "other", "ref": "main", "path": "source"}, 501),
        ({"repository": "repo", "ref": "main", "path": "source", "range": "bytes=9-"}, 416),
        ({"repository": "repo", "ref": "main"}, 400),
    ],
)
def test_a_bad_source_of_a_part_is_refused(api, source, status):
    api.upload("source", b"x")
    upload = begin(api, parts=0)
    body = {"physical_address": upload["physical_address"], "copy_source": source}
    part = f"{UPLOADS}/{upload['upload_id']}/parts/1/copy"
    assert api.ask("PUT", part, body, path="big").status == status


def test_an_upload_is_given_up_once(api):
    upload = begin(api)
    path = f"{UPLOADS}/{upload['upload_id']}"
    address = {"physical_address": upload["physical_address"]}
    assert api.ask("DELETE", path, {}, path="big").status == 400
    assert api.ask("DELETE", path, address, path="big").status == 204
    assert api.ask("DELETE", path, address, path="big").status == 404
    assert api.paths() == []


@pytest.mark.parametrize("parts", ["-1", "10001", "many"])
def test_a_bad_number_of_parts_is_refused(api, parts):
    reply = api.ask("POST", UPLOADS, path="big", parts=parts)
    assert reply.status == 400
    assert "parts" in reply.message


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        ("0", "number must be at least 1"),
        ("-1", "number must be at least 1"),
        ("10001", "number must be at most 10000"),
        ("x", "value x: an invalid integer"),
        ("1.5", "value 1.5: an invalid integer"),
        ("٣", "value ٣: an invalid integer"),
        ("9" * 5000, "value 999"),
    ],
)
@pytest.mark.parametrize("copy", ["", "/copy"])
def test_a_bad_part_number_is_refused(api, number, problem, copy):
    upload = begin(api)
    source = {"repository": "repo", "ref": "main", "path": "a"}
    body = {"physical_address": upload["physical_address"], "copy_source": source}
    part = f"{UPLOADS}/{upload['upload_id']}/parts/{number}{copy}"
    reply = api.ask("PUT", part, body, path="big")
    assert reply.status == 400
    assert reply.message.startswith(f'parameter "partNumber" in path has an error: {problem}')


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        ({"parts": [{"part_number": 1, "etag": "wrong"}]}, 400, ""),
        ({"parts": []}, 400, "parts are required"),
        ({"parts": None}, 400, "parts"),
        ({"physical_address": "s3://elsewhere/x"}, 400, "address"),
    ],
)
def test_a_bad_completion_makes_no_object(api, change, status, named):
    upload = begin(api)
    api.world.objects.request_presigned(upload["presigned_urls"][0], b"one")
    body = {
        "physical_address": upload["physical_address"],
        "parts": [{"part_number": 1, "etag": "e"}],
        **change,
    }
    reply = api.ask("PUT", f"{UPLOADS}/{upload['upload_id']}", body, path="big")
    assert reply.status == status
    assert named in reply.message
    assert api.paths() == []


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_path_is_required(api, method):
    path = UPLOADS if method == "POST" else f"{UPLOADS}/some-id"
    reply = api.ask(method, path, {"physical_address": "x", "parts": []})
    assert reply.status == 400
    assert '"path"' in reply.message
