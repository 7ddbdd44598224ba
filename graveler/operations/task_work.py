"""The function that does the work of each kind of task."""

from collections.abc import Mapping

from graveler.model.tasks import TaskKind
from graveler.operations import (
    commits,
    dumps,
    imports,
    merges,
    pulls,
    replays,
    retention,
    scheduled_dumps,
)
from graveler.operations.hooks.after import run_after
from graveler.operations.prefixes.copying import run_copy
from graveler.operations.prefixes.restoring import run_restore
from graveler.operations.tasks.advance import TaskWork
from graveler.operations.tasks.hold import Hold


def _describe(hold: Hold) -> Mapping[str, str]:
    # Few tasks are of this kind, and the start of a function imports no more than most need.
    from graveler.operations.tables.system import run_describe  # noqa: PLC0415

    return run_describe(hold)


WORK: Mapping[TaskKind, TaskWork] = {
    TaskKind.COMMIT: commits.run_commit,
    TaskKind.MERGE: merges.run_merge,
    TaskKind.MERGE_PULL_REQUEST: pulls.run_merge,
    TaskKind.REVERT: replays.run_replay,
    TaskKind.CHERRY_PICK: replays.run_replay,
    TaskKind.IMPORT: imports.run_import,
    TaskKind.DUMP: scheduled_dumps.run_dump,
    TaskKind.RESTORE: dumps.run_restore,
    TaskKind.PREPARE_COMMITS: retention.run_prepare,
    TaskKind.COPY_PREFIX: run_copy,
    TaskKind.MOVE_PREFIX: run_copy,
    TaskKind.RESTORE_PREFIX: run_restore,
    TaskKind.DELETE_PREFIX: run_restore,
    TaskKind.HOOKS: run_after,
    TaskKind.DESCRIBE_OBJECTS: _describe,
}
