"""Tasks in DynamoDB."""

import msgspec

from graveler.aws.dynamodb.models import TASK, TaskItem, partition_of
from graveler.aws.dynamodb.records import Records
from graveler.model import Repository, Task
from graveler.times import NS_PER_S

_TASK = msgspec.json.Decoder(Task)

_TASK_LIFE_S = 7 * 24 * 60 * 60


class TaskRecords(Records):
    """`graveler.ports.TaskStore` over the refs table."""

    __slots__ = ()

    def task(self, repository: Repository, task_id: str) -> Task | None:
        raw = self.tables.get(partition_of(repository), TASK + task_id)
        return None if raw is None else _TASK.decode(raw["task"]["S"])

    def put_task(self, repository: Repository, task: Task) -> None:
        item = TaskItem(
            partition_of(repository),
            TASK + task.id,
            task=msgspec.json.encode(task).decode(),
            expires_at=task.update_time_ns // NS_PER_S + _TASK_LIFE_S,
        )
        self.tables.dynamodb.call("PutItem", self.tables.put(item))
