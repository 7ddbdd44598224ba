"""The app in process as a WSGI application, for tools that speak HTTP."""

import base64
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from tests.support.clients.api import ApiClient, Reply
from tests.support.worlds.prepared_lake import prepared

Environment = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class WsgiApp:
    """Answers from the prepared lake, a copy of it for each operation that is tested."""

    def __init__(self) -> None:
        self.api: ApiClient = prepared().api.fork()
        self._operation = ""

    def use_lake_of(self, operation: str) -> None:
        if operation != self._operation:
            self.api, self._operation = prepared().api.fork(), operation

    def __call__(self, environment: Environment, start_response: StartResponse) -> Iterable[bytes]:
        reply = self.api.send(_event(environment))
        status = f"{reply.status} {HTTPStatus(reply.status).phrase}"
        start_response(status, _headers(reply))
        return [reply.content]


def _headers(reply: Reply) -> list[tuple[str, str]]:
    return [*reply.headers.items(), *(("Set-Cookie", cookie) for cookie in reply.cookies)]


def _event(environment: Environment) -> dict[str, Any]:
    # WSGI has the path as bytes, each a character, after decoding it as API Gateway does.
    path = environment["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environment.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    headers.pop("accept-encoding", None)  # the tool asks for gzip, and does not read it in process
    content = environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": environment["QUERY_STRING"],
        "headers": headers,
        "requestContext": {
            "http": {"method": environment["REQUEST_METHOD"], "path": path},
            "requestId": "gateway-request",
            "stage": "$default",
            "domainName": "x.execute-api.aws.com",
        },
        "isBase64Encoded": bool(content),
        "body": base64.b64encode(content).decode(),
    }
