"""Requests as they are sent: everything that a client could write, before it is an event."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from graveler_functions.api.app import API_PREFIX
from tests.support.worlds.valid_requests import PATHS, Sent

AUTHORIZATION = "authorization"


@dataclass
class Draft:
    """A request that mutations change.

    Attributes:
        names: the path's parameters as they are sent: percent-encoded, or not.
        query: names and values as they are sent.
        body: a JSON value, or bytes; None for none.
        raw_body: bytes that replace the body.
        is_base64_broken: the event says base64, and the body is not.
    """

    operation: str
    method: str
    names: dict[str, str]
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: Any = None
    raw_body: bytes | None = None
    is_base64_broken: bool = False
    is_function_url: bool = False
    steps: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        path = PATHS[self.operation]
        for name, value in self.names.items():
            path = path.replace(f"<{name}>", value)
        return API_PREFIX + path

    @property
    def query_string(self) -> str:
        return "&".join(f"{name}={value}" for name, value in self.query)

    @property
    def content(self) -> bytes | None:
        if self.raw_body is not None:
            return self.raw_body
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body).encode()

    def __str__(self) -> str:
        sent = f"{self.method} {self.path}?{self.query_string}"
        return f"{sent}\n  {self.headers}\n  {self.content!r:.2000}\n  ({', '.join(self.steps)})"


def draft_of(sent: Sent, headers: Mapping[str, str]) -> Draft:
    """Return a draft of a valid request, with further headers."""
    return Draft(
        sent.operation,
        sent.method,
        {name: quote(value, safe="") for name, value in sent.names.items()},
        [(quote(name), quote(value)) for name, value in sent.query.items()],
        {**headers, **sent.headers},
        sent.body,
    )


def event_of(draft: Draft) -> dict[str, Any]:
    """Return the event that API Gateway makes of the request, or that a function URL makes.

    API Gateway decodes the path, and replaces what is not UTF-8.
    """
    decoded = unquote_to_bytes(draft.path).decode("utf-8", "replace")
    host = "x.lambda-url.us-east-1.on.aws" if draft.is_function_url else "x.execute-api.aws.com"
    path = draft.path if draft.is_function_url else decoded
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": draft.query_string,
        "headers": draft.headers,
        "requestContext": {
            "http": {"method": draft.method, "path": path, "sourceIp": "127.0.0.1"},
            "requestId": "gateway-request",
            "stage": "$default",
            "domainName": host,
        },
        "isBase64Encoded": draft.content is not None,
    }
    if draft.content is not None:
        body = base64.b64encode(draft.content).decode()
        made["body"] = f"!{body}" if draft.is_base64_broken else body
    return made
