"""Resolve a ref expression to a commit or branch of a repository.

The base is looked up as a full commit ID, a branch, a tag and a prefix of a commit ID. The first
that exists wins. A lookup that the base's form excludes is skipped. So a plain branch name costs
one read, and a cached commit ID none. The order is lakeFS's (pkg/graveler/ref/resolve_ref.go).
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import repeat

from msgspec import Struct

from graveler.identity import is_id
from graveler.messages import Refusal
from graveler.model import Branch, Commit, CommitID, StagingToken
from graveler.names import check_ref, is_branch_name, is_tag_name
from graveler.ports import RefStore
from graveler.refs.expressions import Modifier, parse
from graveler.refs.history import History

_COMMIT_ID_PREFIX = re.compile(r"[0-9a-f]{1,63}")


class Staging(Enum):
    """Whether a ref includes staged changes."""

    WITH = "a branch: its head and what is staged over it"
    WITHOUT = "a commit, or the head of a branch"
    ONLY = "a branch's staged changes, for operations that separate them (`branch$`)"


class Resolved(Struct, frozen=True):
    """The target of a ref expression; branch is set if the base is a branch without `~` or `^`."""

    commit_id: CommitID
    branch: Branch | None = None
    staging: Staging = Staging.WITHOUT

    @property
    def tokens(self) -> tuple[StagingToken, ...]:
        """The staging tokens to read before the commit, newest first."""
        if self.branch is None or self.staging is Staging.WITHOUT:
            return ()
        return self.branch.tokens


def resolve(refs: RefStore, history: History, text: str) -> Resolved:
    """Return what the ref expression names now.

    Raises:
        InvalidInputError: text is no ref expression, or its base cannot have its modifiers.
        NotFoundError: it names nothing.
        CorruptDataError: a commit is missing.
    """
    check_ref(text)
    expression = parse(text)
    if any(modifier.number < 0 for modifier in expression.modifiers):
        # lakeFS takes `~-1` for `~0`, and fails with an internal error at `^-1`.
        raise Refusal.BAD_REF.error(f"in {text!r}, a number is below 0")
    base = _resolve_base(refs, history, expression.base)
    modifiers = expression.modifiers
    if any(modifier.kind in "@$" for modifier in modifiers):
        if base.branch is None or len(modifiers) > 1:
            raise Refusal.BAD_REF.error(
                f"in {text!r}, '@' and '$' follow a branch name, and nothing else"
            )
        staging = Staging.ONLY if modifiers[0].kind == "$" else Staging.WITHOUT
        return Resolved(base.commit_id, base.branch, staging)
    if not modifiers:
        return base
    return Resolved(_climb(history, base.commit_id, modifiers, text))


def resolve_commit_id(refs: RefStore, history: History, text: str) -> CommitID:
    """Return the ID of the commit that the ref expression names: of a branch, its head.

    Raises:
        InvalidInputError: as `resolve`; or it names staged changes (`$`), which are no commit.
        NotFoundError: as `resolve`.
    """
    resolved = resolve(refs, history, text)
    if resolved.staging is Staging.ONLY:
        raise Refusal.STAGING_IS_NO_COMMIT.error(ref=text)
    return resolved.commit_id


def resolve_commit(refs: RefStore, history: History, text: str) -> Commit:
    """Return the commit that the ref expression names.

    Raises:
        InvalidInputError, NotFoundError, CorruptDataError: as `resolve_commit_id`.
    """
    return history.commit(resolve_commit_id(refs, history, text))


def _resolve_base(refs: RefStore, history: History, base: str) -> Resolved:
    if is_id(base) and history.find([CommitID(base)]):
        return Resolved(CommitID(base))
    if is_branch_name(base):
        branch = refs.branch(history.repository, base)
        if branch is not None:
            return Resolved(branch.commit_id, branch, Staging.WITH)
    if is_tag_name(base):
        tag = refs.tag(history.repository, base)
        if tag is not None:
            return Resolved(tag.commit_id)
    if _COMMIT_ID_PREFIX.fullmatch(base):
        commit_ids = refs.commit_ids_with_prefix(history.repository, base)
        if len(commit_ids) == 1:
            return Resolved(commit_ids[0])
        if commit_ids:
            raise Refusal.NOT_FOUND.error(
                f"several commit IDs start with {base!r}: give more characters"
            )
    raise Refusal.NOT_FOUND.error(f"no branch, tag or commit {base!r}")


def _climb(
    history: History, commit_id: CommitID, modifiers: Sequence[Modifier], text: str
) -> CommitID:
    """Return the ID that `~` and `^` lead to; reads each commit on the way but the last."""
    climbs = sum(modifier.number for modifier in modifiers if modifier.kind == "~")
    walk = history.walk(read_ahead=climbs - 1)
    child: Commit | None = None
    for kind, number in _steps(modifiers):
        commit = walk.parents(child, [commit_id])[0] if child else history.commit(commit_id)
        if kind == "~" and not commit.parents:
            raise Refusal.NOT_FOUND.error(f"{text!r} goes beyond commit {commit_id}")
        if number > len(commit.parents):
            raise Refusal.BAD_REF.error(
                f"{text!r} asks for parent {number} of commit {commit_id}, which has "
                f"{len(commit.parents)}"
            )
        commit_id, child = commit.parents[number - 1], commit
    return commit_id


def _steps(modifiers: Sequence[Modifier]) -> Iterator[tuple[str, int]]:
    """Yield the numbers of the parents to go to, each with the kind of its modifier."""
    for modifier in modifiers:
        if modifier.kind == "~":
            yield from repeat(("~", 1), modifier.number)
        elif modifier.number != 0:
            yield "^", modifier.number
