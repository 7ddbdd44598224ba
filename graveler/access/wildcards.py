"""Wildcards in policies: `*` matches any characters, or none, and `?` matches exactly one.

Theory of operation. A pattern is cut at its stars into chunks of fixed length. The first chunk must
begin the text and the last one end it. Each of the others is taken at its first place, since the
star behind it matches whatever follows. So no place is tried twice, and the time is at most the
product of both lengths, for any pattern. A value that replaces a variable, such as a user's name,
matches only itself. Its own stars and question marks are no wildcards.

Two questions are about all texts with the same beginning. A pattern matches every one of them if it
matches the beginning and its last chunk has no literal characters. Then any continuation matches as
well. It matches one of them if its first chunk agrees with the beginning. The rest of the pattern
can match a continuation.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import groupby

Matches = Callable[[str], bool]

_STAR, _ANY_ONE = object(), object()
_WILDCARDS = {"*": _STAR, "?": _ANY_ONE}
_BETWEEN = re.compile(r"([*?])")


class Pattern:
    """A pattern that is ready to be compared with texts.

    matches: whether the pattern matches a whole text.
    """

    __slots__ = ("_first", "_has_star", "_last", "matches")

    def __init__(self, pattern: str, variables: Mapping[str, str] | None = None) -> None:
        """Compile a pattern.

        variables: values by the text that stands for them in the pattern, such as `${user}`.
        """
        chunks = [_Chunk()]
        for part in _parts(pattern, variables or {}):
            if part is _STAR:
                chunks.append(_Chunk())
            else:
                chunks[-1].append(part)
        self._first, self._last, self._has_star = chunks[0], chunks[-1], len(chunks) > 1
        self.matches = _matching(chunks)

    def matches_all_below(self, beginning: str) -> bool:
        """Whether the pattern matches every text with that beginning."""
        return self._has_star and self._last.is_any and self.matches(beginning)

    def matches_some_below(self, beginning: str) -> bool:
        """Whether the pattern matches a text with that beginning."""
        can_reach = self._has_star or self._first.length >= len(beginning)
        return can_reach and self._first.agrees(beginning)


def has_wildcard(pattern: str) -> bool:
    """Return whether the pattern matches other texts than itself."""
    return any(mark in pattern for mark in _WILDCARDS)


def compiled(pattern: str) -> Matches:
    """Return a function that says whether the pattern matches a whole text."""
    return Pattern(pattern).matches


def _matching(chunks: "list[_Chunk]") -> Matches:
    first, *middle = chunks
    if not middle:
        return first.fills
    last = middle.pop()
    middle = [chunk for chunk in middle if chunk.length]
    if not middle and not last.length and first.text is not None:
        beginning = first.text
        return lambda text: text.startswith(beginning)
    return _Chunks(first, middle, last).match


def _parts(pattern: str, variables: Mapping[str, str]) -> list[object]:
    """Return the pattern as wildcards, and the literal texts between them."""
    if not variables:
        return [_WILDCARDS.get(piece, piece) for piece in _BETWEEN.split(pattern) if piece]
    names = "|".join(map(re.escape, variables))
    parts: list[object] = []
    for piece in re.split(f"({names})", pattern):
        if piece in variables:
            parts.append(variables[piece])
        else:
            parts += _parts(piece, {})
    return parts


class _Chunk:
    """A part of a pattern between stars: it matches texts of one length only."""

    def __init__(self) -> None:
        self._parts: list[object] = []
        self.length = 0

    def append(self, part: object) -> None:
        self._parts.append(part)
        self.length += len(part) if isinstance(part, str) else 1

    @cached_property
    def text(self) -> str | None:
        """The only text that matches; None if there are several."""
        literals = [part for part in self._parts if isinstance(part, str)]
        return "".join(literals) if len(literals) == len(self._parts) else None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        """The chunk as an expression without repetitions: it has nothing to try again."""
        return re.compile(
            "".join(
                f".{{{len(list(run))}}}" if is_any else re.escape("".join(map(str, run)))
                for is_any, run in groupby(self._parts, lambda part: part is _ANY_ONE)
            ),
            re.DOTALL,
        )

    @cached_property
    def is_any(self) -> bool:
        """Whether the chunk matches every text of its length."""
        return not any(isinstance(part, str) and part for part in self._parts)

    @cached_property
    def _characters(self) -> list[object]:
        """The chunk as characters, and wildcards for one character."""
        return [
            each for part in self._parts for each in (part if isinstance(part, str) else [part])
        ]

    def agrees(self, text: str) -> bool:
        """Whether the chunk and the text can be the same, as far as both reach."""
        if len(text) >= self.length:
            return self.is_at(text, 0)
        if self.text is not None:
            return self.text.startswith(text)
        return all(
            each is _ANY_ONE or each == character
            for each, character in zip(self._characters, text, strict=False)
        )

    def fills(self, text: str) -> bool:
        """Whether the chunk matches the whole text."""
        if self.text is not None:
            return text == self.text
        return self._expression.fullmatch(text) is not None

    def is_at(self, text: str, place: int) -> bool:
        """Whether the chunk matches at that place."""
        if self.text is not None:
            return text.startswith(self.text, place)
        return self._expression.match(text, place) is not None

    def find(self, text: str, start: int, end: int) -> int:
        """Return the first place between start and end where the chunk matches; -1 if none."""
        if self.text is not None:
            return text.find(self.text, start, end)
        found = self._expression.search(text, start, end)
        return -1 if found is None else found.start()


class _Chunks:
    """A pattern with stars: they are between the chunks."""

    def __init__(self, first: _Chunk, middle: list[_Chunk], last: _Chunk) -> None:
        self._first, self._middle, self._last = first, middle, last

    def match(self, text: str) -> bool:
        start, end = self._first.length, len(text) - self._last.length
        if start > end or not self._first.is_at(text, 0) or not self._last.is_at(text, end):
            return False
        for chunk in self._middle:
            found = chunk.find(text, start, end)
            if found < 0:
                return False
            start = found + chunk.length
        return True
