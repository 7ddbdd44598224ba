"""A write lands, its answer is lost, and the client tries again: the caller never notices.

Each conditional write is tried with one answer lost, so that the repeated request meets what the
first one did; with DynamoDB's own memory of transactions switched off besides; and with every answer
lost for as long as the client tries. In the last two only reading back can tell.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from msgspec import structs

from graveler.aws.dynamodb.coalescing import Coalescer
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.exchanges.buffered import BufferedResponse
from graveler.errors import (
    AlreadyExistsError,
    StaleVersionError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model import Branch, CommitID, Repository, Tag, tasks
from graveler.model.tasks import Task, TaskEnd, TaskKind
from graveler.ports import Staged, StagedChange, StageOutcome
from tests.contract.conftest import (
    COMMIT_ID,
    OTHER_ID,
    DynamoDBStores,
    Losing,
    LostAnswer,
    create,
    new_commit,
    new_event,
    new_repository,
    new_token,
)

pytestmark = pytest.mark.usefixtures("spread")


@pytest.fixture
def stores(dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
    return dynamodb_stores


@pytest.fixture
def main(stores: DynamoDBStores, repository: Repository) -> Branch:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    return branch


def test_create_repository(stores: DynamoDBStores, lose: Losing) -> None:
    repository, commit = new_repository(), new_commit()
    branch = Branch("main", commit.id, new_token())
    lose("TransactWriteItems")
    stores.refs.create_repository(repository, branch, commit, new_event())
    assert stores.refs.repository_and_branch(repository, "main") == (repository, branch)


def test_create_repository_under_a_taken_name(
    stores: DynamoDBStores, repository: Repository, lose: Losing
) -> None:
    other, commit = new_repository(repository.name), new_commit()
    branch = Branch("main", commit.id, new_token())
    lose("TransactWriteItems")
    # With every answer lost nobody may say more than that the outcome is unknown.
    with pytest.raises((AlreadyExistsError, UnknownOutcomeError)):
        stores.refs.create_repository(other, branch, commit, new_event())
    assert stores.refs.repository(repository.name) == repository


def test_update_repository(stores: DynamoDBStores, repository: Repository, lose: Losing) -> None:
    new = structs.replace(repository, read_only=True)
    lose("PutItem")
    stores.refs.update_repository(repository, new)
    assert stores.refs.repository(repository.name) == new


def test_update_repository_metadata(
    stores: DynamoDBStores, repository: Repository, lose: Losing
) -> None:
    lose("TransactWriteItems")
    stores.refs.update_repository_metadata(repository, {"a": "1"}, ["b"])
    assert stores.refs.repository_metadata(repository) == {"a": "1"}


def test_repeated_metadata_have_no_second_effect(
    stores: DynamoDBStores, repository: Repository
) -> None:
    stores.http.to_lose["TransactWriteItems"] = 1
    set_metadata = stores.refs.update_repository_metadata
    stores.http.meanwhile = lambda: set_metadata(repository, {"k": "theirs"}, [])
    try:
        set_metadata(repository, {"k": "ours"}, [])
    finally:
        stores.http.meanwhile = lambda: None
    assert stores.refs.repository_metadata(repository) == {"k": "theirs"}


def test_delete_repository(stores: DynamoDBStores, repository: Repository, lose: Losing) -> None:
    lose("TransactWriteItems")
    stores.refs.delete_repository(repository, new_event())
    assert stores.refs.repository(repository.name) is None


def test_create_branch(stores: DynamoDBStores, repository: Repository, lose: Losing) -> None:
    branch = Branch("dev", COMMIT_ID, new_token())
    lose("TransactWriteItems")
    stores.refs.create_branch(repository, branch, new_event())
    assert stores.refs.branch(repository, "dev") == branch


def test_delete_branch(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
) -> None:
    lose("TransactWriteItems")
    stores.exports.delete_branch(repository, main, new_event(), drop_after_ns=5)
    assert stores.refs.branch(repository, "main") is None


def test_seal_token(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
) -> None:
    token = new_token()
    lose("UpdateItem")
    sealed = stores.refs.seal_token(repository, main, token)
    assert sealed.tokens == (token, main.staging_token)
    assert stores.refs.branch(repository, "main") == sealed


def test_a_seal_that_another_seal_came_before(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
) -> None:
    sealed = stores.refs.seal_token(repository, main, new_token())
    lose("UpdateItem")
    with pytest.raises((StaleVersionError, UnknownOutcomeError)):
        stores.refs.seal_token(repository, main, new_token())
    assert stores.refs.branch(repository, "main") == sealed


@pytest.mark.parametrize("with_event", [True, False])
def test_move_branch(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing, with_event: bool
) -> None:
    old = stores.refs.seal_token(repository, main, new_token())
    commit, event = new_commit(2, (main.commit_id,)), new_event() if with_event else None
    lose("TransactWriteItems")
    stores.refs.move_branch(
        repository,
        old,
        commit=commit,
        commit_id=commit.id,
        applied_tokens=old.sealed_tokens,
        new_staging_token=None,
        event=event,
        drop_after_ns=5,
    )
    assert stores.refs.branch(repository, "main") == structs.replace(
        old, commit_id=commit.id, sealed_tokens=(), version=1
    )
    assert event is None or event.id in stores.event_ids(repository)


@pytest.mark.parametrize("with_event", [True, False])
def test_a_move_that_another_move_came_before(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing, with_event: bool
) -> None:
    def move(commit_id: CommitID) -> None:
        stores.refs.move_branch(
            repository,
            main,
            commit=None,
            commit_id=commit_id,
            applied_tokens=(),
            new_staging_token=None,
            event=new_event() if with_event else None,
            drop_after_ns=5,
        )

    move(OTHER_ID)
    lose("TransactWriteItems")
    # The same head and version as this would give: still not this call's doing.
    with pytest.raises((StaleVersionError, UnknownOutcomeError)):
        move(OTHER_ID)


def test_create_tag(stores: DynamoDBStores, repository: Repository, lose: Losing) -> None:
    lose("TransactWriteItems")
    stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
    assert stores.refs.tag(repository, "v1") == Tag("v1", COMMIT_ID)


def test_an_equal_tag_of_another_is_not_ours(
    stores: DynamoDBStores, repository: Repository, lose: Losing
) -> None:
    stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
    lose("TransactWriteItems")
    with pytest.raises((AlreadyExistsError, UnknownOutcomeError)):
        stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())


def test_a_refusal_whose_every_answer_is_lost_is_no_refusal(
    stores: DynamoDBStores, repository: Repository, lose: Losing, request: pytest.FixtureRequest
) -> None:
    """The request may still be under way: a caller who believes the refusal would try another."""
    stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
    lose("TransactWriteItems")
    is_answered = "one" in request.node.name
    with pytest.raises(AlreadyExistsError if is_answered else UnknownOutcomeError):
        stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())


def test_delete_tag(stores: DynamoDBStores, repository: Repository, lose: Losing) -> None:
    stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
    lose("TransactWriteItems")
    stores.refs.delete_tag(repository, Tag("v1", COMMIT_ID), new_event())
    assert stores.refs.tag(repository, "v1") is None


@pytest.mark.parametrize("expected", [None, Staged(None), Staged(b"old")], ids=repr)
@pytest.mark.parametrize("new", [b"new", None], ids=repr)
def test_stage_if(
    stores: DynamoDBStores,
    repository: Repository,
    main: Branch,
    lose: Losing,
    expected: Staged | None,
    new: bytes | None,
) -> None:
    token = main.staging_token
    if expected is not None:
        stores.staging.stage(token, [(b"a", expected.value)])
    lose("TransactWriteItems")
    changes = [StagedChange(b"a", new, expected), StagedChange(b"b", b"beside", None)]
    stores.staging.stage_if(repository, main, changes)
    assert stores.staging.newest_each([token], [b"a", b"b"]) == {
        b"a": Staged(new),
        b"b": Staged(b"beside"),
    }


def test_a_conditional_change_that_another_came_before(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
) -> None:
    stores.staging.stage_if(repository, main, [StagedChange(b"a", b"new", None)])
    lose("TransactWriteItems")
    with pytest.raises((StaleVersionError, UnknownOutcomeError)):
        stores.staging.stage_if(repository, main, [StagedChange(b"a", b"new", None)])


def test_bump_version(
    stores: DynamoDBStores,
    repository: Repository,
    main: Branch,
    lose: Losing,
    request: pytest.FixtureRequest,
) -> None:
    stores.refs.seal_token(repository, main, new_token())
    lose("UpdateItem")
    if "one" in request.node.name:
        assert stores.refs.bump_version(repository, "main", main.staging_token)
    else:
        with pytest.raises(UnknownOutcomeError):
            stores.refs.bump_version(repository, "main", main.staging_token)
    now = stores.refs.branch(repository, "main")
    assert now is not None
    assert now.version > main.version


def test_close(stores: DynamoDBStores, lose: Losing, request: pytest.FixtureRequest) -> None:
    token = new_token()
    lose("BatchWriteItem")
    if "one" in request.node.name:
        stores.staging.close(token)
    else:
        with pytest.raises(UnknownOutcomeError):
            stores.staging.close(token)
    assert stores.staging.stage(token, [(b"a", b"1")]).refused == [(b"a", b"1")]


def test_a_repeated_change_has_no_second_effect(stores: DynamoDBStores) -> None:
    token = new_token()
    stores.http.to_lose["TransactWriteItems"] = 1
    # Another process reads it, and writes over it, before the answer is missed.
    other = DynamoStagingStore(replace(stores.tables, coalescer=Coalescer()))
    stores.http.meanwhile = lambda: other.stage(token, [(b"a", b"theirs")])
    try:
        assert not stores.staging.stage(token, [(b"a", b"ours")]).refused
    finally:
        stores.http.meanwhile = lambda: None
    assert stores.staging.get(token, b"a") == Staged(b"theirs")


def test_a_change_whose_every_answer_is_lost_has_an_unknown_outcome(
    stores: DynamoDBStores, lose: Losing, request: pytest.FixtureRequest
) -> None:
    token = new_token()
    lose("TransactWriteItems")
    outcome = stores.staging.stage(token, [(b"a", b"1")])
    if "one" in request.node.name:
        assert not any(outcome)
    else:
        assert isinstance(outcome.failed[b"a"], UnknownOutcomeError)


def test_of_many_changes_those_without_an_answer_are_unknown_and_the_rest_is_there_or_was_not_tried(
    stores: DynamoDBStores, lose: Losing, request: pytest.FixtureRequest
) -> None:
    token = new_token()
    changes = [(b"%05d" % number, b"v") for number in range(99 * 20)]
    lose("TransactWriteItems")
    outcome = stores.staging.stage(token, changes)
    assert not outcome.refused
    kinds = {type(error) for error in outcome.failed.values()}
    if "one" in request.node.name:
        assert not kinds
    else:
        assert kinds == {UnknownOutcomeError, ThrottledError}
    held = {path for path, _ in stores.staging.scan(token, b"", None)}
    for path, _ in changes:
        error = outcome.failed.get(path)
        assert isinstance(error, UnknownOutcomeError) or (path in held) == (error is None)


def test_a_created_repository_is_whole(stores: DynamoDBStores, lose: Losing) -> None:
    lose("TransactWriteItems")
    repository = create(stores)
    assert len(stores.event_ids(repository)) == 1
    assert stores.refs.repository_metadata(repository) == {}


TASK = Task("CA" + "t" * 20, TaskKind.COMMIT, "ann", 1, 1, digest="d" * 64)


def test_create_task(stores: DynamoDBStores, repository: Repository, lose: Losing) -> None:
    event = new_event()
    lose("TransactWriteItems")
    stores.refs.create_task(repository, TASK, None, event)
    assert stores.refs.joinable_task(repository, TASK.digest) == TASK
    assert event.id in stores.event_ids(repository)


@pytest.mark.parametrize("with_event", [True, False])
def test_replace_task(
    stores: DynamoDBStores, repository: Repository, lose: Losing, with_event: bool
) -> None:
    stores.refs.create_task(repository, TASK, None, new_event())
    event = new_event() if with_event else None
    lose("TransactWriteItems" if with_event else "PutItem")
    taken = stores.refs.replace_task(repository, TASK, tasks.taken(TASK, "runner", 2), event)
    assert taken.runner == "runner"
    assert stores.refs.task(repository, TASK.id) == taken


@pytest.mark.parametrize("with_event", [True, False])
def test_a_task_that_another_runner_took_first(
    stores: DynamoDBStores, repository: Repository, lose: Losing, with_event: bool
) -> None:
    stores.refs.create_task(repository, TASK, None, new_event())
    first = stores.refs.replace_task(repository, TASK, tasks.taken(TASK, "first", 2))
    event = new_event() if with_event else None
    lose("TransactWriteItems" if with_event else "PutItem")
    with pytest.raises((StaleVersionError, UnknownOutcomeError)):
        stores.refs.replace_task(repository, TASK, tasks.taken(TASK, "second", 2), event)
    assert stores.refs.task(repository, TASK.id) == first


def test_a_move_that_ends_a_task(
    stores: DynamoDBStores, repository: Repository, main: Branch, lose: Losing
) -> None:
    stores.refs.create_task(repository, TASK, None, new_event())
    commit, events = new_commit(2, (main.commit_id,)), [new_event(), new_event()]
    ended = tasks.completed(TASK, {"commit_id": commit.id}, 3, 1)
    lose("TransactWriteItems")
    stores.refs.move_branch(
        repository,
        main,
        commit=commit,
        commit_id=commit.id,
        applied_tokens=(),
        new_staging_token=None,
        event=events[0],
        drop_after_ns=5,
        ends=TaskEnd(TASK, ended, events[1]),
    )
    moved = stores.refs.branch(repository, "main")
    assert moved is not None
    assert moved.commit_id == commit.id
    assert stores.refs.task(repository, TASK.id) == structs.replace(ended, version=2)
    assert {event.id for event in events} <= stores.event_ids(repository)


def test_threads_whose_shared_write_has_no_answer_know_that_they_do_not_know(
    stores: DynamoDBStores, lose: Losing
) -> None:
    """Each thread learns either that its write is there, or that nobody knows."""
    token = new_token()
    lose("TransactWriteItems")

    def stage(number: int) -> bool:
        outcome = stores.staging.stage(token, [(b"%04d" % number, b"v")])
        assert all(isinstance(error, UnknownOutcomeError) for error in outcome.failed.values())
        return not any(outcome)

    with ThreadPoolExecutor(8) as pool:
        is_staged = list(pool.map(stage, range(24)))
    staged = dict(stores.staging.scan(token, b"", None))
    assert all(b"%04d" % number in staged for number in range(24) if is_staged[number])


def test_threads_whose_shared_read_has_no_answer_read_again(
    stores: DynamoDBStores, repository: Repository, main: Branch
) -> None:
    stores.http.to_lose.update({"GetItem": 1, "BatchGetItem": 2})
    with ThreadPoolExecutor(8) as pool:
        read = pool.map(lambda _: stores.refs.repository_and_branch(repository, "main"), range(24))
        assert set(read) == {(repository, main)}
    stores.http.to_lose.clear()


class _Refused:
    def finish(self) -> BufferedResponse:
        return BufferedResponse(400, {}, b'{"__type":"x#UnrecognizedClientException"}')

    def abandon(self) -> None:
        """It holds nothing."""


def test_threads_whose_shared_write_is_refused_after_a_lost_answer_do_not_send_it_again(
    stores: DynamoDBStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials can expire between two attempts, of which the first one had its effect."""
    token = new_token()
    other = DynamoStagingStore(replace(stores.tables, coalescer=Coalescer()))
    begin = stores.http.begin
    requests = count(1)

    def wait_for(waiting: int) -> None:
        while len(stores.tables.coalescer._waiting["staging", token]) < waiting:
            time.sleep(0.001)

    def overwrite() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(stores.http, "begin", begin)
            other.stage(token, [(b"b", b"theirs")])

    def scripted(headers: Mapping[str, str], body: bytes) -> Any:
        number = next(requests)
        if number == 1:
            wait_for(2)
        if number == 2:
            return LostAnswer(begin(headers, body), overwrite)
        return _Refused() if number == 3 else begin(headers, body)

    monkeypatch.setattr(stores.http, "begin", scripted)

    def stage(path: bytes) -> StageOutcome:
        return stores.staging.stage(token, [(path, b"ours")])

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(stage, b"a")
        while ("staging", token) not in stores.tables.coalescer._waiting:
            time.sleep(0.001)
        shared = [pool.submit(stage, path) for path in (b"b", b"c")]
        assert not first.result(10).failed
        for each in shared:
            (error,) = each.result(10).failed.values()
            assert isinstance(error, UnknownOutcomeError)
    assert other.get(token, b"b") == Staged(b"theirs")
    assert other.get(token, b"c") == Staged(b"ours")
