"""What has to hold of tasks: each has one effect or none, and nobody was told anything else."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from graveler.model import CommitID, Repository
from graveler.model.tasks import Task, TaskKind, TaskState
from tests.simulation.imports import check_import
from tests.simulation.life_verdict import answers_of, check_lives
from tests.simulation.schedule import Op
from tests.simulation.task_actions import message_of
from tests.simulation.transfers import TRANSFERS, check_transfer
from tests.simulation.worlds import COPY, REPO
from tests.support.checks.linearizability import Operation

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

_MAKE_COMMITS = (
    *(TaskKind.COMMIT, TaskKind.MERGE, TaskKind.REVERT, TaskKind.CHERRY_PICK),
    *(TaskKind.IMPORT, TaskKind.MERGE_PULL_REQUEST),
)
_TAKES_OFF = ("hard_reset", "delete_branch", "delete_repository", "restore")


def check_tasks(simulation: "Simulation") -> None:
    """Add what is wrong with tasks to the problems, and what they did to the history."""
    _write_down_deleted(simulation)
    for name in (REPO, COPY):
        repository = simulation.world.refs.repository(name)
        if repository is None:
            continue
        tasks = dict(simulation.world.refs.records_of(repository).tasks)
        for task in tasks.values():
            if task.id in simulation.ledger.origins:  # not of the world's beginning
                _check_task(simulation, repository, task, tasks)
        if name == REPO:
            check_lives(simulation, repository, tasks)
            _write_down_answers(simulation, repository, tasks)


def _write_down_deleted(simulation: "Simulation") -> None:
    """Put what tasks of a deleted repository did into the history."""
    ledger, now = simulation.ledger, simulation.world.refs.repository(REPO)
    for (name, uid), records in simulation.world.refs.records.items():
        for task in records.tasks.values() if name == REPO else ():
            made = [repository for repository, _ in ledger.moves.get(task.id, ())]
            if made and task.id in ledger.origins and (now is None or now.uid != uid):
                _write_down(simulation, made[0], task)


def _check_task(
    simulation: "Simulation", repository: Repository, task: Task, tasks: dict[str, Task]
) -> None:
    if not task.has_ended:
        simulation.problem("stuck", f"task {task.id} has not ended: {task}")
        return
    _check_events(simulation, task)
    _check_answers(simulation, task)
    if task.kind is TaskKind.IMPORT:
        check_import(simulation, repository, task)
    if task.kind in TRANSFERS:
        check_transfer(simulation, repository, task)
    if task.kind in _MAKE_COMMITS:
        _check_effect(simulation, repository, task, tasks)
        _write_down(simulation, repository, task)


def _check_effect(
    simulation: "Simulation", repository: Repository, task: Task, tasks: dict[str, Task]
) -> None:
    """A completed task made its commit and no other; any other task made none."""
    commits = simulation.world.refs.records_of(repository).commits
    result = task.result.get("commit_id")
    others = {each.result.get("commit_id") for each in tasks.values() if each.id != task.id}
    tried = {commit.id for _, commit in simulation.ledger.moves.get(task.id, ())}
    made = {commit_id for commit_id in tried if commit_id in commits} - others
    expected = {result} if task.state is TaskState.COMPLETED else set()
    if made != expected:
        simulation.problem("effect", f"task {task.id} is {task.state} and made {sorted(made)}")
    kinds = {op.kind for op in simulation.operations}
    if result and not kinds.intersection(_TAKES_OFF):
        branch = simulation.world.refs.branch(repository, task.branch)
        assert branch is not None
        if result not in simulation.ancestors(repository, branch.commit_id):
            simulation.problem("effect", f"commit {result} of task {task.id} is on no branch")


def _check_events(simulation: "Simulation", task: Task) -> None:
    """One event of a task's start, and one of its end."""
    events = simulation.world.refs.events
    told = Counter(event.kind for event in events if event.detail.get("task_id") == task.id)
    del told["task_progressed"]
    if told != {"task_started": 1, f"task_{task.state}": 1}:
        simulation.problem("event", f"task {task.id} is {task.state}, and its events are {told}")


