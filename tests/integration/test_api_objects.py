"""Objects: write, stat, list, delete, copy, metadata."""

import hashlib

import pytest
from lakefs_sdk import models

from tests.support.clients.api import ApiClient

REPO = "/repositories/repo"
OBJECTS = f"{REPO}/branches/main/objects"
READ = f"{REPO}/refs/main/objects"


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    return api


def multipart(content: bytes, content_type: str = "", name: str = "content") -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="f"\r\n'
    if content_type:
        head += f"Content-Type: {content_type}\r\n"
    return head.encode() + b"\r\n" + content + b"\r\n--b--\r\n"


FORM = {"content-type": "multipart/form-data; boundary=b"}


def test_a_raw_upload_is_an_object_with_its_type_and_metadata(api):
    headers = {
        "content-type": "text/csv",
        "x-lakefs-meta-owner": "me",
        "x-lakefs-internal-client-mtime": "5",
    }
    reply = api.ask("POST", OBJECTS, b"a,b", path="dir/ä+ %.csv", headers=headers)
    assert reply.status == 201
    models.ObjectStats.from_dict(reply.json)
    made = reply.json
    assert made["path"] == "dir/ä+ %.csv"
    assert made["path_type"] == "object"
    assert made["checksum"] == hashlib.md5(b"a,b").hexdigest()
    assert made["size_bytes"] == 3
    assert made["content_type"] == "text/csv"
    assert made["metadata"] == {"owner": "me", "::lakefs::client-mtime": "5"}
    assert made["physical_address"].startswith("s3://bucket/repo/data/")
    assert api.ask("GET", f"{READ}/stat", path="dir/ä+ %.csv").json == made


def test_a_form_upload_keeps_the_part_s_type(api):
    reply = api.ask("POST", OBJECTS, multipart(b"\x00\xff", "image/png"), path="p", headers=FORM)
    assert reply.json["content_type"] == "image/png"
    assert reply.json["size_bytes"] == 2
    reply = api.ask("POST", OBJECTS, multipart(b"x"), path="p", headers=FORM)
    assert reply.json["content_type"] == "application/octet-stream"


def test_an_upload_may_be_empty_and_without_a_type(api):
    reply = api.ask("POST", OBJECTS, path="empty")
    assert reply.status == 201
    assert reply.json["size_bytes"] == 0
    assert reply.json["content_type"] == "application/octet-stream"


def test_an_upload_may_require_that_the_path_is_free(api):
    once = {"if-none-match": "*"}
    assert api.ask("POST", OBJECTS, b"1", path="a", headers=once).status == 201
    again = api.ask("POST", OBJECTS, b"2", path="a", headers=once)
    assert again.status == 412
    assert "path already exists" in again.message
    assert api.ask("GET", READ, path="a").content == b"1"


def test_a_write_may_require_the_content_that_its_client_read(api):
    api.upload("a", b"1")
    read = {"if-match": api.ask("GET", READ, path="a").headers["ETag"]}
    assert api.ask("POST", OBJECTS, b"2", path="a", headers=read).status == 201
    late = api.ask("POST", OBJECTS, b"3", path="a", headers=read)
    assert late.status == 412
    assert "'a' has the ETag" in late.message
    body = {"physical_address": "s3://elsewhere/o", "checksum": "c", "size_bytes": 1}
    assert api.ask("PUT", OBJECTS, body, path="a", headers=read).status == 412
    assert api.ask("GET", READ, path="a").content == b"2"
    now = {"if-match": '"other", ' + api.ask("GET", READ, path="a").headers["ETag"]}
    assert api.ask("PUT", OBJECTS, body, path="a", headers=now).status == 201


