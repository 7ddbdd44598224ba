r"""Globs of branch names and of paths: `*`, `?`, `[a-z]`, `[!a-z]`, `{main,release-*}`.

A backslash makes the next letter an ordinary one. In a path, `*` and `?` match no slash, and `**`
matches any text; `**/` is any number of folders, also none.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import re2

# The parts of a glob: an escaped character, a set, a choice or a wildcard, any other character.
_PART = re.compile(r"\\(.?)|\[(!?)((?:\\.|[^]\\])+)]|(\*\*/|\*\*|[{,}*?])|(.)", re.DOTALL)
_MEMBER = r"(\\.|[^\\])"
_SPAN = re.compile(rf"{_MEMBER}-{_MEMBER}|{_MEMBER}", re.DOTALL)
_CHOICES = {"{": "(?:", ",": "|", "}": ")"}
_ANY, _NOTHING = r"[\x00-\x{10FFFF}]", r"[^\x00-\x{10FFFF}]"
# `[!-~]` matches the characters of a branch name.
_OF_BRANCHES = {"*": "[!-~]*", "?": "[!-~]", "**": "[!-~]*", "**/": "[!-~]*/"}
_OF_PATHS = {"*": "[^/]*", "?": "[^/]", "**": f"{_ANY}*", "**/": f"(?:{_ANY}*/)?"}


@lru_cache(maxsize=1024)
def of_branches(pattern: str) -> "re2._Regexp":
    """Compile the glob of a rule, which each write to a branch matches."""
    return _compiled(pattern, _OF_BRANCHES)


def of_paths(pattern: str) -> "re2._Regexp":
    """Compile the glob of a request; it is not kept, since it may take a megabyte.

    Raises:
        re2.error: the glob is too large.
    """
    return _compiled(pattern, _OF_PATHS)


def _compiled(pattern: str, wildcards: Mapping[str, str]) -> "re2._Regexp":
    """Compile the glob for RE2.

    Users write globs. RE2 needs time in proportion to the text; Python's own engine would need days
    for some patterns.
    """
    depth = 0
    expression = ""
    for part in _PART.finditer(pattern):
        escaped, negation, members, special, letter = part.groups()
        if members is not None:
            expression += _set(negation, members, wildcards["?"])
        elif special in wildcards:
            expression += wildcards[special]
        elif special is not None and (depth > 0 or special == "{"):
            depth += {"{": 1, "}": -1}.get(special, 0)
            expression += _CHOICES[special]
        else:
            expression += re2.escape(escaped or special or letter or "")
    return re2.compile(expression + ")" * depth)


def _set(negation: str, members: str, letter: str) -> str:
    spans = (((first or one)[-1], (last or one)[-1]) for first, last, one in _SPAN.findall(members))
    inside = "".join(
        f"\\x{{{ord(first):x}}}-\\x{{{ord(last):x}}}" for first, last in spans if first <= last
    )
    if not inside:
        return letter if negation else _NOTHING
    return f"[{'^' if negation else ''}{inside}]"


def has_empty_set(pattern: str) -> bool:
    """Return whether a `[` of the glob begins no set with members, so that nothing matches."""
    return any(
        part[0] == "[" or (part[3] and _set("", part[3], "") == _NOTHING)
        for part in _PART.finditer(pattern)
    )


def prefix_of(pattern: str) -> str:
    """Return the text with which all that the glob matches begins."""
    prefix = ""
    for part in _PART.finditer(pattern):
        escaped, _, members, special, letter = part.groups()
        if members is not None or (special is not None and special not in "},"):
            break
        prefix += escaped or special or letter or ""
    return prefix
