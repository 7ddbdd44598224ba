"""The kinds of answers that the API gives."""

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from graveler.errors import GravelerError
from graveler.http import errors
from graveler.http.json_bodies import encode
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX

# Exactly this: the web UI compares it for equality, without a charset.
JSON_TYPE = "application/json"
_JSON_HEADERS = {
    "Content-Type": JSON_TYPE,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}

# Ten thousand presigned URLs are 15 MB of JSON, and compress to less than one. Small answers are
# not worth the time.
_COMPRESSED_ABOVE_CHARACTERS = 1024 * 1024
_COMPRESSION_LEVEL = 6

# Room for the headers, and for the JSON around them and the body.
_OVERHEAD_BYTES = 32 * 1024


class ApiAnswer(Struct):
    """An answer before its conversion to API Gateway's form; bytes in the body are in base64."""

    status: int
    headers: Mapping[str, str]
    body: str = ""
    is_base64: bool = False
    cookies: list[str] = []

    def for_gateway(self, *, takes_gzip: bool) -> dict[str, Any]:
        """Return the answer in API Gateway's form; with takes_gzip, a large text is compressed."""
        headers, body, is_base64 = dict(self.headers), self.body, self.is_base64
        if takes_gzip and not is_base64 and len(body) > _COMPRESSED_ABOVE_CHARACTERS:
            headers["Content-Encoding"] = "gzip"
            compressed = gzip.compress(body.encode(), _COMPRESSION_LEVEL, mtime=0)
            body, is_base64 = base64.b64encode(compressed).decode(), True
        return {
            "statusCode": self.status,
            "headers": headers,
            "cookies": self.cookies,
            "body": body,
            "isBase64Encoded": is_base64,
        }


def of_json(
    answer: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> ApiAnswer:
    """Return an answer with a JSON document."""
    return of_json_text(encode(answer), status, headers)


def etag(checksum: str) -> Mapping[str, str]:
    """Return the header that answers the checksum of what the client reads."""
    return {"ETag": f'"{checksum}"'}


def of_json_text(
    body: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> ApiAnswer:
    """Return an answer with a JSON document that is encoded already."""
    return ApiAnswer(status, {**_JSON_HEADERS, **headers} if headers else _JSON_HEADERS, body)


def of_error(error: GravelerError) -> ApiAnswer:
    """Return an answer with the error's status, message and details."""
    body = errors.ErrorBody(error.message, error.details)
    return of_json(body, errors.status_of(error), errors.headers_of(error))


def of_text(
    text: str,
    content_type: str = "text/plain; charset=utf-8",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> ApiAnswer:
    """Return an answer with text, for people or for clients of other APIs."""
    named = {"Content-Type": content_type, "X-Content-Type-Options": "nosniff"}
    return ApiAnswer(status, {**named, **(headers or {})}, text)


def of_bytes(content: bytes, status: int, headers: Mapping[str, str]) -> ApiAnswer:
    """Return an answer with bytes."""
    return ApiAnswer(status, headers, base64.b64encode(content).decode(), is_base64=True)


def empty(status: int = 204, headers: Mapping[str, str] | None = None) -> ApiAnswer:
    """Return an answer without a body."""
    return ApiAnswer(status, headers or {})


def fits_payload(answer: Mapping[str, Any]) -> bool:
    """Whether the answer, in the form of API Gateway, fits into Lambda's response."""
    body: str = answer["body"]
    room = LAMBDA_PAYLOAD_BYTES_MAX - _OVERHEAD_BYTES
    if answer["isBase64Encoded"]:
        return len(body) <= room
    # At worst every character becomes \\uXXXX.
    return len(body) * 6 <= room or len(json.dumps(body)) <= room
