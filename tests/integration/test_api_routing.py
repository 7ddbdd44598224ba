"""What is true of every operation: credentials first, one shape of errors, nothing unforeseen."""

import gzip
import inspect
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from lakefs_sdk import api as sdk_api

from graveler.errors import AlreadyExistsError, ThrottledError
from graveler_functions.api.all_operations import OPERATIONS, OTHERS, TEMPLATES
from graveler_functions.api.app import SERVICE
from graveler_functions.api.frequent_operations import FREQUENT
from graveler_functions.api.routes import (
    audit,
    collection_runs,
    exports,
    history,
    many_writes,
    prefixes,
    presigned,
    recorded_uploads,
    reviews,
    rights,
    sessions,
    tasks,
)
from graveler_functions.api.routing import Template
from graveler_functions.api.unserved import UNSERVED
from tests.support.checks.cases import for_each
from tests.support.checks.lines import lines_of
from tests.support.clients.api import ApiClient, event

# Continuous export, which today's lakeFS does not have, and more.
OURS = (
    *(
        audit,
        collection_runs,
        exports,
        history,
        many_writes,
        tasks,
        prefixes,
        presigned,
        recorded_uploads,
        reviews,
        rights,
    ),
    sessions,
)


def filled(path: str) -> str:
    return "/api/v1" + re.sub(r"<\w+>", "x1y", path)


def sdk_operations() -> list[tuple[str, str]]:
    """Method and path of everything that the official client can ask."""
    found = []
    for module in vars(sdk_api).values():
        if inspect.isclass(module):
            source = inspect.getsource(module)
            found += re.findall(r"'(/[^']*)', '(GET|HEAD|POST|PUT|DELETE|PATCH)'", source)
    return [(method, path) for path, method in found]


@pytest.fixture
def log(monkeypatch):
    """What the function writes to its log."""
    return lines_of(monkeypatch, SERVICE)


@pytest.fixture(scope="module")
def api():
    return ApiClient()


def overlap(one: Template, other: Template) -> bool:
    """Whether a request may match both."""
    left, right = one.path.split("/"), other.path.split("/")
    return (one.method, len(left)) == (other.method, len(right)) and all(
        ours == theirs or "<" in (ours[:1], theirs[:1])
        for ours, theirs in zip(left, right, strict=True)
    )


def test_a_request_matches_one_operation_whichever_are_tried_first():
    pairs = [
        (one.name, other.name) for one, other in combinations(TEMPLATES, 2) if overlap(one, other)
    ]
    assert pairs == []
    assert overlap(TEMPLATES[0], TEMPLATES[0])


def test_every_operation_is_either_frequent_or_not():
    assert (*FREQUENT, *OTHERS) == OPERATIONS
    assert {"statObject", "listObjects", "uploadObject", "commit"} <= {
        each.template.name for each in FREQUENT
    }


def test_the_tables_hold_all_of_lakefs_s_operations_once():
    count = 138 + sum(len(each.operations.table) for each in OURS)
    assert len({template.name for template in TEMPLATES}) == len(TEMPLATES) == count
    assert len({(t.method, re.sub("<.*?>", "<>", t.path)) for t in TEMPLATES}) == count


def test_the_official_client_finds_every_operation(api):
    asked = sdk_operations()
    assert len(set(asked)) >= 130
    for method, path in set(asked):
        segments = re.sub(r"\{\w+\}", "x", path).split("/")
        known = [t for t in TEMPLATES if t.method == method and t.matches(segments)]
        assert known, f"{method} {path}"


@for_each("template", TEMPLATES, ids=lambda template: template.name)
def test_without_credentials_only_public_operations_answer(api, template):
    reply = api.send(event(template.method, filled(template.path)))
    if template.public:
        assert reply.status != 401 or template.name == "setup"
    elif template.method == "HEAD":
        assert (reply.status, reply.content) == (401, b"")
    else:
        assert (reply.status, reply.message) == (401, "error authenticating request")


@for_each("template", UNSERVED, ids=lambda template: template.name)
def test_an_unserved_operation_is_refused_by_name(api, template):
    reply = api.send(
        event(template.method, filled(template.path), headers={"authorization": api.authorization})
    )
    assert reply.status == 501
    assert template.name in reply.message


@for_each("path", ["/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/repositories/r/nothing"])
def test_an_unknown_path_is_no_endpoint(api, path):
    reply = api.send(event("GET", path))
    assert (reply.status, reply.message) == (404, "invalid API endpoint")


