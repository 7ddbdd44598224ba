"""Every port in memory: the semantics of the real adapters without their servers.

One lock per store makes each call atomic. What the port leaves to background work is visible:
`MemoryRefStore.events` is the outbox, `MemoryRefStore.cleanups` what is to be dropped and when.
"""

import base64
import bisect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from graveler.errors import AlreadyExistsError, NotFoundError, StaleVersionError
from graveler.limits import TOKEN_RETENTION_S
from graveler.model import Branch, Commit, Event, Page, Repository, Tag, Task
from graveler.ports import Clock, Staged
from tests.support.memory_objects import (
    FixedClock,
    MemoryAccountStore,
    MemoryCommittedFiles,
    MemoryObjectStore,
)

__all__ = [
    "CountingNames",
    "FixedClock",
    "MemoryAccountStore",
    "MemoryCommittedFiles",
    "MemoryObjectStore",
    "MemoryRefStore",
    "MemoryStagingStore",
]

T = TypeVar("T")
SCAN_PAGE_AMOUNT = 100


class CountingNames:
    """Names that differ by a count only, so that a test can foresee them."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or FixedClock()
        self._count = 0
        self._lock = threading.Lock()

    def _next(self) -> int:
        with self._lock:
            self._count += 1
            return self._count

    def new_uid(self) -> str:
        seconds = self._clock.now_ns() // 10**9
        raw = (seconds % 2**32).to_bytes(4, "big") + self._next().to_bytes(8, "big")
        return base64.b32hexencode(raw).decode().lower().rstrip("=")

    def new_staging_token(self, repository: Repository, branch: str) -> str:
        return f"{repository.name}-{branch}:00000000-0000-4000-8000-{self._next():012x}"


@dataclass
class _Records:
    """What lives under one repository's uid."""

    branches: dict[str, Branch] = field(default_factory=dict)
    tags: dict[str, Tag] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)


def _page(records: Mapping[str, T], prefix: str, after: str, amount: int) -> Page[T]:
    names = sorted(name for name in records if name.startswith(prefix) and name > after)
    chosen = names[:amount]
    next_after = chosen[-1] if chosen and len(names) > amount else ""
    return Page(tuple(records[name] for name in chosen), next_after)


