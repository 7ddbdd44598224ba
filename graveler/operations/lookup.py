"""Finding the repository and the branch that an operation names.

A repository's record hardly ever changes, so a process may read with one that it saw up to
REPOSITORY_AGE_MAX_S ago. Whatever writes to a branch reads repository and branch together, fresh:
protection rules, the read-only flag, and a repository deleted and made anew take effect at once.
A reader notices the latter, too: deleting a repository deletes its branches and tags.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from re import DOTALL
from re import compile as compile_pattern
from typing import TypeVar

import re2

from graveler.errors import ForbiddenError, NotFoundError
from graveler.identity import ID_LENGTH
from graveler.model import Branch, ProtectionRule, Repository
from graveler.names import check_branch_name, check_repository_name, is_branch_name
from graveler.operations.engine import NS_PER_S, Engine
from graveler.refs.resolve import resolve_commit_id

T = TypeVar("T")

REPOSITORY_AGE_MAX_S = 5


def repository_not_found(name: str) -> NotFoundError:
    """The error for a repository that does not exist."""
    return NotFoundError(f"repository not found: {name!r}")


def branch_not_found(name: str) -> NotFoundError:
    """The error for a branch that does not exist."""
    return NotFoundError(f"branch not found: {name!r}")


def read_repository(engine: Engine, name: str) -> Repository:
    """The repository as it stands now.

    Raises:
        InvalidInputError: the name cannot be a repository's.
        NotFoundError: there is none.
    """
    check_repository_name(name)
    repository = engine.refs.repository(name)
    if repository is None:
        engine.repositories.forget(name)
        raise repository_not_found(name)
    engine.repositories.put(name, (repository, engine.clock.now_ns()))
    return repository


def known_repository(engine: Engine, name: str) -> Repository:
    """The repository, as this process saw it at most REPOSITORY_AGE_MAX_S ago."""
    held = engine.repositories.get(name)
    if held is not None and engine.clock.now_ns() - held[1] < REPOSITORY_AGE_MAX_S * NS_PER_S:
        return held[0]
    return read_repository(engine, name)


def in_repository(engine: Engine, name: str, read: Callable[[Repository], T]) -> T:
    """What read finds in the repository.

    Not finding something in a repository that is only remembered may mean that the repository was
    deleted, or made anew, since: then the repository is read and, if it is another, asked again.
    """
    repository = known_repository(engine, name)
    try:
        return read(repository)
    except NotFoundError:
        current = read_repository(engine, name)
        if current.uid == repository.uid:
            raise
        return read(current)


def current_branch(engine: Engine, repository_name: str, name: str) -> tuple[Repository, Branch]:
    """Repository and branch as they stand now; one request if the repository is remembered.

    Raises:
        NotFoundError: one of them does not exist.
    """
    check_branch_name(name)
    held = engine.repositories.get(repository_name)
    repository = held[0] if held is not None else read_repository(engine, repository_name)
    while True:
        current, branch = engine.refs.repository_and_branch(repository, name)
        if current is None:
            engine.repositories.forget(repository_name)
            raise repository_not_found(repository_name)
        if current != repository:
            engine.repositories.put(repository_name, (current, engine.clock.now_ns()))
        if current.uid == repository.uid:
            if branch is None:
                raise branch_not_found(name)
            engine.remember(current, branch)
            return current, branch
        repository = current


def current_commit_id(engine: Engine, repository_name: str, ref: str) -> tuple[Repository, str]:
    """The repository as it stands now, and the ID of the commit that ref names in it.

    For what is to be named anew: a branch made in a repository that was deleted a moment ago, and
    made again, would be lost. One request if ref is a branch.

    Raises:
        InvalidInputError: ref is malformed.
        NotFoundError: the repository does not exist, or ref names nothing.
    """
    if is_branch_name(ref) and len(ref) != ID_LENGTH:
        with suppress(NotFoundError):
            repository, branch = current_branch(engine, repository_name, ref)
            return repository, branch.commit_id
    repository = read_repository(engine, repository_name)
    return repository, resolve_commit_id(engine.refs, engine.history(repository), ref)


# The parts of a glob: a set, a choice of texts (`{main,release-*}`) or a wildcard, another letter.
_GLOB_PART = compile_pattern(r"\[(!?)([^]]+)]|([{,}*?])|(.)", DOTALL)
_SPAN = compile_pattern(r"(.)-(.)|(.)", DOTALL)
_CHOICES = {"{": "(?:", ",": "|", "}": ")"}
# Any letter of a branch's name, and none.
_WILDCARDS = {"*": "[!-~]*", "?": "[!-~]"}
_NOTHING = r"[^\x00-\x{10FFFF}]"


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> "re2._Regexp":
    """The glob as a pattern of RE2: users write them, and every write waits for them.

    RE2 takes time in proportion to the text; Python's own engine would take days for some.
    """
    depth = 0
    expression = ""
    for part in _GLOB_PART.finditer(pattern):
        negation, members, special, letter = part.groups()
        if members is not None:
            expression += _set(negation, members)
        elif special in _WILDCARDS:
            expression += _WILDCARDS[special]
        elif special is not None and (depth > 0 or special == "{"):
            depth += {"{": 1, "}": -1}.get(special, 0)
            expression += _CHOICES[special]
        else:
            expression += re2.escape(special or letter)
    return re2.compile(expression + ")" * depth)


def _set(negation: str, members: str) -> str:
    spans = ((first or one, last or one) for first, last, one in _SPAN.findall(members))
    inside = "".join(
        f"\\x{{{ord(first):x}}}-\\x{{{ord(last):x}}}" for first, last in spans if first <= last
    )
    if not inside:
        return _WILDCARDS["?"] if negation else _NOTHING
    return f"[{'^' if negation else ''}{inside}]"


def check_writable(repository: Repository, *, force: bool) -> None:
    """Refuse to change a read-only repository, unless forced.

    Raises:
        ForbiddenError: it is read-only.
    """
    if repository.read_only and not force:
        raise ForbiddenError(f"repository {repository.name!r} is read-only: use force to change it")


def check_can_stage(repository: Repository, branch: str, *, force: bool) -> None:
    """Refuse to stage changes on a protected branch or in a read-only repository.

    Raises:
        ForbiddenError: the rules block it.
    """
    check_writable(repository, force=force)
    if any(rule.block_staging_write for rule in _rules_of(repository, branch)):
        raise ForbiddenError(f"cannot write to protected branch {branch!r}")


def check_can_commit(repository: Repository, branch: str, *, force: bool) -> None:
    """Refuse to commit to a protected branch or in a read-only repository.

    Raises:
        ForbiddenError: the rules block it.
    """
    check_writable(repository, force=force)
    if any(rule.block_commit for rule in _rules_of(repository, branch)):
        raise ForbiddenError(f"cannot commit to protected branch {branch!r}")


def _rules_of(repository: Repository, branch: str) -> Iterator[ProtectionRule]:
    return (rule for rule in repository.protection_rules if _glob(rule.pattern).fullmatch(branch))
