"""Answers API Gateway's events, of an HTTP API or a REST API, with the files of the page."""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from graveler.http import s3_requests
from graveler_functions.web import headers
from graveler_functions.web.files import File, Files
from graveler_functions.web.paths import METHODS

Event = Mapping[str, Any]
App = Callable[[Event, Any], dict[str, Any]]

_TEXT = "text/plain; charset=utf-8"
_NOT_FOUND = "not found: reload the page, which may be of an earlier version\n"
_WRONG_METHOD = "the web page is only read: the API is at /api/v1\n"
_NO_GATEWAY = (
    "the S3 gateway is not served here: use its own address, or lakeFS's API at /api/v1, with "
    "lakectl or an SDK"
)


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]  # names in lower case
    id: str

    @classmethod
    def of(cls, event: Event) -> "_Request":
        """Return the request of an event; a REST API sends format 1.0, an HTTP API 2.0."""
        about = event["requestContext"]
        given = (event.get("headers") or {}).items()
        named = {name.lower(): value for name, value in given}
        if "httpMethod" in event:
            method, path = event["httpMethod"], event["path"]
            query = urlencode(event.get("queryStringParameters") or {})
        else:
            method, path = about["http"]["method"], event["rawPath"]
            query = event.get("rawQueryString") or ""
        return cls(method, path, query, named, about.get("requestId", ""))


def build_app(folder: Path, bucket_origins: Iterable[str]) -> App:
    """Return the function that serves the page in the folder, for buckets at these origins."""
    files = Files(folder)
    always = headers.of_page(bucket_origins)

    def app(event: Event, _context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own, unused
        request = _Request.of(event)
        answer = _answer_to(request, files)
        answer["headers"] |= {**always, **headers.of_transport(request.headers)}
        if request.method == "HEAD":
            answer |= {"body": "", "isBase64Encoded": False}
        return answer

    return app


def _answer_to(request: _Request, files: Files) -> dict[str, Any]:
    if s3_requests.is_s3_request(request.headers, request.query):  # an S3 client cannot read a page
        document = s3_requests.error_document(
            "NotImplemented", _NO_GATEWAY, resource=request.path, request_id=request.id
        )
        return _of_text(501, document, {"Content-Type": s3_requests.CONTENT_TYPE})
    if request.method not in METHODS:
        return _of_text(405, _WRONG_METHOD, {"Allow": ", ".join(METHODS)})
    file = files.find(request.path)
    if file is None:
        return _of_text(404, _NOT_FOUND)
    return _of_file(file, request.headers)


def _of_text(status: int, text: str, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    named = {"Content-Type": _TEXT, "Cache-Control": "no-store", **(more or {})}
    return _answer(status, named, text.encode())


def _of_file(file: File, request: Mapping[str, str]) -> dict[str, Any]:
    named = {"Cache-Control": file.cache_control, "ETag": file.etag, "Vary": "Accept-Encoding"}
    if _has_tag(request.get("if-none-match", ""), file.etag):
        return _answer(304, named, None)
    named["Content-Type"] = file.content_type
    compressed = file.compressed if _takes_gzip(request.get("accept-encoding", "")) else None
    if compressed is None:
        return _answer(200, named, file.content)
    return _answer(200, {**named, "Content-Encoding": "gzip"}, compressed)


def _answer(status: int, named: Mapping[str, str], content: bytes | None) -> dict[str, Any]:
    """Return the answer in a form that HTTP APIs and REST APIs take."""
    length = {} if content is None else {"Content-Length": str(len(content))}
    return {
        "statusCode": status,
        "headers": {**named, **length},
        "body": base64.b64encode(content or b"").decode(),
        "isBase64Encoded": True,
    }


def _takes_gzip(accepted: str) -> bool:
    codings = (each.replace(" ", "").lower() for each in accepted.split(","))
    return any(each.split(";")[0] == "gzip" and not each.endswith(";q=0") for each in codings)


def _has_tag(if_none_match: str, etag: str) -> bool:
    """Whether one of the tags is this one, strong or weak."""
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return etag.removeprefix("W/") in tags
