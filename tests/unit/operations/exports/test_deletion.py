"""A branch and its export are deleted together, whatever fails or happens meanwhile."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from graveler.engine import Engine
from graveler.errors import NotFoundError, ThrottledError
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.operations import branches
from graveler.operations.exports import requests
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import FailAt, Meanwhile
from tests.support.worlds.export_lakes import lake_of_twelve
from tests.support.worlds.export_world import REPO, ExportWorld
from tests.support.worlds.lake import commit, upload

DEV = ExportConfiguration("s3://out/dev", is_continuous=True)


def lake_with_dev(*, is_exported: bool = True) -> ExportWorld:
    """A branch that is exported or about to be."""
    lake = lake_of_twelve()
    branches.create(lake.engine(), REPO, name="dev", source="main")
    lake.branch = "dev"
    if is_exported:
        requests.configure(lake.engine(), REPO, "dev", DEV)
    return lake


def delete_dev(engine: Engine) -> None:
    branches.delete(engine, REPO, "dev")


def make_dev_again(lake: ExportWorld) -> None:
    """Create the branch again, with an object that must not be exported, and settle."""
    branches.create(lake.engine(), REPO, name="dev", source="main")
    upload(lake.engine(), b"secret", b"of another project", "dev")
    commit(lake.engine(), "dev")
    lake.settle()


def listed(lake: ExportWorld) -> list[str]:
    return [each.branch for each in lake.world.exports.listed_exports()]


def calls_of_a_deletion(*, is_exported: bool = True) -> int:
    calls = Calls()
    delete_dev(engine_around(lake_with_dev(is_exported=is_exported).engine(), calls))
    return len(calls.names)


@pytest.mark.parametrize("number", range(1, calls_of_a_deletion() + 1))
def test_a_branch_that_could_not_be_deleted_is_still_exported(number: int) -> None:
    lake = lake_with_dev()
    before: BranchExport | None = lake.record
    fault = FailAt(number, ThrottledError("not now"), landed=False)
    with pytest.raises(ThrottledError):
        delete_dev(engine_around(lake.engine(), fault))
    assert branches.get(lake.engine(), REPO, "dev").name == "dev"
    assert lake.record == before
    assert requests.get(lake.engine(), REPO, "dev") == DEV
    assert "dev" in listed(lake)


@pytest.mark.parametrize("number", range(1, calls_of_a_deletion(is_exported=False) + 1))
def test_an_export_configured_while_its_branch_is_deleted_is_deleted_too(number: int) -> None:
    lake = lake_with_dev(is_exported=False)
    configure = partial(requests.configure, lake.engine(), REPO, "dev", DEV)
    meanwhile = Meanwhile(number, configure)
    delete_dev(engine_around(lake.engine(), meanwhile))
    assert meanwhile.has_happened
    with pytest.raises(NotFoundError):
        branches.get(lake.engine(), REPO, "dev")
    make_dev_again(lake)
    assert lake.record is None
    assert "dev" not in listed(lake)
    assert lake.objects.head("s3://out/dev/secret") is None


def test_a_branch_that_is_deleted_while_its_export_is_configured_leaves_no_export() -> None:
    calls = Calls()
    lake = lake_with_dev(is_exported=False)
    requests.configure(engine_around(lake.engine(), calls), REPO, "dev", DEV)
    assert len(calls.names) > 3
    for number in range(1, len(calls.names) + 1):
        lake = lake_with_dev(is_exported=False)
        meanwhile = Meanwhile(number, partial(delete_dev, lake.engine()))
        with pytest.raises(NotFoundError):
            requests.configure(engine_around(lake.engine(), meanwhile), REPO, "dev", DEV)
        make_dev_again(lake)
        assert lake.record is None
        assert "dev" not in listed(lake)


def test_a_run_begun_while_its_branch_is_created_again_does_not_export_the_new_one() -> None:
    calls = Calls()
    lake = lake_with_dev()
    lake.settle()
    commit(lake.engine(), "dev", allow_empty=True)
    requests.run(engine_around(lake.engine(), calls), REPO, "dev")
    for number in range(1, len(calls.names) + 1):
        lake = lake_with_dev()
        lake.settle()
        commit(lake.engine(), "dev", allow_empty=True)

        def make_anew(lake: ExportWorld = lake) -> None:
            delete_dev(lake.engine())
            make_dev_again(lake)

        meanwhile = Meanwhile(number, make_anew)
        with pytest.raises(NotFoundError, match="no export configuration"):
            requests.run(engine_around(lake.engine(), meanwhile), REPO, "dev")
        assert lake.record is None
        assert lake.objects.head("s3://out/dev/secret") is None


def test_a_run_begun_while_branch_and_export_are_made_anew_exports_the_new_head() -> None:
    lake = lake_with_dev()
    lake.settle()
    anew: list[str] = []

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == "exports.branch_export" and not anew:
            delete_dev(lake.engine())
            make_dev_again(lake)
            requests.configure(lake.engine(), REPO, "dev", DEV, force=True)
            lake.settle()
            anew.append(branches.get(lake.engine(), REPO, "dev").commit_id)
        return call()

    requests.run(engine_around(lake.engine(), around), REPO, "dev")
    assert requests.status(lake.engine(), REPO, "dev").commit_id == anew[0]
