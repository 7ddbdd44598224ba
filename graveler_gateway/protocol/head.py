"""The head of a request, as it was sent: signatures cover its exact characters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote_to_bytes

_HOISTED = "x-amz-"
_OF_SIGNATURES = frozenset(
    {
        "x-amz-algorithm",
        "x-amz-content-sha256",
        "x-amz-credential",
        "x-amz-date",
        "x-amz-expires",
        "x-amz-security-token",
        "x-amz-signature",
        "x-amz-signedheaders",
    }
)


@dataclass(frozen=True)
class RequestHead:
    """A request without its body.

    raw_path and raw_query are percent-encoded as the client sent them; raw_query has no "?".
    headers have names in lower case, in the order in which they came. All text is Latin-1, a
    character for each byte.
    """

    method: str
    raw_path: str
    raw_query: str
    headers: Sequence[tuple[str, str]]

    def header(self, name: str) -> str | None:
        """Return the header's value, several joined by commas; None if it is absent or empty.

        Clients send an empty header for an option that is not set.
        """
        return self._joined.get(name) or None

    def sent_header(self, name: str) -> str | None:
        """Return the header's value as `header` does, but "" for an empty one."""
        return self._joined.get(name)

    @cached_property
    def _joined(self) -> dict[str, str]:
        joined: dict[str, str] = {}
        for name, value in self.headers:
            joined[name] = f"{joined[name]},{value}" if name in joined else value
        return joined

    @cached_property
    def raw_parameters(self) -> tuple[tuple[str, str], ...]:
        """The query's names and values in their order, percent-encoded as they were sent."""
        pairs = (pair.partition("=") for pair in self.raw_query.split("&") if pair)
        return tuple((name, value) for name, _, value in pairs)

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The query's values by name, decoded; the first one of each name.

        A plus means a space. Bytes that are not UTF-8 become surrogates (PEP 383).
        """
        decoded: dict[str, str] = {}
        for name, value in self.raw_parameters:
            decoded.setdefault(_decoded(name), _decoded(value))
        return decoded

    @property
    def decoded_parameters(self) -> list[tuple[bytes, bytes]]:
        """The query's names and values in their order, decoded; a plus means a space."""
        return [(_bytes_of(name), _bytes_of(value)) for name, value in self.raw_parameters]

    def sole_parameters(self, names: Iterable[str]) -> dict[str, str] | None:
        """Return the values by name; None unless each name is there once and has a value.

        An encoded name is the same name.
        """
        present = [name for name, _ in self.decoded_parameters]
        values = {name: self.parameters.get(name, "") for name in names}
        is_complete = all(
            value and present.count(name.encode()) == 1 for name, value in values.items()
        )
        return values if is_complete else None

    def with_hoisted_headers(self) -> "RequestHead":
        """Return the head of a presigned URL, whose query may hold headers.

        Some SDKs move `x-amz-*` headers into the query when they presign.
        """
        sent = {name for name, _ in self.headers}
        hoisted: dict[str, str] = {}
        for name, value in self.raw_parameters:
            lower = _decoded(name).lower()
            if lower.startswith(_HOISTED) and lower not in sent | _OF_SIGNATURES:
                hoisted.setdefault(lower, _header_of(value))
        return replace(self, headers=(*self.headers, *hoisted.items())) if hoisted else self


def unquoted(text: str) -> bytes:
    """Return the bytes of percent-encoded text, which is Latin-1: a character for each byte."""
    return unquote_to_bytes(text.encode("latin-1", "replace"))


def _header_of(text: str) -> str:
    """Return a parameter as a header has it: a character for each byte."""
    return _bytes_of(text).decode("latin-1")


def _decoded(text: str) -> str:
    return _bytes_of(text).decode("utf-8", "surrogateescape")


def _bytes_of(parameter: str) -> bytes:
    return unquoted(parameter.replace("+", " "))
