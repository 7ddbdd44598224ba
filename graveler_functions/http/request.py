"""A request as a function gets it: headers, query and body of an event."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from graveler.errors import InvalidInputError, TooLargeError
from graveler.http.json_bodies import decode
from graveler.http.query import Query
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX
from graveler_functions.http.events import Event, cookies_of, source_address_of

T = TypeVar("T")


class EventRequest:
    """The parts of an event, decoded and checked."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self.query = Query(event.get("rawQueryString") or "")

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; API Gateway delivers their names in lower case."""
        headers: Mapping[str, str] = self._event.get("headers") or {}
        return headers

    def header(self, name: str) -> str | None:
        """Return a header by its lower-case name; None if it is absent."""
        return self.headers.get(name)

    @property
    def cookies(self) -> Sequence[str]:
        """The cookies, each as `name=value`."""
        return cookies_of(self._event)

    @property
    def address(self) -> str:
        """The network address that the request came from; "" if it is not known."""
        return source_address_of(self._event)

    @property
    def body_bytes_max(self) -> int:
        """The bytes of the body as it arrived, perhaps in base64."""
        body: str = self._event.get("body") or ""
        return len(body) if body.isascii() else len(body.encode("utf-8", "surrogatepass"))

    @cached_property
    def body(self) -> bytes:
        """The body's bytes.

        Raises:
            TooLargeError: the body exceeds Lambda's limit. Such a body did not come through API
                Gateway, or is cut off.
            InvalidInputError: the body is not base64, although the event says so.
        """
        body = self._event.get("body") or ""
        if len(body) > LAMBDA_PAYLOAD_BYTES_MAX:
            raise TooLargeError(
                f"the request exceeds {LAMBDA_PAYLOAD_BYTES_MAX} bytes, base64 included: "
                "write larger objects with a presigned URL (presign=true)"
            )
        if not self._event.get("isBase64Encoded"):
            return str(body).encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInputError("the body is not valid base64") from error

    def decode(self, shape: type[T]) -> T:
        """Return the JSON body as the shape; see `graveler.http.json_bodies`.

        Raises:
            InvalidInputError: the body does not have the shape.
            TooLargeError: the body exceeds Lambda's limit.
        """
        return decode(self.body, shape)
