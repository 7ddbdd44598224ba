"""Records what routes read of requests: parameters, headers, and the shape of the body."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar
from unittest.mock import patch

from graveler.http.query import Query
from graveler_functions.api.contract import ParameterKind
from graveler_functions.api.request import Request
from graveler_functions.http.events import Event

T = TypeVar("T")


@dataclass
class Reads:
    """What was read."""

    parameters: set[tuple[ParameterKind, str]] = field(default_factory=set)
    bodies: set[object] = field(default_factory=set)
    reads_body: bool = False


@contextmanager
def recorded_reads() -> Iterator[Reads]:
    """Record what the routes of all apps read meanwhile."""
    reads = Reads()

    class Recording(Request):
        def __init__(self, event: Event, *rest: Any) -> None:
            super().__init__(event, *rest)
            self.query = _query(event.get("rawQueryString") or "", reads)

        @property
        def headers(self) -> Mapping[str, str]:
            return _Headers(super().headers, reads)

        @cached_property
        def body(self) -> bytes:
            reads.reads_body = True
            return super().body

        def decode(self, shape: type[T]) -> T:
            reads.bodies.add(shape)
            return super().decode(shape)

    with patch("graveler_functions.api.app.Request", Recording):
        yield reads


class _Headers(Mapping[str, str]):
    """Headers that record the names with which they are asked; reading all records none."""

    def __init__(self, headers: Mapping[str, str], reads: Reads) -> None:
        self._headers = headers
        self._reads = reads

    def __getitem__(self, name: str) -> str:
        self._reads.parameters.add((ParameterKind.HEADER, name))
        return self._headers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def items(self) -> Any:
        return self._headers.items()


def _query(raw: str, reads: Reads) -> Query:
    """Return a query that records how its parameters are read."""

    def recording(kind: ParameterKind) -> Callable[..., Any]:
        def read(self: Query, name: str | None = None, *rest: Any, **options: Any) -> Any:
            # What a method reads through another one is recorded as its own.
            plain = Query(raw)
            default = {ParameterKind.AMOUNT: "amount", ParameterKind.PATH: "path"}
            reads.parameters.add((kind, name or default[kind]))
            method = getattr(plain, kind.value)
            return method(**options) if name is None else method(name, *rest, **options)

        return read

    kinds = [kind for kind in ParameterKind if kind is not ParameterKind.HEADER]
    made = type("RecordingQuery", (Query,), {kind.value: recording(kind) for kind in kinds})(raw)
    assert isinstance(made, Query)
    return made