@pytest.mark.parametrize(
    ("parameters", "headers", "body", "status", "named"),
    [
        ({}, {}, b"x", 400, '"path"'),
        ({"path": ""}, {}, b"x", 400, '"path"'),
        ({"path": "p" * 1025}, {}, b"x", 400, "path"),
        ({"path": "p", "force": "maybe"}, {}, b"x", 400, '"force"'),
        ({"path": "p"}, {"if-none-match": '"abc"'}, b"x", 501, "If-None-Match"),
        ({"path": "p"}, {"if-match": "abc"}, b"x", 400, "If-Match"),
        ({"path": "p"}, {"if-match": "*"}, b"x", 412, "If-Match"),
        ({"path": "p"}, {"if-match": '"abc"'}, b"x", 412, "If-Match"),
        ({"path": "p"}, {"if-match": "*", "if-none-match": "*"}, b"x", 412, "If-Match"),
        ({"path": "p", "storageClass": "GLACIER"}, {}, b"x", 501, "storageClass"),
        ({"path": "p"}, FORM, b"x", 400, "boundary"),
        ({"path": "p"}, FORM, multipart(b"x", name="file"), 400, "content"),
        ({"path": "p"}, {"x-lakefs-meta-k": "v" * 200_000}, b"x", 400, "metadata"),
    ],
)
def test_a_bad_upload_leaves_nothing(api, parameters, headers, body, status, named):
    reply = api.ask("POST", OBJECTS, body, headers=headers, **parameters)
    assert reply.status == status
    assert named in reply.message
    assert api.paths() == []


def test_an_upload_to_an_unknown_branch_is_404_whatever_the_body(api):
    path = f"{REPO}/branches/nothing/objects"
    reply = api.ask("POST", path, b"broken form", path="p", headers=FORM)
    assert reply.status == 404
    assert "nothing" in reply.message


def test_a_stat_may_leave_metadata_out_and_presign(api):
    made = api.upload("a", b"hello", headers={"x-lakefs-meta-k": "v"})
    assert api.ask("GET", f"{READ}/stat", path="a", user_metadata="False").json["metadata"] == {}
    stat = api.ask("GET", f"{READ}/stat", path="a", presign="True").json
    models.ObjectStats.from_dict(stat)
    assert api.world.objects.request_presigned(stat["physical_address"]) == b"hello"
    assert stat["physical_address_expiry"] > made["mtime"]
    assert "physical_address_expiry" not in made


@pytest.mark.parametrize(
    ("ref", "parameters", "status", "named"),
    [
        ("main", {"path": "nothing"}, 404, "nothing"),
        ("main", {}, 400, '"path"'),
        ("main", {"path": "a", "presign": "?"}, 400, '"presign"'),
        ("nothing", {"path": "a"}, 404, "nothing"),
        ("main~x", {"path": "a"}, 400, "main~x"),
        ("main", {"path": "p" * 1025}, 400, "path"),
    ],
)
def test_a_bad_stat_names_the_mistake(api, ref, parameters, status, named):
    api.upload("a")
    reply = api.ask("GET", f"{REPO}/refs/{ref}/objects/stat", **parameters)
    assert reply.status == status
    assert named in reply.message


def test_a_listing_folds_and_pages(api):
    for path in ("a", "dir/1", "dir/2", "z"):
        api.upload(path, headers={"x-lakefs-meta-k": "v"})
    page = api.ask("GET", f"{READ}/ls", delimiter="/", amount=2).json
    models.ObjectStatsList.from_dict(page)
    assert [row["path"] for row in page["results"]] == ["a", "dir/"]
    assert page["results"][1] == {
        "path": "dir/",
        "path_type": "common_prefix",
        "physical_address": "",
        "checksum": "",
        "size_bytes": 0,
        "mtime": 0,
    }
    assert page["pagination"]["next_offset"] == "dir/"
    rest = api.ask("GET", f"{READ}/ls", delimiter="/", after="dir/").json
    assert [row["path"] for row in rest["results"]] == ["z"]
    assert rest["pagination"] == {
        "has_more": False,
        "next_offset": "",
        "results": 1,
        "max_per_page": 1000,
    }
    under = api.ask("GET", f"{READ}/ls", prefix="dir/", after="dir/1").json
    assert [row["path"] for row in under["results"]] == ["dir/2"]


