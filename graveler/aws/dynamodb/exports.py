"""The export records of branches in DynamoDB.

A record that was deleted and created again begins with another version. A process that still knows
the old record must not change the new one. So conditions compare both the version and the run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import msgspec
from msgspec.structs import replace
from pynamodb.expressions.condition import Condition

from graveler.aws.dynamodb.branches import branch_deletion, branch_key
from graveler.aws.dynamodb.models import (
    EXPORT,
    EXPORTS,
    ExportItem,
    ListedExportItem,
    partition_named,
    partition_of,
)
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Request, key
from graveler.aws.dynamodb.tasks import task_creation
from graveler.aws.errors import TransactionCancelledError
from graveler.errors import StaleVersionError, UnknownOutcomeError
from graveler.export.paths import ListedExport, paths_of
from graveler.export.record import BranchExport, next_version
from graveler.model import Branch, Event, Repository
from graveler.model.tasks import TaskStart


@dataclass(frozen=True, slots=True)
class DynamoExportStore(RefsRecords):
    """`graveler.export.ports.ExportStore` in the refs table."""

    def branch_export(self, repository: Repository, branch: str) -> BranchExport | None:
        return self._record(partition_of(repository), branch)

    def listed_record(self, listed: ListedExport) -> BranchExport | None:
        return self._record(
            partition_named(listed.repository, listed.repository_uid), listed.branch
        )

    def _record(self, partition: str, branch: str) -> BranchExport | None:
        raw = self.tables.get(partition, EXPORT + branch)
        if raw is None:
            return None
        # Making a decoder in advance would slow every start, and few processes need it.
        return msgspec.json.decode(raw["export"]["S"], type=BranchExport)

    def replace_branch_export(
        self,
        repository: Repository,
        old: BranchExport | None,
        new: BranchExport,
        event: Event | None = None,
    ) -> BranchExport:
        stored = replace(new, version=next_version(old, event))
        unchanged = ExportItem.sort.does_not_exist() if old is None else _is(old)
        put = self.tables.put(_export_item(repository, stored), unchanged)
        if event is None:
            is_done = self._put_once(put)
        else:
            writes = [{"Put": put}]
            if old is None:
                branch = branch_key(repository, new.branch)
                writes.append({"ConditionCheck": self.tables.present(branch)})
            if old is None or old.configuration != new.configuration:
                writes.append({"Put": self.tables.put(_listed_item(repository, stored))})
            is_done = self._transact(writes, outbox_item(repository, event))
        if not is_done:
            raise _stale(new)
        return stored

    def delete_branch_export(self, repository: Repository, old: BranchExport) -> None:
        item_key = key(partition_of(repository), EXPORT + old.branch)
        listed = self.tables.delete(listed_key(partition_of(repository), old.branch))
        try:
            self.tables.transact(
                [{"Delete": self.tables.delete(item_key, _is(old))}, {"Delete": listed}]
            )
        except (TransactionCancelledError, UnknownOutcomeError) as error:
            if self.branch_export(repository, old.branch) is None:
                return  # deleted by an earlier attempt, or by another process
            if isinstance(error, UnknownOutcomeError):
                raise
            raise _stale(old) from error

    def delete_branch(
        self,
        repository: Repository,
        branch: Branch,
        event: Event,
        drop_after_ns: int,
        *,
        export: BranchExport | None = None,
        left: BranchExport | None = None,
        starts: TaskStart | None = None,
    ) -> None:
        partition = partition_of(repository)
        export_key = key(partition, EXPORT + branch.name)
        writes = branch_deletion(self.tables, repository, branch, drop_after_ns)
        if export is None:
            writes.append({"ConditionCheck": self.tables.absent(export_key)})
        elif left is None:
            listed = self.tables.delete(listed_key(partition, branch.name))
            writes.append({"Delete": self.tables.delete(export_key, _is(export))})
            writes.append({"Delete": listed})
        else:
            item = _export_item(repository, replace(left, version=next_version(export, event)))
            writes.append({"Put": self.tables.put(item, _is(export))})
        writes += task_creation(self.tables, repository, starts)
        if not self._transact(writes, outbox_item(repository, event)):
            raise StaleVersionError(f"branch {branch.name} or its export changed since it was read")

    def listed_exports(self) -> Iterator[ListedExport]:
        for raws in self.tables.pages(self.tables.query(EXPORTS, "")):
            for raw in raws:
                yield msgspec.json.decode(raw["listed"]["S"], type=ListedExport)


def listed_key(partition: str, branch: str) -> Request:
    """Return the key of the item that lists the branch's export.

    Args:
        partition: the partition of the branch's repository.
        branch: the branch's name.
    """
    return key(EXPORTS, _listed_sort(partition, branch))


def _listed_sort(partition: str, branch: str) -> str:
    return f"{partition}#{branch}"


def _listed_item(repository: Repository, export: BranchExport) -> ListedExportItem:
    listed = ListedExport(repository.name, repository.uid, export.branch, paths_of(export))
    return ListedExportItem(
        EXPORTS,
        _listed_sort(partition_of(repository), export.branch),
        listed=msgspec.json.encode(listed).decode(),
    )


def _export_item(repository: Repository, export: BranchExport) -> ExportItem:
    return ExportItem(
        partition_of(repository),
        EXPORT + export.branch,
        export=msgspec.json.encode(export).decode(),
        version=export.version,
        run=_run_id(export),
        write=str(uuid4()),
    )


def _is(export: BranchExport) -> Condition:
    condition: Condition = (ExportItem.version == export.version) & (
        ExportItem.run == _run_id(export)
    )
    return condition


def _run_id(export: BranchExport) -> str:
    return "" if export.run is None else export.run.id


def _stale(export: BranchExport) -> StaleVersionError:
    return StaleVersionError(f"the export of branch {export.branch} changed since it was read")
