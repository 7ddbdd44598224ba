"""Exports by jobs in memory: workers that take turns, runners that crash, and the outcome."""

from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

from graveler.engine import Engine
from graveler.errors import ConflictError, InvalidInputError
from graveler.export.record import ExportRequest, ExportState
from graveler.export.slices import ExportSlice, ExportSliceResult
from graveler.operations import branches, commits, writes
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.exports.batch import export_in_batch
from graveler.operations.exports.slices import RunSpec, carry_out_slice
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash, CrashAt
from tests.support.worlds.export_world import REPO, ExportWorld


class WorkersInTurns:
    """Two workers in the runner's own thread; the second one always finishes first."""

    objects_min = 2
    at_once = 2

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._earlier: tuple[RunSpec, ExportSlice, Future[ExportSliceResult]] | None = None

    def submit(self, run: RunSpec, part: ExportSlice) -> Future[ExportSliceResult]:
        future: Future[ExportSliceResult] = Future()
        turns = [(run, part, future)]
        if self._earlier is not None:
            turns.append(self._earlier)
            self._earlier = None
        elif part.end is not None:
            self._earlier = turns.pop()
        try:
            for each_run, each_part, each_future in turns:
                each_future.set_result(carry_out_slice(self._engine, each_run, each_part))
        except BaseException as crash:
            for _, _, each_future in turns:
                if not each_future.done():
                    each_future.set_exception(crash)  # so that nobody waits for it
            raise
        return future


def _text(content: bytes) -> tuple[bytes, str]:
    return content, "text/plain"


def commit(world: ExportWorld, contents: Mapping[str, bytes], before: Mapping[str, bytes]) -> None:
    engine = world.engine()
    for key, content in contents.items():
        writes.upload(
            engine,
            REPO,
            "main",
            key.encode(),
            read_content=partial(_text, content),
            metadata={},
        )
    for key in before.keys() - contents.keys():
        writes.delete(engine, REPO, "main", key.encode())
    request = commits.CommitRequest("message", "somebody", allow_empty=True)
    commits.commit(engine, REPO, "main", request)


def attempt(world: ExportWorld, is_job: bool, name: str, calls_max: int) -> None:
    """Begin or continue the export, and crash after calls_max calls to the stores."""
    calls = CrashAt(calls_max)
    engine = engine_around(world.engine(), calls)
    request = ExportRequest(REPO, "main")
    world.runner = name
    with suppress(Crash, ConflictError):
        if is_job:
            workers = WorkersInTurns(engine_around(world.engine(), calls))
            export_in_batch(engine, request, "", runner=name, workers=workers)
        else:
            advance(engine, request, runner=name, time_left_s=lambda: 900.0)
    world.runner = ""
    assert world.violations == []


def finish(world: ExportWorld, is_job: bool) -> None:
    """Remove all faults and take the export to its end."""
    world.world.clock.step_ns = 10**6
    world.objects.before = lambda _operation, _uri: None
    head = branches.get(world.engine(), REPO, "main").commit_id
    for number in range(4):
        record = world.record
        assert record is not None
        if record.state is ExportState.FAILED:
            requests.repair(world.engine(), REPO, "main")
        elif record.state is ExportState.SUCCEEDED:
            assert world.destination().exported_commit == head
            return
        world.world.clock.tick(100)
        attempt(world, is_job, f"last {number}", 1_000_000)
    raise AssertionError("the export never ends")


def refuse(world: ExportWorld, keys: set[str]) -> None:
    """Make the store refuse writes at these keys."""
    uris = {f"s3://out/latest/{key}" for key in keys}

    def before(_operation: str, uri: str) -> None:
        if uri in uris:
            raise InvalidInputError(f"{uri} is refused")

    world.objects.before = before


def outcome(world: ExportWorld) -> dict[str, bytes]:
    """Return the objects and marks at the destination, and the manifest."""
    uris = world.objects.uris("s3://out/latest")
    manifest = world.destination().manifest
    found = {uri: world.objects.get(uri) for uri in uris}
    return found | ({"manifest": world.objects.get(manifest)} if manifest else {})
