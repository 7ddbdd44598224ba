"""What happened in a repository between two looks at its branches and tags.

The API has no feed of events. So the heads are compared, and for a branch that has moved, the log
is walked from the new head down to the old one: no commit is lost, however many came meanwhile.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from cli.client import RefusedError
from cli.history import Log, commit_of
from cli.shapes import Commit, Ref, Repository
from cli.spool import Spool
from cli.uris import RefUri

if TYPE_CHECKING:
    from cli.client import Server

VERSION = "1"

# Where a new line of commits parted from what is known is asked of so many heads at most. If it
# is known to none of them, its commits are told again, as events of this branch.
_HEADS_MAX = 50


class Event(Struct, frozen=True, omit_defaults=True):
    """The detail of an event, as far as a client can know it; docs/events.schema.json has all."""

    version: str
    id: str
    kind: str
    time: str
    repository: str
    branch: str | None = None
    tag: str | None = None
    commit_id: str | None = None
    committer: str | None = None
    message: str | None = None
    metadata: dict[str, str] | None = None
    parents: list[str] | None = None
    metarange_id: str | None = None
    source_commit_id: str | None = None


class _Base(Struct, frozen=True):
    base_commit_id: str = ""


@dataclass
class Watch:
    """What is known of a repository; `changes` yields what is new, and knows it from then on."""

    server: "Server"
    repository: str
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    # Commits whose ancestors are known, the likeliest first, and a date before which all are.
    known: list[str] = field(default_factory=list)
    since_s: int | None = None
    _default_branch: str = ""

    def begin(self) -> None:
        """Know all that the repository has now.

        Raises:
            CommandError: the server refused or could not be reached.
        """
        self.branches, self.tags = self._refs("branches"), self._refs("tags")

    def begin_at(self, *, ref: str = "", since_s: int | None = None) -> Iterator[Event]:
        """Yield the commits of all branches that a ref does not have, or since a time.

        Args:
            ref: what is known: this ref and its ancestors.
            since_s: what is known: commits before this time, in Unix seconds.

        Raises:
            CommandError: the server refused or could not be reached.
        """
        self.known = [commit_of(self.server, RefUri(self.repository, ref)).id] if ref else []
        self.since_s = since_s
        self.tags = self._refs("tags")
        branches = self._refs("branches")
        default = self._default()
        for name, head in sorted(branches.items(), key=lambda each: each[0] != default):
            yield from self._commits_of_new_line(name, head, told=False)
            self.branches[name] = head
            self.known.append(head)
        self.since_s = None

    def changes(self) -> Iterator[Event]:
        """Yield the events since the last look, those of a branch oldest first.

        What was yielded is known, also if a later request fails.

        Raises:
            CommandError: the server refused or could not be reached.
        """
        branches = self._refs("branches")
        gone = {name: head for name, head in self.branches.items() if name not in branches}
        moved = {
            name: head for name, head in branches.items() if self.branches.get(name, head) != head
        }
        new = {name: head for name, head in branches.items() if name not in self.branches}
        # All that was known before. What moved is known next: a new branch may begin there.
        first = [self.branches[self._default()]] if self._default() in self.branches else []
        self.known = list(dict.fromkeys([*first, *self.branches.values(), *self.tags.values()]))
        for name, head in gone.items():
            yield self._of_branch("branch_deleted", name, head)
            del self.branches[name]
        for name, head in moved.items():
            yield from self._moved(name, self.branches[name], head)
            self.branches[name] = head
            self.known.insert(0, head)
        for name, head in new.items():
            yield from self._commits_of_new_line(name, head, told=True)
            self.branches[name] = head
            self.known.insert(0, head)
        yield from self._tag_changes()

    def deleted(self) -> Event:
        """Return the event of a repository that is not there any more."""
        return self._event("repository_deleted", _now())

    def _moved(self, branch: str, old: str, new: str) -> Iterator[Event]:
        """Yield the commits from the old head to the new one, or where the branch was set to."""
        generation = self._commit(old).generation
        with Spool() as spool:
            for commit in self._line(new):
                if commit.id == old:
                    yield from self._commits(branch, spool, len(spool))
                    return
                if commit.generation <= generation:
                    break  # the old head is not below
                spool.append(commit)
        self.known.insert(0, old)
        yield from self._commits_of_new_line(branch, new, told=True, kind="branch_reset")

    def _commits_of_new_line(
        self, branch: str, head: str, *, told: bool, kind: str = "branch_created"
    ) -> Iterator[Event]:
        """Yield where a branch begins among what is known, and its commits since.

        The commit where it begins is found by steps that double, then by halves between the last
        two of them: a commit is known if and only if its ancestors are.

        Args:
            branch: the branch.
            head: its head.
            told: whether the beginning is an event, and of which kind.
            kind: the kind of that event.
        """
        with Spool() as spool:
            newest, step = 0, 1  # commits before `newest` are new
            for commit in self._line(head):
                spool.append(commit)
                if len(spool) == newest + step:
                    if self._is_known(commit):
                        break
                    newest, step = len(spool), step * 2
            low, high = newest, len(spool)
            while low < high:
                middle = (low + high) // 2
                if self._is_known(spool[middle]):
                    high = middle
                else:
                    low = middle + 1
            # Without a known commit, such as in a new repository, it begins with its first one.
            amount = min(low, len(spool) - 1)
            if told:
                yield self._of_branch(kind, branch, spool[amount].id)
            yield from self._commits(branch, spool, amount)

    def _line(self, head: str) -> Iterator[Commit]:
        return iter(Log(self.server, RefUri(self.repository, head), query={"first_parent": True}))

    def _is_known(self, commit: Commit) -> bool:
        if self.since_s is not None:
            if commit.creation_date < self.since_s:
                return True
        elif commit.id in self.known:
            return True
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

    def _commits(self, branch: str, spool: Spool, amount: int) -> Iterator[Event]:
        for commit in spool.oldest_first(amount):
            if not commit.parents:
                continue  # of the repository's creation, which is no event of a branch
            kind, source = "commit_created", None
            if len(commit.parents) > 1:
                kind, source = "merge_completed", commit.parents[1]
            elif "cherry-pick-origin" in commit.metadata:
                kind = "cherry_pick_completed"
            yield self._event(
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

    def _tag_changes(self) -> Iterator[Event]:
        tags = self._refs("tags")
        for name, commit_id in list(self.tags.items()):
            if tags.get(name) != commit_id:
                yield self._event("tag_deleted", _now(), tag=name, commit_id=commit_id)
                del self.tags[name]
        for name, commit_id in tags.items():
            if name not in self.tags:
                yield self._event("tag_created", _now(), tag=name, commit_id=commit_id)
                self.tags[name] = commit_id

    def _of_branch(self, kind: str, branch: str, commit_id: str) -> Event:
        return self._event(kind, _now(), branch=branch, commit_id=commit_id)

    def _event(self, kind: str, time: str, **fields: object) -> Event:
        # The same for the same change, as the real one is; which it is, a client cannot know.
        about = (self.repository, kind, fields.get("branch"), fields.get("tag"))
        is_of_commit = "parents" in fields
        named = "\n".join(map(str, (*about, fields.get("commit_id"), "" if is_of_commit else time)))
        event_id = sha256(named.encode()).hexdigest()[:20]
        return Event(VERSION, event_id, kind, time, self.repository, **fields)  # type: ignore[arg-type]

    def _refs(self, kind: str) -> dict[str, str]:
        names = {"repository": self.repository}
        found = self.server.each(f"/repositories/{{repository}}/{kind}", names, Ref)
        return {each.id: each.commit_id for each in found}

    def _commit(self, commit_id: str) -> Commit:
        return commit_of(self.server, RefUri(self.repository, commit_id))

    def _default(self) -> str:
        if not self._default_branch:
            names = {"repository": self.repository}
            found = self.server.ask("GET", "/repositories/{repository}", names, Repository)
            self._default_branch = found.default_branch
        return self._default_branch


def is_gone(server: "Server", repository: str) -> bool:
    """Return whether there is no such repository.

    Raises:
        CommandError: the server refused otherwise, or could not be reached.
    """
    try:
        server.ask("GET", "/repositories/{repository}", {"repository": repository}, Repository)
    except RefusedError as error:
        if error.status == 404:
            return True
        raise
    return False


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _time(unix_s: int) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
