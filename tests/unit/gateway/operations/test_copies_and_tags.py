"""Copies keep or replace what describes an object; tags are committed and merged with it."""

import hashlib
from typing import Any
from urllib.parse import quote

import pytest

from graveler.operations import merges, objects, writes
from graveler.user_metadata import s3_metadata
from graveler_gateway.lake.api.objects import ApiObjects
from graveler_gateway.lake.engine.objects import EngineObjects
from tests.support.checks.cases import for_each
from tests.support.worlds.gateway_calls import TAGGING
from tests.support.worlds.gateway_stack import REPO, GatewayStack

CONTENT = b"content"
ETAG = hashlib.md5(CONTENT).hexdigest()
COPY, COPY_TAGS = "x-amz-metadata-directive", "x-amz-tagging-directive"


@pytest.fixture
def stack():
    made = GatewayStack()
    made.repository("other")
    made.put(
        "main/a", CONTENT, content_type="text/csv", x_amz_meta_owner="ann", x_amz_tagging="k=v"
    )
    return made


def copy(stack, source="repo/main/a", target="/repo/main/b", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return stack.ask("PUT", target, headers={"x-amz-copy-source": source, **named})


def described(stack, key="main/b", repository=REPO):
    ref, _, path = key.partition("/")
    entry = objects.stat(stack.engine, repository, ref, path.encode()).entry
    reply = stack.ask("GET", f"/{repository}/{key}", query={"tagging": ""})
    pairs = reply.texts("TagSet/Tag/Key"), reply.texts("TagSet/Tag/Value")
    metadata = s3_metadata(
        {name: entry.metadata[name] for name in entry.metadata if ":" not in name}
    )
    return entry.content_type, metadata, dict(zip(*pairs, strict=True))


@pytest.mark.parametrize("target", ["/repo/main/b", "/repo/dev/a", "/other/main/c/d"])
@pytest.mark.parametrize("source", ["repo/main/a", "/repo/main/a", "repo%2Fmain%2Fa"])
def test_a_copy_is_the_source(stack, target, source):
    stack.commit()
    stack.branch("dev")
    reply = copy(stack, source, target)
    assert (reply.status, reply.text("ETag")) == (200, f'"{ETAG}"')
    assert stack.ask("GET", target).content == CONTENT
    repository, _, key = target[1:].partition("/")
    assert described(stack, key, repository) == ("text/csv", {"owner": "ann"}, {"k": "v"})


@pytest.mark.parametrize("is_part", [False, True])
def test_a_copy_of_collected_data_is_gone_and_names_the_source(stack, is_part):
    begun = stack.ask("POST", "/repo/main/b", query={"uploads": ""})
    part = {"uploadId": begun.text("UploadId"), "partNumber": "1"}
    stack.world.objects.delete(objects.stat(stack.engine, REPO, "main", b"a").physical_address)
    reply = stack.ask(
        "PUT",
        "/repo/main/b",
        query=part if is_part else "",
        headers={"x-amz-copy-source": "repo/main/a"},
    )
    assert (reply.status, reply.code) == (410, "NoSuchVersion")
    assert reply.text("Message").startswith("s3://repo/main/a has no data")


@pytest.mark.parametrize("source", ["repo/dev:joe/a", "repo/dev%3Ajoe/a", "repo%2Fdev%3ajoe%2Fa"])
def test_a_branch_with_a_colon_is_written_copied_and_read(stack, source):
    stack.branch("dev:joe")
    stack.put("dev:joe/a", b"new")
    assert copy(stack, source, "/repo/dev:joe/b").status == 200
    assert stack.get("dev:joe/b") == b"new"


def test_a_copy_has_data_of_its_own(stack):
    copy(stack)
    addresses = {
        objects.stat(stack.engine, REPO, "main", path).physical_address for path in (b"a", b"b")
    }
    assert len(addresses) == 2


@pytest.mark.parametrize("ref", ["{commit}", "v1", "main~1", "main@"])
def test_an_older_version_is_copied(stack, ref):
    commit = stack.commit()
    stack.tag("v1", commit)
    stack.put("main/a", b"new")
    stack.commit()
    reply = copy(stack, quote(f"repo/{ref.format(commit=commit)}/a"))
    expected = b"new" if ref == "main@" else CONTENT
    assert (reply.status, stack.get("main/b")) == (200, expected)


REPLACED = {"x_amz_meta_new": "yes", "content_type": "text/plain", "x_amz_tagging": "t=1"}


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ({}, ("text/csv", {"owner": "ann"}, {"k": "v"})),
        ({COPY: "COPY", COPY_TAGS: "COPY"}, ("text/csv", {"owner": "ann"}, {"k": "v"})),
        ({COPY: "REPLACE"}, ("text/plain", {"new": "yes"}, {"k": "v"})),
        ({COPY_TAGS: "REPLACE"}, ("text/csv", {"owner": "ann"}, {"t": "1"})),
        ({COPY: "REPLACE", COPY_TAGS: "REPLACE"}, ("text/plain", {"new": "yes"}, {"t": "1"})),
    ],
)
@pytest.mark.parametrize("target", ["b", "a"])
def test_a_copy_replaces_what_its_directives_say(stack, directives, expected, target):
    reply = copy(stack, target=f"/repo/main/{target}", **REPLACED, **directives)
    if target == "a" and "REPLACE" not in directives.values():
        assert (reply.status, reply.code) == (400, "InvalidRequest")
    else:
        assert (reply.status, described(stack, f"main/{target}")) == (200, expected)
        assert stack.get(f"main/{target}") == CONTENT