@for_each(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("POST", "/", 404),
        ("GET", "/favicon.ico", 404),
        ("GET", "/repositories", 404),
        ("POST", "/repositories", 404),
        ("GET", "/api", 404),
        ("GET", "/api/v10", 404),
        ("GET", "/api/v2/repositories", 404),
        ("GET", "//api/v1/repositories", 404),
    ],
)
def test_outside_the_api_a_text_shows_where_the_api_is(api, method, path, status):
    reply = api.send(event(method, path, headers={"authorization": api.authorization}))
    assert reply.status == status
    # `lakectl doctor` finds fault with the endpoint unless the answer is JSON.
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"/api/v1" in reply.content


@for_each("path", ["/", "/_health"])
def test_a_probe_may_ask_for_the_head_alone(api, path):
    reply = api.send(event("HEAD", path))
    assert (reply.status, reply.content) == (200, b"")


@for_each(
    ("path", "query", "headers"),
    [
        ("/", "", {"authorization": "AWS4-HMAC-SHA256 Credential=AKIA"}),
        ("/lake/main/a%20b", "", {"authorization": "AWS AKIA:c2ln"}),
        ("/lake/main/a", "X-Amz-Credential=AKIA&X-Amz-Signature=ab", {}),
        ("/main/a", "", {"host": "lake.s3.local.lakefs.io:8000"}),
        ("/api/v1/lake", "list-type=2", {"authorization": "AWS4-HMAC-SHA256 Credential=AKIA"}),
    ],
)
def test_an_s3_client_gets_an_s3_error_that_there_is_no_gateway(api, path, query, headers):
    reply = api.send(event("GET", path, query=query, headers=headers))
    assert reply.status == 501
    assert reply.headers["Content-Type"] == "application/xml"
    error = {field.tag: field.text or "" for field in ET.fromstring(reply.content)}
    assert error["Code"] == "NotImplemented"
    assert "S3 gateway is not served" in error["Message"]
    assert error["Resource"] == path
    assert error["RequestId"] == reply.headers["x-amz-request-id"] == "gateway-request"
    head = api.send(event("HEAD", path, query=query, headers=headers))
    assert (head.status, head.content) == (501, b"")


@pytest.mark.parametrize(
    ("path", "query", "headers", "status"),
    [
        ("/repositories/repo/refs/main/objects", "path=none", {}, 404),
        ("/repositories/nobody/refs/main/objects", "path=none", {}, 404),
        ("/repositories/repo/refs/main/objects", "", {}, 400),
        ("/repositories/repo/refs/main/objects", "path=a", {"range": "bytes=9-"}, 416),
        ("/repositories/repo/refs/main/objects", "path=a", {"authorization": "Basic eDp5"}, 401),
        ("/repositories/repo", "", {}, 405),
        ("/nothing", "", {}, 404),
    ],
)
def test_an_error_without_a_body_has_no_type(path, query, headers, status):
    api = ApiClient()
    api.repository()
    api.upload("a")
    reply = api.ask("HEAD", path, query=query, headers=headers)
    assert (reply.status, reply.content) == (status, b"")
    assert "Content-Type" not in reply.headers


def test_a_wrong_method_returns_the_allowed_ones(api):
    reply = api.ask("PATCH", "/repositories/repo")
    assert reply.status == 405
    assert reply.headers["Allow"] == "DELETE, GET"


@pytest.mark.parametrize(
    ("method", "path", "parameter"),
    [
        ("GET", "/repositories//branches", "repository"),
        ("GET", "/repositories/r/refs//objects", "ref"),
        ("POST", "/repositories/r/branches//staging/pmpu", "branch"),
        ("PUT", "/repositories/r/branches/main/staging/pmpu//parts/1", "uploadId"),
        ("PUT", "/repositories/r/branches/main/staging/pmpu//parts/0/copy", "uploadId"),
        ("POST", "/repositories/r/refs//merge/main", "sourceRef"),
        ("GET", "/repositories/r/actions/runs//hooks", "run_id"),
    ],
)
def test_an_empty_name_in_a_path_is_refused(api, method, path, parameter):
    reply = api.ask(method, path)
    assert reply.status == 400
    missing = "value is required but missing"
    assert reply.message == f'parameter "{parameter}" in path has an error: {missing}'
    assert api.send(event(method, f"/api/v1{path}")).status == 401


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "path",
    [
        "/repositories/",
        "/repositories/r/branches/main/staging/pmpu/",
        "/repositories/r/branches/main/staging/pmpu//parts/",
    ],
)
def test_a_path_that_ends_with_a_slash_is_no_endpoint(api, method, path):
    reply = api.ask(method, path)
    assert (reply.status, reply.message) == (404, "invalid API endpoint")


def test_a_name_that_is_no_utf_8_is_refused(api):
    path = "/api/v1/repositories/repo/refs/%FF/objects/stat"
    headers = {"authorization": api.authorization}
    reply = api.send(event("GET", path, query="path=a", headers=headers, function_url=True))
    assert reply.status == 400
    assert "`ref`" in reply.message


