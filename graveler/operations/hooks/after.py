"""Hooks after an effect: a task runs them, and is stored in one transaction with the effect.

So they run if and only if the effect was made, even if the process crashes at once. They do not
change the effect. A repository without such hooks gets no task. The run of the hooks before the
effect was stored before the commit. The task adds the new commit's ID to it.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from graveler.branches.heads import Ending, Move, move_head
from graveler.committed.metarange import MetaRange
from graveler.errors import GravelerError, PreconditionFailedError
from graveler.model import Branch, Commit, CommitID
from graveler.model.hooks import Occurrence, run_id
from graveler.model.tasks import ID_PREFIXES, Task, TaskKind, TaskMessage, TaskStart
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.action_files import ActionFiles, committed_action_files
from graveler.operations.hooks.pace import TaskPace
from graveler.operations.hooks.run import run_hooks, store_run
from graveler.operations.tasks.hold import Hold, task_event


class _Asked(msgspec.Struct, frozen=True):
    """The input of a task of hooks.

    content_of: the commit with the action files.
    is_commits: whether the hooks get its message, too.
    before: the run of the hooks before the effect, which gets the commit's ID; "" for none.
    """

    about: Occurrence
    content_of: CommitID
    is_commits: bool
    before: str = ""


def start_after(
    repo: OpenRepository,
    content: MetaRange,
    event: str,
    branch: str,
    commit: Commit,
    *,
    before: str = "",
    merge_source: str = "",
) -> TaskStart | None:
    """Return the task to store with a new commit, None if no hook is due after it.

    Args:
        repo: whose commit it is.
        content: the commit's.
        event: of lakeFS's, such as `post-commit`.
        branch: its new head is the commit.
        commit: the new commit.
        before: the run of the hooks before the commit, "" for none.
        merge_source: the ref that a merge was asked to merge.
    """
    about = Occurrence(
        run_id="",
        event=event,
        source_ref=commit.id,
        branch=branch,
        commit_id=commit.id,
        merge_source=merge_source,
    )
    try:
        files = committed_action_files(repo, content, event)
        if not before and not files.due(event, branch):
            return None
    except PreconditionFailedError:
        pass  # the task reports the malformed action file
    return _start(repo, about, commit.id, commit.committer, commit, before)


def start_after_ref(
    repo: OpenRepository, files: ActionFiles, about: Occurrence, content_of: CommitID, user: str
) -> TaskStart | None:
    """Return the task to store with a new or deleted branch or tag, None if no hook is due.

    Args:
        repo: whose branch or tag it is.
        files: those of the commit content_of.
        about: the occurrence; its run is filled in here.
        content_of: the commit that the branch or tag names.
        user: who asked.
    """
    if not files.due(about.event, about.branch):
        return None
    return _start(repo, about, content_of, user, None, "")


def _start(
    repo: OpenRepository,
    about: Occurrence,
    content_of: CommitID,
    user: str,
    commit: Commit | None,
    before: str,
) -> TaskStart:
    now_ns = repo.engine.clock.now_ns()
    task_id = ID_PREFIXES[TaskKind.HOOKS] + repo.engine.names.new_uid()
    asked = _Asked(
        about=replace(about, run_id=run_id(now_ns, task_id)),
        content_of=content_of,
        is_commits=commit is not None,
        before=before,
    )
    task = Task(
        id=task_id,
        kind=TaskKind.HOOKS,
        user=user,
        create_time_ns=now_ns,
        update_time_ns=now_ns,
        branch=about.branch,
        request=msgspec.to_builtins(asked),
    )
    return TaskStart(task, task_event(repo, "task_started", task))


def announce(repo: OpenRepository, starts: TaskStart | None) -> None:
    """Make a runner look at the new task at once.

    Its event leads to the same message, but later. So the hooks run even if this fails.
    """
    if starts is not None:
        with suppress(GravelerError):
            repo.engine.task_queue.send(TaskMessage(repo.record.name, starts.task.id))


def move_and_announce(
    repo: OpenRepository,
    branch: Branch,
    plan: Callable[[Branch], Move],
    ending: Ending | None = None,
) -> Move:
    """Move the head as `move_head` does, and announce the task that follows."""
    move = move_head(repo, branch, plan, ending)
    announce(repo, move.starts)
    return move


def run_after(hold: Hold) -> Mapping[str, str]:
    """Do the work of a task of hooks; return the run's ID.

    Raises:
        PreconditionFailedError: an action file is malformed.
        StoppedError: this runner must not continue.
    """
    repo = hold.current_repository()
    asked = msgspec.convert(hold.task.request, _Asked)
    content = repo.history().commit(asked.content_of)
    about = asked.about
    if asked.is_commits:
        about = replace(
            about,
            message=content.message,
            committer=content.committer,
            metadata=content.metadata,
        )
    if asked.before:
        _note_commit(repo, asked.before, about.commit_id)
    metarange = repo.metarange(content.metarange_id)
    due = committed_action_files(repo, metarange, about.event).due(about.event, about.branch)
    if not due:
        return {}
    run = run_hooks(repo, about, due, TaskPace(hold))
    return {"run_id": run.id, "status": run.status}


def _note_commit(repo: OpenRepository, before: str, commit_id: str) -> None:
    run = repo.engine.refs.hook_run(repo.record, before)
    if run is not None and run.commit_id != commit_id:
        store_run(repo, replace(run, commit_id=commit_id))