class MemoryRefStore:
    """RefStore in dictionaries."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.cleanups: list[tuple[int, str]] = []  # due time in ns, staging token
        # Called between the parts of a call: what others do there, the call sees in part.
        self.between: Callable[[], None] = lambda: None
        self._repositories: dict[str, Repository] = {}
        self._records: dict[tuple[str, str], _Records] = {}
        self._lock = threading.RLock()

    def _of(self, repository: Repository) -> _Records:
        return self._records.setdefault((repository.name, repository.uid), _Records())

    def repository(self, name: str) -> Repository | None:
        with self._lock:
            return self._repositories.get(name)

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Repository]:
        with self._lock:
            return _page(self._repositories, prefix, after, amount)

    def create_repository(
        self, repository: Repository, branch: Branch | None, commit: Commit | None, event: Event
    ) -> None:
        with self._lock:
            if repository.name in self._repositories:
                raise AlreadyExistsError(f"repository {repository.name} exists")
            self._repositories[repository.name] = repository
            records = self._of(repository)
            if branch is not None:
                records.branches[branch.name] = branch
            if commit is not None:
                records.commits[commit.id] = commit
            self.events.append(event)

    def update_repository(
        self, old: Repository, new: Repository, event: Event | None = None
    ) -> None:
        with self._lock:
            if self._repositories.get(old.name) not in ((old, new) if event is None else (old,)):
                raise StaleVersionError(f"repository {old.name} changed")
            self._repositories[old.name] = new
            if event is not None:
                self.events.append(event)

    def delete_repository(self, repository: Repository, event: Event) -> None:
        with self._lock:
            current = self._repositories.get(repository.name)
            if current is None or current.uid != repository.uid:
                raise NotFoundError(f"repository {repository.name} not found")
            del self._repositories[repository.name]
            self.events.append(event)
            names = list(self._of(repository).branches)
        due_ns = event.time_ns + TOKEN_RETENTION_S * 10**9
        for name in names:
            self.between()
            with self._lock:
                branch = self._of(repository).branches.pop(name, None)
                tokens = () if branch is None else branch.tokens
                self.cleanups += [(due_ns, token) for token in tokens]
        self.between()
        with self._lock:
            self._of(repository).tags.clear()

    def repository_metadata(self, repository: Repository) -> Mapping[str, str]:
        with self._lock:
            return dict(self._of(repository).metadata)

    def update_repository_metadata(
        self, repository: Repository, put: Mapping[str, str], remove: Sequence[str]
    ) -> None:
        with self._lock:
            metadata = self._of(repository).metadata
            for key in remove:
                metadata.pop(key, None)
            metadata.update(put)

    def branch(self, repository: Repository, name: str) -> Branch | None:
        with self._lock:
            return self._of(repository).branches.get(name)

    def repository_and_branch(
        self, repository: Repository, name: str
    ) -> tuple[Repository | None, Branch | None]:
        with self._lock:
            return self._repositories.get(repository.name), self.branch(repository, name)

    def branches(
        self, repository: Repository, prefix: str, after: str, amount: int, *, show_hidden: bool
    ) -> Page[Branch]:
        with self._lock:
            branches = self._of(repository).branches
            shown = {n: b for n, b in branches.items() if show_hidden or not b.hidden}
            return _page(shown, prefix, after, amount)

    def create_branch(self, repository: Repository, branch: Branch, event: Event) -> None:
        with self._lock:
            branches = self._of(repository).branches
            if branch.name in branches or branch.name in self._of(repository).tags:
                raise AlreadyExistsError(f"a branch or tag {branch.name!r} already exists")
            branches[branch.name] = branch
            self.events.append(event)

    def _branch_now(self, repository: Repository, name: str) -> Branch:
        branch = self._of(repository).branches.get(name)
        if branch is None:
            raise NotFoundError(f"branch {name} not found")
        return branch

    def seal_token(self, repository: Repository, branch: Branch, new_token: str) -> Branch:
        with self._lock:
            current = self._branch_now(repository, branch.name)
            if current.staging_token != branch.staging_token:
                raise StaleVersionError(f"branch {branch.name} has another staging token")
            sealed = replace(current, staging_token=new_token, sealed_tokens=current.tokens)
            self._of(repository).branches[branch.name] = sealed
            return sealed

    def move_branch(
        self,
        repository: Repository,
        old: Branch,
        *,
        commit: Commit | None,
        commit_id: str,
        applied_tokens: Sequence[str],
        new_staging_token: str | None,
        event: Event | None,
        drop_after_ns: int,
    ) -> None:
        kept = len(old.sealed_tokens) - len(applied_tokens)
        assert tuple(applied_tokens) == old.sealed_tokens[kept:]
        with self._lock:
            now = self._branch_now(repository, old.name)
            reset = new_staging_token is not None
            stays = not reset or now.staging_token == old.staging_token
            if (now.version, now.commit_id) != (old.version, old.commit_id) or not stays:
                raise StaleVersionError(f"branch {old.name} changed")
            kept = len(now.sealed_tokens) - len(applied_tokens)
            if now.sealed_tokens[kept:] != tuple(applied_tokens):
                raise StaleVersionError(f"branch {old.name} is another branch of that name")
            records = self._of(repository)
            if commit is not None:
                records.commits[commit.id] = commit
            records.branches[old.name] = replace(
                now,
                commit_id=commit_id,
                staging_token=now.staging_token if new_staging_token is None else new_staging_token,
                sealed_tokens=now.sealed_tokens[:kept],
                version=now.version + 1,
            )
            dropped = [*applied_tokens, *([old.staging_token] if reset else [])]
            self.cleanups += [(drop_after_ns, token) for token in dropped]
            if event is not None:
                self.events.append(event)

    def delete_branch(
        self, repository: Repository, branch: Branch, event: Event, drop_after_ns: int
    ) -> None:
        """The refs' part of ExportStore.delete_branch."""
        with self._lock:
            current = self._of(repository).branches.get(branch.name)
            if current != branch:
                raise StaleVersionError(f"branch {branch.name} changed")
            del self._of(repository).branches[branch.name]
            self.cleanups += [(drop_after_ns, token) for token in branch.tokens]
            self.events.append(event)

    def tag(self, repository: Repository, name: str) -> Tag | None:
        with self._lock:
            return self._of(repository).tags.get(name)

    def tags(self, repository: Repository, prefix: str, after: str, amount: int) -> Page[Tag]:
        with self._lock:
            return _page(self._of(repository).tags, prefix, after, amount)

    def create_tag(self, repository: Repository, tag: Tag, event: Event) -> None:
        with self._lock:
            tags = self._of(repository).tags
            if tag.name in tags or tag.name in self._of(repository).branches:
                raise AlreadyExistsError(f"a tag or branch {tag.name!r} already exists")
            tags[tag.name] = tag
            self.events.append(event)

    def delete_tag(self, repository: Repository, tag: Tag, event: Event) -> None:
        with self._lock:
            if self._of(repository).tags.get(tag.name) != tag:
                raise StaleVersionError(f"tag {tag.name} changed")
            del self._of(repository).tags[tag.name]
            self.events.append(event)

    def commits(self, repository: Repository, ids: Sequence[str]) -> Mapping[str, Commit]:
        with self._lock:
            commits = self._of(repository).commits
            return {id_: commits[id_] for id_ in ids if id_ in commits}

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(i for i in self._of(repository).commits if i.startswith(prefix)))[
                :2
            ]

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        with self._lock:
            below = [c for c in self._of(repository).commits.values() if c.generation <= generation]
            return tuple(sorted(below, key=lambda c: (-c.generation, c.id)))[:amount]

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        ids: list[str] = []
        last = ""
        while True:
            with self._lock:
                commits = self._of(repository).commits
                if len(ids) < len(commits):  # they only become more
                    ids = sorted(commits)
                first = bisect.bisect_right(ids, last)
                page = [commits[each] for each in ids[first : first + SCAN_PAGE_AMOUNT]]
            yield from page
            if len(page) < SCAN_PAGE_AMOUNT:
                return
            last = page[-1].id
            self.between()

    def restore_commits(self, repository: Repository, commits: Sequence[Commit]) -> None:
        with self._lock:
            self._of(repository).commits.update((commit.id, commit) for commit in commits)

    def restore_branches(self, repository: Repository, branches: Sequence[Branch]) -> None:
        with self._lock:
            for branch in branches:
                self._of(repository).branches.setdefault(branch.name, branch)

    def restore_tags(self, repository: Repository, tags: Sequence[Tag]) -> None:
        with self._lock:
            for tag in tags:
                self._of(repository).tags.setdefault(tag.name, tag)

    def task(self, repository: Repository, task_id: str) -> Task | None:
        with self._lock:
            return self._of(repository).tasks.get(task_id)

    def put_task(self, repository: Repository, task: Task) -> None:
        with self._lock:
            self._of(repository).tasks[task.id] = task


