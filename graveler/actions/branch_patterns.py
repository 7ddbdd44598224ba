"""The globs of `branches:`, as lakeFS matches them: Go's `path.Match`.

`*` and `?` match no slash; `[a-z]` and `[^a-z]` are sets; a backslash escapes the next
letter.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from graveler.errors import InvalidInputError

if TYPE_CHECKING:
    import re2

# Longer than any branch name, and short enough for RE2.
_PATTERN_LENGTH_MAX = 4096

_MEMBER = r"(?:\\.|[^\\\]-])"
_SPANS = rf"(?:{_MEMBER}(?:-{_MEMBER})?)+"
_PART = re.compile(rf"\[(\^?+)({_SPANS})\]|([*?])|\\(.)|([^\[\\])", re.DOTALL)
_SPAN = re.compile(rf"({_MEMBER})(?:-({_MEMBER}))?", re.DOTALL)
_WILDCARDS = {"*": "[^/]*", "?": "[^/]"}
_ANYTHING, _NOTHING = r"[\x00-\x{10FFFF}]", r"[^\x00-\x{10FFFF}]"


def matches(pattern: str, branch: str) -> bool:
    """Return whether the whole name of the branch matches the pattern.

    Raises:
        InvalidInputError: the pattern is malformed.
    """
    return _compiled(pattern).fullmatch(branch) is not None


def parts_of(pattern: str) -> Iterator["re.Match[str]"]:
    """Yield the parts of a pattern: sets, wildcards and letters.

    Raises:
        InvalidInputError: the pattern is malformed.
    """
    if len(pattern) > _PATTERN_LENGTH_MAX:
        raise InvalidInputError(
            f"a branch pattern has {len(pattern)} characters: use at most {_PATTERN_LENGTH_MAX}"
        )
    position = 0
    while position < len(pattern):
        part = _PART.match(pattern, position)
        if part is None:
            raise InvalidInputError(f"branch pattern {pattern!r} is malformed")
        yield part
        position = part.end()


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re2._Regexp":
    """Return the glob as a pattern of RE2, which matches in linear time."""
    import re2  # noqa: PLC0415 - the command line checks patterns without it

    expression = ""
    for part in parts_of(pattern):
        negation, spans, wildcard, escaped, letter = part.groups()
        if spans:
            expression += _set(negation, spans)
        else:
            expression += _WILDCARDS[wildcard] if wildcard else re2.escape(escaped or letter)
    return re2.compile(expression)


def _set(negation: str, spans: str) -> str:
    pairs = [(first[-1], (last or first)[-1]) for first, last in _SPAN.findall(spans)]
    inside = "".join(
        f"\\x{{{ord(first):x}}}-\\x{{{ord(last):x}}}" for first, last in pairs if first <= last
    )
    if not inside:
        return _ANYTHING if negation else _NOTHING
    return f"[{'^' if negation else ''}{inside}]"
