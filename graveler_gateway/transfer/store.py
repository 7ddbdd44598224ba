"""Reads and writes the bytes of objects, with retries.

An object's data never change, so a read that breaks off can always continue. A content in memory
can be sent again, but a client's stream cannot. If S3 fails after it has taken any of a stream, the
client gets a 503. Then the client sends it again, to a new address.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

from graveler.aws.exchanges.pool import Pool
from graveler.data_headers import of_read, of_write
from graveler.ports import SignedS3Request
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.transfer.refusals import is_passing, refusal_of
from graveler_gateway.transfer.store_exchange import (
    StoreNoResponseError,
    StoreResponse,
    StoreUnreachableError,
    send,
)

_TRIES_MAX = 5
_PAUSE_FIRST_S = 0.05

# Return the request for the bytes from first to last inclusive.
RangeRequest = Callable[[int, int], SignedS3Request]


class DataMissingError(Exception):
    """The object's data do not exist in S3."""


class DataChangedError(DataMissingError):
    """S3 has other data than the object's: others may replace those of imports."""


@dataclass(frozen=True, slots=True)
class Written:
    """What S3 reports of stored content; headers are those for the writer."""

    checksum: str  # the ETag without quotes
    headers: Mapping[str, str] = field(default_factory=dict)


class Transfers:
    """Reads and writes over one pool of connections; shared by threads."""

    def __init__(self, pool: Pool, sleep: Callable[[float], None] = time.sleep) -> None:
        self._pool = pool
        self._sleep = sleep

    def read(self, request_of: RangeRequest, first: int, last: int) -> "Reading":
        """Begin to read the bytes from first to last, both inclusive; there is one at least.

        Raises:
            DataMissingError: S3 does not have them.
            S3ResponseError: S3 refuses, or does not answer in several tries.
        """
        reading = Reading(self, request_of, first, last)
        reading.begin()
        return reading

    def open(self, request_of: RangeRequest, first: int, last: int) -> StoreResponse:
        """Return S3's answer that has these bytes.

        Raises:
            DataMissingError: S3 does not have them.
            S3ResponseError: S3 refuses, or does not answer in several tries.
        """
        answer = self._retried(lambda: send(self._pool, request_of(first, last)))
        if answer.status in {200, 206}:
            length = answer.header("content-length")
            if answer.status == 206 or first == 0:
                if length is None or int(length) == last - first + 1:
                    return answer
                answer.close()
                raise DataChangedError(f"S3 has {length} bytes of {last - first + 1}")
        with _whole(answer):
            refusal = refusal_of(answer)
            if answer.status == 412:
                raise DataChangedError("S3 has another ETag than the one that was recorded")
            if answer.status == 416:
                raise DataChangedError(f"S3 has no bytes from {first} on")
            raise DataMissingError if refusal.code is Code.NO_SUCH_KEY else refusal

    def write(
        self, request: Callable[[], SignedS3Request], content: bytes | Iterable[bytes]
    ) -> Written:
        """Store the content; each try has a new request.

        Raises:
            S3ResponseError: S3 refuses, or does not answer.
        """
        if isinstance(content, bytes):
            answer = self._retried(lambda: send(self._pool, request(), content))
        else:
            answer = self._sent_once(request, content)
        with _whole(answer):
            if answer.status != 200:
                raise refusal_of(answer)
            answer.document()
            return Written((answer.header("etag") or "").strip('"'), of_write(answer.headers))

    def _retried(self, attempt: Callable[[], StoreResponse]) -> StoreResponse:
        """Return the first answer that is not a passing failure, or the last one."""
        for number in range(1, _TRIES_MAX + 1):
            try:
                answer = attempt()
                if not is_passing(answer) or number == _TRIES_MAX:
                    return answer
                answer.close()
            except (StoreUnreachableError, StoreNoResponseError) as error:
                if number == _TRIES_MAX:
                    raise S3ResponseError(Code.SERVICE_UNAVAILABLE) from error
            self.pause(number)
        raise AssertionError("the last try returns or raises")

    def _sent_once(
        self, request: Callable[[], SignedS3Request], content: Iterable[bytes]
    ) -> StoreResponse:
        for number in range(1, _TRIES_MAX + 1):
            try:
                return send(self._pool, request(), content)
            except StoreUnreachableError as error:
                if number == _TRIES_MAX:
                    raise S3ResponseError(Code.SERVICE_UNAVAILABLE) from error
            except StoreNoResponseError as error:
                raise S3ResponseError(Code.SERVICE_UNAVAILABLE) from error
            self.pause(number)
        raise AssertionError("the last try returns or raises")

    def pause(self, number: int) -> None:
        """Wait before the try after this one; random, so that clients do not return together."""
        self._sleep(_PAUSE_FIRST_S * 2**number * random.uniform(0.5, 1))  # noqa: S311 - a pause


@contextmanager
def _whole(answer: StoreResponse) -> Iterator[None]:
    """Close the answer at the end.

    Raises:
        S3ResponseError: its document broke off, so its reason is unknown.
    """
    try:
        with answer:
            yield
    except StoreNoResponseError as error:
        raise S3ResponseError(Code.SERVICE_UNAVAILABLE) from error


class Reading:
    """A read under way: `pieces` yields the bytes once; `close` ends it at any time.

    headers: those that S3 keeps with the data.
    """

    def __init__(
        self, transfers: Transfers, request_of: RangeRequest, first: int, last: int
    ) -> None:
        self._transfers = transfers
        self._request_of = request_of
        self._next = first
        self._last = last
        self._answer: StoreResponse | None = None
        self._etag: str | None = None
        self.headers: Mapping[str, str] = {}

    def begin(self) -> None:
        """Open S3's answer at the next byte.

        Raises:
            DataChangedError: others replaced the data meanwhile.
        """
        self._answer = self._transfers.open(self._request_of, self._next, self._last)
        etag = self._answer.header("etag")
        if self._etag not in {None, etag}:
            self.close()
            raise DataChangedError("the data changed while they were read")
        self._etag = etag
        self.headers = of_read(self._answer.headers)

    def pieces(self) -> Iterator[bytes]:
        """Yield all bytes.

        Raises:
            DataMissingError, S3ResponseError: the rest cannot be read, after several tries.
        """
        failures = 0
        while self._next <= self._last:
            try:
                if self._answer is None:
                    self.begin()
                for piece in self._of_answer():
                    failures = 0
                    yield piece
            except StoreNoResponseError as error:
                failures += 1
                if failures == _TRIES_MAX:
                    raise S3ResponseError(Code.SERVICE_UNAVAILABLE) from error
                self.close()
                self._transfers.pause(failures)

    def _of_answer(self) -> Iterator[bytes]:
        """Yield the rest of the bytes, which S3's answer must have.

        Raises:
            StoreNoResponseError: it broke off; without a length, only its end shows that.
            DataChangedError: it has more bytes than the object.
        """
        assert self._answer is not None
        for piece in self._answer.pieces():
            self._next += len(piece)
            if self._next > self._last + 1:
                raise DataChangedError("S3 sends more bytes than it was asked for")
            yield piece
        if self._next <= self._last:
            raise StoreNoResponseError("S3's answer promised no length, and ended early")

    def close(self) -> None:
        """Release S3's answer, and its connection."""
        if self._answer is not None:
            self._answer.close()
            self._answer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
