"""What has to hold of tasks and restores while branches come and go."""

from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

from graveler.model import CommitID, Repository
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from tests.simulation.lives import Lives
from tests.simulation.tasks import Answer, Step
from tests.simulation.worlds import COPY, DESCRIBED, PATHS, REPO
from tests.support.checks.linearizability import Value

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

# Where a task's `covers` names the commit that its request referred to.
_ASKED = {TaskKind.REVERT: 0, TaskKind.CHERRY_PICK: 1}


def check_lives(simulation: "Simulation", repository: Repository, tasks: dict[str, Task]) -> None:
    """Add what is wrong with answers and effects of tasks to the problems."""
    ledger = simulation.ledger
    lives = Lives(simulation.first_heads, simulation.outbox, REPO)
    for answer in answers_of(simulation, repository):
        _check_answer(simulation, repository, lives, answer)
        made = [task for task in tasks.values() if task.result.get("commit_id") == answer.commit_id]
        if made and not any(_is_asked(simulation, lives, answer, task) for task in made):
            simulation.problem("asked", f"{answer.op} got {made[0]}, which is about another commit")
    for task in tasks.values():
        commit_id = CommitID(task.result.get("commit_id", ""))
        for moment in lives.moments_made(task.branch, commit_id) if commit_id else ():
            if lives.is_younger(task.branch, moment, task.id):
                text = f"{task.kind} {task.id} changed a branch {task.branch} that is younger"
                simulation.problem("stranger", text)
    for step in ledger.steps:
        if step.task_id in tasks:  # else of a repository that was deleted
            _check_step(simulation, lives, step)


def answers_of(simulation: "Simulation", repository: Repository) -> list[Answer]:
    """Return the answers, without those of a repository that was deleted."""
    refs = simulation.world.refs
    stored = {commit_id for records in refs.records.values() for commit_id in records.commits}
    gone = stored - refs.records_of(repository).commits.keys()
    return [answer for answer in simulation.ledger.answers if answer.commit_id not in gone]


def _check_answer(
    simulation: "Simulation", repository: Repository, lives: Lives, answer: Answer
) -> None:
    """While the last request of the client lasted, its branch had the commit that it got.

    Reads of single items see a whole transaction as soon as one part is visible. So a client may
    learn of a commit before the head's part is visible.
    """
    commit_id = CommitID(answer.commit_id)
    spells = lives.within(answer.op.branch, answer.asked, answer.returned)
    if simulation.choices.torn:
        later = lives.within(answer.op.branch, answer.returned, inf)
        spells += [each for each in later if each.commit_id == commit_id]
    if not any(commit_id in simulation.ancestors(repository, each.commit_id) for each in spells):
        text = f"{answer.op} got commit {commit_id}, which branch {answer.op.branch} did not have"
        simulation.problem("outcome", text)


def _is_asked(simulation: "Simulation", lives: Lives, answer: Answer, task: Task) -> bool:
    """Whether the ref of a replay named the replayed commit while the request lasted.

    The branch itself may be the ref: then a repetition must not replay the replay. If the ref names
    another commit, and nothing of it is left to do, the last equal request's commit is an answer.
    """
    op = answer.op
    ref = simulation.start.commits.get(op.text, op.text)
    if task.kind not in _ASKED or ref == op.branch:
        return True
    replayed = task.covers.split()[_ASKED[task.kind]]
    named = {each.commit_id for each in lives.within(ref, answer.asked, answer.returned)}
    if replayed == ref or replayed in named:
        return True
    return any(_is_done(simulation, task, commit_id) for commit_id in named)


def _is_done(simulation: "Simulation", task: Task, commit_id: CommitID) -> bool:
    """Whether the task's commit has all that a replay of the other commit would change."""
    made = CommitID(task.result["commit_id"])
    repository = simulation.repository
    assert repository is not None
    parents = simulation.world.refs.records_of(repository).commits[commit_id].parents
    if not parents:
        return False

    def content(of: CommitID) -> list[Value | None]:
        return [simulation.value_in(repository, of, path) for path in PATHS]

    after, before = content(commit_id), content(parents[0])
    return after == before or (task.kind is TaskKind.REVERT and content(made) == before)


def _check_step(simulation: "Simulation", lives: Lives, step: Step) -> None:
    """A step of a task changes and reads branches that existed when the task was created."""
    for name, moment in ((step.branch, step.began), (step.source, step.read_since)):
        if lives.is_younger(name, moment, step.task_id):
            text = f"task {step.task_id} used a branch {name} that is younger"
            simulation.problem("stranger", text)


def check_restored(simulation: "Simulation") -> None:
    """When a restore has ended, a name that is deleted stays deleted."""
    repository = simulation.world.refs.repository(COPY)
    if repository is None:
        return
    is_restored = False
    deleted: set[tuple[str, str]] = set()
    outbox = simulation.outbox
    for _, event in sorted(zip(outbox.moments, outbox, strict=True), key=itemgetter(0)):
        if event.repository != COPY:
            continue
        kind, _, change = event.kind.partition("_")
        is_restored = is_restored or change == "restored"
        thing = (kind, str(event.detail.get(kind, "")))
        if change == "deleted" and is_restored:
            deleted.add(thing)
        elif change == "created":
            deleted.discard(thing)
    records = simulation.world.refs.records_of(repository)
    back = {("branch", name) for name in records.branches} | {
        ("tag", name) for name in records.tags
    }
    for kind, name in sorted(deleted & back):
        simulation.problem("undone", f"{kind} {name} was deleted, and is back")


def check_destination(simulation: "Simulation", repository: Repository) -> None:
    """What the record of an export says is at its destination is there."""
    world = simulation.world
    if any(event.kind == "branch_deleted" for event in simulation.outbox):
        return  # another branch of the name may have the path: what is left there is not its own
    for uid, branch in sorted(world.exports.recorded()):
        record = world.exports.branch_export(repository, branch)
        if uid != repository.uid or record is None:
            continue
        for known in record.destinations:
            if known.exported_commit and not known.touched_commits:
                _check_holds(simulation, repository, known.path, known.exported_commit)


def _check_holds(
    simulation: "Simulation", repository: Repository, path: str, commit_id: CommitID
) -> None:
    objects = simulation.world.objects
    content = OpenRepository(simulation.reader, repository).content(commit_id)
    keys = [key for key, _ in content.records()]
    values = [simulation.value_in(repository, commit_id, key) for key in keys]
    expected = {
        f"{path}/{key.decode()}": objects.get(value.address)
        for key, value in zip(keys, values, strict=True)
        if value is not None
    }
    found = {uri: objects.get(uri) for uri in objects.uris(f"{path}/")}
    for key, value in zip(keys, values, strict=True):
        uri = f"{path}/{key.decode()}"
        if value is not None and value.address == DESCRIBED and uri in found:
            expected[uri] = found[uri]  # its owner may have replaced the data since
    if found != expected:
        text = f"{path} is to hold commit {commit_id}, {expected}, and holds {found}"
        simulation.problem("destination", text)
