"""Hooks before an effect: they run first, and one that fails stops the operation.

Theory of operation. Hooks may take minutes. So tasks do commits, merges, reverts and cherry-picks
with hooks from the start. The request neither runs the hooks nor touches the branch. The run of a
task's hooks is stored under an ID. It follows from the task, the event, and the head of the branch.
So the next runner of a task does not run them again. A task whose branch has moved does: its hooks
have not seen the new content. Requests create and delete branches and tags themselves, and their
hooks share a bounded time.
"""

from msgspec import Struct
from msgspec.structs import replace

from graveler.model.hooks import PREPARE_COMMIT, HookStatus, Occurrence, run_id
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.action_files import ActionFiles
from graveler.operations.hooks.pace import Pace, RequestPace, TaskPace
from graveler.operations.hooks.run import failure_of, run_hooks
from graveler.operations.tasks.hold import Hold

# The first event of an operation is the first one in listings, too.
_STEP_NS = 1_000


class HookGate(Struct, frozen=True):
    """Runs the hooks that are due before the effect of one operation.

    operation: its name; the IDs of its runs follow from the name and the time.
    """

    repo: OpenRepository
    operation: str
    time_ns: int
    pace: Pace

    def pass_through(self, files: ActionFiles, about: Occurrence, *state: str) -> str:
        """Run the hooks that are due; return the run's ID, "" if none are due.

        Args:
            files: the action files that name the hooks.
            about: the occurrence; its run's ID is filled in here.
            state: the state that the hooks judge, such as the branch's head. For another state,
                they run again.

        Raises:
            HookFailedError: one failed.
            PreconditionFailedError: an action file is malformed.
            Exception: whatever the pace raises to stop.
        """
        due = files.due(about.event, about.branch)
        if not due:
            return ""
        files.require_served(about.event, about.branch, even_later=False)
        time_ns = self.time_ns + (0 if about.event == PREPARE_COMMIT else _STEP_NS)
        run = run_id(time_ns, self.operation, about.event, *state)
        ended = run_hooks(self.repo, replace(about, run_id=run), due, self.pace)
        if ended.status is HookStatus.FAILED:
            raise failure_of(ended)
        return run


def request_gate(repo: OpenRepository, *, may_wait: bool) -> HookGate:
    """Return the gate of a request.

    may_wait: if not, an operation with hooks is left to a task: the gate raises TakesLongError.
    """
    pace = RequestPace(repo.engine, may_wait=may_wait)
    return HookGate(repo, repo.engine.names.new_uid(), repo.engine.clock.now_ns(), pace)


def task_gate(hold: Hold, repo: OpenRepository) -> HookGate:
    """Return the gate of a task in its repository."""
    task = hold.task
    return HookGate(repo, task.id, task.create_time_ns, TaskPace(hold))
