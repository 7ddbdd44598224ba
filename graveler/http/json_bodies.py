"""JSON bodies: decoding those of requests, encoding those of answers.

Decoding does what lakeFS does. A field that is missing or has a wrong type is a 400 that names it.
An unknown field is ignored.
"""

from typing import Any, TypeVar

import msgspec

from graveler.messages import Refusal

T = TypeVar("T")

_decoders: dict[object, msgspec.json.Decoder[Any]] = {}

# Sorts metadata by key, like lakeFS.
_encoder = msgspec.json.Encoder(order="deterministic")


def decode(body: bytes, shape: type[T]) -> T:
    """Return the JSON body as an instance of the shape.

    Raises:
        InvalidInputError: the body is not JSON, or a field is missing or has a wrong type.
    """
    if not body:
        raise Refusal.BAD_BODY.error("send JSON", problem="value is required but missing")
    decoder: msgspec.json.Decoder[T] | None = _decoders.get(shape)
    if decoder is None:
        decoder = _decoders[shape] = msgspec.json.Decoder(shape)
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal.BAD_BODY.error(problem=error) from error


def encode(answer: object) -> str:
    """Return the answer as JSON text."""
    return _encoder.encode(answer).decode()
