"""Patterns that select the directories with success marks, and the objects that are copied last.

Users write them in RE2's syntax: a search takes time in proportion to the text, whatever the
pattern. A pattern is searched for in directory names, with and without the last slash, and in keys.

A directory whose name matches gets a mark. A pattern such as `.*/_SUCCESS$` matches a key but not
its directory. It sets the object apart: the object is copied last in its directory, which then gets
a mark as well.
"""

import re2

from graveler.errors import InvalidInputError

PATTERNS_MAX = 50
PATTERN_BYTES_MAX = 1000

# Most patterns that set objects apart contain the literal name of the object.
_LITERAL_NAME = re2.compile(r"^(?:\^|\(\^\|/\))?(?:.*/)?((?:[A-Za-z0-9_-]|\\\.)+)\$?$")


class Patterns:
    """A configuration's patterns, for directories (`a/b/`; b"" is the root) and keys."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        """Compile the patterns.

        Raises:
            InvalidInputError: one does not compile, is too long, or there are too many.
        """
        if len(texts) > PATTERNS_MAX:
            raise InvalidInputError(
                f"{len(texts)} patterns are too many: at most {PATTERNS_MAX} are allowed"
            )
        self._patterns = [_compiled(text) for text in texts]
        found = (_LITERAL_NAME.search(text) for text in texts)
        names = {match[1].replace("\\.", ".").encode() for match in found if match}
        # Objects of these names are copied last even if they did not change.
        self.last_names = tuple(sorted(names))

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def match_directory(self, directory: bytes) -> bool:
        """Whether the directory gets a mark."""
        return any(_matches_directory(pattern, directory) for pattern in self._patterns)

    def set_apart(self, key: bytes) -> bool:
        """Whether the object is copied last in its directory."""
        text = _text(key)
        directory = directory_of(key)
        return any(
            pattern.search(text) and not _matches_directory(pattern, directory)
            for pattern in self._patterns
        )


def directory_of(key: bytes) -> bytes:
    """Return the key's directory: everything up to its last slash."""
    return key[: key.rfind(b"/") + 1]


def directories_of(key: bytes) -> list[bytes]:
    """Return the directories around the key, outermost first: b"", `a/`, `a/b/`."""
    found = [b""]
    at = key.find(b"/")
    while at >= 0:
        found.append(key[: at + 1])
        at = key.find(b"/", at + 1)
    return found


def _compiled(text: str) -> "re2._Regexp":
    if len(text.encode(errors="replace")) > PATTERN_BYTES_MAX:
        raise InvalidInputError(
            f"a pattern has at most {PATTERN_BYTES_MAX} bytes: {text[:80]!a}..."
        )
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace")
    except UnicodeEncodeError as error:
        reason = str(error)
    raise InvalidInputError(f"pattern {text!a} is not a regular expression of RE2: {reason}")


def _matches_directory(pattern: "re2._Regexp", directory: bytes) -> bool:
    text = _text(directory)
    return bool(pattern.search(text) or pattern.search(text.removesuffix("/")))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
