"""Memory fakes of the ports, with the semantics of the real adapters.

One lock per store makes each step of a call atomic. A call that takes DynamoDB or S3 several steps
(pages, batches, reads of two items) takes several steps here. Between two steps, the store holds
no lock and calls `between`; `page_amount` is the size of a step. Tests can see the background
work: `MemoryRefStore.events` is the outbox, `cleanups` lists the tokens to drop, with the time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, TypeVar

from msgspec.structs import replace

from graveler.errors import AlreadyExistsError, StaleTaskError, StaleVersionError
from graveler.limits import TOKEN_RETENTION_S
from graveler.messages import Refusal
from graveler.model import (
    Branch,
    Change,
    Commit,
    CommitID,
    Event,
    Page,
    Repository,
    StagingToken,
    Tag,
)
from graveler.model.pulls import PullRequestMerge
from graveler.model.tasks import TaskEnd, TaskStart
from tests.support.fakes.memory_accounts import MemoryAccountStore
from tests.support.fakes.memory_objects import (
    FixedClock,
    MemoryCommittedFiles,
    MemoryObjectStore,
)
from tests.support.fakes.memory_records import Attachments, CountingNames, page_of
from tests.support.fakes.memory_staging import MemoryStagingStore

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


def _moves(branch: Branch) -> tuple[int, str, str]:
    """Return the fields that change with every move and every seal of the branch."""
    return branch.version, branch.commit_id, branch.staging_token


class MemoryRefStore(Attachments):
    """RefStore in dictionaries.

    page_amount: records in a page of a query.
    lagging: IDs of commits that are not in the index by generation yet.
    """

    def __init__(self) -> None:
        super().__init__()
        self.page_amount = 1000
        self.lagging: set[str] = set()
        # Set by the staging store, whose table takes part in the same transactions.
        self.put_restored: Callable[[StagingToken, Sequence[Change]], None] = (
            lambda _token, _changes: None
        )
        self.check_restored: Callable[[StagingToken, Sequence[Change]], None] = (
            lambda _token, _changes: None
        )
        self.cleanups: list[tuple[int, StagingToken]] = []  # due time in ns, staging token
        self.offers: set[StagingToken] = set()  # of these, those that a branch may still take
        self._repositories: dict[str, Repository] = {}
        self._ending: dict[str, Repository] = {}  # being deleted

    def fork(self) -> "MemoryRefStore":
        """Return an independent copy with an empty outbox."""
        made = copy(self)
        made._repositories, made._ending = dict(self._repositories), dict(self._ending)
        made.records = {key: records.fork() for key, records in self.records.items()}
        made.events, made.cleanups, made.lagging = [], list(self.cleanups), set()
        made.offers = set(self.offers)
        return made

    def repository(self, name: str) -> Repository | None:
        with self._lock:
            return self._repositories.get(name)

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Repository]:
        return self._pages(lambda: self._repositories, prefix, after, amount)

    def _pages(
        self, records: Callable[[], Mapping[str, T]], prefix: str, after: str, amount: int
    ) -> Page[T]:
        """Return one page of the port, read in pages of page_amount."""
        found: list[T] = []
        while True:
            with self._lock:
                size = min(amount - len(found), self.page_amount)
                page = page_of(records(), prefix, after, size)
            found += page.results
            if not page.has_more or len(found) == amount:
                return Page(tuple(found), page.next_after)
            after = page.next_after
            self.between()

    def create_repository(
        self, repository: Repository, branch: Branch | None, commit: Commit | None, event: Event
    ) -> None:
        while not self._is_created(repository, branch, commit, event):
            self.between()
            if self.repository(repository.name) is not None:
                raise AlreadyExistsError(f"repository {repository.name} exists")
            self.between()
            with self._lock:
                ending = self._ending.get(repository.name)
            if ending is not None:
                self._end(ending, event)

    def _is_created(
        self, repository: Repository, branch: Branch | None, commit: Commit | None, event: Event
    ) -> bool:
        with self._lock:
            if repository.name in self._repositories or repository.name in self._ending:
                return False
            self._repositories[repository.name] = repository
            records = self.records_of(repository)
            if branch is not None:
                records.branches[branch.name] = branch
            if commit is not None:
                records.commits[commit.id] = commit
            records.events_before = len(self.events)
            self.events.append(event)
            return True

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
                raise Refusal.REPOSITORY_NOT_FOUND.error(repr(repository.name))
            del self._repositories[repository.name]
            self._ending[repository.name] = repository
            self.events.append(event)
        self._end(repository, event)

    def _end(self, repository: Repository, event: Event) -> None:
        """Delete branches one by one, each with its current tokens; then tags, page by page."""
        due_ns = event.time_ns + TOKEN_RETENTION_S * 10**9
        records = self.records_of(repository)
        while records.branches:
            self.between()
            with self._lock:
                for branch in page_of(records.branches, "", "", 1).results:
                    del records.branches[branch.name]
                    self.cleanups += [(due_ns, token) for token in branch.tokens]
        while records.tags:
            self.between()
            with self._lock:
                for tag in page_of(records.tags, "", "", self.page_amount).results:
                    records.tags.pop(tag.name, None)
        self.between()
        with self._lock:
            if self._ending.get(repository.name) == repository:
                del self._ending[repository.name]

    def branch(self, repository: Repository, name: str) -> Branch | None:
        with self._lock:
            return self.records_of(repository).branches.get(name)

    def repository_and_branch(
        self, repository: Repository, name: str
    ) -> tuple[Repository | None, Branch | None]:
        current = self.repository(repository.name)
        self.between()
        return current, self.branch(repository, name)

    def branches(
        self, repository: Repository, prefix: str, after: str, amount: int, *, show_hidden: bool
    ) -> Page[Branch]:
        def shown() -> Mapping[str, Branch]:
            branches = self.records_of(repository).branches
            return {n: b for n, b in branches.items() if show_hidden or not b.hidden}

        return self._pages(shown, prefix, after, amount)

    def create_branch(
        self, repository: Repository, branch: Branch, event: Event, starts: TaskStart | None = None
    ) -> None:
        with self._lock:
            branches = self.records_of(repository).branches
            if branch.name in branches or branch.name in self.records_of(repository).tags:
                raise AlreadyExistsError(f"a branch or tag {branch.name!r} already exists")
            branches[branch.name] = branch
            self.events.append(event)
            self.start(repository, starts)

    def _branch_now(self, repository: Repository, name: str) -> Branch:
        branch = self.records_of(repository).branches.get(name)
        if branch is None:
            raise Refusal.BRANCH_NOT_FOUND.error(repr(name))
        return branch

    @contextmanager
    def unchanged(self, repository: Repository, branch: Branch) -> Iterator[None]:
        """Lock the store while the branch is unchanged: a transaction's condition check."""
        with self._lock:
            now = self.records_of(repository).branches.get(branch.name)
            if now is None or _moves(now) != _moves(branch):
                raise StaleVersionError(f"branch {branch.name} changed")
            yield

    def bump_version(self, repository: Repository, name: str, token: StagingToken) -> Branch | None:
        with self._lock:
            now = self.records_of(repository).branches.get(name)
            if now is None or token not in now.tokens:
                return None
            return self.raise_version(repository, name)

    def count_edit(self, repository: Repository, name: str, token: StagingToken) -> Branch | None:
        with self._lock:
            now = self.records_of(repository).branches.get(name)
            if now is None or token != now.staging_token:
                return None
            return self.raise_version(repository, name, version=0, edits=1)

    def raise_version(
        self, repository: Repository, name: str, *, version: int = 1, edits: int = 0, **more: Any
    ) -> Branch:
        """Add to the branch's version and edits; set the other fields."""
        with self._lock:
            now = self._branch_now(repository, name)
            raised = replace(now, version=now.version + version, edits=now.edits + edits, **more)
            self.records_of(repository).branches[name] = raised
            return raised

    def seal_token(self, repository: Repository, branch: Branch, new_token: StagingToken) -> Branch:
        with self._lock:
            current = self._branch_now(repository, branch.name)
            if current.staging_token != branch.staging_token:
                raise StaleVersionError(f"branch {branch.name} has another staging token")
            sealed = replace(current, staging_token=new_token, sealed_tokens=current.tokens)
            self.records_of(repository).branches[branch.name] = sealed
            return sealed

    def offer_token(self, token: StagingToken, drop_after_ns: int) -> str:
        with self._lock:
            self.cleanups.append((drop_after_ns, token))
            self.offers.add(token)
        return token

    def due(self, now_ns: int) -> list[StagingToken]:
        """Return the tokens to drop by now, which no branch can take any more."""
        with self._lock:
            tokens = [token for due_ns, token in self.cleanups if due_ns < now_ns]
            self.offers.difference_update(tokens)
            return tokens

    def replace_sealed(
        self,
        repository: Repository,
        old: Branch,
        *,
        replaced: Sequence[StagingToken],
        token: StagingToken,
        offer: str,
        drop_after_ns: int,
    ) -> None:
        with self._lock:
            now = self.records_of(repository).branches.get(old.name)
            if now is None or now.version != old.version or offer not in self.offers:
                raise StaleVersionError(f"branch {old.name} changed, or {token} is being dropped")
            sealed = now.sealed_tokens
            if replaced[0] not in sealed:
                raise StaleVersionError(f"branch {old.name} is another branch of that name")
            first = sealed.index(replaced[0])
            last = first + len(replaced)
            assert sealed[first:last] == tuple(replaced)
            kept = (*sealed[:first], token, *sealed[last:])
            self.raise_version(repository, old.name, sealed_tokens=kept)
            self.offers.remove(token)
            self.cleanups = [each for each in self.cleanups if each[1] != token]
            self.cleanups += [(drop_after_ns, each) for each in replaced]

    def move_branch(
        self,
        repository: Repository,
        old: Branch,
        *,
        commit: Commit | None,
        commit_id: CommitID,
        applied_tokens: Sequence[StagingToken],
        new_staging_token: StagingToken | None,
        event: Event | None,
        drop_after_ns: int,
        restored: Sequence[Change] = (),
        is_clean: bool = False,
        ends: TaskEnd | None = None,
        merges: PullRequestMerge | None = None,
        starts: TaskStart | None = None,
    ) -> None:
        kept = len(old.sealed_tokens) - len(applied_tokens)
        assert tuple(applied_tokens) == old.sealed_tokens[kept:]
        with self._lock:
            now = self._branch_now(repository, old.name)
            reset = new_staging_token is not None
            stays = not (reset or restored) or now.staging_token == old.staging_token
            self.check_restored(old.staging_token, restored)
            if is_clean and now.edits != old.edits:
                raise StaleVersionError(f"branch {old.name} was edited")
            if (now.version, now.commit_id) != (old.version, old.commit_id) or not stays:
                raise StaleVersionError(f"branch {old.name} changed")
            kept = len(now.sealed_tokens) - len(applied_tokens)
            if now.uid != old.uid or now.sealed_tokens[kept:] != tuple(applied_tokens):
                raise StaleVersionError(f"branch {old.name} is another branch of that name")
            records = self.records_of(repository)
            if ends is not None and records.tasks[ends.old.id].version != ends.old.version:
                raise StaleTaskError(f"task {ends.old.id} changed")
            if merges is not None:
                self.check_pull_request(repository, merges.old)
            if commit is not None:
                stored = records.commits.setdefault(commit.id, commit)
                if stored.generation != commit.generation:
                    raise AlreadyExistsError(f"commit {commit.id} has another generation")
            records.branches[old.name] = replace(
                now,
                commit_id=commit_id,
                staging_token=now.staging_token if new_staging_token is None else new_staging_token,
                sealed_tokens=now.sealed_tokens[:kept],
                version=now.version + 1,
                clean_moves=now.clean_moves + is_clean,
            )
            dropped = [*applied_tokens, *([old.staging_token] if reset else [])]
            self.cleanups += [(drop_after_ns, token) for token in dropped]
            self.put_restored(old.staging_token, restored)
            if ends is not None:
                self.replace_task(repository, ends.old, ends.new, ends.event)
            if merges is not None:
                self.replace_pull_request(repository, merges.old, merges.new, merges.event)
            self.start(repository, starts)
            if event is not None:
                self.events.append(event)

    def delete_branch(
        self,
        repository: Repository,
        branch: Branch,
        event: Event,
        drop_after_ns: int,
        starts: TaskStart | None = None,
    ) -> None:
        """Do the part of ExportStore.delete_branch that concerns refs."""
        with self._lock:
            current = self.records_of(repository).branches.get(branch.name)
            if current is None or _moves(current) != _moves(branch):
                raise StaleVersionError(f"branch {branch.name} changed")
            del self.records_of(repository).branches[branch.name]
            self.cleanups += [(drop_after_ns, token) for token in branch.tokens]
            self.events.append(event)
            self.start(repository, starts)

    def tag(self, repository: Repository, name: str) -> Tag | None:
        with self._lock:
            return self.records_of(repository).tags.get(name)

    def tags(self, repository: Repository, prefix: str, after: str, amount: int) -> Page[Tag]:
        return self._pages(lambda: self.records_of(repository).tags, prefix, after, amount)

    def create_tag(
        self, repository: Repository, tag: Tag, event: Event, starts: TaskStart | None = None
    ) -> None:
        with self._lock:
            tags = self.records_of(repository).tags
            if tag.name in tags or tag.name in self.records_of(repository).branches:
                raise AlreadyExistsError(f"a tag or branch {tag.name!r} already exists")
            tags[tag.name] = tag
            self.events.append(event)
            self.start(repository, starts)

    def delete_tag(
        self, repository: Repository, tag: Tag, event: Event, starts: TaskStart | None = None
    ) -> None:
        with self._lock:
            if self.records_of(repository).tags.get(tag.name) != tag:
                raise StaleVersionError(f"tag {tag.name} changed")
            del self.records_of(repository).tags[tag.name]
            self.events.append(event)
            self.start(repository, starts)

    def commits(self, repository: Repository, ids: Sequence[CommitID]) -> Mapping[CommitID, Commit]:
        with self._lock:
            commits = self.records_of(repository).commits
            return {id_: commits[id_] for id_ in ids if id_ in commits}

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[CommitID, ...]:
        with self._lock:
            return tuple(
                sorted(i for i in self.records_of(repository).commits if i.startswith(prefix))
            )[:2]

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        with self._lock:
            commits = self.records_of(repository).commits.values()
            seen = [commit for commit in commits if commit.id not in self.lagging]
            below = [commit for commit in seen if commit.generation <= generation]
            return tuple(sorted(below, key=lambda c: (-c.generation, c.id)))[:amount]

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        after = ""
        while True:
            with self._lock:
                page = page_of(self.records_of(repository).commits, "", after, self.page_amount)
            yield from page.results
            if not page.has_more:
                return
            after = page.next_after
            self.between()

    def create_commit(self, repository: Repository, commit: Commit) -> Commit:
        with self._lock:
            return self.records_of(repository).commits.setdefault(commit.id, commit)

    def restore_commits(self, repository: Repository, commits: Sequence[Commit]) -> None:
        for commit in commits:
            with self._lock:
                self.records_of(repository).commits[commit.id] = commit
            self.between()

    def _check_restoring(self, repository: Repository) -> None:
        current = self._repositories.get(repository.name)
        claim = None if current is None else (current.uid, current.restoring)
        if claim != (repository.uid, repository.restoring):
            raise StaleVersionError(f"the restore of repository {repository.name} ended")

    def restore_branches(self, repository: Repository, branches: Sequence[Branch]) -> None:
        for branch in branches:
            with self._lock:
                self._check_restoring(repository)
                self.records_of(repository).branches.setdefault(branch.name, branch)
            self.between()

    def restore_tags(self, repository: Repository, tags: Sequence[Tag]) -> None:
        for tag in tags:
            with self._lock:
                self._check_restoring(repository)
                self.records_of(repository).tags.setdefault(tag.name, tag)
            self.between()
