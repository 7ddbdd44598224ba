"""The lives of branches in a schedule: which branch had a name when, and what its head was.

The outbox tells them, because the event of a change is stored in the change's transaction. A branch
that is deleted and created again is another one, whatever the engine remembers of it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

from graveler.model import NO_COMMIT, Branch, CommitID, Event, Repository, StagingToken
from graveler.open_repository import OpenRepository
from tests.simulation.worlds import stored_value

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

_MOVES = frozenset(
    [
        *("branch_created", "branch_reset", "commit_created", "merge_completed"),
        *("revert_completed", "cherry_pick_completed", "import_completed"),
    ]
)
_CHANGES = _MOVES | {"branch_deleted", "tag_created", "tag_deleted"}


def _state_after(event: Event) -> tuple[str, str] | None:
    """Return the key of the record that the event's change changed, and its state after it."""
    detail = event.detail
    if event.kind in _CHANGES:
        entity = "tag" if event.kind.startswith("tag_") else "branch"
        is_deleted = event.kind.endswith("_deleted")
        return f"{entity}#{detail[entity]}", "" if is_deleted else str(detail["commit_id"])
    if event.kind.startswith("pull_request_"):
        return f"pull#{detail['pull_request_id']}", str(detail["status"])
    if event.kind == "repository_restored":
        return "repository", "whole"
    return None


def _nearest(changes: Sequence[int], moment: int) -> int:
    return min(changes, key=lambda change: abs(change - moment), default=moment)


class Outbox(list[Event]):
    """The events of a schedule, each with the moment of its change.

    A transaction becomes visible part by part. So the moment of an event of a branch, a tag or a
    pull request is when its record changed.
    """

    def __init__(self, tick: Callable[[], int]) -> None:
        super().__init__()
        self._moments: list[int] = []
        # By repository and name: its last state, and the moments of each one.
        self._states: dict[tuple[str, str], str] = {}
        self._changes: dict[tuple[str, str, str], list[int]] = {}
        self._tick = tick

    def append(self, event: Event) -> None:
        super().append(event)
        self._moments.append(self._tick())

    def begin_with(self, repository: str, heads: Mapping[str, CommitID]) -> None:
        """Note the heads that branches have first, so that the next state of one is a change."""
        for name, commit_id in heads.items():
            self._states[repository, f"branch#{name}"] = commit_id

    def note_state(self, repository: str, name: str, state: str) -> None:
        """Note a record that becomes visible, by its key.

        state: the head of a branch or a tag, "" if it is deleted; the status of a pull request;
        of a repository, "restoring" or "whole".
        """
        if self._states.get((repository, name)) != state:
            self._states[repository, name] = state
            self._changes.setdefault((repository, name, state), []).append(self._tick())

    def times_head(self) -> Counter[str]:
        """Return how often each commit became the head of a branch."""
        times: Counter[str] = Counter()
        for (_, name, state), moments in self._changes.items():
            if name.startswith("branch#"):
                times[state] += len(moments)
        return times

    @property
    def moments(self) -> list[int]:
        """The moments of the changes that the events describe."""
        moments = list(self._moments)
        events: dict[tuple[str, str, str], list[int]] = {}
        for number, event in enumerate(self):
            if state := _state_after(event):
                events.setdefault((event.repository, *state), []).append(number)
        for key, numbers in events.items():
            changes = self._changes.get(key, [])
            if len(changes) != len(numbers):  # some of the events changed nothing
                changes = [_nearest(changes, moments[number]) for number in numbers]
            for number, change in zip(numbers, changes, strict=True):
                moments[number] = change
        return moments


@dataclass(frozen=True, slots=True)
class Spell:
    """How long a commit was the head of a branch.

    born: when the branch was created. is_made: the change that made it the head made the commit.
    """

    commit_id: CommitID
    born: float
    since: float
    until: float = inf
    is_made: bool = False


