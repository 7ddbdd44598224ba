"""Every operation answers; its refusals are S3's, and leave the body unread and the lake alone."""

import pytest

from graveler_gateway.operations.table import _SUB_RESOURCES, _UNSERVED_HEADERS, OPERATIONS
from tests.support.checks.cases import for_each
from tests.support.fakes.access import EVERYTHING, denying
from tests.support.worlds.gateway_calls import REQUESTS, prepared
from tests.support.worlds.gateway_stack import REPO, GatewayStack

# A form's rights are among its fields, so it needs tests of its own.
FORMS = {"PostObject"}


def by_name(names=tuple(REQUESTS)):
    return for_each("name", names)


def test_every_operation_has_a_request():
    assert set(REQUESTS) == {row.name for row in OPERATIONS} - FORMS


@by_name()
def test_every_operation_answers(name):
    reply = REQUESTS[name].send(prepared())
    assert (reply.operation, reply.status, reply.error) == (name, REQUESTS[name].status, "")
    assert reply.headers["x-amz-request-id"] == reply.headers["x-amz-id-2"] != ""


@pytest.mark.parametrize(
    ("name", "action"), [(name, action) for name in REQUESTS for action in REQUESTS[name].actions]
)
def test_a_user_without_a_permission_is_refused_before_the_body_is_read(name, action):
    world = prepared()
    before = world.stack.world.objects.contents()
    world.stack.may(*EVERYTHING, denying((action, "*")))
    request = REQUESTS[name]
    reply = request.send(world)
    if name == "ListBuckets":  # shows those that the user may see
        assert (reply.status, reply.texts("Buckets/Bucket")) == (200, [])
    elif name == "DeleteObjects":  # answers for each object
        assert (reply.status, reply.text("Error/Code")) == (200, "AccessDenied")
        assert reply.texts("Deleted") == []
    else:
        assert reply.status == 403
        assert request.method == "HEAD" or reply.code == "AccessDenied"
        assert reply.reads == 0
    assert world.stack.world.objects.contents() == before
    world.stack.may(*EVERYTHING)
    assert world.stack.get("main/a") == b"content"


@by_name()
def test_a_user_without_rights_is_refused(name):
    world = prepared()
    world.stack.may()
    reply = REQUESTS[name].send(world)
    assert reply.status == 403 or reply.text("Error/Code") == "AccessDenied"


@by_name()
@for_each("wrong", ["unsigned", "secret", "key", "path"])
def test_a_wrong_signature_is_refused_before_the_body_is_read(name, wrong):
    world, request = prepared(), REQUESTS[name]
    stack = world.stack
    if wrong == "secret":
        stack.credentials.secret_key = "wrong"
    elif wrong == "key":
        stack.credentials.access_key = "AKIAOTHER"
    if wrong in {"secret", "key"}:
        reply = request.send(world)
    else:
        head = stack.signed(request.method, request.path, query=request.query)
        other = [pair for pair in head.headers if pair[0] != "authorization"]
        changed = type(head)(
            head.method,
            head.raw_path if wrong == "unsigned" else head.raw_path + "x",
            head.raw_query,
            other if wrong == "unsigned" else head.headers,
        )
        reply = stack.send(changed)
    expected = {"unsigned": "AccessDenied", "key": "InvalidAccessKeyId"}
    assert (reply.status, reply.reads) == (403, 0)
    assert request.method == "HEAD" or reply.code == expected.get(wrong, "SignatureDoesNotMatch")


MISSING = {name: "NoSuchBucket" for name in REQUESTS if name not in {"ListBuckets", "CreateBucket"}}


@by_name(tuple(MISSING))
@for_each("other", ["missing", "Not_A-Name", "x"])
def test_a_missing_repository_is_no_such_bucket(name, other):
    world = prepared()
    reply = REQUESTS[name].send(
        world, lambda text: text.replace(f"/{REPO}", f"/{other}") if text[:1] == "/" else text
    )
    assert reply.status == 404
    assert REQUESTS[name].method == "HEAD" or reply.code == "NoSuchBucket"


# Objects


WRITES = [
    name
    for name, request in REQUESTS.items()
    if request.method in {"PUT", "POST", "DELETE"} and request.path.count("/") > 1
]
OF_UPLOADS = {"UploadPart", "UploadPartCopy", "CompleteMultipartUpload", "AbortMultipartUpload"}