@pytest.mark.parametrize("name", [COPY, COPY_TAGS])
def test_an_unknown_directive_is_refused(stack, name):
    reply = copy(stack, **{name: "MERGE"})
    assert (reply.status, reply.code, reply.reads) == (400, "InvalidArgument", 0)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x_amz_copy_source_if_match": ETAG}, 200),
        ({"x_amz_copy_source_if_match": "other"}, 412),
        ({"x_amz_copy_source_if_none_match": ETAG}, 412),
        ({"x_amz_copy_source_if_none_match": "other"}, 200),
        ({"x_amz_copy_source_if_modified_since": "Wed, 15 Nov 2023 20:00:00 GMT"}, 412),
        ({"x_amz_copy_source_if_unmodified_since": "Tue, 14 Nov 2023 20:00:00 GMT"}, 412),
        ({"if_none_match": "*"}, 200),
    ],
)
def test_a_condition_decides_about_a_copy(stack, headers, status):
    assert copy(stack, **headers).status == status
    assert stack.ask("HEAD", "/repo/main/b").status == (200 if status == 200 else 404)


def test_a_copy_over_an_object_may_require_it(stack):
    stack.put("main/b", b"old")
    assert copy(stack, if_none_match="*").code == "PreconditionFailed"
    assert copy(stack, if_match='"other"').code == "PreconditionFailed"
    assert stack.get("main/b") == b"old"


@for_each(
    ("source", "status", "code"),
    [
        ("repo/main/missing", 404, "NoSuchKey"),
        ("repo/missing/a", 404, "NoSuchKey"),
        ("repo/b%20d/a", 404, "NoSuchKey"),
        ("missing/main/a", 404, "NoSuchBucket"),
        ("Bad_Name/main/a", 404, "NoSuchBucket"),
        ("repo/main", 400, "InvalidArgument"),
        ("repo", 400, "InvalidArgument"),
        ("", 400, "InvalidArgument"),
        ("repo/main/%FF", 400, "InvalidArgument"),
        ("repo/main/a?versionId=x", 501, "NotImplemented"),
    ],
)
def test_a_source_that_is_none_is_refused(stack, source, status, code):
    reply = copy(stack, source)
    assert (reply.status, reply.code, reply.reads) == (status, code, 0)


# Tags


def test_tags_are_put_counted_replaced_and_deleted(stack):
    stack.put("main/b", b"", x_amz_meta_owner="ann")
    assert "x-amz-tagging-count" not in stack.ask("HEAD", "/repo/main/b").headers
    stack.ask("PUT", "/repo/main/b", TAGGING, query={"tagging": ""})
    assert described(stack)[1:] == ({"owner": "ann"}, {"k": "v"})
    assert stack.ask("HEAD", "/repo/main/b").headers["x-amz-tagging-count"] == "1"
    other = TAGGING.replace(b">v<", b">w \xc3\xa9&amp;=<")
    stack.ask("PUT", "/repo/main/b", other, query={"tagging": ""})
    assert described(stack)[1:] == ({"owner": "ann"}, {"k": "w é&="})
    assert stack.ask("DELETE", "/repo/main/b", query={"tagging": ""}).status == 204
    assert described(stack)[1:] == ({"owner": "ann"}, {})
    assert stack.ask("DELETE", "/repo/main/b", query={"tagging": ""}).status == 204


