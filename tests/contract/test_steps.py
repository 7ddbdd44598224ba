"""The contract of every StagingStore's steps: changes and a task's progress, all or nothing."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from msgspec.structs import replace

from graveler.errors import StaleTaskError, StaleVersionError, UnknownOutcomeError
from graveler.model import Branch, Repository
from graveler.model.tasks import Task
from graveler.ports import Staged, StagedChange
from tests.contract.conftest import (
    DynamoDBStores,
    Losing,
    Stores,
    create,
    main_of,
    new_event,
    new_token,
)
from tests.contract.test_tasks import created

pytestmark = pytest.mark.usefixtures("spread")


def step(
    stores: Stores,
    repository: Repository,
    branch: Branch,
    changes: Sequence[StagedChange],
    task: Task,
) -> Task:
    new = replace(task, saved={"after": changes[-1].path.hex()}, done=len(changes))
    return stores.staging.stage_step(repository, branch, changes, task, new)


def staged(stores: Stores, branch: Branch) -> dict[bytes, bytes | None]:
    return dict(stores.staging.scan(branch.staging_token, b"", None))


MOVE = [StagedChange(b"new", b"value", None), StagedChange(b"old", None, Staged(b"value"))]


@pytest.fixture
def main(stores: Stores, repository: Repository) -> Branch:
    """The branch, with `old` staged."""
    main = main_of(stores, repository)
    assert not stores.staging.stage(main.staging_token, [(b"old", b"value")]).refused
    return main


def test_a_step_stages_all_and_saves_the_progress(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    task = created(stores, repository)
    stored = step(stores, repository, main, MOVE, task)
    assert staged(stores, main) == {b"new": b"value", b"old": None}
    assert stored.saved == {"after": b"old".hex()}
    assert stores.refs.task(repository, task.id) == stored
    after = main_of(stores, repository)
    assert after == replace(main, edits=main.edits + 1)


@pytest.mark.parametrize("count", [1, 96])
def test_a_step_has_up_to_96_changes(
    stores: Stores, repository: Repository, main: Branch, count: int
) -> None:
    changes = [StagedChange(b"%03d" % n, b"v" * 30_000, None) for n in range(count)]
    step(stores, repository, main, changes, created(stores, repository))
    assert len(staged(stores, main)) == count + 1


@pytest.mark.parametrize(
    "replaces", [None, Staged(None), Staged(b"other")], ids=["nothing", "tombstone", "other"]
)
def test_a_path_that_changed_stops_the_step(
    stores: Stores, repository: Repository, main: Branch, replaces: Staged | None
) -> None:
    task = created(stores, repository)
    changes = [MOVE[0], StagedChange(b"old", None, replaces)]
    with pytest.raises(StaleVersionError) as caught:
        step(stores, repository, main, changes, task)
    assert not isinstance(caught.value, StaleTaskError)
    assert staged(stores, main) == {b"old": b"value"}
    assert stores.refs.task(repository, task.id) == task
    assert main_of(stores, repository) == main


def test_a_branch_that_was_sealed_stops_the_step(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    task = created(stores, repository)
    stores.refs.seal_token(repository, main, new_token())
    with pytest.raises(StaleVersionError):
        step(stores, repository, main, MOVE, task)
    assert staged(stores, main) == {b"old": b"value"}


def test_a_task_that_changed_stops_the_step(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    task = created(stores, repository)
    stored = stores.refs.replace_task(repository, task, replace(task, is_unwanted=True))
    with pytest.raises(StaleTaskError):
        step(stores, repository, main, MOVE, task)
    assert staged(stores, main) == {b"old": b"value"}
    assert stores.refs.task(repository, task.id) == stored


class TestLostAnswers:
    @pytest.fixture
    def repository(self, dynamodb_stores: DynamoDBStores) -> Repository:
        return create(dynamodb_stores)

    @pytest.fixture
    def stores(self, dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
        return dynamodb_stores

    def test_to_a_step(
        self, stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
    ) -> None:
        task = created(stores, repository)
        lose("TransactWriteItems")
        stored = step(stores, repository, main, MOVE, task)
        assert staged(stores, main) == {b"new": b"value", b"old": None}
        assert stores.refs.task(repository, task.id) == stored

    def test_to_a_step_that_is_stale(
        self, stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
    ) -> None:
        task = created(stores, repository)
        stores.refs.replace_task(repository, task, replace(task, is_unwanted=True))
        lose("TransactWriteItems")
        with pytest.raises((StaleTaskError, UnknownOutcomeError)):
            step(stores, repository, main, MOVE, task)
        assert staged(stores, main) == {b"old": b"value"}

    def test_to_a_step_after_which_a_user_cancelled_the_task(
        self, stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
    ) -> None:
        """The record says that the step was made, whatever the caller gets."""
        task = created(stores, repository)

        def cancel() -> None:
            now = stores.refs.task(repository, task.id)
            if now is not None and not now.is_unwanted:
                stores.refs.replace_task(
                    repository, now, replace(now, is_unwanted=True), new_event()
                )

        def meanwhile() -> None:
            stores.http.to_lose.clear()
            cancel()

        stores.http.meanwhile = meanwhile
        try:
            lose("TransactWriteItems")
            with suppress(StaleTaskError):  # DynamoDB may remember the first attempt
                step(stores, repository, main, MOVE, task)
        finally:
            stores.http.meanwhile = lambda: None
        found = stores.refs.task(repository, task.id)
        assert found is not None
        assert found.saved == {"after": b"old".hex()}
        assert staged(stores, main) == {b"new": b"value", b"old": None}