def _check_answers(simulation: "Simulation", task: Task) -> None:
    """Once an answer showed the task's end, all others show the same."""
    last = (task.state.value, task.result.get("commit_id", ""))
    seen = simulation.ledger.seen.get(task.id, [])
    ended = [each for each in seen if each[2] not in ("waiting", "running")]
    for _, returned, *shown in ended:
        if tuple(shown) != last:
            simulation.problem("status", f"task {task.id} was {shown}, and is {last}")
        for invoked, _, *later in seen:
            if invoked > returned and later != shown:
                simulation.problem("status", f"task {task.id} was {shown}, and then {later}")
    if task.id in simulation.ledger.cancelled and task.state is TaskState.COMPLETED:
        simulation.problem("status", f"task {task.id} was cancelled, and completed")


def _write_down(simulation: "Simulation", repository: Repository, task: Task) -> None:
    """Put what the task did into the history; its requests asked for no less."""
    ledger = simulation.ledger
    invoked, op = ledger.origins[task.id]
    commit_id = CommitID(task.result.get("commit_id", ""))
    news = ledger.first_news(task.id, commit_id)
    returned = simulation.scheduler.tick() if news is None else news
    kind = "commit" if task.kind is TaskKind.COMMIT else "move"
    for key in _keys(simulation, task.branch):
        if commit_id:
            parent = simulation.world.refs.commits(repository, [commit_id])[commit_id].parents[0]
            made = Operation(
                "task",
                kind,
                invoked,
                returned,
                "ok",
                simulation.value_in(repository, commit_id, key[1]),
                simulation.value_in(repository, parent, key[1]),
                key,
                f"task of {op}",
            )
            simulation.history.append(made)
        elif task.failure is not None and "no changes" in task.failure.message:
            simulation.history.append(
                Operation("task", kind, invoked, returned, "no_changes", key=key, label=str(op))
            )
    for start, client, invoked, task_id in ledger.starts:
        if task_id == task.id and commit_id and start is not op:
            _join(simulation, repository, (start, client, invoked, returned, commit_id))


def _write_down_answers(
    simulation: "Simulation", repository: Repository, tasks: Mapping[str, Task]
) -> None:
    """Put the answers of requests that waited for tasks into the history.

    A client that repeats its request cannot be told from another one with an equal request. So if
    a client was asked to repeat it, the request counts from the beginning of the task.
    """
    records, ledger = simulation.world.refs.records_of(repository), simulation.ledger
    called_back = [tasks[task_id] for task_id in ledger.called_back if task_id in tasks]
    for op, client, invoked, returned, commit_id, _ in answers_of(simulation, repository):
        made = [task.id for task in called_back if task.result.get("commit_id") == commit_id]
        since = min([invoked, *(ledger.origins[task_id][0] for task_id in made)])
        if commit_id in records.commits:
            _join(simulation, repository, (op, client, since, returned, commit_id))
        else:
            simulation.problem("history", f"{op} was answered, and there is no such commit")
    for op, client, invoked, returned in ledger.refusals:
        refused = [
            task.id
            for task in called_back
            if task.failure is not None and task.request.get("message") == message_of(op)
        ]
        since = min([invoked, *(ledger.origins[task_id][0] for task_id in refused)])
        simulation.history += [
            Operation(client, "commit", since, returned, "no_changes", key=key, label=str(op))
            for key in _keys(simulation, op.branch)
        ]


def _join(
    simulation: "Simulation", repository: Repository, answer: tuple[Op, str, float, float, str]
) -> None:
    """While such a request lasted, a commit held all that it asked for."""
    op, client, invoked, returned, commit_id = answer
    kind = "join" if "commit" in op.kind else "join_move"
    for key in _keys(simulation, op.branch):
        value = simulation.value_in(repository, CommitID(commit_id), key[1])
        simulation.history.append(
            Operation(client, kind, invoked, returned, "ok", value, key=key, label=str(op))
        )


def _keys(simulation: "Simulation", branch: str) -> list[tuple[str, bytes]]:
    return [(branch, path) for path in simulation.paths]
