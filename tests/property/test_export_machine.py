"""Continuous export keeps its promises, whatever happens to the branch and to its runners.

Users commit, delete, configure and repair. Messages arrive twice, late and in any order. Runners are
interleaved call by call, stall beyond their leases, crash and run out of time. The object store
refuses or throttles requests. The witness of `tests.support.worlds.export_world` checks every write. In
the end all faults are removed, and then the destination holds exactly the branch's objects.
"""

from contextlib import suppress
from functools import partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from graveler.errors import (
    AlreadyExistsError,
    ConflictError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    ThrottledError,
)
from graveler.export.patterns import Patterns, directories_of, directory_of
from graveler.export.record import ExportConfiguration, ExportRequest, ExportState
from graveler.operations import branches, commits, writes
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from tests.support.faults.counting import engine_around
from tests.support.faults.runners import SteppedRunner
from tests.support.worlds.export_world import MARK, REPO, ExportWorld, export_world

KEYS = st.sampled_from(
    [
        "a",
        "a/1",
        "a/2",
        "a/_lakefs_success",
        "a/_SUCCESS",
        "a/b/1",
        "a/b/_SUCCESS",
        "b/1",
        "b/2",
        "SUCCESS",
        "c/d/e/1",
    ]
)
CONTENTS = st.sampled_from([b"A", b"B", b"C"])
PATHS = st.sampled_from(["s3://out/one", "s3://out/two"])
PATTERNS = st.sampled_from([(), (".*",), (".*/_SUCCESS$", "^SUCCESS$"), ("^a/b",), ("1$",)])

# How many calls to stores a runner makes before another step of the test.
STEPS = st.sampled_from([1, 3, 7, 12, 20, 30, 50, 1000])


def _text(content: bytes) -> tuple[bytes, str]:
    return content, "text/" + content.decode()


class ExportMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.exported: ExportWorld = export_world()
        self.runners: list[tuple[SteppedRunner, ExportRequest]] = []
        self.messages: list[ExportRequest] = []
        self.events_seen = 0
        self.runner_count = 0
        self.was_known = False
        self.refused: set[str] = set()  # keys at which the object store refuses to write
        self.throttled = 0  # requests that will be throttled
        self.slow_s = 0.0  # how long each copy takes
        self.exported.objects.before = self.before_write

    @property
    def world(self) -> Any:
        return self.exported.world

    def before_write(self, operation: str, uri: str) -> None:
        if not uri.startswith("s3://out"):
            return
        if operation == "copy":
            self.world.clock.tick(self.slow_s)
        if self.throttled:
            self.throttled -= 1
            raise ThrottledError("slow down")
        if any(uri.endswith("/" + key) for key in self.refused):
            raise InvalidInputError(f"{uri} is refused")

    def attempt(self, do: Any, *expected: type[GravelerError]) -> None:
        with suppress(*expected):
            do()

    # Users

    @initialize(step_ns=st.sampled_from([10**6, 10**9]), continuous=st.booleans())
    def begin(self, step_ns: int, continuous: bool) -> None:
        self.world.clock.step_ns = step_ns
        for path in ("one", "two"):
            self.exported.place_foreign(f"s3://out/{path}/a/foreign")
        branches.create(self.exported.engine(), REPO, name="live", source="main")
        self.exported.branch = "live"
        self.upload_and_commit({"a/1": b"A", "b/1": b"A"}, set())
        self.exported.configure(
            "s3://out/one", is_continuous=continuous, status_path="s3://out/s", force=True
        )

    @rule(
        put=st.dictionaries(KEYS, CONTENTS, max_size=4),
        delete=st.sets(KEYS, max_size=3),
    )
    def upload_and_commit(self, put: dict[str, bytes], delete: set[str]) -> None:
        engine = self.exported.engine()
        if self.world.refs.branch(self.exported.repository, "live") is None:
            return
        for key, content in put.items():
            writes.upload(
                engine,
                REPO,
                "live",
                key.encode(),
                read_content=partial(_text, content),
                metadata={"m": "v"} if content == b"B" else {},
            )
        for key in delete:
            self.attempt(lambda: writes.delete(engine, REPO, "live", key.encode()))  # noqa: B023
        request = commits.CommitRequest("message", "somebody", allow_empty=True)
        commits.commit(engine, REPO, "live", request)

    @rule(back=st.integers(1, 3))
    def reset_to_an_earlier_commit(self, back: int) -> None:
        do = lambda: branches.hard_reset(  # noqa: E731
            self.exported.engine(), REPO, "live", ref=f"live~{back}", force=True
        )
        self.attempt(do, NotFoundError, InvalidInputError)

    @rule(is_made_again=st.booleans())
    def delete_the_branch(self, is_made_again: bool) -> None:
        engine = self.exported.engine()
        self.attempt(lambda: branches.delete(engine, REPO, "live"), NotFoundError)
        if is_made_again:
            branches.create(engine, REPO, name="live", source="main")

    @rule()
    def make_the_branch(self) -> None:
        engine = self.exported.engine()
        do = lambda: branches.create(engine, REPO, name="live", source="main")  # noqa: E731
        self.attempt(do, AlreadyExistsError)

    @rule(
        path=PATHS,
        patterns=PATTERNS,
        continuous=st.booleans(),
        status=st.sampled_from(["", "s3://out/s", "s3://out/one/s"]),
    )
    def configure(self, path: str, patterns: Any, continuous: bool, status: str) -> None:
        do = lambda: self.exported.configure(  # noqa: E731
            path, patterns=patterns, is_continuous=continuous, status_path=status, force=True
        )
        self.attempt(do, NotFoundError, ConflictError)

    @rule()
    def run(self) -> None:
        do = lambda: requests.run(self.exported.engine(), REPO, "live")  # noqa: E731
        self.attempt(do, ConflictError, NotFoundError)

    @rule()
    def repair(self) -> None:
        do = lambda: requests.repair(self.exported.engine(), REPO, "live")  # noqa: E731
        self.attempt(do, ConflictError, NotFoundError)

    @rule()
    def forget(self) -> None:
        do = lambda: requests.forget(self.exported.engine(), REPO, "live")  # noqa: E731
        self.attempt(do, NotFoundError)

    # Runners

    def collect_messages(self) -> None:
        for event in self.world.refs.events[self.events_seen :]:
            if "branch" in event.detail and event.kind != "export_finished":
                self.messages.append(ExportRequest(REPO, "live"))
        self.events_seen = len(self.world.refs.events)
        now_ns = self.world.clock.peek_ns
        waiting = self.world.export_queue.waiting
        self.messages += [request for due_ns, request in waiting if due_ns <= now_ns]
        waiting[:] = [each for each in waiting if each[0] > now_ns]

    @rule(
        time_s=st.sampled_from([40.0, 65.0, 100.0, 900.0]),
        twice=st.booleans(),
        count=STEPS,
        data=st.data(),
    )
    def deliver(self, time_s: float, twice: bool, count: int, data: st.DataObject) -> None:
        self.collect_messages()
        if not self.messages or len(self.runners) >= 3:
            return
        at = data.draw(st.integers(0, len(self.messages) - 1))
        request = self.messages[at] if twice else self.messages.pop(at)
        self.start(request, time_s)
        self.step_runner(len(self.runners) - 1, count)

    @rule(put=st.dictionaries(KEYS, CONTENTS, min_size=1, max_size=4), count=STEPS)
    def commit_and_deliver(self, put: dict[str, bytes], count: int) -> None:
        self.upload_and_commit(put, set())
        self.start(ExportRequest(REPO, "live"), 900)
        self.step_runner(len(self.runners) - 1, count)

    def start(self, request: ExportRequest, time_s: float) -> SteppedRunner:
        self.runner_count += 1
        name = f"runner {self.runner_count}"
        clock = self.world.clock
        deadline_ns = clock.peek_ns + round(time_s * 1e9)

        def work(runner: SteppedRunner) -> None:
            engine = engine_around(self.exported.engine(), runner)
            advance(
                engine,
                request,
                runner=name,
                time_left_s=lambda: (deadline_ns - clock.peek_ns) / 1e9,
            )

        runner = SteppedRunner(name, work)
        self.runners.append((runner, request))
        return runner

    def step_runner(self, at: int, count: int) -> None:
        runner, request = self.runners[at]
        self.exported.runner = runner.name
        runner.step(count)
        self.exported.runner = ""
        self.notice_what_was_forgotten()
        if runner.is_done:
            del self.runners[at]
            if runner.error is not None:
                assert isinstance(runner.error, GravelerError), repr(runner.error)
                self.messages.append(request)

    def notice_what_was_forgotten(self) -> None:
        is_known = self.exported.record is not None
        if self.was_known and not is_known:
            self.exported.forget()
        self.was_known = is_known

    @precondition(lambda self: self.runners)
    @rule(data=st.data(), count=STEPS)
    def step(self, data: st.DataObject, count: int) -> None:
        self.step_runner(data.draw(st.integers(0, len(self.runners) - 1)), count)

    @precondition(lambda self: self.runners)
    @rule(data=st.data())
    def kill(self, data: st.DataObject) -> None:
        runner, request = self.runners.pop(data.draw(st.integers(0, len(self.runners) - 1)))
        runner.kill()
        self.messages.append(request)

    @rule(seconds=st.sampled_from([1, 16, 45, 70, 1000]))
    def time_goes_by(self, seconds: int) -> None:
        self.world.clock.tick(seconds)

    @rule(
        refused=st.sets(KEYS, max_size=2),
        throttled=st.integers(0, 12),
        slow_s=st.sampled_from([0.0, 5.0, 19.0]),
    )
    def trouble_the_object_store(self, refused: set[str], throttled: int, slow_s: float) -> None:
        self.refused, self.throttled, self.slow_s = refused, throttled, slow_s

    # What always holds

    @invariant()
    def nothing_forbidden_was_seen(self) -> None:
        self.notice_what_was_forgotten()
        assert self.exported.violations == []

    @invariant()
    def whole_destinations_are_whole(self) -> None:
        self.exported.check_whole_destinations()
        assert self.exported.violations == []

    def teardown(self) -> None:
        for runner, request in self.runners:
            runner.kill()
            self.messages.append(request)
        self.runners = []
        self.refused, self.throttled, self.slow_s = set(), 0, 0.0
        self.world.clock.step_ns = 10**6
        self.quiesce()
        record = self.exported.record
        if record is None:
            return
        if record.state is ExportState.FAILED:
            requests.repair(self.exported.engine(), REPO, "live")
            self.quiesce()
        if not record.configuration.is_continuous:
            self.attempt(lambda: requests.run(self.exported.engine(), REPO, "live"), ConflictError)
            self.quiesce()
        record = self.exported.record
        assert record is not None
        assert record.state is ExportState.SUCCEEDED
        head = branches.get(self.exported.engine(), REPO, "live").commit_id
        assert self.exported.destination(record.configuration.path).exported_commit == head
        self.whole_destinations_are_whole()
        self.nothing_forbidden_was_seen()
        self.marks_are_those_of_the_patterns(record.configuration)

    def marks_are_those_of_the_patterns(self, configuration: ExportConfiguration) -> None:
        path, patterns = configuration.path, Patterns(configuration.last_keys_in_prefix_regexps)
        head = branches.get(self.exported.engine(), REPO, "live").commit_id
        keys = [key.encode() for key in self.exported.content_of(head)]
        apart = {directory_of(key) for key in keys if patterns.set_apart(key)}
        marked = {
            directory + MARK.encode()
            for directory in {each for key in keys for each in directories_of(key)}
            if patterns.match_directory(directory) or directory in apart
        }
        found = {uri for uri in self.exported.objects.uris(f"{path}/") if uri.endswith("/" + MARK)}
        owned = {f"{path}/{key.decode()}" for key in keys}
        expected = {f"{path}/{key.decode()}" for key in marked}
        assert found - self.exported.leftovers - owned == expected - owned

    def quiesce(self) -> None:
        for _ in range(200):
            self.collect_messages()
            if not self.messages:
                if not self.world.export_queue.waiting:
                    return
                self.world.clock.tick(100)
                continue
            self.start(self.messages.pop(0), 900)
            self.step_runner(len(self.runners) - 1, 100_000)
            assert not self.runners
        raise AssertionError("the export never comes to an end")


# Runs are long: it takes many steps to begin one, disturb it, and let another runner continue.
ExportMachine.TestCase.settings = settings(
    max_examples=settings().max_examples * 5 // 2, stateful_step_count=60
)
TestExportMachine = ExportMachine.TestCase