@by_name(sorted(set(WRITES) - OF_UPLOADS))
@for_each("ref", ["missing", "v1", "main~1", "main@"])
def test_a_write_to_what_is_no_branch_changes_nothing(name, ref):
    world = prepared()
    before = world.stack.world.objects.contents()
    reply = REQUESTS[name].send(world, lambda text: text.replace("/main/", f"/{ref}/", 1))
    assert 400 <= reply.status < 500
    assert reply.code in {"NoSuchBucket", "NoSuchKey", "InvalidArgument"}
    assert world.stack.world.objects.contents() == before


@by_name(sorted(set(WRITES) & OF_UPLOADS))
def test_an_unknown_upload_is_said_to_be_so(name):
    world = prepared()
    reply = REQUESTS[name].send(world, lambda text: text.replace(world.upload_id, "other"))
    assert (reply.status, reply.code) == (404, "NoSuchUpload")


# What is not served


def test_no_request_for_what_is_not_served_touches_an_object():
    stack = GatewayStack()
    stack.put("main/a", b"old")
    served = {name for row in OPERATIONS for name in row.parameters}
    for name in sorted(_SUB_RESOURCES - served):
        for method in ("PUT", "POST", "DELETE"):
            for path in ("/repo/main/a", "/repo"):
                reply = stack.ask(method, path, b"new", query={name: ""})
                assert (reply.status, reply.code) == (501, "NotImplemented"), (name, method)
                assert reply.reads == 0
                assert name in reply.text("Message")
    assert stack.get("main/a") == b"old"


@for_each("name", sorted({name for row in OPERATIONS for name in row.parameters}))
def test_a_sub_resource_where_it_has_no_operation_touches_no_object(name):
    stack = GatewayStack()
    stack.put("main/a", b"old")
    for method in ("PUT", "POST", "DELETE"):
        stack.ask(method, "/repo/main/a", b"new", query={name: "x"})
        assert stack.get("main/a") == b"old"


@for_each("name", sorted(_UNSERVED_HEADERS))
def test_a_header_of_what_is_not_served_is_refused(name):
    stack = GatewayStack()
    stack.put("main/a", b"old")
    reply = stack.ask("PUT", "/repo/main/a", b"new", headers={name: "any"})
    assert (reply.status, reply.code, reply.reads) == (501, "NotImplemented", 0)
    assert stack.get("main/a") == b"old"


@for_each("method", ["PUT", "DELETE", "GET"])
@for_each("query", [{}, {"tagging": ""}])
def test_an_unknown_version_is_not_taken_for_the_object(method, query):
    stack = GatewayStack()
    stack.put("main/a", b"old", x_amz_tagging="k=v")
    body = b"<Tagging><TagSet></TagSet></Tagging>" if method == "PUT" else b""
    reply = stack.ask(method, "/repo/main/a", body, query={"versionId": "other", **query})
    assert (reply.status, reply.code, reply.reads) == (404, "NoSuchVersion", 0)
    assert stack.get("main/a") == b"old"
    assert stack.ask("GET", "/repo/main/a").headers["x-amz-tagging-count"] == "1"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_the_version_of_objects_without_versions_is_the_object(method):
    stack = GatewayStack()
    stack.put("main/a", b"old")
    for version in ("null", ""):  # lakeFS ignores an empty one, and so does DeleteObjects
        assert stack.ask(method, "/repo/main/a", query={"versionId": version}).status in {200, 204}


@for_each(
    ("method", "path"), [("POST", "/"), ("DELETE", "/"), ("PATCH", "/repo/main/a"), ("PUT", "/")]
)
def test_a_method_without_operation_is_not_allowed(method, path):
    reply = GatewayStack().ask(method, path)
    assert (reply.status, reply.code) == (405, "MethodNotAllowed")


# Errors


def test_an_errors_document_names_the_resource_and_the_request():
    reply = GatewayStack().ask("GET", "/repo/main/no%20such&<key>")
    assert (reply.status, reply.headers["content-type"]) == (404, "application/xml")
    assert reply.document.tag == "Error"
    assert reply.text("Resource") == "/repo/main/no%2520such%26%3Ckey%3E"
    assert reply.text("Key") == "main/no%20such&<key>"
    assert reply.text("RequestId") == reply.headers["x-amz-request-id"]


def test_a_fault_of_ours_is_an_internal_error_that_says_nothing(monkeypatch):
    stack = GatewayStack()
    monkeypatch.setattr(stack.world.refs, "repository", lambda *_: 1 / 0, raising=True)
    reply = stack.ask("HEAD", "/repo")
    assert (reply.status, reply.content) == (500, b"")
    assert "ZeroDivisionError" in reply.error
