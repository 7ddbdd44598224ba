"""The patterns that say where exports put success marks, and which objects come last.

Users write them in RE2's syntax, which takes time in proportion to the text, whatever the pattern:
they are searched for in directory names, with their last slash and without it, and in keys.

A pattern that a directory's name matches asks for a mark in that directory. One that matches a
key but not its directory, such as `.*/_SUCCESS$`, sets the object apart: it is copied last in its
directory, which then gets a mark as well.
"""

import re2

from graveler.errors import InvalidInputError

PATTERNS_MAX = 50
PATTERN_BYTES_MAX = 1000

# Of most patterns that set objects apart, the name of the object can be told.
_LITERAL_NAME = re2.compile(r"^(?:\^|\(\^\|/\))?(?:.*/)?((?:[A-Za-z0-9_-]|\\\.)+)\$?$")


class Patterns:
    """What a configuration's patterns say of directories (`a/b/`; b"" is the root) and keys."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        """Compile the patterns.

        Raises:
            InvalidInputError: one does not compile, is too long, or there are too many.
        """
        if len(texts) > PATTERNS_MAX:
            raise InvalidInputError(f"{len(texts)} patterns are too many: {PATTERNS_MAX} may be")
        self._patterns = [_compiled(text) for text in texts]
        found = (_LITERAL_NAME.search(text) for text in texts)
        names = {match[1].replace("\\.", ".").encode() for match in found if match}
        # Names of objects that may be set apart even if they did not change.
        self.last_names = tuple(sorted(names))

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def match_directory(self, directory: bytes) -> bool:
        """Whether a pattern asks for a mark in the directory."""
        return any(_matches_directory(pattern, directory) for pattern in self._patterns)

    def set_apart(self, key: bytes) -> bool:
        """Whether the object is to be the last one in its directory."""
        text = _text(key)
        directory = directory_of(key)
        return any(
            pattern.search(text) and not _matches_directory(pattern, directory)
            for pattern in self._patterns
        )


def directory_of(key: bytes) -> bytes:
    """The directory that holds the key: everything up to its last slash."""
    return key[: key.rfind(b"/") + 1]


def directories_of(key: bytes) -> list[bytes]:
    """Every directory around the key, the outermost first: b"", `a/`, `a/b/`."""
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
    raise InvalidInputError(f"pattern {text!a} is no regular expression of RE2: {reason}")


def _matches_directory(pattern: "re2._Regexp", directory: bytes) -> bool:
    text = _text(directory)
    return bool(pattern.search(text) or pattern.search(text.removesuffix("/")))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
