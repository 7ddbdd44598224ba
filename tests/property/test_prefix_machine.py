"""Copies and moves of prefixes against a plain dictionary, with runners that die on the way."""

from typing import Any
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from graveler.errors import GravelerError
from graveler.model.tasks import LEASE_S, Task, TaskMessage, TaskState
from graveler.operations import writes
from graveler.operations.prefixes import walk
from graveler.operations.prefixes.progress import SavedProgress
from graveler.operations.prefixes.requests import (
    IfExists,
    PrefixRequest,
    start_copy,
    start_move,
)
from graveler.operations.tasks.requests import status
from tests.support.fakes.tasks import run
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.lake import REPO, commit, content, named, new_lake, paths, upload

PREFIXES = st.sampled_from(["a", "a/", "a/b", "b/", "c/", "", "z"])
PATHS = st.sampled_from(
    [b"a", b"a/1", b"a/2", b"a/b", b"a/b/1", b"b/1", b"b/2", b"b/b/1", b"c/1", b"z1", b"z/1"]
)
MODES = st.sampled_from(list(IfExists))

Contents = dict[bytes, bytes]


def overlap(source: str, destination: str) -> bool:
    return source.startswith(destination) or destination.startswith(source)


class Prefixes(RuleBasedStateMachine):
    """main is staged and committed; `committed` has what its head has."""

    def __init__(self) -> None:
        super().__init__()
        self.world = new_lake()
        self.engine = self.world.engine()
        self.main: Contents = {}
        self.head: Contents = {}
        self.count = 0
        small = (("CHANGES_TOGETHER_MAX", 4), ("PAGE_PATHS", 3))
        self.patches = [patch.object(walk, name, value) for name, value in small]
        for each in self.patches:
            each.start()

    def teardown(self) -> None:
        for each in self.patches:
            each.stop()

    @initialize(written=st.sets(PATHS))
    def begin(self, written: set[bytes]) -> None:
        for path in sorted(written):
            self.write(path)
        self.commit()

    @rule(path=PATHS)
    def write(self, path: bytes) -> None:
        self.count += 1
        self.main[path] = b"%d" % self.count
        upload(self.engine, path, self.main[path])

    @rule(path=PATHS)
    def delete(self, path: bytes) -> None:
        writes.delete(self.engine, REPO, "main", path)
        self.main.pop(path, None)

    @rule()
    def commit(self) -> None:
        commit(self.engine, allow_empty=True)
        self.head = dict(self.main)

    @rule(days=st.integers(1, 3))
    def time_passes(self, days: int) -> None:
        self.world.clock.tick(days * 24 * 60 * 60)

    @rule(
        source=PREFIXES,
        destination=PREFIXES,
        mode=MODES,
        kind=st.sampled_from(["move", "copy", "copy of the head"]),
        deaths=st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=2),
    )
    def transfer(
        self,
        source: str,
        destination: str,
        mode: IfExists,
        kind: str,
        deaths: list[tuple[int, bool]],
    ) -> None:
        of_head = kind == "copy of the head"
        request = PrefixRequest(source, destination, "main@" if of_head else "", mode)
        found = self.head if of_head else self.main
        moved = {
            path: destination.encode() + path[len(source.encode()) :]
            for path in sorted(found)
            if path.startswith(source.encode())
        }
        begin = start_move if kind == "move" else start_copy
        if not moved or (not of_head and overlap(source, destination)):
            try:
                begin(self.engine, REPO, "main", request, "ann")
            except GravelerError:
                return
            raise AssertionError("a task was started")
        head = named(self.engine, "main")
        task = begin(self.engine, REPO, "main", request, "ann")
        ended = self.run_to_its_end(task, deaths)
        assert named(self.engine, "main") == head
        self.check(ended, found, moved, request)

    def run_to_its_end(self, task: Task, deaths: list[tuple[int, bool]]) -> Task:
        message = TaskMessage(REPO, task.id)
        for number, (place, is_after) in enumerate(deaths):
            seen = 0

            def dying(_name: str, call: Any, place: int = place, after: bool = is_after) -> Any:
                nonlocal seen
                seen += 1
                if seen != place:
                    return call()
                if after:
                    call()
                raise Crash

            try:
                run(engine_around(self.world.engine(), dying), message, runner=f"runner-{number}")
            except Crash:
                self.world.clock.tick(LEASE_S + 1)
        run(self.world.engine(), message, runner="the last")
        self.world.task_queue.waiting.clear()
        ended = status(self.engine, REPO, task.id)
        assert ended.has_ended
        return ended

    def check(
        self, ended: Task, found: Contents, moved: dict[bytes, bytes], request: PrefixRequest
    ) -> None:
        """Bring the model up to date; a task that failed is followed as far as it says."""
        existing = {path: to for path, to in moved.items() if to in self.main}
        is_too_short = any(not to for to in moved.values())
        if is_too_short or (request.if_exists is IfExists.FAIL and existing):
            assert ended.state is TaskState.FAILED
            saved = SavedProgress(**ended.saved)
            done = [p for p in moved if p.hex() <= max(saved.after, saved.until)]
            still = [p for p in done if p.hex() > saved.after and p in paths(self.engine, "main")]
            assert not set(done) & existing.keys()
        else:
            assert ended.state is TaskState.COMPLETED, ended.failure
            done, still = list(moved), []
            if request.if_exists is IfExists.SKIP:
                assert ended.result["skipped"] == str(len(existing))
                done = [path for path in done if path not in existing]
            assert ended.result["copied"] == str(len(done))
        values = {moved[path]: found[path] for path in done}
        if ended.kind == "move-prefix":
            for path in set(done) - set(still):  # the last step of a failed task may be open
                del self.main[path]
        self.main.update(values)

    @invariant()
    def readers_see_the_model(self) -> None:
        assert paths(self.engine, "main") == sorted(self.main)
        assert paths(self.engine, "main@") == sorted(self.head)
        for path, text in self.main.items():
            assert content(self.engine, "main", path) == text


Prefixes.TestCase.settings = settings(stateful_step_count=20)
test_prefixes = Prefixes.TestCase
