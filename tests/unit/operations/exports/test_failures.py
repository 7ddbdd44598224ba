"""Exports that fail: every object is retried, the others continue, and nothing is lost."""

import pytest

from graveler.errors import InvalidInputError, ThrottledError
from graveler.export.record import ExportState
from graveler.operations import writes
from graveler.operations.exports import requests
from tests.support.worlds.export_lakes import LATEST, is_exported, lake_of_twelve
from tests.support.worlds.export_world import REPO, ExportWorld
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """A branch whose export is pending."""
    return lake_of_twelve()


def test_an_object_is_tried_five_times(lake):
    tries: list[str] = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy" and uri.endswith("/05"):
            tries.append(uri)
            if len(tries) < 5:
                raise ThrottledError("slow down")

    lake.objects.before = before
    lake.settle()
    assert len(tries) == 5
    assert is_exported(lake)


def test_an_object_that_always_fails_stops_no_other_and_is_exported_after_the_repair(lake):
    tries: list[str] = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy" and uri.endswith("/05"):
            tries.append(uri)
            raise OSError("broken")

    lake.objects.before = before
    lake.settle()
    assert len(tries) == 5
    assert lake.record.state is ExportState.FAILED
    assert len(lake.exported(LATEST)) == 11
    lake.objects.before = lambda _operation, _uri: None
    lake.writes.clear()
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)


def test_an_object_that_cannot_be_deleted_fails_the_run_and_is_deleted_after_the_repair(lake):
    lake.settle()
    for path in (b"05", b"06"):
        writes.delete(lake.engine(), REPO, "main", path)
    commit(lake.engine())

    def before(operation: str, uri: str) -> None:
        if operation == "delete" and uri.endswith("/05"):
            raise OSError("broken")

    lake.objects.before = before
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert requests.status(lake.engine(), REPO, "main").failed == 1
    assert len(lake.exported(LATEST)) == 11
    lake.objects.before = lambda _operation, _uri: None
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)


def test_retries_back_off_exponentially_with_jitter(lake):
    waits: dict[str, list[float]] = {}
    last: list[str] = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy":
            last[:] = [uri]
            raise OSError("broken")

    sleep = lake.world.clock.sleep

    def slept(seconds: float) -> None:
        waits.setdefault(last[0], []).append(seconds)
        sleep(seconds)

    lake.objects.before = before
    lake.world.clock.sleep = slept
    lake.settle()
    for each in waits.values():
        assert len(each) == 4
        assert all(0.1 <= s / 2**n <= 0.3 for n, s in enumerate(each))
    assert len({each[0] for each in waits.values()}) > 6


def test_the_first_errors_are_kept_and_all_are_counted(lake):
    def before(operation: str, _uri: str) -> None:
        if operation == "copy":
            raise InvalidInputError("refused")

    lake.objects.before = before
    lake.settle()
    status = requests.status(lake.engine(), REPO, "main")
    assert (status.failed, len(status.first_errors)) == (12, 10)
    assert status.error_message == "12 tasks failed\n" + status.first_errors[0]


def test_an_error_with_long_names_keeps_its_cause(lake):
    def before(operation: str, _uri: str) -> None:
        if operation == "copy":
            raise InvalidInputError(f"{'k' * 3000} is refused")

    lake.objects.before = before
    lake.settle()
    for error in requests.status(lake.engine(), REPO, "main").first_errors:
        assert error.startswith("s3://out/")
        assert error.endswith("k is refused")


def test_a_hundred_failures_in_a_row_end_the_run(lake):
    for number in range(300):
        upload(lake.engine(), b"more/%03d" % number, b"x")
    commit(lake.engine())
    tries: list[str] = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy":
            tries.append(uri)
            raise InvalidInputError("refused")

    lake.objects.before = before
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert len(tries) == 100


def test_a_failed_export_waits_for_a_repair_whatever_is_committed(lake):
    lake.objects.missing_buckets.add("out")
    lake.settle()
    lake.objects.missing_buckets.clear()
    upload(lake.engine(), b"new", b"x")
    commit(lake.engine())
    lake.settle()
    assert lake.objects.uris(LATEST) == []
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)
