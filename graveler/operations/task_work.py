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
}
