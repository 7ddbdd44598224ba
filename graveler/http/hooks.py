"""Bodies of answers about runs of hooks; complements `responses`."""

from msgspec import Struct

from graveler.model.hooks import HookRun, HookStatus, Run, moment


class ActionRunRow(Struct, frozen=True, kw_only=True):
    """A run, in lakeFS's form."""

    run_id: str
    branch: str
    start_time: str
    end_time: str
    event_type: str
    status: str
    commit_id: str


class HookRunRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hook's run, in lakeFS's form; a skipped one has no end."""

    hook_run_id: str
    action: str
    hook_id: str
    start_time: str
    end_time: str | None = None
    status: str


def run_row(run: Run) -> ActionRunRow:
    return ActionRunRow(
        run_id=run.id,
        branch=run.branch,
        start_time=moment(run.start_ns),
        end_time=moment(run.end_ns),
        event_type=run.event,
        status=run.status,
        commit_id=run.commit_id,
    )


def hook_row(hook: HookRun) -> HookRunRow:
    is_skipped = hook.status is HookStatus.SKIPPED
    return HookRunRow(
        hook_run_id=hook.id,
        action=hook.action,
        hook_id=hook.hook_id,
        start_time=moment(hook.start_ns),
        end_time=None if is_skipped else moment(hook.end_ns),
        status=hook.status,
    )
