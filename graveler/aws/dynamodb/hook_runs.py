"""Runs of hooks in DynamoDB.

A run is an item under its ID. Further items list it by branch and by commit. They are stored first,
so a listing may find the ID of a run that does not exist yet, and omits it.
"""

import msgspec

from graveler.aws.dynamodb.models import (
    HOOK_RUN,
    HOOK_RUN_OF_BRANCH,
    HOOK_RUN_OF_COMMIT,
    HookRunItem,
    ListedHookRunItem,
    partition_of,
)
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, key
from graveler.limits import HOOK_RUN_LIFE_S
from graveler.model import Page, Repository
from graveler.model.hooks import Run
from graveler.times import NS_PER_S


def _run_of(raw: Raw) -> Run:
    return msgspec.json.decode(raw["run"]["S"], type=Run)


def _run_id_of(raw: Raw) -> str:
    run_id: str = raw["run_id"]["S"]
    return run_id


class HookRunRecords(RefsRecords):
    """`graveler.ports.HookRunStore` over the refs table."""

    __slots__ = ()

    def hook_run(self, repository: Repository, run_id: str) -> Run | None:
        raw = self.tables.get(partition_of(repository), HOOK_RUN + run_id)
        return None if raw is None else _run_of(raw)

    def put_hook_run(self, repository: Repository, run: Run) -> None:
        partition = partition_of(repository)
        expires_at = run.end_ns // NS_PER_S + HOOK_RUN_LIFE_S
        listed = [
            ListedHookRunItem(
                partition, f"{kind}{name}#{run.id}", run_id=run.id, expires_at=expires_at
            )
            for kind, name in (
                (HOOK_RUN_OF_BRANCH, run.branch),
                (HOOK_RUN_OF_COMMIT, run.commit_id),
            )
            if name
        ]
        item = HookRunItem(
            partition,
            HOOK_RUN + run.id,
            run=msgspec.json.encode(run).decode(),
            expires_at=expires_at,
        )
        for each in (*listed, item):
            self.tables.dynamodb.call("PutItem", self.tables.put(each))

    def hook_runs(
        self, repository: Repository, after: str, amount: int, *, branch: str, commit_id: str
    ) -> Page[Run]:
        partition = partition_of(repository)
        if not branch and not commit_id:
            return self._page(partition, HOOK_RUN, "", after, amount, _run_of)
        kind, name = (HOOK_RUN_OF_BRANCH, branch) if branch else (HOOK_RUN_OF_COMMIT, commit_id)
        page = self._page(partition, f"{kind}{name}#", "", after, amount, _run_id_of)
        keys = [key(partition, HOOK_RUN + run_id) for run_id in page.results]
        found = {run.id: run for run in map(_run_of, self.tables.get_batch(self.tables.refs, keys))}
        return Page(
            tuple(found[run_id] for run_id in page.results if run_id in found), page.next_after
        )
