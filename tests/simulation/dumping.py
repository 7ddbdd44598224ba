"""Dumps while branches and tags come, go and take each other's names: what a dump must hold."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from graveler.dump.files import RefsDump
from graveler.model import CommitID, Repository
from graveler.model.tasks import TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations import dumps
from graveler.operations.dumped_refs import DumpContent
from tests.simulation.lives import Lives, Outbox, Spell
from tests.simulation.schedule import Op
from tests.simulation.worlds import COPIED_TAG, COPY, REPO

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation


class Dumps:
    """The dumps of a schedule, each with the moments between which it was made."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._made: list[tuple[float, float, RefsDump]] = []
        # Until the first dump, schedules of these actions leave the first names as they are.
        self._first_tags = (
            {} if simulation.start.dump is None else {COPIED_TAG: simulation.first_heads["main"]}
        )

    def tick(self) -> int:
        return self._simulation.scheduler.tick()

    def add(self, since: int, dumped: RefsDump) -> None:
        """Note a dump that was answered now."""
        self._made.append((since, self.tick(), dumped))

    def judge(self) -> None:
        """A dump has every name, and leads to every commit, that there was while it ran."""
        simulation = self._simulation
        repository = simulation.repository
        assert repository is not None
        if any(event.kind == "repository_deleted" for event in simulation.outbox):
            return  # nobody knows when another one took the name
        lives = {
            "branch": Lives(simulation.first_heads, simulation.outbox, REPO),
            "tag": Lives(self._first_tags, _as_branches(simulation.outbox), REPO),
        }
        for since, until, dumped in [*self._made, *self._by_tasks(repository)]:
            _check(simulation, repository, lives, (since, until), dumped)

    def _by_tasks(self, repository: Repository) -> Iterator[tuple[float, float, RefsDump]]:
        simulation = self._simulation
        moments = {
            (event.kind, event.detail.get("task_id")): moment
            for event, moment in zip(simulation.outbox, simulation.outbox.moments, strict=True)
        }
        for task in simulation.world.refs.records_of(repository).tasks.values():
            dumped = dumps.dump_of(task) if task.kind is TaskKind.DUMP else None
            if dumped is not None:
                started, ended = (f"task_{change}" for change in ("started", "completed"))
                yield moments[started, task.id], moments[ended, task.id], dumped


def _as_branches(outbox: Outbox) -> Outbox:
    """Return the events of tags as if they were those of branches."""
    moments = iter(outbox.moments)
    made = Outbox(lambda: next(moments))
    for event in outbox:
        entity, _, change = event.kind.partition("_")
        kind = f"branch_{change}" if entity == "tag" else ""
        made.append(
            replace(
                event, kind=kind, detail={**event.detail, "branch": event.detail.get("tag", "")}
            )
        )
    return made


def _check(
    simulation: "Simulation",
    repository: Repository,
    lives: Mapping[str, Lives],
    while_made: tuple[float, float],
    dumped: RefsDump,
) -> None:
    since, until = while_made
    content = DumpContent(
        OpenRepository(simulation.reader, repository), dumped, lambda found: found
    )
    held = {
        "branch": {ref.name: ref.commit_id for ref in content.branches()},
        "tag": {ref.name: ref.commit_id for ref in content.tags()},
    }
    for kind, of_kind in lives.items():
        for name in {*of_kind.names, *held[kind]}:
            problem = _problem_of(
                of_kind.within(name, since, until), held[kind].get(name), while_made
            )
            if problem:
                simulation.problem("dump", f"{kind} {name} {problem}")

    def ancestors(commit_ids: Iterator[CommitID]) -> set[CommitID]:
        return {
            each for commit_id in commit_ids for each in simulation.ancestors(repository, commit_id)
        }

    led_to = ancestors(commit_id for refs in held.values() for commit_id in refs.values())
    moments = [since, *(each for each in simulation.outbox.moments if since < each < until)]
    always = [
        ancestors(
            spell.commit_id
            for of_kind in lives.values()
            for name in of_kind.names
            for spell in of_kind.within(name, moment, moment)
        )
        for moment in moments
    ]
    lost = set.intersection(*always) - led_to
    lost |= always[0] - {commit.id for commit in content.commits()}
    # A dump may miss a name whose event becomes visible late. The name's creation had no answer yet.
    lost -= ancestors(
        spell.commit_id
        for of_kind in lives.values()
        for name in simulation.created_in_parts
        for spell in of_kind.within(name, since, until)
    )
    if lost:
        simulation.problem("dump", f"commits {sorted(lost)} had a name all the time, and are lost")


def _problem_of(spells: list[Spell], held: CommitID | None, while_made: tuple[float, float]) -> str:
    """Return what is wrong with a name of a dump, "" if nothing is."""
    since, until = while_made
    if held is None:
        is_constant = len({each.born for each in spells}) == 1
        is_whole = is_constant and spells[0].since <= since and until <= spells[-1].until
        return "was there all the time, and is missing" if is_whole else ""
    if held not in [each.commit_id for each in spells]:
        return f"is dumped with {held}, which it never was"
    return ""


def check_restored_names(simulation: "Simulation") -> None:
    """A repository that is restored has the names of the dump, unless they were deleted."""
    repository, dumped = simulation.world.refs.repository(COPY), simulation.start.dump
    if repository is None or dumped is None or repository.is_bare:
        return
    content = DumpContent(
        OpenRepository(simulation.reader, repository), dumped, lambda found: found
    )
    records = simulation.world.refs.records_of(repository)
    changed = {
        (entity, str(event.detail[entity]))
        for event in simulation.outbox
        for entity in ("branch", "tag")
        if event.repository == COPY and event.detail.get(entity)
    }
    expected: set[tuple[str, str, CommitID]] = {
        *(("branch", ref.name, ref.commit_id) for ref in content.branches()),
        *(("tag", ref.name, ref.commit_id) for ref in content.tags()),
    }
    found = {
        *(("branch", name, branch.commit_id) for name, branch in records.branches.items()),
        *(("tag", name, tag.commit_id) for name, tag in records.tags.items()),
    }
    for entity, name, commit_id in sorted(expected - found):
        if (entity, name) not in changed:
            simulation.problem("restored", f"{entity} {name} at {commit_id} was not restored")
    if lost := {commit.id for commit in content.commits()} - records.commits.keys():
        simulation.problem("restored", f"commits {sorted(lost)} were not restored")


def dump_now(actor: "Actor", op: Op) -> None:
    seen = actor.watcher(Dumps)
    since = seen.tick()
    seen.add(since, dumps.dump(actor.engine, REPO))


def start_dump(actor: "Actor", op: Op) -> None:
    actor.watcher(Dumps)
    actor.was_given(dumps.start_dump(actor.engine, REPO, "somebody"))


DUMP_ACTIONS: Mapping[str, Callable[["Actor", Op], Any]] = {
    each.__name__: each for each in (dump_now, start_dump)
}