class Lives:
    """The branches of one repository."""

    def __init__(self, first: Mapping[str, CommitID], outbox: Outbox, repository: str) -> None:
        self._spells: dict[str, list[Spell]] = {}
        self._started: dict[str, float] = {}  # by task ID
        for name, commit_id in first.items():
            self._spells[name] = [Spell(commit_id, born=-inf, since=-inf)]
        for moment, event in sorted(zip(outbox.moments, outbox, strict=True), key=itemgetter(0)):
            if event.repository == repository:
                self._follow(event, moment)

    def _follow(self, event: Event, moment: float) -> None:
        name = str(event.detail.get("branch", ""))
        if event.kind == "task_started":
            self._started[str(event.detail["task_id"])] = moment
        elif event.kind in _MOVES:
            is_new = event.kind == "branch_created"
            born = moment if is_new else self._end(name, moment)
            is_made = not is_new and event.kind != "branch_reset"
            commit_id = CommitID(str(event.detail["commit_id"]))
            self._spells.setdefault(name, []).append(
                Spell(commit_id, born, moment, is_made=is_made)
            )
        elif event.kind == "branch_deleted":
            self._end(name, moment)
        elif event.kind == "repository_deleted":
            for each in self._spells:
                self._end(each, moment)
        elif event.kind == "repository_created":
            self._spells.setdefault("main", []).append(Spell(NO_COMMIT, moment, moment))

    def _end(self, name: str, moment: float) -> float:
        """End the present spell of the name; return when its branch was created."""
        last = self._spells[name].pop()
        self._spells[name].append(replace(last, until=min(last.until, moment)))
        return last.born

    @property
    def names(self) -> frozenset[str]:
        """Return all names that branches ever had."""
        return frozenset(self._spells)

    def within(self, name: str, begin: float, end: float) -> list[Spell]:
        """Return what the name was between two moments."""
        return [
            each for each in self._spells.get(name, ()) if each.since <= end and begin < each.until
        ]

    def is_younger(self, name: str, moment: float, task_id: str) -> bool:
        """Whether the branch that has the name at the moment was created after the task."""
        started = self._started.get(task_id, inf)
        return any(each.born > started for each in self.within(name, moment, moment))

    def moments_made(self, name: str, commit_id: CommitID) -> list[float]:
        """Return when the commit was made on a branch of the name."""
        spells = self._spells.get(name, ())
        return [each.since for each in spells if each.is_made and each.commit_id == commit_id]


class Named:
    """The addresses that clients can find, and since which step each can be found without a break.

    They are those of the heads' objects, and of what is staged and not hidden by a newer change.
    """

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._since: dict[str, int] = {}
        self._in_commits: dict[CommitID, frozenset[str]] = {}

    def look(self) -> None:
        """See what is named after a step."""
        step = len(self._simulation.scheduler.steps)
        found = self._now()
        self._since = {address: self._since.get(address, step) for address in found}

    def living(self, addresses: Sequence[str], look_step: int) -> list[str]:
        """Return which of the addresses are named, and were so before the step."""
        return [each for each in addresses if self._since.get(each, look_step) < look_step]

    def _now(self) -> set[str]:
        world = self._simulation.world
        repository = self._simulation.repository
        found: set[str] = set()
        if repository is None:
            return found
        for branch in world.refs.records_of(repository).branches.values():
            found |= self.of_branch(repository, branch)
        return found

    def of_branch(self, repository: Repository, branch: Branch) -> set[str]:
        """Return the addresses that readers of the branch and of its head find."""
        staged = self._staged(repository, branch.tokens)
        return staged | self._in_commit(repository, branch.commit_id)

    def _staged(self, repository: Repository, tokens: tuple[StagingToken, ...]) -> set[str]:
        seen: dict[bytes, bytes | None] = {}
        for token in reversed(tokens):  # the oldest first
            seen.update(self._simulation.world.staging.changes(token))
        values = (stored_value(repository, value) for value in seen.values())
        return {value.address for value in values if value is not None}

    def _in_commit(self, repository: Repository, commit_id: CommitID) -> frozenset[str]:
        if commit_id not in self._in_commits:
            content = OpenRepository(self._simulation.reader, repository).content(commit_id)
            values = (stored_value(repository, value) for _, value in content.records())
            self._in_commits[commit_id] = frozenset(v.address for v in values if v is not None)
        return self._in_commits[commit_id]
