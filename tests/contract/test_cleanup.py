"""What the background work drops, and when."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb import records
from graveler.aws.dynamodb.cleanup import POSTPONED_NS, CleanupStore
from graveler.aws.dynamodb.models import CLEANUPS, ENDING, partition_of
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.retries import RetryPolicy
from graveler.errors import ThrottledError
from graveler.limits import TOKEN_RETENTION_S
from graveler.model import Branch, Event, Repository, StagingToken, Tag
from graveler.model.recorded_uploads import Upload
from tests.contract.conftest import (
    COMMIT_ID,
    DynamoDBStores,
    create,
    drop_registered,
    main_of,
    new_event,
    new_token,
)
from tests.support.faults.faults import Crash

pytestmark = pytest.mark.usefixtures("spread")


@pytest.fixture
def stores(dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
    drop_registered(dynamodb_stores)
    return dynamodb_stores


@pytest.fixture
def cleanup(stores: DynamoDBStores) -> CleanupStore:
    return CleanupStore(stores.tables, stores.staging)


def staged_paths(stores: DynamoDBStores, token: StagingToken) -> list[bytes]:
    return [path for path, _ in stores.staging.scan(token, b"", None)]


def test_a_branchs_tokens_are_dropped_when_their_time_has_come(
    stores: DynamoDBStores, cleanup: CleanupStore
) -> None:
    repository = create(stores)
    main = main_of(stores, repository)
    branch = stores.refs.seal_token(repository, main, new_token())
    for token in branch.tokens:
        stores.staging.stage(token, [(b"%d" % n, b"value") for n in range(30)])
    stores.exports.delete_branch(repository, branch, new_event(), drop_after_ns=1_000)

    assert cleanup.sweep(now_ns=1_000).done == 0
    assert all(len(staged_paths(stores, token)) == 30 for token in branch.tokens)
    assert cleanup.sweep(now_ns=1_001).done == 1
    assert not any(staged_paths(stores, token) for token in branch.tokens)
    assert cleanup.sweep(now_ns=2**62).done == 0


def test_due_work_of_earlier_versions_is_done_in_order(
    stores: DynamoDBStores, cleanup: CleanupStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "cleanup_partition", lambda _: CLEANUPS)
    repository = create(stores)
    for due_ns in (3, 1, 2):
        branch = main_of(stores, repository)
        sealed = stores.refs.seal_token(repository, branch, new_token())
        stores.refs.move_branch(
            repository,
            sealed,
            commit=None,
            commit_id=sealed.commit_id,
            applied_tokens=sealed.sealed_tokens,
            new_staging_token=None,
            event=None,
            drop_after_ns=due_ns,
        )
    assert [each.key["sort"]["S"][:20].lstrip("0") for each in cleanup.due(10)] == ["1", "2", "3"]
    assert [cleanup.sweep(10).done for _ in range(2)] == [3, 0]


def test_the_register_of_many_commits_is_many_partitions(
    stores: DynamoDBStores, cleanup: CleanupStore
) -> None:
    for _ in range(40):
        stores.refs.offer_token(new_token(), drop_after_ns=1)
    assert len({each.key["partition"]["S"] for each in cleanup.due(2)}) > 4
    assert cleanup.sweep(2).done == 40


def test_a_sweep_without_time_leaves_a_large_piece_to_the_next_one(
    stores: DynamoDBStores, cleanup: CleanupStore
) -> None:
    repository = create(stores)
    main = main_of(stores, repository)
    stores.staging.fill(main.staging_token, [(b"%d" % n, bytes(300_000)) for n in range(24)])
    stores.exports.delete_branch(repository, main, new_event(), drop_after_ns=0)
    asked = iter((True, True, False))

    assert cleanup.sweep(1, lambda: next(asked, False)).done == 0
    assert 0 < len(staged_paths(stores, main.staging_token)) < 24
    assert cleanup.sweep(1).done == 1
    assert staged_paths(stores, main.staging_token) == []


def test_a_sweep_without_time_leaves_a_large_repository_to_the_next_one(
    stores: DynamoDBStores, cleanup: CleanupStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = create(stores)
    stores.refs.delete_repository(repository, replace(new_event(), time_ns=0))
    late = Branch("late", COMMIT_ID, new_token())
    stores.refs.create_branch(repository, late, new_event())
    due_ns = TOKEN_RETENTION_S * 10**9 + 1
    with monkeypatch.context() as patch:
        patch.setattr(type(stores.staging), "drop", lambda *_: False)
        assert cleanup.sweep(due_ns).done == 0
    assert stores.refs.branch(repository, "late") == late
    assert cleanup.sweep(due_ns).done == 2
    assert stores.refs.branch(repository, "late") is None


def test_a_deleted_repository_is_dropped_completely_and_alone(
    stores: DynamoDBStores, cleanup: CleanupStore
) -> None:
    neighbour = create(stores)
    repository = create(stores)
    stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
    main = main_of(stores, repository)
    stores.staging.stage(main.staging_token, [(b"a", b"value")])
    stores.refs.put_upload(repository, Upload("id", "main", b"b", "data/x/y", "id of S3", "a/b", 5))
    event = Event("deleted", "repository_deleted", repository.name, time_ns=5)
    stores.refs.delete_repository(repository, event)

    due_ns = 5 + TOKEN_RETENTION_S * 10**9
    assert cleanup.sweep(due_ns).done == 0
    assert staged_paths(stores, main.staging_token) == [b"a"]  # for who has read the branch
    assert cleanup.sweep(due_ns + 1).done == 2
    assert staged_paths(stores, main.staging_token) == []
    left = stores.tables.query(partition_of(repository), "")
    assert list(stores.tables.pages(left)) == [[]]
    assert stores.refs.branch(neighbour, "main") is not None


@pytest.mark.parametrize("seals", [pytest.param(1, marks=pytest.mark.long), 3])
def test_a_token_sealed_while_its_repository_is_deleted_is_dropped_too(
    stores: DynamoDBStores,
    cleanup: CleanupStore,
    monkeypatch: pytest.MonkeyPatch,
    seals: int,
) -> None:
    repository = create(stores)
    for number in range(120):
        branch = Branch(f"b{number:03}", COMMIT_ID, new_token())
        stores.refs.create_branch(repository, branch, new_event())
    sealed: list[StagingToken] = []
    call = stores.tables.dynamodb.call

    def meanwhile(operation: str, request: Any, *more: Any) -> Any:
        if "branch#b007" in str(request) and len(sealed) < seals and "Delete" in str(request):
            branch = stores.refs.branch(repository, "b007")
            assert branch is not None
            token = new_token()
            sealed.append(token)
            stores.refs.seal_token(repository, branch, token)
            stores.staging.stage(token, [(b"left", b"behind")])
        return call(operation, request, *more)

    monkeypatch.setattr(stores.tables.dynamodb, "call", meanwhile)
    stores.refs.delete_repository(repository, replace(new_event(), time_ns=0))
    assert len(sealed) == seals
    assert stores.refs.branches(repository, "", "", 10, show_hidden=True).results == ()
    cleanup.sweep(TOKEN_RETENTION_S * 10**9 + 1)
    assert [staged_paths(stores, token) for token in sealed] == [[]] * seals


@pytest.mark.parametrize("calls", [2, 3, 4, 5])
def test_a_name_is_free_when_the_repository_that_had_it_is_not_found_any_more(
    stores: DynamoDBStores, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """A deletion that is cut short is ended by who takes the name."""
    repository = create(stores)
    stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
    call, made = stores.tables.dynamodb.call, []

    def cut_short(operation: str, request: dict[str, Any], *more: Any) -> Any:
        made.append(operation)
        if len(made) == calls:
            raise InterruptedError
        return call(operation, request, *more)

    with monkeypatch.context() as patch:
        patch.setattr(stores.tables.dynamodb, "call", cut_short)
        with pytest.raises(InterruptedError):
            stores.refs.delete_repository(repository, new_event())
    assert stores.refs.repository(repository.name) is None
    again = create(stores, repository.name)
    assert stores.refs.repository(repository.name) == again
    assert stores.refs.branch(repository, "main") is None
    assert stores.refs.tag(repository, "v1") is None
    stores.refs.delete_repository(again, new_event())
    create(stores, repository.name)


def test_a_deletion_that_ends_beside_a_creation_frees_the_name_for_it(
    stores: DynamoDBStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = create(stores)
    call, made = stores.tables.dynamodb.call, []

    def create_meanwhile(operation: str, request: dict[str, Any], *more: Any) -> Any:
        if operation != "DeleteItem" or made:
            return call(operation, request, *more)
        made.append(operation)

        def end_meanwhile(operation: str, inner: dict[str, Any], *more: Any) -> Any:
            if operation == "GetItem" and "ending-repositories" in str(inner) and len(made) == 1:
                made.append(operation)
                call("DeleteItem", request)
            return call(operation, inner, *more)

        with monkeypatch.context() as patch:
            patch.setattr(stores.tables.dynamodb, "call", end_meanwhile)
            create(stores, repository.name)
        assert len(made) == 2
        return call(operation, request, *more)

    with monkeypatch.context() as patch:
        patch.setattr(stores.tables.dynamodb, "call", create_meanwhile)
        stores.refs.delete_repository(repository, new_event())
    assert stores.refs.repository(repository.name) is not None


def test_a_deletion_that_was_cut_short_leaves_nothing_for_ever(
    stores: DynamoDBStores, cleanup: CleanupStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = create(stores)
    monkeypatch.setattr(DynamoRefStore, "_end", lambda *_: None)
    stores.refs.delete_repository(repository, replace(new_event(), time_ns=0))
    assert stores.tables.get(ENDING, repository.name) is not None
    cleanup.sweep(TOKEN_RETENTION_S * 10**9 + 1)
    assert stores.tables.get(ENDING, repository.name) is None


def _delete_half(stores: DynamoDBStores, repository: Repository) -> None:
    """Delete the repository, as by a process that ends before the name is free."""

    def crash() -> None:
        raise Crash

    stores.http.before["DeleteItem"] = crash
    with pytest.raises(Crash):
        stores.refs.delete_repository(repository, new_event())


def test_a_creation_ends_a_deletion_of_the_name_that_stopped(
    stores: DynamoDBStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = create(stores)
    _delete_half(stores, repository)
    impatient = RetryPolicy(total_s_max=0.5, first_pause_s=0.001)
    monkeypatch.setattr(stores.tables.dynamodb, "retries", impatient)
    create(stores, repository.name)
    assert stores.tables.get(ENDING, repository.name) is None


def test_a_late_deletion_leaves_the_name_to_another_that_is_being_deleted(
    stores: DynamoDBStores, cleanup: CleanupStore
) -> None:
    first = create(stores)
    stores.http.before["DeleteItem"] = lambda: _delete_half(stores, create(stores, first.name))
    stores.refs.delete_repository(first, replace(new_event(), time_ns=0))
    assert stores.tables.get(ENDING, first.name) is not None
    cleanup.sweep(TOKEN_RETENTION_S * 10**9 + 1)
    assert stores.tables.get(ENDING, first.name) is not None


def test_a_branch_that_came_after_the_deletion_of_its_repository_leaves_no_entries(
    stores: DynamoDBStores, cleanup: CleanupStore
) -> None:
    repository = create(stores)
    stores.refs.delete_repository(repository, replace(new_event(), time_ns=0))
    late = Branch("late", COMMIT_ID, new_token())
    stores.refs.create_branch(repository, late, new_event())
    stores.staging.stage(late.staging_token, [(b"a", b"value")])
    cleanup.sweep(TOKEN_RETENTION_S * 10**9 + 1)
    assert staged_paths(stores, late.staging_token) == []


def test_work_stays_registered_until_it_is_done(
    stores: DynamoDBStores, cleanup: CleanupStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = create(stores)
    main = main_of(stores, repository)
    stores.exports.delete_branch(repository, main, new_event(), drop_after_ns=0)

    def die(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(stores.staging, "drop", die)
        with pytest.raises(Crash):
            cleanup.sweep(1)
    assert [each.tokens for each in cleanup.due(1)] == [main.tokens]


def test_a_sweep_that_stopped_is_picked_up(stores: DynamoDBStores, cleanup: CleanupStore) -> None:
    repository = create(stores)
    main = main_of(stores, repository)
    stores.staging.stage(main.staging_token, [(b"a", b"value")])
    stores.exports.delete_branch(repository, main, new_event(), drop_after_ns=0)
    # As if the process ended after dropping the token and before saying so.
    stores.staging.drop(main.staging_token)
    assert cleanup.sweep(1).done == 1
    assert list(cleanup.due(1)) == []


@pytest.mark.parametrize("failing", [1, 7])
def test_a_failed_piece_blocks_no_other_and_is_retried(
    stores: DynamoDBStores,
    cleanup: CleanupStore,
    monkeypatch: pytest.MonkeyPatch,
    failing: int,
) -> None:
    tokens = []
    for number in range(10):
        repository = create(stores)
        main = main_of(stores, repository)
        stores.staging.stage(main.staging_token, [(b"a", b"value")])
        stores.exports.delete_branch(repository, main, new_event(), drop_after_ns=number)
        tokens.append(main.staging_token)
    bad, good = tokens[:failing], tokens[failing:]
    drop = stores.staging.drop

    def refuse(token: StagingToken, has_time: Callable[[], bool]) -> bool:
        if token in bad:
            raise ThrottledError("not now")
        return drop(token, has_time)

    with monkeypatch.context() as patch:
        patch.setattr(type(stores.staging), "drop", lambda _, *asked: refuse(*asked))
        swept = cleanup.sweep(100)
    assert (swept.done, len(swept.failures)) == (10 - failing, failing)
    assert not any(staged_paths(stores, token) for token in good)
    assert all(staged_paths(stores, token) == [b"a"] for token in bad)
    assert list(cleanup.due(100 + POSTPONED_NS)) == []
    assert cleanup.sweep(101 + POSTPONED_NS).done == failing
    assert not any(staged_paths(stores, token) for token in bad)
    assert list(cleanup.due(2**62)) == []
