"""The few kinds of answers that the API gives."""

import base64
from collections.abc import Mapping

from aws_lambda_powertools.event_handler import Response

from graveler.errors import GravelerError
from graveler.http import errors
from graveler.http.responses import encode

Answer = Response[str]

# Exactly this: the web UI compares it for equality, without a charset.
JSON_TYPE = "application/json"
_JSON_HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN"}

# Ten thousand presigned URLs are 15 MB of JSON, which squeeze to less than one; small answers are
# not worth the time.
_COMPRESSED_ABOVE_CHARACTERS = 1024 * 1024


def of_json(
    answer: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[str]:
    """A JSON document."""
    body = encode(answer)
    return Response(
        status,
        JSON_TYPE,
        body,
        {**_JSON_HEADERS, **headers} if headers else _JSON_HEADERS,
        compress=len(body) > _COMPRESSED_ABOVE_CHARACTERS,
    )


def of_error(error: GravelerError) -> Response[str]:
    """The status of an error, its message and its details."""
    body = errors.ErrorBody(error.message, error.details)
    return of_json(body, errors.status_of(error), errors.headers_of(error))


def of_text(
    text: str,
    content_type: str = "text/plain; charset=utf-8",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response[str]:
    """Text for people, or for clients of other APIs."""
    return Response(
        status, content_type, text, {"X-Content-Type-Options": "nosniff", **(headers or {})}
    )


def of_bytes(content: bytes, status: int, headers: Mapping[str, str]) -> Response[str]:
    """Bytes as they are; encoded here, because the resolver takes whatever is JSON for its own."""
    answer = Response(status, None, base64.b64encode(content).decode(), headers)
    answer.base64_encoded = True
    return answer


def empty(status: int = 204, headers: Mapping[str, str] | None = None) -> Response[str]:
    """No body: the status and the headers say it all."""
    return Response(status, None, "", headers)
