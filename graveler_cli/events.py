"""A feed of a repository's events, made by comparing its branches and tags at each look.

The API has no feed. If a branch has moved, its log is read from the new head to the old one. So no
commit is missed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from graveler_cli.client import ApiRefusedError
from graveler_cli.history import Log, commit_of
from graveler_cli.schemas import Commit, Ref, Repository
from graveler_cli.spool import CommitSpool
from graveler_cli.uris import RefUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

VERSION = "1"

# The search for the beginning of a line compares at most so many heads. A line that began at
# another head has its commits reported again, as events of this branch.
_HEADS_MAX = 50


class EventDetail(Struct, frozen=True, omit_defaults=True):
    """The detail of an event, with the fields that clients can know (docs/events.schema.json)."""

    version: str
    id: str
    kind: str
    time: str
    repository: str
    branch: str | None = None
    tag: str | None = None
    commit_id: str | None = None
    old_commit_id: str | None = None
    committer: str | None = None
    message: str | None = None
    metadata: dict[str, str] | None = None
    parents: list[str] | None = None
    metarange_id: str | None = None
    source_commit_id: str | None = None


_NAMING = ("branch", "tag", "commit_id")


class _Base(Struct, frozen=True):
    base_commit_id: str = ""


class _Line(Struct, frozen=True):
    """Commits of a branch in the spool, newest first."""

    branch: str
    start: int
    amount: int
    begins_at: str  # the commit before the oldest of them
    kind: str = ""  # of the event at the line's beginning; "" if there is none


@dataclass
class EventFeed:
    """The last known branches and tags of a repository; `changes` yields events since then."""

    server: "LakeClient"
    repository: str
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with the repository's current branches and tags.

        Raises:
            CommandError: the server refused or could not be reached.
        """
        self.branches, self.tags = self._refs("branches"), self._refs("tags")

    def begin_at(self, *, ref: str = "", since_s: int | None = None) -> Iterator[EventDetail]:
        """Yield the commits that a ref does not have, or those since a time.

        Args:
            ref: this ref and its ancestors are known.
            since_s: commits before this time are known, in Unix seconds.

        Raises:
            CommandError: the server refused or could not be reached.
        """
        known = [commit_of(self.server, RefUri(self.repository, ref)).id] if ref else []
        branches, tags = self._refs("branches"), self._refs("tags")
        default = self._default()
        with CommitSpool() as spool:
            look = _Look(self.server, self.repository, spool, known, since_s)
            for name in sorted(branches, key=lambda each: each != default):
                look.follow_new(name, branches[name])
            yield from self._commits(look)
        self.branches, self.tags = branches, tags

    def changes(self) -> Iterator[EventDetail]:
        """Yield the events since the last look, commits oldest first.

        All requests are made before the first event: after a failure, the next look yields all.

        Raises:
            CommandError: the server refused or could not be reached.
        """
        branches = self._refs("branches")
        gone = self.branches.keys() - branches.keys()
        moved = [name for name, head in branches.items() if self.branches.get(name, head) != head]
        new = [name for name in branches if name not in self.branches]
        tags = self._refs("tags")
        with CommitSpool() as spool:
            # The default branch is the likeliest beginning of another one.
            default = [self.branches[name] for name in [self._default()] if name in self.branches]
            known = list(dict.fromkeys([*default, *self.branches.values(), *self.tags.values()]))
            look = _Look(self.server, self.repository, spool, known)
            for name in moved:
                look.follow(name, self.branches[name], branches[name])
            for name in new:
                look.follow_new(name, branches[name], "branch_created")
            yield from self._commits(look)
        for name in sorted(gone):
            yield self._of_branch("branch_deleted", name, self.branches[name])
        yield from self._tag_changes(tags)
        self.branches, self.tags = branches, tags

    def deleted(self) -> EventDetail:
        """Return the event of a deleted repository."""
        return self._event("repository_deleted", _now())

    def _commits(self, look: "_Look") -> Iterator[EventDetail]:
        look.follow_merged()
        for line in reversed(look.lines):
            if line.kind:
                old = self.branches.get(line.branch)
                yield self._of_branch(line.kind, line.branch, line.begins_at, old)
            for commit in look.spool.oldest_first(line.start, line.amount):
                if commit.parents:  # a repository's first commit is not an event of a branch
                    yield self._of_commit(line.branch, commit)

    def _of_commit(self, branch: str, commit: Commit) -> EventDetail:
        kind, source = "commit_created", None
        if len(commit.parents) > 1:
            kind, source = "merge_completed", commit.parents[1]
        elif "cherry-pick-origin" in commit.metadata:
            kind = "cherry_pick_completed"
        return self._event(
            kind,
            _time(commit.creation_date),
            branch=branch,
            commit_id=commit.id,
            committer=commit.committer,
            message=commit.message,
            metadata=commit.metadata,
            parents=commit.parents,
            metarange_id=commit.meta_range_id,
            source_commit_id=source,
        )

    def _tag_changes(self, tags: dict[str, str]) -> Iterator[EventDetail]:
        for name, commit_id in self.tags.items():
            if tags.get(name) != commit_id:
                yield self._event("tag_deleted", _now(), tag=name, commit_id=commit_id)
        for name, commit_id in tags.items():
            if self.tags.get(name) != commit_id:
                yield self._event("tag_created", _now(), tag=name, commit_id=commit_id)

    def _of_branch(
        self, kind: str, branch: str, commit_id: str, old: str | None = None
    ) -> EventDetail:
        return self._event(kind, _now(), branch=branch, commit_id=commit_id, old_commit_id=old)

    def _event(self, kind: str, time: str, **fields: object) -> EventDetail:
        # Clients do not know the event's real ID. This one is the same at every look at a commit.
        named = [self.repository, kind, time, *(fields.get(name) for name in _NAMING)]
        event_id = sha256("\n".join(map(str, named)).encode()).hexdigest()[:20]
        return EventDetail(VERSION, event_id, kind, time, self.repository, **fields)  # type: ignore[arg-type]

    def _refs(self, kind: str) -> dict[str, str]:
        names = {"repository": self.repository}
        found = self.server.each(f"/repositories/{{repository}}/{kind}", names, Ref)
        return {each.id: each.commit_id for each in found}

    def _default(self) -> str:
        names = {"repository": self.repository}
        return self.server.ask(
            "GET", "/repositories/{repository}", names, Repository
        ).default_branch


