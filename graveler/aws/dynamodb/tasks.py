"""Tasks in DynamoDB."""

from collections.abc import Callable
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from graveler.aws.dynamodb.models import (
    JOINABLE,
    TASK,
    JoinableItem,
    TaskItem,
    partition_of,
)
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.errors import StaleVersionError
from graveler.model import Event, Page, Repository
from graveler.model.tasks import Task, TaskStart
from graveler.times import NS_PER_S

# A page of wanted tasks reads so many pages of up to 1 MB.
_PAGES_READ_MAX = 8
_TASK_LIFE_S = 7 * 24 * 60 * 60

# An ID ends with an xid, which begins with the time.
_XID_LENGTH = 20


def task_of(raw: Raw) -> Task:
    """Return the task that the raw item stores."""
    # Making a decoder in advance would slow every start, and few processes need it.
    task = msgspec.json.decode(raw["task"]["S"], type=Task)
    return replace(task, version=int(raw["version"]["N"]))


def task_item(repository: Repository, task: Task) -> TaskItem:
    """Return the item that stores the task."""
    return TaskItem(
        partition_of(repository),
        task_key(task.id),
        task=msgspec.json.encode(task).decode(),
        version=task.version,
        write=str(uuid4()),
        expires_at=task.update_time_ns // NS_PER_S + _TASK_LIFE_S,
    )


def task_replacement(tables: Tables, repository: Repository, old: Task, new: Task) -> Request:
    """Return the parameters of a Put that replaces the task if it is unchanged."""
    item = task_item(repository, replace(new, version=old.version + 1))
    return tables.put(item, TaskItem.version == old.version)


def task_creation(
    tables: Tables, repository: Repository, starts: TaskStart | None
) -> list[dict[str, Request]]:
    """Return the writes that store a new task and its event in another transaction."""
    if starts is None:
        return []
    item = task_item(repository, starts.task)
    return [
        {"Put": tables.put(item, TaskItem.sort.does_not_exist())},
        {"Put": tables.put(outbox_item(repository, starts.event))},
    ]


def task_key(task_id: str) -> str:
    """Return the sort key of the task's item."""
    return TASK + task_id[-_XID_LENGTH:]


class TaskRecords(RefsRecords):
    """`graveler.ports.TaskStore` over the refs table."""

    __slots__ = ()

    def task(self, repository: Repository, task_id: str) -> Task | None:
        raw = self.tables.get(partition_of(repository), task_key(task_id))
        task = None if raw is None else task_of(raw)
        return task if task is not None and task.id == task_id else None

    def joinable_task(self, repository: Repository, digest: str) -> Task | None:
        raw = self.tables.get(partition_of(repository), JOINABLE + digest)
        return None if raw is None else self.task(repository, raw["task_id"]["S"])

    def tasks(
        self,
        repository: Repository,
        after: str,
        amount: int,
        is_wanted: Callable[[Task], bool] | None = None,
    ) -> Page[Task]:
        partition = partition_of(repository)
        request = self.tables.query(partition, TASK, limit=None if is_wanted else amount + 1)
        request["ScanIndexForward"] = False
        if after:
            request["ExclusiveStartKey"] = key(partition, task_key(after))
        found: list[Task] = []
        for number, raws in enumerate(self.tables.pages(request), 1):
            tasks = [task_of(raw) for raw in raws]
            found += filter(is_wanted, tasks)
            if len(found) > amount:
                return Page(tuple(found[:amount]), found[amount - 1].id)
            if number == _PAGES_READ_MAX and tasks:
                return Page(tuple(found), tasks[-1].id)
        return Page(tuple(found))

    def create_task(
        self, repository: Repository, task: Task, joinable: Task | None, event: Event
    ) -> None:
        named = None if joinable is None else joinable.id
        if not self._is_created(repository, task, named, event):
            gone = self._named_but_gone(repository, task.digest)
            if gone is None or not self._is_created(repository, task, gone, event):
                raise StaleVersionError("another request of that kind created a task")

    def _named_but_gone(self, repository: Repository, digest: str) -> str | None:
        """Return the task ID under the digest if that task has already expired."""
        raw = self.tables.get(partition_of(repository), JOINABLE + digest) if digest else None
        task_id = None if raw is None else raw["task_id"]["S"]
        return task_id if task_id and self.task(repository, task_id) is None else None

    def _is_created(
        self, repository: Repository, task: Task, named: str | None, event: Event
    ) -> bool:
        """Store the task if its digest still has the task ID `named`; return False if not."""
        item = task_item(repository, task)
        writes = [{"Put": self.tables.put(item, TaskItem.sort.does_not_exist())}]
        if task.digest:
            joined = JoinableItem(
                partition_of(repository),
                JOINABLE + task.digest,
                task_id=task.id,
                expires_at=item.expires_at,
            )
            unchanged = JoinableItem.sort.does_not_exist()
            if named is not None:
                unchanged |= JoinableItem.task_id == named
            writes.append({"Put": self.tables.put(joined, unchanged)})
        return self._transact(writes, outbox_item(repository, event))

    def replace_task(
        self, repository: Repository, old: Task, new: Task, event: Event | None = None
    ) -> Task:
        put = task_replacement(self.tables, repository, old, new)
        stored = replace(new, version=old.version + 1)
        if event is not None:
            is_done = self._transact([{"Put": put}], outbox_item(repository, event))
        else:
            is_done = self._put_once(put)
        if not is_done:
            raise StaleVersionError(f"task {old.id} changed since it was read")
        return stored