def test_a_listing_may_presign_and_leave_metadata_out(api):
    api.upload("a", b"hello", headers={"x-lakefs-meta-k": "v"})
    [row] = api.ask("GET", f"{READ}/ls", presign="true", user_metadata="false").json["results"]
    assert row["metadata"] == {}
    assert api.world.objects.request_presigned(row["physical_address"]) == b"hello"


def test_listing_an_unknown_ref_is_404(api):
    assert api.ask("GET", f"{REPO}/refs/nothing/objects/ls").status == 404


def test_deleting_a_missing_object_succeeds(api):
    api.upload("a")
    assert api.ask("DELETE", OBJECTS, path="a").status == 204
    assert api.ask("DELETE", OBJECTS, path="a").status == 204
    assert api.paths() == []
    assert api.ask("DELETE", OBJECTS).status == 400
    assert api.ask("DELETE", f"{REPO}/branches/nothing/objects", path="a").status == 404


def test_many_are_deleted_at_once(api):
    for path in ("a", "b", "c"):
        api.upload(path)
    reply = api.ask("POST", f"{OBJECTS}/delete", {"paths": ["a", "", "missing", "b"]})
    assert reply.status == 200
    models.ObjectErrorList.from_dict(reply.json)
    assert reply.json == {"errors": []}
    assert api.paths() == ["c"]


def test_a_path_that_cannot_be_deleted_is_returned_with_its_status(api):
    api.upload("a")
    long = "p" * 1025
    reply = api.ask("POST", f"{OBJECTS}/delete", {"paths": ["a", long]}).json
    [error] = models.ObjectErrorList.from_dict(reply).errors
    assert (error.path, error.status_code) == (long, 400)
    assert api.paths() == []
    api.upload("b")
    rules = f"{REPO}/settings/branch_protection"
    api.ask("PUT", rules, [{"pattern": "main"}])
    [refused] = api.ask("POST", f"{OBJECTS}/delete", {"paths": ["b"]}).json["errors"]
    assert refused["status_code"] == 403
    assert api.paths() == ["b"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"paths": ["a"] * 1001}, "1001"),
        ({"paths": "a"}, "paths"),
        ({"paths": ["a", None]}, "paths"),
        ({}, "paths"),
    ],
)
def test_a_bad_bulk_delete_deletes_nothing(api, body, named):
    api.upload("a")
    reply = api.ask("POST", f"{OBJECTS}/delete", body)
    assert reply.status == 400
    assert named in reply.message
    assert api.paths() == ["a"]


def test_a_copy_is_an_object_of_its_own(api):
    made = api.upload("a", b"hello", headers={"x-lakefs-meta-k": "v"})
    reply = api.ask("POST", f"{OBJECTS}/copy", {"src_path": "a"}, dest_path="b")
    assert reply.status == 201
    models.ObjectStats.from_dict(reply.json)
    assert reply.json["physical_address"] != made["physical_address"]
    assert reply.json["metadata"] == {"k": "v"}
    assert api.ask("GET", READ, path="b").content == b"hello"
    api.branch("dev")
    reply = api.ask(
        "POST",
        f"{REPO}/branches/dev/objects/copy",
        {"src_path": "a", "src_ref": "main"},
        dest_path="c",
    )
    assert reply.status == 201


def test_a_shallow_copy_has_the_data_of_its_source(api):
    source = api.upload("a", b"data", headers={"x-lakefs-meta-k": "v"})
    body = {"src_path": "a", "shallow": True}
    reply = api.ask("POST", f"{OBJECTS}/copy", body, dest_path="b")
    assert reply.status == 201
    models.ObjectStats.from_dict(reply.json)
    for field in ("physical_address", "checksum", "size_bytes", "metadata", "content_type"):
        assert reply.json[field] == source[field]
    assert api.paths() == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "parameters", "status", "named"),
    [
        ({"src_path": "nothing"}, {"dest_path": "b"}, 404, "nothing"),
        ({"src_path": "a", "src_ref": "nowhere"}, {"dest_path": "b"}, 404, "nowhere"),
        ({"src_path": "a"}, {}, 400, '"dest_path"'),
        ({}, {"dest_path": "b"}, 400, "src_path"),
        ({"src_path": ""}, {"dest_path": "b"}, 400, "path"),
        ({"src_path": "nothing", "shallow": True}, {"dest_path": "b"}, 404, "nothing"),
        ({"src_path": "a", "shallow": "yes"}, {"dest_path": "b"}, 400, "shallow"),
    ],
)
def test_a_bad_copy_copies_nothing(api, body, parameters, status, named):
    api.upload("a")
    reply = api.ask("POST", f"{OBJECTS}/copy", body, **parameters)
    assert reply.status == status
    assert named in reply.message
    assert api.paths() == ["a"]


