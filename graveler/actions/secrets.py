"""Secrets in the properties of hooks: `{{ ENV.NAME }}` stands for the secret of that name."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

from graveler.errors import HookFailedError

MASK = "*******"

# Hooks may have the secrets whose names begin so, as in lakeFS.
SECRET_PREFIX = "LAKEFSACTION_"  # noqa: S105 - a name

_PLACE = re.compile(r"\{\{ ?ENV\.([^{}]*?) ?\}\}")

# Secrets of this length or less appear in texts by chance, and are not looked for.
_SHORT = 3


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with its secrets: value goes to the target, shown into logs."""

    value: str = field(repr=False)
    shown: str


class Secrets:
    """The secrets that one hook uses, which its output must not show.

    find returns the secret of a name: None if there is none, "" if hooks may not have it.
    """

    def __init__(self, find: Callable[[str], str | None]) -> None:
        self._find = find
        self._used: set[str] = set()

    def filled(self, text: str) -> Filled:
        """Return the text with its secrets; a text that names one is shown masked, as a whole.

        Raises:
            HookFailedError: there is no secret of a name.
        """
        if not _PLACE.search(text):
            return Filled(text, text)
        value = _PLACE.sub(lambda place: self._secret(place[1].strip()), text)
        return Filled(value, MASK)

    def _secret(self, name: str) -> str:
        secret = self._find(name)
        if secret is None:
            raise HookFailedError(f"{name} not found: missing env var")
        self.hide(secret)
        return secret

    def hide(self, secret: str) -> None:
        """Mask the text from now on: a secret, or what is made of one."""
        if len(secret) > _SHORT:
            self._used.update(_spellings(secret))

    def masked(self, text: str) -> str:
        """Return the text without the secrets, wherever a target may have repeated them."""
        for secret in sorted(self._used, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return text


def _spellings(secret: str) -> Iterator[str]:
    """Yield the secret as it is, and as targets repeat it: in a URL, or in a JSON document."""
    yield secret
    yield quote(secret)
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
