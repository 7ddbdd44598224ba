"""Deletions: one object or many, each with its own outcome, and conditions that protect objects."""

import base64
import hashlib
from xml.sax.saxutils import escape

import pytest

from tests.support.checks.cases import for_each
from tests.support.fakes.access import EVERYTHING, allowing, denying
from tests.support.worlds.gateway_stack import UNSIGNED, GatewayStack

CONTENT = b"content"
ETAG = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture
def stack():
    made = GatewayStack()
    for key in ("a", "b", "dir/c"):
        made.put(f"main/{key}", CONTENT)
    return made


def left(stack):
    return stack.keys({"prefix": "main/"})


def delete(stack, *keys, quiet=False, **more):
    rows = "".join(
        f"<Object><Key>{escape(key)}</Key>{f'<ETag>{etag}</ETag>' if etag else ''}</Object>"
        for key, etag in (each if isinstance(each, tuple) else (each, "") for each in keys)
    )
    body = f"<Delete>{'<Quiet>true</Quiet>' if quiet else ''}{rows}</Delete>".encode()
    return stack.ask("POST", "/repo", body, query={"delete": ""}, **more)


@pytest.mark.parametrize("key", ["a", "missing", "dir/c"])
def test_a_deletion_leaves_the_others(stack, key):
    assert stack.ask("DELETE", f"/repo/main/{key}").status == 204
    assert left(stack) == [f"main/{each}" for each in ("a", "b", "dir/c") if each != key]
    assert stack.ask("HEAD", f"/repo/main/{key}").status == 404


@pytest.mark.parametrize(
    ("key", "header", "status"),
    [
        ("a", f'"{ETAG}"', 204),
        ("a", "*", 204),
        ("a", '"other"', 412),
        ("missing", "*", 204),
        ("missing", f'"{ETAG}"', 204),
    ],
)
def test_a_deletion_may_require_the_object(stack, key, header, status):
    reply = stack.ask("DELETE", f"/repo/main/{key}", headers={"if-match": header})
    assert reply.status == status
    assert (f"main/{key}" in left(stack)) == (status == 412)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("x-amz-if-match-size", "7"),
        ("x-amz-if-match-last-modified-time", "Wed, 01 Jan 2015 00:00:00 GMT"),
    ],
)
def test_an_object_is_not_deleted_by_conditions_that_only_directory_buckets_have(
    stack, header, value
):
    reply = stack.ask("DELETE", "/repo/main/a", headers={header: value})
    assert (reply.status, reply.code) == (501, "NotImplemented")
    assert "main/a" in left(stack)


def test_many_are_deleted_and_reported(stack):
    reply = delete(stack, "main/a", "main/dir/c", "main/missing")
    assert reply.status == 200
    assert sorted(reply.texts("Deleted/Key")) == ["main/a", "main/dir/c", "main/missing"]
    assert (reply.texts("Error"), left(stack)) == ([], ["main/b"])


def test_a_quiet_deletion_reports_errors_only(stack):
    reply = delete(stack, "main/a", "missing/b", quiet=True)
    assert reply.texts("Deleted") == []
    assert reply.texts("Error/Key") == ["missing/b"]
    assert left(stack) == ["main/b", "main/dir/c"]


@pytest.mark.parametrize("key", ["main/a b", "main/é", "main/<&>", "main/a\\b"])
def test_odd_keys_are_deleted(stack, key):
    stack.put(key)
    assert delete(stack, key).texts("Deleted/Key") == [key]
    assert key not in left(stack)


@pytest.mark.parametrize(
    ("etag", "code"), [(f"&quot;{ETAG}&quot;", None), (ETAG, None), ("*", None), ("other", "P")]
)
def test_an_entity_tag_protects_its_object_only(stack, etag, code):
    reply = delete(stack, ("main/a", etag), "main/b")
    assert reply.status == 200
    assert "main/b" in reply.texts("Deleted/Key")
    if code is None:
        assert (reply.texts("Error"), left(stack)) == ([], ["main/dir/c"])
    else:
        assert reply.texts("Error/Code") == ["PreconditionFailed"]
        assert left(stack) == ["main/a", "main/dir/c"]


@pytest.mark.parametrize("etag", [ETAG, "*"])
def test_a_deletion_with_an_entity_tag_can_be_repeated(stack, etag):
    assert delete(stack, ("main/missing", etag)).texts("Deleted/Key") == ["main/missing"]


def test_objects_of_several_branches_are_deleted(stack):
    stack.commit()
    stack.branch("dev")
    reply = delete(stack, "main/a", "dev/b", "missing/c", "main", "main/")
    assert sorted(reply.texts("Deleted/Key")) == ["dev/b", "main", "main/", "main/a"]
    assert (reply.texts("Error/Key"), reply.texts("Error/Code")) == (
        ["missing/c"],
        ["NoSuchBucket"],
    )
    assert stack.keys({"prefix": "dev/"}) == ["dev/a", "dev/dir/c"]


def test_rights_are_checked_for_each_object(stack):
    stack.may(*EVERYTHING, denying(("fs:DeleteObject", "arn:lakefs:fs:::repository/repo/object/b")))
    reply = delete(stack, "main/a", "main/b", ("main/b", ETAG))
    assert reply.texts("Deleted/Key") == ["main/a"]
    assert reply.texts("Error/Code") == ["AccessDenied"]
    assert left(stack) == ["main/b", "main/dir/c"]


def test_a_user_without_rights_learns_nothing_of_branches(stack):
    stack.may(allowing(("fs:ReadObject", "*")))
    reply = delete(stack, "main/a", "missing/a")
    assert reply.texts("Error/Code") == ["AccessDenied", "AccessDenied"]


def test_a_protected_branch_keeps_its_objects(stack):
    stack.protect("main")
    assert delete(stack, "main/a", "main/b").texts("Error/Code") == ["AccessDenied"] * 2
    assert len(left(stack)) == 3


@pytest.mark.parametrize("version", ["other", "null", ""])
def test_a_version_is_not_taken_for_the_object(stack, version):
    body = (
        f"<Delete><Object><Key>main/a</Key><VersionId>{version}</VersionId></Object></Delete>"
    ).encode()
    reply = stack.ask("POST", "/repo", body, query={"delete": ""})
    if version == "other":
        assert reply.texts("Error/Code") == ["NoSuchVersion"]
        assert "main/a" in left(stack)
    else:
        assert reply.texts("Deleted/Key") == ["main/a"]


def test_a_document_is_checked_by_its_md5(stack):
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    reply = delete(stack, "main/a", content_sha256=UNSIGNED, headers={"content-md5": wrong})
    assert (reply.status, reply.code) == (400, "BadDigest")
    assert "main/a" in left(stack)


@for_each(
    ("document", "code"),
    [
        (b"", "MalformedXML"),
        (b"<Delete/>", "MalformedXML"),
        (b"<Delete><Object/></Delete>", "MalformedXML"),
        (b"<Other><Object><Key>main/a</Key></Object></Other>", "MalformedXML"),
        (b"<Delete>" + b"<Object><Key>main/a</Key></Object>" * 1001 + b"</Delete>", "MalformedXML"),
        (
            b"<Delete><Object><Key>main/a</Key><Size>1</Size></Object></Delete>",
            "NotImplemented",
        ),
        (b"<Delete><Object><Key>main/a</Key></Object>" + b" " * 8 * 2**20, "EntityTooLarge"),
    ],
)
def test_a_malformed_document_deletes_nothing(stack, document, code):
    reply = stack.ask("POST", "/repo", document, query={"delete": ""})
    assert (reply.code, len(left(stack))) == (code, 3)
