"""Requests reach a function as API Gateway would describe them, and its answers come back whole."""

import json
import logging
from urllib.parse import quote

import pytest

from graveler.limits import API_GATEWAY_BODY_BYTES_MAX, LAMBDA_PAYLOAD_BYTES_MAX
from graveler_embedded.api_gateway import ApiRequest, ApiRoutes, application
from graveler_embedded.lambda_runtime import LambdaContext, LocalFunction
from graveler_gateway.protocol.head import RequestHead


class Gateway:
    """The gateway before a function that answers as it is told, and remembers what it was asked."""

    def __init__(self, answer=None):
        self.answer = {"statusCode": 200} if answer is None else answer
        self.events = []
        self.contexts = []
        self.application = application(
            ApiRoutes(LocalFunction("tested", self._handle, timeout_s=30), {})
        )

    def _handle(self, event, context):
        self.events.append(event)
        self.contexts.append(context)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def ask(self, method="GET", path="/", query="", body=b"", version="1.1", **headers):
        """The status, the headers (a list, since names repeat) and the body of the answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body and "transfer-encoding" not in named:
            named = {"content-length": str(len(body)), **named}
        head = RequestHead(method, quote(path), query, tuple(named.items()))
        return self.application(ApiRequest(head, version, "127.0.0.1", body))

    def event(self, *args, **kwargs):
        self.ask(*args, **kwargs)
        return self.events[-1]


def test_a_request_is_described_in_payload_format_2():
    event = Gateway().event(
        "GET", "/api/v1/config", "a=1", host="localhost:8000", user_agent="agent/1"
    )
    context = event.pop("requestContext")
    assert event == {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/api/v1/config",
        "rawQueryString": "a=1",
        "headers": {"host": "localhost:8000", "user-agent": "agent/1"},
        "isBase64Encoded": False,
    }
    assert context["http"] == {
        "method": "GET",
        "path": "/api/v1/config",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "agent/1",
    }
    assert (context["stage"], context["domainName"]) == ("$default", "localhost:8000")


def test_every_request_has_an_id_of_its_own():
    gateway = Gateway()
    ids = {gateway.event()["requestContext"]["requestId"] for _ in range(3)}
    assert len(ids) == 3


def test_the_path_is_decoded_and_the_query_string_is_not():
    event = Gateway().event(path="/refs/é~1", query="path=a%2Fb+c&path=d&empty=&%C3%A9=%FF")
    assert event["rawPath"] == event["requestContext"]["http"]["path"] == "/refs/é~1"
    assert event["rawQueryString"] == "path=a%2Fb+c&path=d&empty=&%C3%A9=%FF"


def test_cookies_are_separate_from_headers():
    event = Gateway().event(cookie="a=1; b=2", x_lakefs_client="python-lakefs")
    assert event["cookies"] == ["a=1", "b=2"]
    assert event["headers"] == {"x-lakefs-client": "python-lakefs"}


@pytest.mark.parametrize(
    ("content_type", "body", "text", "is_base64"),
    [
        ("application/json", b'{"a": "\xc3\xa9"}', '{"a": "é"}', False),
        ("text/plain; charset=utf-8", b"x", "x", False),
        ("application/octet-stream", b"\x00\xff", "AP8=", True),
        ("multipart/form-data; boundary=b", b"--b", "LS1i", True),
        ("application/json", b"\xff", "/w==", True),
        ("", b"x", "eA==", True),
    ],
)
def test_text_passes_as_text_and_the_rest_as_base64(content_type, body, text, is_base64):
    event = Gateway().event("POST", body=body, content_type=content_type)
    assert (event["body"], event["isBase64Encoded"]) == (text, is_base64)


def test_a_chunked_body_has_its_length_by_the_time_it_arrives():
    event = Gateway().event("POST", body=b"12345", transfer_encoding="chunked")
    assert event["headers"] == {"content-length": "5"}


@pytest.mark.parametrize("tells_length", [True, False])
def test_a_body_that_api_gateway_refuses_never_reaches_the_function(tells_length):
    gateway = Gateway()
    body = bytes(API_GATEWAY_BODY_BYTES_MAX + 1)
    length = {} if tells_length else {"transfer_encoding": "chunked"}
    status, headers, content = gateway.ask("POST", body=body, **length)
    assert (status, gateway.events) == (413, [])
    assert ("Content-Type", "application/json") in headers
    assert "presigned URL" in json.loads(content)["message"]


@pytest.mark.parametrize(
    "environ",
    [{"content_length": "6"}, {"transfer_encoding": "gzip,chunked"}],
    ids=["cut off", "another coding"],
)
def test_a_body_that_is_not_what_its_headers_say_never_reaches_the_function(environ):
    gateway = Gateway()
    status, _, content = gateway.ask("POST", body=b"12345", **environ)
    assert (status, gateway.events) == (400, [])
    assert "send" in json.loads(content)["message"]


def test_an_empty_body_in_chunks_reaches_the_function():
    event = Gateway().event("POST", transfer_encoding="chunked")
    assert "body" not in event


def test_a_body_that_lambda_refuses_never_reaches_the_function():
    """Base64 makes 5 MB of binary too large for Lambda; as text they pass."""
    gateway = Gateway()
    body = b"x" * (5 * 1024 * 1024)
    assert gateway.ask("POST", body=body, content_type="image/png")[0] == 413
    # Each of these is six characters of JSON.
    escaped = b"\x01" * (LAMBDA_PAYLOAD_BYTES_MAX // 6)
    assert gateway.ask("POST", body=escaped, content_type="text/plain")[0] == 413
    assert gateway.events == []
    assert gateway.ask("POST", body=body, content_type="text/plain")[0] == 200


@pytest.mark.parametrize("name", ["x_lakefs_meta_k", "x_lakefs_internal_k"])
def test_metadata_that_the_server_cannot_read_are_refused_and_not_lost(name):
    gateway = Gateway()
    status, _, body = gateway.ask("POST", "/", **{name: ""})
    assert status == 400
    assert "not ASCII" in json.loads(body)["message"]
    assert gateway.events == []


@pytest.mark.parametrize("values", [("é", "b"), ("b", "")])
def test_metadata_of_which_one_of_two_values_cannot_be_read_are_refused(values):
    gateway = Gateway()
    headers = tuple(("x-lakefs-meta-k", value) for value in values)
    head = RequestHead("POST", "/", "", headers)
    assert gateway.application(ApiRequest(head, "1.1", "127.0.0.1", b""))[0] == 400
    assert gateway.events == []


def test_an_answer_becomes_a_response():
    answer = {
        "statusCode": 201,
        "headers": {"Content-Type": "text/x", "ETag": '"1"'},
        "multiValueHeaders": {"Link": ["<a>", "<b>"]},
        "cookies": ["a=1; Path=/", "b=2"],
        "body": "é",
    }
    assert Gateway(answer).ask() == (
        201,
        [
            ("Content-Type", "text/x"),
            ("ETag", '"1"'),
            ("Link", "<a>"),
            ("Link", "<b>"),
            ("Set-Cookie", "a=1; Path=/"),
            ("Set-Cookie", "b=2"),
            ("Content-Length", "2"),
        ],
        "é".encode(),
    )


def test_a_binary_answer_comes_back_as_bytes():
    answer = {"statusCode": 200, "body": "AP8=", "isBase64Encoded": True}
    assert Gateway(answer).ask()[2] == b"\x00\xff"


def test_the_answer_to_a_head_keeps_the_length_it_tells():
    answer = {"statusCode": 200, "headers": {"Content-Length": "99"}, "body": ""}
    status, headers, body = Gateway(answer).ask("HEAD")
    assert (status, headers, body) == (200, [("Content-Length", "99")], b"")


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("a bug"),
        {"statusCode": 200, "body": "x" * LAMBDA_PAYLOAD_BYTES_MAX},
        {"statusCode": 200, "body": "\x01" * (LAMBDA_PAYLOAD_BYTES_MAX // 6)},
        {"statusCode": "two hundred"},
        {"statusCode": 200, "body": object()},
        ["no", "object"],
        {"statusCode": 200, "body": "no base64", "isBase64Encoded": True},
    ],
    ids=[
        "raises",
        "too large",
        "too large as JSON",
        "bad status",
        "no JSON",
        "no object",
        "bad base64",
    ],
)
def test_a_function_that_fails_answers_502_and_is_logged(answer, caplog):
    with caplog.at_level(logging.ERROR):
        status, _, body = Gateway(answer).ask()
    assert (status, json.loads(body)) == (502, {"message": "Internal Server Error"})
    assert "tested failed" in caplog.text


def test_what_the_function_keeps_of_an_event_is_its_own():
    """No other request gets an object of this event."""
    gateway = Gateway({"statusCode": 200, "headers": {"X-Kept": "yes"}})
    first = gateway.event()
    first["headers"]["changed"] = "yes"
    assert "changed" not in gateway.event()["headers"]


def test_a_function_gets_its_name_and_its_remaining_time():
    gateway = Gateway()
    gateway.ask()
    (context,) = gateway.contexts
    assert isinstance(context, LambdaContext)
    assert context.invoked_function_arn.endswith(":function:tested")
    assert 0 < context.get_remaining_time_in_millis() <= 30_000


def test_the_most_specific_route_wins_as_in_the_real_gateway():
    """https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html"""
    default, page, asset, exact = (
        LocalFunction(name, lambda _event, _context: {}, timeout_s=1)
        for name in ("default", "page", "asset", "exact")
    )
    routes = ApiRoutes(
        default,
        {
            "GET /{proxy+}": page,
            "GET /pages/{proxy+}": asset,
            "GET /pages/one": exact,
        },
    )
    for method, path, expected in (
        ("GET", "/pages/one", exact),
        ("GET", "/pages/one/more", asset),
        ("GET", "/pages", page),
        ("GET", "/", page),
        ("POST", "/pages/one", default),
    ):
        assert routes.find(method, path) is expected, (method, path)