class MemoryStagingStore:
    """StagingStore in dictionaries; reads branches from the ref store beside it."""

    def __init__(self, refs: MemoryRefStore) -> None:
        self._refs = refs
        self._values: dict[str, dict[bytes, bytes | None]] = {}
        self._paths: dict[str, list[bytes]] = {}
        self._lock = threading.RLock()

    def get(self, token: str, path: bytes) -> Staged | None:
        with self._lock:
            values = self._values.get(token, {})
            return Staged(values[path]) if path in values else None

    def get_with_branch(
        self, repository: Repository, branch: str, token: str, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        return self._refs.branch(repository, branch), self.get(token, path)

    def put(self, token: str, path: bytes, value: bytes | None) -> None:
        with self._lock:
            values = self._values.setdefault(token, {})
            if path not in values:
                bisect.insort(self._paths.setdefault(token, []), path)
            values[path] = value

    def put_many(self, token: str, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        assert len({path for path, _ in changes}) == len(changes)
        for path, value in changes:
            self.put(token, path, value)

    def put_if(self, token: str, path: bytes, value: bytes, expected: Staged | None) -> bool:
        with self._lock:
            if self.get(token, path) not in (expected, Staged(value)):
                return False
            self.put(token, path, value)
            return True

    def _scan_page(
        self, token: str, start: bytes, end: bytes | None
    ) -> list[tuple[bytes, bytes | None]]:
        with self._lock:
            paths = self._paths.get(token, [])
            first = bisect.bisect_left(paths, start)
            last = len(paths) if end is None else bisect.bisect_left(paths, end)
            chosen = paths[first : min(last, first + SCAN_PAGE_AMOUNT)]
            return [(path, self._values[token][path]) for path in chosen]

    def scan(
        self, token: str, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        while page := self._scan_page(token, start, end):
            yield from page
            start = page[-1][0] + b"\0"

    def scan_with_branch(
        self, repository: Repository, branch: str, token: str, start: bytes, end: bytes | None
    ) -> tuple[Branch | None, Iterator[tuple[bytes, bytes | None]]]:
        return self._refs.branch(repository, branch), self.scan(token, start, end)

    def drop(self, token: str) -> None:
        with self._lock:
            self._values.pop(token, None)
            self._paths.pop(token, None)
