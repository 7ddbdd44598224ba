"""Restores and deletions of prefixes, as tasks: a branch gets what a commit has there, or nothing.

Theory of operation. The task walks the paths at which the branch differs from the commit, and
stages what the commit has there: an object, or a deletion (`graveler.operations.prefixes.walk`).
What was staged differs no more, so a step may be made again. A deletion is the restore of a commit
without objects.
"""

from collections.abc import Iterator
from itertools import islice

import msgspec

from graveler.branches.claims import claim
from graveler.branches.lookup import current_branch
from graveler.branches.protection import check_can_stage, check_changeable
from graveler.branches.views import View, view_of_branch
from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import diff
from graveler.engine import Engine
from graveler.messages import Refusal
from graveler.model import EMPTY_METARANGE, NO_COMMIT, Branch, CommitID
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.prefixes import walk
from graveler.operations.prefixes.requests import check_prefix
from graveler.operations.prefixes.walk import Planned, StagingWalk
from graveler.operations.tasks.hold import Hold
from graveler.operations.tasks.requests import start
from graveler.ports import StagedChange
from graveler.refs.resolve import resolve_commit_id
from graveler.staging.listing import PageQuery
from graveler.staging.overlay import overlaid_differences


class Restore(msgspec.Struct, frozen=True):
    """The input of the task; commit_id is NO_COMMIT if the objects are deleted."""

    prefix: str
    commit_id: CommitID = NO_COMMIT
    force: bool = False


def start_restore(
    engine: Engine,
    repository: str,
    branch: str,
    prefix: str,
    user: str,
    *,
    ref: str,
    force: bool = False,
) -> Task:
    """Start a task that makes the objects with the prefix those of the commit; return it.

    Raises:
        InvalidInputError: a name, the prefix or the ref is malformed.
        NotFoundError: the repository or the branch does not exist, the ref names no commit, or the
            commit has no such object.
        ForbiddenError: the branch is protected, or the repository is read-only.
    """
    repo, current = _writable(engine, repository, branch, prefix, force=force)
    asked = Restore(prefix, resolve_commit_id(engine.refs, repo.history(), ref), force)
    _require_any(View(repo, (), _content(repo, asked)), prefix, ref)
    # No collection deletes what an open task covers.
    covers = asked.commit_id
    kind = TaskKind.RESTORE_PREFIX
    return start(repo, kind, msgspec.to_builtins(asked), user=user, branch=current, covers=covers)


def start_deletion(
    engine: Engine, repository: str, branch: str, prefix: str, user: str, *, force: bool = False
) -> Task:
    """Start a task that deletes the objects with the prefix from the branch; return it.

    Raises:
        InvalidInputError: a name or the prefix is malformed.
        NotFoundError: the repository or the branch does not exist, or the branch has no such
            object.
        ForbiddenError: the branch is protected, or the repository is read-only.
    """
    repo, current = _writable(engine, repository, branch, prefix, force=force)
    _require_any(view_of_branch(repo, current), prefix, branch)
    asked = Restore(prefix, force=force)
    return start(
        repo, TaskKind.DELETE_PREFIX, msgspec.to_builtins(asked), user=user, branch=current
    )


def run_restore(hold: Hold) -> dict[str, str]:
    """Do the work of a restore or a deletion of a prefix; return how many paths it changed.

    Raises:
        GoneError: the data of an object do not exist any more.
        GravelerError: the others of start_restore; what is staged stays.
        StoppedError: this runner must not continue.
    """
    return {"changed": str(_RestoreWalk(hold).go().copied)}


class _RestoreWalk(StagingWalk):
    """The walk over the paths at which the branch differs."""

    def __init__(self, hold: Hold) -> None:
        self._asked = msgspec.convert(hold.task.request, Restore)
        super().__init__(hold, force=self._asked.force)

    def planned(
        self, repo: OpenRepository, branch: Branch, after: bytes
    ) -> Iterator[Planned] | None:
        wanted, view = _content(repo, self._asked), view_of_branch(repo, branch)
        query = PageQuery(walk.PAGE_PATHS, prefix=self._asked.prefix.encode(), after=after)
        start, end = query.start, query.end
        committed = diff(wanted, view.committed, start, end, passed=self._report)
        staged = self.watched(view.changes(start, end))
        differences = overlaid_differences(committed, staged, wanted)
        page = [(each.key, each.left) for each in islice(differences, walk.PAGE_PATHS)]
        if not page:
            return None
        if self._hold.task.kind is TaskKind.DELETE_PREFIX:
            for path, _ in page:
                check_changeable(path)
        records = ((path, value) for path, value in page if value is not None)
        if claimed := self.to_claim(repo, records):
            claim(repo, claimed.keys())
            # The commit may have expired, and a collection may have deleted the data before.
            self.require_data(repo, claimed)
        now = self.staged(branch, (path for path, _ in page))
        return (Planned(path, StagedChange(path, value, now.get(path))) for path, value in page)

    def _report(self, _: bytes) -> None:
        self._hold.report_again()


def _writable(
    engine: Engine, repository: str, branch: str, prefix: str, *, force: bool
) -> tuple[OpenRepository, Branch]:
    check_prefix(prefix)
    repo, current = current_branch(engine, repository, branch)
    check_can_stage(repo.record, branch, force=force)
    return repo, current


def _content(repo: OpenRepository, asked: Restore) -> MetaRange:
    return repo.content(asked.commit_id) if asked.commit_id else repo.metarange(EMPTY_METARANGE)


def _require_any(view: View, prefix: str, ref: str) -> None:
    query = PageQuery(1, prefix=prefix.encode())
    if next(view.records(view.staged(query.end), query.start, query.end), None) is None:
        raise Refusal.NOT_FOUND.error(f"no object begins with {prefix!r} at {ref!r}")
