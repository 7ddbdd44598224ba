"""Records of a repository in the memory fakes, and predictable names."""

import base64
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec.structs import replace

from graveler.addresses import first_xid
from graveler.errors import AlreadyExistsError, StaleVersionError
from graveler.model import (
    Branch,
    Commit,
    CommitID,
    Event,
    Page,
    Repository,
    RepositoryUID,
    StagingToken,
    Tag,
)
from graveler.model.hooks import Run
from graveler.model.places import Places
from graveler.model.pulls import PullRequest, PullRequestComment
from graveler.model.recorded_uploads import Upload
from graveler.model.tasks import Task, TaskStart
from graveler.model.tokens import PLAIN, Spread, token_named
from graveler.ports import Clock
from tests.support.fakes.memory_objects import FixedClock, nothing
from tests.support.fakes.memory_uploads import MemoryUploads

T = TypeVar("T")
Name = TypeVar("Name", bound=str)


class CountingNames:
    """Names with a counter in place of randomness, so that tests can predict them."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or FixedClock()
        self._count = 0
        self._lock = threading.Lock()

    def fork(self, clock: Clock) -> "CountingNames":
        """Return names that continue from the same count."""
        made = CountingNames(clock)
        made._count = self._count
        return made

    def _next(self) -> int:
        with self._lock:
            self._count += 1
            return self._count

    def new_uid(self) -> str:
        seconds = self._clock.now_ns() // 10**9
        raw = (seconds % 2**32).to_bytes(4, "big") + self._next().to_bytes(8, "big")
        return base64.b32hexencode(raw).decode().lower().rstrip("=")

    def new_staging_token(
        self, repository: Repository, branch: str, spread: Spread = PLAIN
    ) -> StagingToken:
        uuid = f"00000000-0000-4000-8000-{self._next():012x}"
        return token_named(f"{repository.name}-{branch}:{uuid}", spread)


@dataclass
class Records:
    """The records of one repository, which its uid identifies."""

    branches: dict[str, Branch] = field(default_factory=dict)
    tags: dict[str, Tag] = field(default_factory=dict)
    commits: dict[CommitID, Commit] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    joinable: dict[str, str] = field(default_factory=dict)  # task IDs by digest
    places: dict[str, Places] = field(default_factory=dict)  # by kind of work
    pulls: dict[str, PullRequest] = field(default_factory=dict)
    comments: dict[str, PullRequestComment] = field(default_factory=dict)  # by both IDs
    claimed: set[str] = field(default_factory=set)
    hook_runs: dict[str, Run] = field(default_factory=dict)
    uploads: dict[str, Upload] = field(default_factory=dict)
    # How many events the outbox had, perhaps of a deleted repository with the name.
    events_before: int = 0

    def fork(self) -> "Records":
        return Records(
            dict(self.branches),
            dict(self.tags),
            dict(self.commits),
            dict(self.metadata),
            dict(self.tasks),
            dict(self.joinable),
            dict(self.places),
            dict(self.pulls),
            dict(self.comments),
            set(self.claimed),
            dict(self.hook_runs),
            dict(self.uploads),
        )


def page_of(records: Mapping[Name, T], prefix: str, after: str, amount: int) -> Page[T]:
    names = sorted(name for name in records if name.startswith(prefix) and name > after)
    chosen = names[:amount]
    next_after = chosen[-1] if chosen and len(names) > amount else ""
    return Page(tuple(records[name] for name in chosen), next_after)


class Attachments(MemoryUploads):
    """Metadata, tasks, pull requests and uploads of a repository."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, RepositoryUID], Records] = {}  # by name and uid
        self.events: list[Event] = []
        self.between: Callable[[], None] = nothing
        self._lock = threading.RLock()

    def uploads_of(self, repository: Repository) -> dict[str, Upload]:
        return self.records_of(repository).uploads

    def records_of(self, repository: Repository) -> Records:
        return self.records.setdefault((repository.name, repository.uid), Records())

    def repository_metadata(self, repository: Repository) -> Mapping[str, str]:
        with self._lock:
            return dict(self.records_of(repository).metadata)

    def update_repository_metadata(
        self, repository: Repository, put: Mapping[str, str], remove: Sequence[str]
    ) -> None:
        with self._lock:
            metadata = self.records_of(repository).metadata
            for key in remove:
                metadata.pop(key, None)
            metadata.update(put)

    def task(self, repository: Repository, task_id: str) -> Task | None:
        with self._lock:
            return self.records_of(repository).tasks.get(task_id)

    def joinable_task(self, repository: Repository, digest: str) -> Task | None:
        with self._lock:
            task_id = self.records_of(repository).joinable.get(digest)
        self.between()
        return None if task_id is None else self.task(repository, task_id)

    def tasks(
        self,
        repository: Repository,
        after: str,
        amount: int,
        is_wanted: Callable[[Task], bool] | None = None,
    ) -> Page[Task]:
        with self._lock:
            tasks = self.records_of(repository).tasks
            newest = sorted(tasks.values(), key=lambda task: task.id[-20:], reverse=True)
        left = (task for task in newest if not after or task.id[-20:] < after[-20:])
        found = list(filter(is_wanted, left))
        more = len(found) > amount
        return Page(tuple(found[:amount]), found[amount - 1].id if more else "")

    def create_task(
        self, repository: Repository, task: Task, joinable: Task | None, event: Event
    ) -> None:
        with self._lock:
            records = self.records_of(repository)
            last = records.joinable.get(task.digest) if task.digest else None
            if task.id in records.tasks or last not in (None, joinable and joinable.id):
                raise StaleVersionError("another task was created")
            records.tasks[task.id] = task
            if task.digest:
                records.joinable[task.digest] = task.id
            self.events.append(event)

    def start(self, repository: Repository, starts: TaskStart | None) -> None:
        """Store a new task and its event, as a part of a transaction."""
        if starts is not None:
            self.create_task(repository, starts.task, None, starts.event)

    def hook_run(self, repository: Repository, run_id: str) -> Run | None:
        with self._lock:
            return self.records_of(repository).hook_runs.get(run_id)

    def put_hook_run(self, repository: Repository, run: Run) -> None:
        with self._lock:
            self.records_of(repository).hook_runs[run.id] = run

    def hook_runs(
        self, repository: Repository, after: str, amount: int, *, branch: str, commit_id: str
    ) -> Page[Run]:
        with self._lock:
            runs = {
                run_id: run
                for run_id, run in self.records_of(repository).hook_runs.items()
                if branch in ("", run.branch) and commit_id in ("", run.commit_id)
            }
            return page_of(runs, "", after, amount)

    def replace_task(
        self, repository: Repository, old: Task, new: Task, event: Event | None = None
    ) -> Task:
        with self._lock:
            tasks = self.records_of(repository).tasks
            if old.id not in tasks or tasks[old.id].version != old.version:
                raise StaleVersionError(f"task {old.id} changed")
            tasks[old.id] = replace(new, version=old.version + 1)
            if event is not None:
                self.events.append(event)
            return tasks[old.id]

    def places(self, repository: Repository, kind: str) -> Places:
        with self._lock:
            return self.records_of(repository).places.get(kind, Places(kind))

    def replace_places(self, repository: Repository, old: Places, new: Places) -> Places:
        with self._lock:
            if self.places(repository, old.kind).version != old.version:
                raise StaleVersionError("the places changed")
            stored = replace(new, version=old.version + 1)
            self.records_of(repository).places[old.kind] = stored
            return stored

    def pull_request(self, repository: Repository, pull_id: str) -> PullRequest | None:
        with self._lock:
            return self.records_of(repository).pulls.get(pull_id)

    def pull_requests(
        self,
        repository: Repository,
        prefix: str,
        after: str,
        amount: int,
        is_wanted: Callable[[PullRequest], bool],
    ) -> Page[PullRequest]:
        with self._lock:
            pulls = self.records_of(repository).pulls
            wanted = {id_: pull for id_, pull in pulls.items() if is_wanted(pull)}
            return page_of(wanted, prefix, after, amount)

    def create_pull_request(self, repository: Repository, pull: PullRequest, event: Event) -> None:
        with self._lock:
            pulls = self.records_of(repository).pulls
            if pull.id in pulls:
                raise AlreadyExistsError(f"a pull request {pull.id} already exists")
            pulls[pull.id] = pull
            self.events.append(event)

    def replace_pull_request(
        self, repository: Repository, old: PullRequest, new: PullRequest, event: Event
    ) -> PullRequest:
        with self._lock:
            self.check_pull_request(repository, old)
            pulls = self.records_of(repository).pulls
            pulls[old.id] = replace(new, version=old.version + 1)
            self.events.append(event)
            return pulls[old.id]

    def check_pull_request(self, repository: Repository, old: PullRequest) -> None:
        current = self.records_of(repository).pulls.get(old.id)
        if current is None or current.version != old.version:
            raise StaleVersionError(f"pull request {old.id} changed")

    def create_comment(
        self, repository: Repository, pull_id: str, comment: PullRequestComment, event: Event
    ) -> None:
        with self._lock:
            comments, name = self.records_of(repository).comments, f"{pull_id}#{comment.id}"
            if name in comments:
                raise AlreadyExistsError(f"a comment {comment.id} already exists")
            comments[name] = comment
            self.events.append(event)

    def comment(
        self, repository: Repository, pull_id: str, comment_id: str
    ) -> PullRequestComment | None:
        with self._lock:
            return self.records_of(repository).comments.get(f"{pull_id}#{comment_id}")

    def comments(
        self, repository: Repository, pull_id: str, after: str, amount: int
    ) -> Page[PullRequestComment]:
        with self._lock:
            comments = self.records_of(repository).comments
            of_pull = {
                each.id: each for name, each in comments.items() if name.startswith(f"{pull_id}#")
            }
            return page_of(of_pull, "", after, amount)

    def delete_comment(self, repository: Repository, pull_id: str, comment_id: str) -> None:
        with self._lock:
            self.records_of(repository).comments.pop(f"{pull_id}#{comment_id}", None)

    def claim_addresses(
        self, repository: Repository, addresses: Sequence[str], expires_s: int
    ) -> None:
        assert expires_s > 0
        with self._lock:
            self.records_of(repository).claimed.update(addresses)

    def events_since(self, repository: Repository, since_s: int) -> Iterator[Event]:
        with self._lock:
            first = self.records_of(repository).events_before
            begins = [records.events_before for records in self.records.values()]
            # A later repository of the name has its own.
            end = min((begin for begin in begins if begin > first), default=len(self.events))
            stored = self.events[first:end]
        mine = [each for each in stored if each.repository == repository.name]
        mine = [each for each in mine if each.id > first_xid(since_s)]
        return iter(sorted(mine, key=lambda each: each.id))

    def claimed_addresses(self, repository: Repository) -> Iterator[str]:
        with self._lock:
            return iter(sorted(self.records_of(repository).claimed))
