"""The expression of a hook's `if:`, which decides whether it runs.

lakeFS evaluates it with a general expression language, in which it defines two functions. This is
the part of the language that makes sense of them:

    success()  failure()  true  false  ( )  not !  == !=  and &&  or ||

`not` binds tightest, then comparison, then `and`, then `or`.
"""

import re
from collections.abc import Iterator

from graveler.errors import InvalidInputError
from graveler.limits import HOOK_CONDITION_LENGTH_MAX

_TOKEN = re.compile(
    r"\s*(?:(success|failure)\s*\(\s*\)|(true|false|not|and|or)\b|(&&|\|\||==|!=|[()!]))"
)
_SAME = {"&&": "and", "||": "or", "!": "not"}


def holds(condition: str, *, failed: bool) -> bool:
    """Return whether a hook with that condition runs; failed: an earlier hook of its action failed.

    Raises:
        InvalidInputError: the expression is none of those above.
    """
    if not condition.strip():
        return not failed
    if len(condition) > HOOK_CONDITION_LENGTH_MAX:
        raise InvalidInputError(
            f"'if' has {len(condition)} characters: use at most {HOOK_CONDITION_LENGTH_MAX}"
        )
    return _Parser(condition, failed=failed).value()


class _Parser:
    """A recursive parser; the length of the text bounds its depth."""

    def __init__(self, text: str, *, failed: bool) -> None:
        self._text = text
        self._values = {"success": not failed, "failure": failed, "true": True, "false": False}
        self._tokens = list(_tokens(text))
        self._next = 0

    def value(self) -> bool:
        found = self._either()
        if self._next < len(self._tokens):
            raise self._malformed()
        return found

    def _either(self) -> bool:
        found = self._both()
        while self._take("or"):
            found = self._both() or found
        return found

    def _both(self) -> bool:
        found = self._compared()
        while self._take("and"):
            found = self._compared() and found
        return found

    def _compared(self) -> bool:
        found = self._negated()
        while True:
            if self._take("=="):
                found = found == self._negated()
            elif self._take("!="):
                found = found != self._negated()
            else:
                return found

    def _negated(self) -> bool:
        if self._take("not"):
            return not self._negated()
        if self._take("("):
            found = self._either()
            if not self._take(")"):
                raise self._malformed()
            return found
        for name, found in self._values.items():
            if self._take(name):
                return found
        raise self._malformed()

    def _take(self, token: str) -> bool:
        if self._next < len(self._tokens) and self._tokens[self._next] == token:
            self._next += 1
            return True
        return False

    def _malformed(self) -> InvalidInputError:
        return _malformed(self._text)


def _tokens(text: str) -> Iterator[str]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise _malformed(text)
        token = next(filter(None, found.groups()))
        yield _SAME.get(token, token)
        position = found.end()


def _malformed(text: str) -> InvalidInputError:
    return InvalidInputError(
        f"hook 'if' expression {text!r} is not supported: combine success(), failure(), true and "
        "false with not, and, or, == and parentheses"
    )
