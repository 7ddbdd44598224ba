"""A REST API's events get the same answers as an HTTP API's: docs/adr/0020-gateways.md."""

import base64
from typing import Any
from urllib.parse import parse_qs, unquote

import msgspec
import pytest

from graveler_functions.http.rest_api import for_both_apis
from tests.support.checks.lines import lines_of
from tests.support.clients.api import SECRET, ApiClient, event

LAKE = {"name": "lake", "storage_namespace": "s3://bucket/lake", "default_branch": "main"}


def of_rest(http: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the event of payload format 1.0 that a REST API sends for the same request."""
    headers = {name.title(): [value] for name, value in http["headers"].items()}
    if "cookies" in http:
        headers["Cookie"] = ["; ".join(http["cookies"])]
    about = http["requestContext"]
    query = parse_qs(http["rawQueryString"], keep_blank_values=True)
    return {
        "resource": "/{proxy+}",
        "path": path,  # as it was sent
        "httpMethod": about["http"]["method"],
        "headers": {name: values[-1] for name, values in headers.items()},
        "multiValueHeaders": headers,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": {"proxy": unquote(path).lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "requestId": about["requestId"],
            "identity": {"sourceIp": about["http"]["sourceIp"]},
            "stage": "live",
            "path": f"/live{path}",
            "domainName": "x.execute-api.us-east-1.amazonaws.com",
        },
        "body": http.get("body"),
        "isBase64Encoded": http["isBase64Encoded"],
    }


def both(api: ApiClient, method: str, path: str, **more: Any) -> tuple[dict[str, Any], ...]:
    """Send the request through both gateways to copies of one system; return the answers."""
    headers = {"authorization": api.authorization, **more.pop("headers", {})}
    http = event(method, path, headers=headers, **more)
    return (
        for_both_apis(api.fork().app)(http, None),
        for_both_apis(api.fork().app)(of_rest(http, path), None),
    )


@pytest.fixture
def api() -> ApiClient:
    made = ApiClient()
    assert made.ask("POST", "/repositories", LAKE).status == 201
    content = event(
        "POST",
        "/api/v1/repositories/lake/branches/main/objects",
        query="path=a%20b%2F%C3%A9%2B%26",
        headers={"authorization": made.authorization, "content-type": "application/octet-stream"},
        body=bytes(range(256)),
    )
    assert made.send(content).status == 201
    return made


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("GET", "/api/v1/repositories", "amount=1&prefix=la"),
        ("GET", "/api/v1/repositories/lake/branches/main", ""),
        ("GET", "/api/v1/repositories/lake/refs/main/objects/ls", "delimiter=%2F&prefix=a%20b"),
        ("GET", "/api/v1/repositories/lake/refs/main/objects", "path=a%20b%2F%C3%A9%2B%26"),
        ("HEAD", "/api/v1/repositories/lake/refs/main/objects", "path=a%20b%2F%C3%A9%2B%26"),
        ("GET", "/api/v1/repositories/lake/refs/main%40/objects/stat", "path=none"),
        ("GET", "/api/v1/repositories/lake/refs/main%2540/objects/stat", "path=none"),
        ("GET", "/api/v1/repositories/lake/refs/feature%2Fa/objects/stat", "path=none"),
        ("GET", "/api/v1/repositories/lake/refs/%FF/objects/stat", "path=none"),
        ("GET", "/api/v1/nothing", ""),
        ("GET", "/_health", ""),
        ("GET", "/", ""),
        ("PATCH", "/api/v1/repositories", ""),
        ("DELETE", "/api/v1/repositories/lake/branches/main/objects", "path=a%20b%2F%C3%A9%2B%26"),
    ],
)
def test_a_request_gets_the_same_answer(api, method, path, query):
    of_http, of_rest_api = both(api, method, path, query=query)
    assert of_rest_api["statusCode"] == of_http["statusCode"]
    assert of_rest_api["body"] == of_http["body"]
    assert of_rest_api["isBase64Encoded"] == of_http["isBase64Encoded"]
    headers = {name: values for name, (values,) in of_rest_api["multiValueHeaders"].items()}
    assert headers == dict(of_http["headers"])
    assert "cookies" not in of_rest_api


def test_bytes_arrive_and_leave_as_they_are(api):
    path = "/api/v1/repositories/lake/refs/main/objects"
    _, answer = both(api, "GET", path, query="path=a%20b%2F%C3%A9%2B%26")
    assert answer["isBase64Encoded"]
    assert base64.b64decode(answer["body"]) == bytes(range(256))


def test_a_repeated_parameter_keeps_all_its_values(api):
    http = event("GET", "/api/v1/repositories/lake/refs/main/diff/main", query="id=1&id=2&x=")
    seen: list[str] = []

    def app(found: Any, _: object) -> dict[str, Any]:
        seen.append(found["rawQueryString"])
        return {"statusCode": 200, "headers": {}, "body": "", "isBase64Encoded": False}

    for_both_apis(app)(of_rest(http, "/"), None)
    assert seen == ["id=1&id=2&x="]


def test_a_session_cookie_is_set_and_read(api):
    login = {"access_key_id": "AKIAJTESTTESTTESTTEQ", "secret_access_key": SECRET}
    of_http, answer = both(api, "POST", "/api/v1/auth/login", body=msgspec.json.encode(login))
    assert of_http["statusCode"] == answer["statusCode"] == 200
    (cookie,) = answer["multiValueHeaders"]["Set-Cookie"]
    assert cookie.partition("=")[0] == of_http["cookies"][0].partition("=")[0]
    pair = cookie.partition(";")[0]
    http = event("GET", "/api/v1/user", cookies=["other=1", pair])
    answer = for_both_apis(api.app)(of_rest(http, "/api/v1/user"), None)
    assert answer["statusCode"] == 200


def test_a_log_line_has_the_address_and_the_id_of_the_request(api, monkeypatch):
    lines = lines_of(monkeypatch, "graveler-api")
    http = event("GET", "/_health")
    for_both_apis(api.app)(of_rest(http, "/_health"), None)
    assert lines.last["gateway_request_id"] == "gateway-request"
    assert lines.last["method"] == "GET"
