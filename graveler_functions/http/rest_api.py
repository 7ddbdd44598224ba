"""Converts the events of a REST API to those of an HTTP API, and the answers back.

All other modules know payload format 2.0 only. A private API, or one behind a web ACL, has to be a
REST API, which sends format 1.0 (docs/adr/0020-gateways.md).
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlencode

from graveler_functions.http.events import Event

App = Callable[[Event, Any], dict[str, Any]]


def for_both_apis(app: App) -> App:
    """Return the app, for events of both kinds."""

    def answer(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own
        if "httpMethod" not in event:
            return app(event, context)
        return _answer_of_rest(app(_event_of_rest(event), context))

    return answer


def _event_of_rest(event: Event) -> Event:
    """Return the event of payload format 2.0 of the same request.

    A REST API leaves the path as it was sent, and decodes the query: an HTTP API does the opposite.
    """
    about = event["requestContext"]
    headers = _headers_of(event.get("multiValueHeaders") or {})
    cookies = [each.strip() for each in headers.pop("cookie", "").split(";") if each.strip()]
    path = unquote(event["path"])
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": urlencode(event.get("multiValueQueryStringParameters") or {}, doseq=True),
        "headers": headers,
        "cookies": cookies,
        "body": event.get("body"),
        "isBase64Encoded": bool(event.get("isBase64Encoded")),
        "requestContext": {
            "http": {
                "method": event["httpMethod"],
                "path": path,
                "sourceIp": (about.get("identity") or {}).get("sourceIp") or "",
            },
            "requestId": about.get("requestId", ""),
            # The path has no stage in front.
            "stage": "$default",
            "domainName": about.get("domainName", ""),
        },
    }


def _headers_of(values: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the headers with names in lower case; a comma joins repeated ones."""
    joined: dict[str, list[str]] = {}
    for name, found in values.items():
        joined.setdefault(name.lower(), []).extend(found)
    return {name: ("; " if name == "cookie" else ",").join(found) for name, found in joined.items()}


def _answer_of_rest(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer in payload format 1.0, where cookies are headers."""
    cookies = answer.get("cookies") or []
    headers = {name: [value] for name, value in answer["headers"].items()}
    if cookies:
        headers["Set-Cookie"] = [*headers.get("Set-Cookie", []), *cookies]
    return {
        "statusCode": answer["statusCode"],
        "multiValueHeaders": headers,
        "body": answer["body"],
        "isBase64Encoded": answer["isBase64Encoded"],
    }
