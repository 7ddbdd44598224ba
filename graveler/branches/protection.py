"""Branch protection: the rules that match a branch, and the operations that they block.

A protected branch changes by merges only. So each operation that stages on an existing branch, or
moves or deletes its head, calls a check first. Only merges do not.

A rule's pattern is a glob, as lakeFS matches it: `*`, `?`, `[a-z]`, `[!a-z]`, `{main,release-*}`. A
backslash makes the next letter an ordinary one.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import re2

from graveler.branches.lookup import check_writable
from graveler.errors import InvalidInputError
from graveler.messages import Refusal
from graveler.model import ProtectionRule, Repository

# The parts of a glob: an escaped character, a set, a choice (`{main,release-*}`) or a wildcard, any
# other character.
_GLOB_PART = re.compile(r"\\(.?)|\[(!?)((?:\\.|[^]\\])+)]|([{,}*?])|(.)", re.DOTALL)
_MEMBER = r"(\\.|[^\\])"
_SPAN = re.compile(rf"{_MEMBER}-{_MEMBER}|{_MEMBER}", re.DOTALL)
_CHOICES = {"{": "(?:", ",": "|", "}": ")"}
# `[!-~]` matches the characters of a branch name, _NOTHING matches none.
_WILDCARDS = {"*": "[!-~]*", "?": "[!-~]"}
_NOTHING = r"[^\x00-\x{10FFFF}]"


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> "re2._Regexp":
    """Compile the glob for RE2.

    Users write globs, and each write to a branch matches them. RE2 needs time in proportion to the
    text; Python's own engine would need days for some patterns.
    """
    depth = 0
    expression = ""
    for part in _GLOB_PART.finditer(pattern):
        escaped, negation, members, special, letter = part.groups()
        if members is not None:
            expression += _set(negation, members)
        elif special in _WILDCARDS:
            expression += _WILDCARDS[special]
        elif special is not None and (depth > 0 or special == "{"):
            depth += {"{": 1, "}": -1}.get(special, 0)
            expression += _CHOICES[special]
        else:
            expression += re2.escape(escaped or special or letter or "")
    return re2.compile(expression + ")" * depth)


def _set(negation: str, members: str) -> str:
    spans = (((first or one)[-1], (last or one)[-1]) for first, last, one in _SPAN.findall(members))
    inside = "".join(
        f"\\x{{{ord(first):x}}}-\\x{{{ord(last):x}}}" for first, last in spans if first <= last
    )
    if not inside:
        return _WILDCARDS["?"] if negation else _NOTHING
    return f"[{'^' if negation else ''}{inside}]"


def check_pattern(pattern: str) -> None:
    """Check that each `[` of the glob begins a set with members: otherwise it protects nothing.

    Raises:
        InvalidInputError: one does not.
    """
    for part in _GLOB_PART.finditer(pattern):
        if part[0] == "[" or (part[3] and _set("", part[3]) == _NOTHING):
            raise InvalidInputError(
                f"branch protection pattern {pattern!r} protects nothing: "
                "close each '[' after its members, as in '[a-z]'"
            )


def check_can_stage(repository: Repository, branch: str, *, force: bool) -> None:
    """Check that changes may be staged on the branch.

    Raises:
        ForbiddenError: a rule blocks writes, or the repository is read-only and force is False.
    """
    check_writable(repository, force=force)
    if any(rule.block_staging_write for rule in _rules_of(repository, branch)):
        raise Refusal.PROTECTED_FROM_WRITES.error(repr(branch))


def check_can_commit(
    repository: Repository,
    branch: str,
    *,
    force: bool,
    refusal: Refusal = Refusal.PROTECTED_FROM_COMMITS,
) -> None:
    """Check that the branch's head may be moved otherwise than by a merge, or deleted.

    Raises:
        ForbiddenError: a rule blocks commits, with the message of refusal; or the repository is
            read-only and force is False.
    """
    check_writable(repository, force=force)
    if any(rule.block_commit for rule in _rules_of(repository, branch)):
        raise refusal.error(repr(branch))


def _rules_of(repository: Repository, branch: str) -> Iterator[ProtectionRule]:
    return (rule for rule in repository.protection_rules if _glob(rule.pattern).fullmatch(branch))