def test_tags_leave_metadata_that_changed_meanwhile(stack, home, monkeypatch):
    lake: Any = EngineObjects if home == "engine" else ApiObjects
    describe = lake.describe

    def describe_later(*args):
        writes.set_user_metadata(stack.engine, REPO, "main", b"a", {"new": "yes"})
        describe(*args)

    monkeypatch.setattr(lake, "describe", describe_later)
    stack.ask("PUT", "/repo/main/a", TAGGING.replace(b">v<", b">w<"), query={"tagging": ""})
    assert described(stack, "main/a")[1:] == ({"new": "yes"}, {"k": "w"})


@for_each("key", ["main/missing", "main"])
@for_each("method", ["GET", "PUT", "DELETE"])
def test_tags_of_no_object_are_no_such_key(stack, method, key):
    body = TAGGING if method == "PUT" else b""
    reply = stack.ask(method, f"/repo/{key}", body, query={"tagging": ""})
    assert (reply.status, reply.code, reply.reads) == (404, "NoSuchKey", 0)


@for_each(
    ("document", "code"),
    [
        (b"", "MalformedXML"),
        (b"<Tagging>", "MalformedXML"),
        (b"<!DOCTYPE a><Tagging><TagSet/></Tagging>", "MalformedXML"),
        (TAGGING.replace(b"<Key>k</Key>", b"<Key></Key>"), "MalformedXML"),
        (TAGGING.replace(b">k<", b">" + b"k" * 129 + b"<"), "InvalidTag"),
        (TAGGING.replace(b">v<", b">" + b"v" * 257 + b"<"), "InvalidTag"),
    ],
)
def test_malformed_tags_change_nothing(stack, document, code):
    reply = stack.ask("PUT", "/repo/main/a", document, query={"tagging": ""})
    assert reply.status == 400
    assert reply.code in {code, "InvalidTag"}
    assert described(stack, "main/a")[2] == {"k": "v"}


def test_tags_survive_commit_and_merge(stack):
    stack.commit()
    stack.branch("dev")
    stack.ask("PUT", "/repo/dev/a", TAGGING.replace(b">v<", b">dev<"), query={"tagging": ""})
    commit = stack.commit("dev")
    assert described(stack, f"{commit}/a")[2] == {"k": "dev"}
    assert described(stack, "main/a")[2] == {"k": "v"}
    merges.merge(stack.engine, REPO, "dev", "main", merges.MergeRequest("bob"))
    assert described(stack, "main/a") == ("text/csv", {"owner": "ann"}, {"k": "dev"})
    assert stack.get("main/a") == CONTENT


def test_a_header_of_metadata_does_not_show_tags(stack):
    headers = stack.ask("HEAD", "/repo/main/a").headers
    assert [name for name in headers if name.startswith("x-amz-meta")] == ["x-amz-meta-owner"]
    assert "x-amz-missing-meta" not in headers


# Attributes


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("ETag", {"ETag": ETAG}),
        ("ETag,ObjectSize", {"ETag": ETAG, "ObjectSize": "7"}),
        ("StorageClass, Checksum,ObjectParts", {"StorageClass": "STANDARD"}),
    ],
)
def test_attributes_are_those_that_are_asked_for(stack, named, expected):
    headers = {"x-amz-object-attributes": named}
    reply = stack.ask("GET", "/repo/main/a", query={"attributes": ""}, headers=headers)
    assert {element.tag.partition("}")[2]: element.text for element in reply.document} == expected


@for_each("headers", [{}, {"x-amz-object-attributes": "Other"}])
def test_unknown_attributes_are_refused(stack, headers):
    reply = stack.ask("GET", "/repo/main/a", query={"attributes": ""}, headers=headers)
    assert (reply.status, reply.code) == (400, "InvalidArgument")
