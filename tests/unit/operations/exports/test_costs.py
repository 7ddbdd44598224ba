"""The requests of an export follow what changed, not the size of the branch."""

from collections import Counter

import pytest

from graveler.operations import writes
from tests.support.faults.counting import Calls, engine_around
from tests.support.worlds.export_world import REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload

LATEST = "s3://out/latest"
CHANGES = 10


def lake_of(count: int, **configuration: object) -> ExportWorld:
    """Return a branch with this many objects, all exported."""
    made = export_world(raggedness=20)
    for number in range(count):
        upload(made.engine(), b"d%03d/%05d" % (number % 20, number), b"x")
    commit(made.engine())
    made.configure(LATEST, is_continuous=True, **configuration)
    made.settle()
    return made


def cost(lake: ExportWorld) -> Counter[str]:
    """Count the requests of the next export, by a process with empty caches."""
    calls = Calls()
    lake.advance(engine_around(lake.engine(), calls))
    return calls.counts()


def change(lake: ExportWorld) -> None:
    for number in range(0, CHANGES * 20, 20):
        upload(lake.engine(), b"d000/%05d" % number, b"changed")
    commit(lake.engine())


@pytest.mark.parametrize("count", [300, 1500])
def test_the_requests_of_an_export_follow_the_changes_not_the_size_of_the_branch(count):
    lake = lake_of(count)
    change(lake)
    counts = cost(lake)
    assert counts["objects.copy"] == CHANGES
    assert {name for name in counts if name.startswith("objects.")} == {"objects.copy"}
    # Read, take, announce, end, and read again to look for more work.
    assert counts["exports.branch_export"] == 2
    assert counts["exports.replace_branch_export"] == 3
    assert counts["exports.listed_exports"] == 0  # not needed: the path is the branch's own
    assert counts["refs.branch"] == 2
    files = sum(number for name, number in counts.items() if name.startswith("files."))
    # Both metaranges, and the ranges with a change, on both sides.
    assert files <= 2 * (2 + 2 * CHANGES)


def test_success_files_cost_two_requests_for_each_directory_around_a_change():
    lake = lake_of(300, patterns=("^d",))
    change(lake)
    counts = cost(lake)
    assert counts["objects.copy"] == CHANGES
    assert counts["objects.delete"] == 2  # marks of `d000/` and the root
    assert counts["objects.put"] == 1


def test_objects_are_deleted_in_batches():
    lake = lake_of(300)
    paths = [b"d%03d/%05d" % (number % 20, number) for number in range(200)]
    assert writes.delete_many(lake.engine(), REPO, "main", paths) == []
    commit(lake.engine())
    counts = cost(lake)
    assert counts["objects.delete_many"] == 1
    assert counts["objects.copy"] == 0
    assert len(lake.exported(LATEST)) == 100


def test_a_commit_without_changes_costs_no_request_at_the_destination():
    lake = lake_of(100)
    commit(lake.engine(), allow_empty=True)
    counts = cost(lake)
    assert not [name for name in counts if name.startswith("objects.")]
    head = lake.world.refs.branch(lake.repository, "main").commit_id
    assert lake.destination().exported_commit == head


def test_a_message_without_work_costs_three_reads():
    lake = lake_of(100)
    assert cost(lake) == {"refs.repository": 1, "exports.branch_export": 1, "refs.branch": 1}


def test_a_status_path_costs_the_requests_for_its_reports():
    lake = lake_of(100, status_path="s3://out/status")
    change(lake)
    counts = cost(lake)
    # The superseded status; the status file, the manifest and the new status.
    assert counts["objects.put"] == 4
    # The status and the manifest of the previous export.
    assert counts["objects.get"] == 2
    assert counts["objects.delete"] == 1
