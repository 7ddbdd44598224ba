"""What clients ask of tasks, and what the function does that runs them."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from graveler.engine import Engine
from graveler.errors import StillRunningError
from graveler.model import Commit
from graveler.model.places import PlaceLimit
from graveler.model.tasks import Task, TaskMessage, TaskSettings
from graveler.operations import commits, merges, replays
from graveler.operations.prefixes import requests as prefixes
from graveler.operations.prefixes.requests import IfExists, PrefixRequest
from graveler.operations.tasks import requests
from graveler.operations.tasks.waiting import ClientWait
from graveler.times import NS_PER_S
from tests.simulation.schedule import Op
from tests.simulation.worlds import REPO
from tests.support.fakes.tasks import run, with_hook_queue

if TYPE_CHECKING:
    from tests.simulation.actor import Actor

_COMMITTER = "somebody"
# A runner looks at so many messages, one after the other.
_MESSAGES = 3
# A client that is asked to repeat its request lets others make so many steps.
_LATER_STEPS = (0, 0, 60, 200)


def message_of(op: Op) -> str:
    """The message of a commit by a task; those of equal requests are equal."""
    return f"#{op.text}"


def _commit_request(op: Op) -> commits.CommitRequest:
    return commits.CommitRequest(message_of(op), _COMMITTER)


def _merge_request(op: Op) -> merges.MergeRequest:
    return merges.MergeRequest(_COMMITTER, f"#by task {op.branch}", strategy="source-wins")


def commit_by_task(actor: "Actor", op: Op) -> str:
    request = _commit_request(op)
    return patiently(
        actor, op, lambda engine, wait: commits.commit(engine, REPO, op.branch, request, wait)
    )


def merge_by_task(actor: "Actor", op: Op) -> str:
    ref, request = actor.ref(op), _merge_request(op)
    return patiently(
        actor, op, lambda engine, wait: merges.merge(engine, REPO, ref, op.branch, request, wait)
    )


def patiently(actor: "Actor", op: Op, ask: Callable[[Engine, ClientWait], Commit]) -> str:
    """Ask until there is an outcome, or the client goes away: follow a redirect, then repeat."""
    settings = TaskSettings(request_work_s=0, request_wait_s=2, slices_at_once=2)
    engine = replace(actor.engine, task_settings=settings)
    asks = 1 + actor.choose("asks", 6)
    task_id, follows = "", False
    while True:
        if not follows:
            actor.asks()
        try:
            return ask(engine, ClientWait(task_id, is_last=follows)).id
        except StillRunningError as error:
            asks -= 1
            if not asks:
                raise
            follows = not follows
            task_id = error.task_id if follows and error.is_outcome else ""
            if not follows and op.kind != "commit_by_task":
                actor.host.wait(_LATER_STEPS[actor.choose("later", len(_LATER_STEPS))])


def _replay_message(op: Op) -> str:
    return f"#{op.kind} {op.text} {op.branch}"


def revert_by_task(actor: "Actor", op: Op) -> str:
    request = replays.RevertRequest(actor.ref(op), _COMMITTER, message=_replay_message(op))
    return patiently(
        actor, op, lambda engine, wait: replays.revert(engine, REPO, op.branch, request, wait)
    )


def cherry_pick_by_task(actor: "Actor", op: Op) -> str:
    request = replays.CherryPickRequest(actor.ref(op), _COMMITTER, message=_replay_message(op))
    return patiently(
        actor, op, lambda engine, wait: replays.cherry_pick(engine, REPO, op.branch, request, wait)
    )


def _if_exists(actor: "Actor") -> IfExists:
    return list(IfExists)[min(actor.choose("exists", 4), 2)]  # mostly, overwrite


def start_move(actor: "Actor", op: Op) -> None:
    request = PrefixRequest(op.text, op.path[:1].decode(), if_exists=_if_exists(actor))
    task = prefixes.start_move(actor.engine, REPO, op.branch, request, _COMMITTER)
    actor.was_given(task)


def start_copy(actor: "Actor", op: Op) -> None:
    """Copy what another branch has at the path."""
    path, source = op.path[:1].decode(), "dev" if op.branch == "main" else "main"
    request = PrefixRequest(path, path, source, _if_exists(actor))
    task = prefixes.start_copy(actor.engine, REPO, op.branch, request, _COMMITTER)
    actor.was_given(task)


def start_commit(actor: "Actor", op: Op) -> None:
    actor.was_given(commits.start_commit(actor.engine, REPO, op.branch, _commit_request(op)))


def start_merge(actor: "Actor", op: Op) -> None:
    ref = actor.ref(op)
    actor.was_given(merges.start_merge(actor.engine, REPO, ref, op.branch, _merge_request(op)))


def _some_task(actor: "Actor") -> Task | None:
    tasks = requests.list_page(actor.engine, REPO, "", 10).results
    return tasks[actor.choose("task", len(tasks))] if tasks else None


def cancel_task(actor: "Actor", op: Op) -> None:
    task = _some_task(actor)
    if task is not None:
        actor.saw(requests.cancel(actor.engine, REPO, task.id))
        actor.ledger.cancelled.add(task.id)


def show_task(actor: "Actor", op: Op) -> None:
    task = _some_task(actor)
    if task is not None:
        actor.saw(requests.status(actor.engine, REPO, task.id))


def run_tasks(actor: "Actor", op: Op) -> None:
    """What a function does for some messages."""
    for _ in range(_MESSAGES):
        message = actor.message()
        if message is None:
            return
        try:
            _run_task(actor, op, message)
        except BaseException:
            actor.give_back(message)
            raise


def _run_task(actor: "Actor", op: Op, message: TaskMessage) -> None:
    engine = replace(actor.engine, task_settings=TaskSettings(slices_at_once=2))
    if not actor.choose("workers", 3):
        engine = replace(engine, slice_function=None)
    if not actor.choose("places", 4):
        engine = replace(engine, task_places=PlaceLimit("tasks", 1))
    limit_s = (inf, inf, 200, 75)[actor.choose("limit", 4)]
    began_ns = engine.clock.now_ns()
    run(
        with_hook_queue(engine, message),
        message,
        runner=f"runner {op.id} {actor.choose('runner', 10**9)}",
        time_left_s=lambda: limit_s - (engine.clock.now_ns() - began_ns) / NS_PER_S,
    )