def test_user_metadata_are_replaced_whole(api):
    api.upload("a", headers={"x-lakefs-meta-old": "1"})
    path = f"{OBJECTS}/stat/user_metadata"
    assert api.ask("PUT", path, {"set": {"new": "2"}}, path="a").status == 204
    assert api.ask("GET", f"{READ}/stat", path="a").json["metadata"] == {"new": "2"}
    assert api.ask("PUT", path, {"set": {}}, path="nothing").status == 404
    for body, named in (({}, "set"), ({"set": {"a": 1}}, "set")):
        reply = api.ask("PUT", path, body, path="a")
        assert reply.status == 400
        assert named in reply.message
    assert api.ask("GET", f"{READ}/stat", path="a").json["metadata"] == {"new": "2"}


STAGED = {
    "physical_address": "s3://elsewhere/data/x",
    "checksum": '"abc"',
    "size_bytes": 7,
    "mtime": 1_600_000_000,
    "metadata": {"k": "v"},
    "content_type": "text/csv",
}


def test_an_object_stored_elsewhere_is_staged_as_described(api):
    reply = api.ask("PUT", OBJECTS, STAGED, path="a")
    assert reply.status == 201
    models.ObjectStats.from_dict(reply.json)
    assert reply.json == {
        **STAGED,
        "path": "a",
        "path_type": "object",
        "checksum": "abc",
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"physical_address": "no uri"}, "physical address"),
        ({"physical_address": "s3://../x"}, "physical address"),
        ({"physical_address": "s3://./x"}, "physical address"),
        ({"physical_address": "s3://a b/x"}, "physical address"),
        ({"physical_address": "s3://x--x-s3/x"}, "physical address"),
        ({"physical_address": f"s3://{'b' * 34}o00000000--op-s3/x"}, "physical address"),
        ({"physical_address": "s3://arn:aws:s3:::x/y"}, "physical address"),
        ({"checksum": ""}, "checksum"),
        ({"size_bytes": -1}, "size_bytes"),
        ({"size_bytes": None}, "size_bytes"),
        ({"size_bytes": 2**63}, "size_bytes"),
        ({"mtime": 2**62}, "mtime"),
        ({"metadata": {"k": 1}}, "metadata"),
    ],
)
def test_a_bad_stage_stages_nothing(api, change, named):
    reply = api.ask("PUT", OBJECTS, {**STAGED, **change}, path="a")
    assert reply.status == 400
    assert named in reply.message
    assert api.paths() == []


def test_one_learns_beforehand_whether_one_may_write(api):
    path = f"{OBJECTS}/stage_allowed"
    assert api.ask("GET", path, path="a").status == 204
    assert api.ask("GET", path).status == 400
    assert api.ask("GET", f"{REPO}/branches/nothing/objects/stage_allowed", path="a").status == 404
    assert api.paths() == []


def test_underlying_properties_need_underlying_data(api):
    made = api.upload("a")
    path = f"{READ}/underlyingProperties"
    reply = api.ask("GET", path, path="a")
    models.UnderlyingObjectProperties.from_dict(reply.json)
    assert api.ask("GET", path, path="nothing").status == 404
    api.world.objects.delete(made["physical_address"])
    assert api.ask("GET", path, path="a").status == 410
