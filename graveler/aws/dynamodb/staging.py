"""The StagingStore on DynamoDB: partition = staging token or a shard of it, sort key = path.

Theory of operation. In DynamoDB, only a transaction can make a write depend on another item. And
DynamoDB cancels transactions that touch one item at the same time, even if they only check it. So
a token has several gates (`dynamodb.gates`). A write is a transaction that puts its entry and
checks one gate, which a path's hash selects. Closing a token closes all of its gates, so any gate
shows whether the token is closed. Writes at different gates do not conflict; a write that
conflicts is sent again. Concurrent writes of threads share a transaction (`dynamodb.coalescing`).
Many changes of one request are transactions of 99 changes at successive gates.

A transaction has a client request token, so a repeated request has no second effect.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from uuid import uuid4

from msgspec.structs import replace

from graveler.aws import deadlines
from graveler.aws.dynamodb import gates
from graveler.aws.dynamodb.branches import branch_key, is_unchanged
from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.coalescing import BatchCall
from graveler.aws.dynamodb.models import BranchItem, partition_of
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.recorded_uploads import has_completed, upload_completion
from graveler.aws.dynamodb.staged_items import (
    StagedItem,
    key_in,
    modelled_item,
    partitions_of,
    restored_item,
    says,
    staged_item,
)
from graveler.aws.dynamodb.staged_pages import COUNTED_MAX, PATHS, counted, pages
from graveler.aws.dynamodb.staged_reads import StagedReads
from graveler.aws.dynamodb.tables import Raw, Request, Tables
from graveler.aws.dynamodb.tasks import task_key, task_of, task_replacement
from graveler.aws.errors import TransactionCancelledError
from graveler.errors import (
    GravelerError,
    StaleTaskError,
    StaleVersionError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model import Branch, Change, Event, Repository, StagingToken
from graveler.model.recorded_uploads import Upload
from graveler.model.tasks import Task
from graveler.model.tokens import ALL_PLAIN, Spread, Spreads, spread_after, spread_of
from graveler.ports import (
    UNCONDITIONAL,
    Staged,
    StagedChange,
    StageOutcome,
    Unconditional,
)
from graveler.threads import ContextThreads

_TRANSACTIONS_AT_ONCE = 8
_SHARDS_AT_ONCE = 4  # dropped; each deletes eight batches at once


class DynamoStagingStore(StagedReads):
    """`graveler.ports.StagingStore` over the staging table."""

    def __init__(self, tables: Tables, spreads: Spreads = ALL_PLAIN) -> None:
        super().__init__(tables)
        self._spreads = spreads

    def stage(self, token: StagingToken, changes: Sequence[Change]) -> StageOutcome:
        if len(changes) == 1:
            return self._outcome(changes, lambda: self._stage_together(token, changes[0]))
        has_failed = threading.Event()

        def attempt(batch: Sequence[Change], gate: int) -> StageOutcome:
            if has_failed.is_set():
                error = ThrottledError("not tried, because others failed: repeat it")
                return StageOutcome(failed=dict.fromkeys((path for path, _ in batch), error))
            outcome = self._outcome(batch, lambda: self._stage_at_once(token, batch, gate))
            if outcome.failed:
                has_failed.set()
            return outcome

        batches, at_gates = list(gates.batches_of(changes)), gates.successive(token, changes)
        if len(batches) == 1:
            return attempt(batches[0], next(at_gates))
        with ContextThreads(_TRANSACTIONS_AT_ONCE) as pool:
            outcomes = list(pool.map(attempt, batches, at_gates))
        return StageOutcome(
            [change for outcome in outcomes for change in outcome.refused],
            {path: error for outcome in outcomes for path, error in outcome.failed.items()},
        )

    def _outcome(self, changes: Sequence[Change], send: Callable[[], bool]) -> StageOutcome:
        """Return the outcome of the changes; `send` stages them together, or returns False."""
        try:
            return StageOutcome() if send() else StageOutcome(changes)
        except GravelerError as error:
            return StageOutcome(failed=dict.fromkeys((path for path, _ in changes), error))

    def _stage_together(self, token: StagingToken, change: Change) -> bool:
        """Stage the change, together with other threads'; return whether the token is open."""

        def send(changes: Sequence[Change]) -> Sequence[bool]:
            gate = gates.gate_of(token, changes[0][0])
            return [self._stage_at_once(token, changes, gate)] * len(changes)

        subject = (self._tables.staging, token)
        try:
            is_staged = self._tables.coalescer.call(subject, BatchCall(send, gates.fits), change)
        except UnknownOutcomeError:
            deadlines.write_landed()
            raise
        if is_staged:
            deadlines.write_landed()  # the sending thread recorded that for itself only
        return is_staged

    def _stage_at_once(self, token: StagingToken, changes: Sequence[Change], gate: int) -> bool:
        """Stage changes of distinct paths in one transaction; return whether the token is open."""
        check = gates.is_open(self._tables.staging, token, gate)
        puts = [self._put(staged_item(token, path, value)) for path, value in changes]
        try:
            self._tables.transact([*puts, {"ConditionCheck": check}])
        except TransactionCancelledError:
            return False
        return True

    def _put(self, item: Request) -> Request:
        return {"Put": {"TableName": self._tables.staging, "Item": item}}

    def fill(self, token: StagingToken, changes: Sequence[Change]) -> None:
        puts = [
            {"PutRequest": {"Item": staged_item(token, path, value)}} for path, value in changes
        ]
        with deadlines.unseen():
            self._tables.write_batch(self._tables.staging, puts)

    def stage_if(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[StagedChange],
        event: Event | None = None,
    ) -> None:
        nonce = uuid4().bytes

        def is_written() -> bool:
            return self._is_written(branch.staging_token, changes[0].path, nonce)

        puts = self._conditional_puts(branch.staging_token, changes, nonce)
        if event is not None:
            puts.append({"Put": self._tables.put(outbox_item(repository, event))})
        try:
            self._tables.transact([*puts, self._count_edit(repository, branch)])
        except TransactionCancelledError as error:
            if not is_written():
                raise StaleVersionError("the branch or a path changed since it was read") from error
        except UnknownOutcomeError:
            if not is_written():
                raise

    def _conditional_puts(
        self, token: StagingToken, changes: Iterable[StagedChange], nonce: bytes | None = None
    ) -> list[Request]:
        """Return the parts of a transaction that put the changes if the paths are unchanged."""
        return [
            {
                "Put": self._tables.put(
                    modelled_item(token, each.path, each.value, nonce), says(each.replaces)
                )
            }
            for each in changes
        ]

    def _count_edit(self, repository: Repository, branch: Branch) -> Request:
        """Return the part of a transaction that counts an edit if the branch is unchanged."""
        key = branch_key(repository, branch.name)
        actions = [BranchItem.edits.add(1)]
        return {"Update": self._tables.update(key, actions, is_unchanged(branch))}

    def _is_written(self, token: StagingToken, path: bytes, nonce: bytes) -> bool:
        """Whether the write with that nonce put the item, in an attempt whose answer was lost."""
        raw = self._item_of(token, path)
        return raw is not None and "write" in raw and binary(raw["write"]) == nonce

    def stage_upload(
        self,
        repository: Repository,
        branch: Branch,
        value: bytes,
        expected: Staged | Unconditional | None,
        completed: Upload,
    ) -> None:
        token, path = branch.staging_token, completed.path
        if expected is UNCONDITIONAL:
            gate = gates.is_open(self._tables.staging, token, gates.gate_of(token, path))
            staging = [self._put(staged_item(token, path, value)), {"ConditionCheck": gate}]
        else:
            put = self._tables.put(modelled_item(token, path, value), says(expected))
            staging = [{"Put": put}, self._count_edit(repository, branch)]
        completion = {"Put": upload_completion(self._tables, repository, completed)}
        try:
            self._tables.transact([*staging, completion])
        except TransactionCancelledError as error:
            if not has_completed(self._tables, repository, completed):
                raise StaleVersionError(
                    "the token is closed, or the branch or the path changed since it was read"
                ) from error
        except UnknownOutcomeError:
            if not has_completed(self._tables, repository, completed):
                raise

    def stage_step(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[StagedChange],
        old: Task,
        new: Task,
    ) -> Task:
        puts = self._conditional_puts(branch.staging_token, changes)
        edit = self._count_edit(repository, branch)
        replaced = task_replacement(self._tables, repository, old, new)
        try:
            self._tables.transact([*puts, edit, {"Put": replaced}])
        except TransactionCancelledError as error:
            if not self._has_replaced(repository, old, replaced):
                raise StaleVersionError("the branch or a path changed since it was read") from error
        except UnknownOutcomeError:
            if not self._has_replaced(repository, old, replaced):
                raise
        return replace(new, version=old.version + 1)

    def _has_replaced(self, repository: Repository, old: Task, put: Request) -> bool:
        """Whether an attempt whose answer was lost replaced the task.

        Raises:
            StaleTaskError: the task has another version, which the attempt may have stored, too.
        """
        raw = self._tables.get(partition_of(repository), task_key(old.id))
        if raw is None:
            raise StaleTaskError(f"task {old.id} does not exist any more")
        if bool(raw["write"] == put["Item"]["write"]):
            return True
        if task_of(raw).version != old.version:
            raise StaleTaskError(f"task {old.id} changed since it was read")
        return False

    def restore(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[Change],
        again: Collection[bytes] = (),
    ) -> Branch:
        still_there = StagedItem.restored.exists()
        for batch in gates.batches_of(changes):
            update = self._tables.update(
                branch_key(repository, branch.name),
                [
                    BranchItem.version.set(branch.version + 1),
                    BranchItem.restored_token.set(branch.staging_token),
                ],
                is_unchanged(branch),
            )
            puts = [
                {
                    "Put": self._tables.put(
                        restored_item(branch, path, value), still_there if path in again else None
                    )
                }
                for path, value in batch
            ]
            try:
                self._tables.transact([*puts, {"Update": update}])
            except TransactionCancelledError as error:
                # Perhaps an earlier attempt changed it. Restoring again does no harm.
                raise StaleVersionError(
                    f"branch {branch.name} changed since it was read"
                ) from error
            branch = replace(
                branch, version=branch.version + 1, restored_token=branch.staging_token
            )
        return branch

    def close(self, token: StagingToken) -> None:
        closed = [{"PutRequest": {"Item": key}} for key in gates.keys(token)]
        with deadlines.unseen():
            self._tables.write_batch(self._tables.staging, closed)

    def next_spread(self, token: StagingToken) -> Spread:
        if len(self._spreads) == 1:
            return self._spreads[0][1]
        partitions = partitions_of(token)
        try:
            found = self._dynamodb.call("Query", counted(self._tables, partitions[0]))
        except GravelerError:
            return spread_of(token)  # a guess is no reason to refuse a commit
        taken = COUNTED_MAX if "LastEvaluatedKey" in found else found["Count"]
        return spread_after(len(partitions) * taken, self._spreads)

    def drop(self, token: StagingToken, has_time: Callable[[], bool] = lambda: True) -> bool:
        def drop_partition(partition: str) -> bool:
            for page in pages(self._tables, partition, b"", None, PATHS):
                if not has_time():
                    return False
                self._delete([key_in(partition, item.path.B) for item in page.Items])
            return True

        # Delete the gates last: until then, no writer can stage an entry that this scan would miss.
        with ContextThreads(_SHARDS_AT_ONCE) as pool:
            is_done = all(list(pool.map(drop_partition, partitions_of(token))))
        if is_done:
            self._delete(gates.keys(token))
        return is_done

    def _delete(self, keys: Sequence[Raw]) -> None:
        deletions = [{"DeleteRequest": {"Key": key}} for key in keys]
        self._tables.write_batch(self._tables.staging, deletions)