def test_a_query_that_is_no_utf_8_is_refused(api):
    reply = api.ask("GET", "/repositories", query="prefix=%FF")
    assert reply.status == 400
    assert "UTF-8" in reply.message


def test_json_answers_have_exactly_the_headers_that_the_web_ui_compares(api):
    for reply in (api.ask("GET", "/repositories"), api.ask("GET", "/repositories/nobody")):
        assert reply.headers["Content-Type"] == "application/json"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_the_request_id_comes_back(api):
    assert api.ask("GET", "/user").headers["X-Request-ID"] == "gateway-request"
    given = api.ask("GET", "/user", headers={"x-request-id": "mine-1"})
    assert given.headers["X-Request-ID"] == "mine-1"


@pytest.mark.parametrize("bad", ["a\nb", "é", "x" * 200])
def test_a_strange_request_id_does_not_come_back(api, bad):
    reply = api.ask("GET", "/user", headers={"x-request-id": bad})
    assert reply.headers["X-Request-ID"] == "gateway-request"


def test_a_throttled_store_is_503_with_retry_after(monkeypatch, log):
    api = ApiClient()

    def throttled(_):
        raise ThrottledError("slow down")

    monkeypatch.setattr(api.world.refs, "repository", throttled)
    reply = api.ask("GET", "/repositories/repo")
    assert (reply.status, reply.message) == (503, "slow down")
    assert reply.headers["Retry-After"] == "1"
    assert log.last["operation"] == "getRepository"


def test_a_bug_is_500_without_its_innards_and_with_them_in_the_log(monkeypatch, log):
    api = ApiClient()
    monkeypatch.setattr(api.world.refs, "repository", lambda _: 1 // 0)
    reply = api.ask("GET", "/repositories/repo")
    assert (reply.status, reply.message) == (500, "internal error, request gateway-request")
    line = log.last
    assert line["level"] == "ERROR"
    assert line["request_id"] == "gateway-request"
    assert "ZeroDivisionError" in line["exception"]


def test_a_body_beyond_lambda_s_limit_is_too_large():
    api = ApiClient()
    api.repository()
    reply = api.send(
        event(
            "POST",
            "/api/v1/repositories/repo/branches/main/objects",
            query="path=big",
            headers={"authorization": api.authorization},
            body=b"x" * (5 * 1024 * 1024),
        )
    )
    assert reply.status == 413
    assert "presign" in reply.message
    assert api.paths() == []


def test_a_body_that_is_not_what_it_says_is_refused(api):
    broken = event("POST", "/api/v1/statistics", headers={"authorization": api.authorization})
    reply = api.send({**broken, "body": "!!!", "isBase64Encoded": True})
    assert reply.status == 400
    assert "base64" in reply.message


def test_a_json_body_may_come_as_text(api):
    asked = event(
        "POST",
        "/api/v1/statistics",
        headers={"authorization": api.authorization},
        body=b'{"events":[]}',
        raw_text=True,
    )
    assert api.send(asked).status == 204


def test_a_large_answer_is_compressed_for_clients_that_can_and_refused_to_others():
    api = ApiClient()
    api.repository()
    for number in range(60):
        api.upload(f"{number}", headers={"x-lakefs-meta-k": "v" * 120_000})
    path = "/repositories/repo/refs/main/objects/ls"
    packed = api.ask("GET", path, headers={"accept-encoding": "gzip, deflate"})
    assert packed.status == 200
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(packed.content))["results"]) == 60
    refused = api.ask("GET", path)
    assert refused.status == 413
    assert "amount" in refused.message
    assert api.ask("GET", path, amount=10).status == 200


def test_requests_of_many_threads_do_not_mix():
    api = ApiClient()
    for number in range(8):
        api.repository(f"repo-{number}")
    names = [f"repo-{number}" for number in range(8)] * 50
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns in the middle of everything
    try:
        with ThreadPoolExecutor(8) as threads:
            answers = threads.map(lambda name: api.ask("GET", f"/repositories/{name}").json, names)
    finally:
        sys.setswitchinterval(interval_s)
    assert [repository["id"] for repository in answers] == names


def test_losing_a_race_inside_the_engine_is_no_500(monkeypatch):
    api = ApiClient()
    api.repository()

    def taken(*_):
        raise AlreadyExistsError("by another")

    monkeypatch.setattr(api.world.refs, "create_branch", taken)
    reply = api.ask("POST", "/repositories/repo/branches", {"name": "b", "source": "main"})
    assert (reply.status, reply.message) == (
        409,
        "branch already exists: not unique: 'b'",
    )
