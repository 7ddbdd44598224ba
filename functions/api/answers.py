"""The kinds of answers that the API gives."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response

from graveler.errors import GravelerError
from graveler.http import errors
from graveler.http.responses import encode
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX

Answer = Response[str]

# Exactly this: the web UI compares it for equality, without a charset.
JSON_TYPE = "application/json"
_JSON_HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN"}

# Ten thousand presigned URLs are 15 MB of JSON, and compress to less than one. Small answers are
# not worth the time.
_COMPRESSED_ABOVE_CHARACTERS = 1024 * 1024

# Room for the headers, and for the JSON around them and the body.
_OVERHEAD_BYTES = 32 * 1024


def of_json(
    answer: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[str]:
    """Return an answer with a JSON document."""
    return of_json_text(encode(answer), status, headers)


def of_json_text(
    body: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[str]:
    """Return an answer with a JSON document that is encoded already."""
    return Response(
        status,
        JSON_TYPE,
        body,
        {**_JSON_HEADERS, **headers} if headers else _JSON_HEADERS,
        compress=len(body) > _COMPRESSED_ABOVE_CHARACTERS,
    )


def of_error(error: GravelerError) -> Response[str]:
    """Return an answer with the error's status, message and details."""
    body = errors.ErrorBody(error.message, error.details)
    return of_json(body, errors.status_of(error), errors.headers_of(error))


def of_text(
    text: str,
    content_type: str = "text/plain; charset=utf-8",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response[str]:
    """Return an answer with text, for people or for clients of other APIs."""
    return Response(
        status, content_type, text, {"X-Content-Type-Options": "nosniff", **(headers or {})}
    )


def of_bytes(content: bytes, status: int, headers: Mapping[str, str]) -> Response[str]:
    """Return an answer with bytes.

    They are encoded here, because the resolver would encode JSON content a second time.
    """
    answer = Response(status, None, base64.b64encode(content).decode(), headers)
    answer.base64_encoded = True
    return answer


def empty(status: int = 204, headers: Mapping[str, str] | None = None) -> Response[str]:
    """Return an answer without a body."""
    return Response(status, None, "", headers)


def fits_payload(answer: Mapping[str, Any]) -> bool:
    """Whether the answer, in the form of API Gateway, fits into Lambda's response."""
    body: str = answer["body"]
    room = LAMBDA_PAYLOAD_BYTES_MAX - _OVERHEAD_BYTES
    if answer["isBase64Encoded"]:
        return len(body) <= room
    # At worst every character becomes \\uXXXX.
    return len(body) * 6 <= room or len(json.dumps(body)) <= room