@dataclass
class _Look:
    """The search for new commits: first those of branches, then those of merged ones."""

    server: "LakeClient"
    repository: str
    spool: CommitSpool
    known: list[str]  # commits that are known with all their ancestors, the likeliest first
    since_s: int | None = None  # commits before it are known
    lines: list[_Line] = field(default_factory=list)
    _found: set[str] = field(default_factory=set)  # new commits
    _merged: list[tuple[str, str]] = field(default_factory=list)  # branches, and merged commits

    def follow(self, branch: str, old: str, new: str) -> None:
        """Find the commits from a branch's old head to the new one, or the branch's reset."""
        start, generation = len(self.spool), self._commit(old).generation
        for commit in self._line(new):
            if commit.id == old:
                self._add(branch, start, len(self.spool) - start, old)
                return
            if commit.generation <= generation:
                break  # the old head is not an ancestor
            self.spool.append(commit)
        self.known.insert(0, old)
        self.follow_new(branch, new, "branch_reset")

    def follow_new(self, branch: str, head: str, kind: str = "") -> None:
        """Find the first known commit below a head, and the new commits since.

        The ancestors of a known commit are known. So search by doubling steps, then by bisection
        within the last step.

        Args:
            branch: the branch of these commits.
            head: the newest commit.
            kind: the kind of the event at the beginning of the line; "" if there is none.
        """
        start = len(self.spool)
        new, step = 0, 1  # so many commits are certainly new
        for count, commit in enumerate(self._line(head), 1):
            self.spool.append(commit)
            if count == new + step:
                if self._is_known(commit):
                    break
                new, step = count, step * 2
        low, high = new, len(self.spool) - start
        while low < high:
            middle = (low + high) // 2
            if self._is_known(self.spool[start + middle]):
                high = middle
            else:
                low = middle + 1
        # If no commit is known, the line begins at the first one of the history.
        begins_at = self.spool[start + min(low, len(self.spool) - start - 1)].id
        self._add(branch, start, low, begins_at, kind)

    def follow_merged(self) -> None:
        """Find the commits of merged branches that are deleted."""
        while self._merged:
            branch, head = self._merged.pop()
            if head not in self._found and head not in self.known:
                self.follow_new(branch, head)

    def _add(self, branch: str, start: int, amount: int, begins_at: str, kind: str = "") -> None:
        if kind or amount:
            self.lines.append(_Line(branch, start, amount, begins_at, kind))
        for place in range(start, start + amount):
            commit = self.spool[place]
            self._found.add(commit.id)
            self._merged += [(branch, parent) for parent in commit.parents[1:]]

    def _is_known(self, commit: Commit) -> bool:
        if commit.id in self._found or commit.id in self.known:
            return True
        if self.since_s is not None:
            return commit.creation_date < self.since_s
        for head in self.known[:_HEADS_MAX]:
            found = self.server.ask(
                "GET",
                "/repositories/{repository}/refs/{head}/merge/{commit}",
                {"repository": self.repository, "head": head, "commit": commit.id},
                _Base,
            )
            if found.base_commit_id == commit.id:
                return True
        return False

    def _line(self, head: str) -> Iterator[Commit]:
        ref = RefUri(self.repository, head)
        return iter(Log(self.server, ref, query={"first_parent": True}))

    def _commit(self, commit_id: str) -> Commit:
        return commit_of(self.server, RefUri(self.repository, commit_id))


def is_gone(server: "LakeClient", repository: str) -> bool:
    """Return whether the repository is deleted.

    Raises:
        CommandError: the server refused otherwise, or could not be reached.
    """
    try:
        server.ask("GET", "/repositories/{repository}", {"repository": repository}, Repository)
    except ApiRefusedError as error:
        if error.status == 404:
            return True
        raise
    return False


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _time(unix_s: int) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
