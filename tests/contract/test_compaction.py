"""Sealed tokens in place of others: what the ports promise to a compaction."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.exchanges.buffered import Pending
from graveler.errors import StaleVersionError, ThrottledError, UnknownOutcomeError
from graveler.limits import SEALED_REPLACED_MAX
from graveler.model import Branch, Repository, StagingToken
from graveler.ports import Staged
from tests.contract.conftest import (
    OTHER_ID,
    DynamoDBStores,
    Losing,
    Stores,
    create,
    drop_registered,
    new_event,
    new_token,
    strong,
)

pytestmark = pytest.mark.usefixtures("spread")


def sealed(stores: Stores, repository: Repository, amount: int) -> Branch:
    """Return main with that many sealed tokens."""
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    for _ in range(amount):
        branch = stores.refs.seal_token(repository, branch, new_token())
    return branch


def swap(
    stores: Stores, repository: Repository, branch: Branch, replaced: Sequence[StagingToken]
) -> StagingToken:
    token = new_token()
    offer = stores.refs.offer_token(token, drop_after_ns=7)
    replace_sealed(stores, repository, branch, replaced, token, offer)
    return token


def replace_sealed(
    stores: Stores,
    repository: Repository,
    branch: Branch,
    replaced: Sequence[StagingToken],
    token: StagingToken,
    offer: str,
) -> None:
    stores.refs.replace_sealed(
        repository, branch, replaced=replaced, token=token, offer=offer, drop_after_ns=9
    )


def current(stores: Stores, repository: Repository) -> Branch:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    return branch


@pytest.mark.parametrize(("first", "last"), [(0, 2), (0, 5), (3, 5), (1, 4), (2, 3)])
def test_a_token_takes_the_place_of_others(
    stores: Stores, repository: Repository, first: int, last: int
) -> None:
    branch = sealed(stores, repository, 5)
    later = stores.refs.seal_token(repository, branch, new_token())
    replaced = branch.sealed_tokens[first:last]
    token = swap(stores, repository, branch, replaced)
    now = current(stores, repository)
    newer = later.sealed_tokens[0]
    kept = branch.sealed_tokens
    assert now.sealed_tokens == (newer, *kept[:first], token, *kept[last:])
    assert now.staging_token == later.staging_token
    assert now.version == branch.version + 1
    due_ns = stores.tokens_to_drop()
    assert token not in due_ns
    assert [due_ns[each] for each in replaced] == [9] * len(replaced)


def test_as_many_tokens_as_possible_are_replaced(stores: Stores, repository: Repository) -> None:
    branch = sealed(stores, repository, SEALED_REPLACED_MAX + 6)
    token = swap(stores, repository, branch, branch.sealed_tokens[5:-1])
    kept = branch.sealed_tokens
    assert current(stores, repository).sealed_tokens == (*kept[:5], token, kept[-1])


def test_an_offered_token_that_nobody_takes_is_dropped(stores: Stores) -> None:
    token = new_token()
    stores.refs.offer_token(token, drop_after_ns=7)
    assert stores.tokens_to_drop()[token] == 7


def _move(stores: Stores, repository: Repository, branch: Branch) -> None:
    stores.refs.move_branch(
        repository,
        branch,
        commit=None,
        commit_id=OTHER_ID,
        applied_tokens=branch.sealed_tokens,
        new_staging_token=None,
        event=None,
        drop_after_ns=5,
    )


CHANGES: dict[str, Callable[[Stores, Repository, Branch], object]] = {
    "moved": _move,
    "bumped": lambda s, r, b: s.refs.bump_version(r, "main", b.sealed_tokens[0]),
    "compacted": lambda s, r, b: swap(s, r, b, b.sealed_tokens[:2]),
    "restored": lambda s, r, b: s.staging.restore(r, b, [(b"a", None)]),
    "deleted": lambda s, r, b: s.exports.delete_branch(r, b, new_event(), 5),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_branch_that_changed_takes_no_token(
    stores: Stores, repository: Repository, change: str
) -> None:
    branch = sealed(stores, repository, 4)
    CHANGES[change](stores, repository, branch)
    before = stores.refs.branch(repository, "main")
    token = new_token()
    offer = stores.refs.offer_token(token, drop_after_ns=7)
    with pytest.raises(StaleVersionError):
        replace_sealed(stores, repository, branch, branch.sealed_tokens[:3], token, offer)
    assert stores.refs.branch(repository, "main") == before
    assert stores.tokens_to_drop()[token] == 7


def test_another_branch_of_the_name_takes_no_token(stores: Stores, repository: Repository) -> None:
    branch = sealed(stores, repository, 2)
    stores.exports.delete_branch(repository, branch, new_event(), 5)
    made = Branch("main", branch.commit_id, new_token(), version=branch.version)
    stores.refs.create_branch(repository, made, new_event())
    again = sealed(stores, repository, 2)
    with pytest.raises(StaleVersionError):
        swap(stores, repository, branch, branch.sealed_tokens)
    assert current(stores, repository) == again


def test_an_offer_is_taken_once(stores: Stores, repository: Repository) -> None:
    branch, token = sealed(stores, repository, 4), new_token()
    offer = stores.refs.offer_token(token, drop_after_ns=7)
    replace_sealed(stores, repository, branch, branch.sealed_tokens[:2], token, offer)
    now = current(stores, repository)
    with pytest.raises(StaleVersionError):
        replace_sealed(stores, repository, now, now.sealed_tokens[1:], token, offer)
    assert current(stores, repository) == now


def test_the_newest_change_of_a_path_is_that_of_the_first_token_that_has_one(
    stores: Stores,
) -> None:
    tokens = [new_token() for _ in range(130)]
    for number in (3, 5, 120):
        stores.staging.stage(tokens[number], [(b"a", b"%d" % number)])
    stores.staging.stage(tokens[1], [(b"a", None), (b"other", b"x")])
    newest = stores.staging.newest
    assert newest(tokens, b"a") == Staged(None)
    assert newest(tokens[2:], b"a") == Staged(b"3")
    assert newest(tokens[4:], b"a") == Staged(b"5")
    assert newest(tokens[6:], b"a") == Staged(b"120")
    assert newest(tokens[121:], b"a") is None
    assert newest([], b"a") is None
    assert newest(tokens[1:2], b"other") == Staged(b"x")


def test_a_token_is_filled(stores: Stores) -> None:
    token = new_token()
    changes = [(b"%03d" % n, None if n % 3 else b"value") for n in range(60)]
    stores.staging.fill(token, changes)
    stores.staging.fill(token, changes[:5])
    assert list(stores.staging.scan(token, b"", None)) == changes


class TestCleanup:
    @pytest.fixture
    def stores(self, dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
        drop_registered(dynamodb_stores)
        return dynamodb_stores

    @pytest.fixture
    def cleanup(self, stores: DynamoDBStores) -> CleanupStore:
        return CleanupStore(stores.tables, stores.staging)

    def test_a_token_that_is_being_dropped_cannot_be_taken(
        self, stores: DynamoDBStores, cleanup: CleanupStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        repository = create(stores)
        branch, token = sealed(stores, repository, 2), new_token()
        offer = stores.refs.offer_token(token, drop_after_ns=7)
        stores.staging.fill(token, [(b"a", b"value")])
        drop = stores.staging.drop
        refused = []

        def meanwhile(dropped: StagingToken, *asked: Callable[[], bool]) -> bool:
            with pytest.raises(StaleVersionError):
                replace_sealed(stores, repository, branch, branch.sealed_tokens, token, offer)
            refused.append(dropped)
            return drop(dropped, *asked)

        monkeypatch.setattr(stores.staging, "drop", meanwhile)
        assert cleanup.sweep(8).done == 1
        assert refused == [token]
        assert list(stores.staging.scan(token, b"", None)) == []
        assert current(stores, repository) == branch
        assert list(cleanup.due(2**62)) == []

    @pytest.mark.parametrize("is_throttled", [False, True])
    def test_a_token_that_was_taken_beside_the_cleanup_is_not_dropped(
        self,
        stores: DynamoDBStores,
        cleanup: CleanupStore,
        monkeypatch: pytest.MonkeyPatch,
        is_throttled: bool,
    ) -> None:
        repository = create(stores)
        branch, token = sealed(stores, repository, 2), new_token()
        offer = stores.refs.offer_token(token, drop_after_ns=7)
        stores.staging.fill(token, [(b"a", b"value")])
        call = stores.tables.dynamodb.call

        def meanwhile(operation: str, request: Any, *more: Any) -> Any:
            if operation == "UpdateItem":
                with monkeypatch.context() as patch:
                    patch.setattr(stores.tables.dynamodb, "call", call)
                    replace_sealed(stores, repository, branch, branch.sealed_tokens, token, offer)
                if is_throttled:
                    raise ThrottledError("not now")
            return call(operation, request, *more)

        with monkeypatch.context() as patch:
            patch.setattr(stores.tables.dynamodb, "call", meanwhile)
            cleanup.sweep(8)
        cleanup.sweep(2**62)
        assert current(stores, repository).sealed_tokens == (token,)
        assert list(stores.staging.scan(token, b"", None)) == [(b"a", b"value")]

    def test_a_token_that_is_taken_while_its_repository_is_deleted_is_dropped_too(
        self,
        stores: DynamoDBStores,
        cleanup: CleanupStore,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        repository = create(stores)
        branch = sealed(stores, repository, 2)
        taken: list[StagingToken] = []
        call = stores.tables.dynamodb.call

        def meanwhile(operation: str, request: Any, *more: Any) -> Any:
            if not taken and "Delete" in str(request) and "branch#main" in str(request):
                taken.append(new_token())
                stores.staging.fill(taken[0], [(b"left", b"behind")])
                offer = stores.refs.offer_token(taken[0], 7)
                replace_sealed(stores, repository, branch, branch.sealed_tokens, taken[0], offer)
            return call(operation, request, *more)

        monkeypatch.setattr(stores.tables.dynamodb, "call", meanwhile)
        stores.refs.delete_repository(repository, replace(new_event(), time_ns=0))
        assert stores.refs.branch(repository, "main") is None
        cleanup.sweep(2**62)
        assert list(stores.staging.scan(taken[0], b"", None)) == []

    def test_a_late_attempt_to_offer_a_token_does_not_drop_what_a_branch_took(
        self, stores: DynamoDBStores, cleanup: CleanupStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        strong(stores)
        repository = create(stores)
        branch, token = sealed(stores, repository, 2), new_token()
        begin, attempts = stores.http.begin, []

        def remember(headers: Mapping[str, str], body: bytes) -> Pending:
            attempts.append(partial(begin, headers, body))
            return begin(headers, body)

        with monkeypatch.context() as patch:
            patch.setattr(stores.http, "begin", remember)
            offer = stores.refs.offer_token(token, drop_after_ns=7)
        stores.staging.fill(token, [(b"a", b"value")])
        replace_sealed(stores, repository, branch, branch.sealed_tokens, token, offer)
        attempts[0]().finish()
        cleanup.sweep(8)
        assert list(stores.staging.scan(token, b"", None)) == [(b"a", b"value")]

    def test_a_swap_whose_answer_is_lost_is_made_once(
        self, stores: DynamoDBStores, lose: Losing
    ) -> None:
        repository = create(stores)
        branch, token = sealed(stores, repository, 3), new_token()
        offer = stores.refs.offer_token(token, drop_after_ns=7)
        replaced = branch.sealed_tokens[:2]
        lose("TransactWriteItems")
        replace_sealed(stores, repository, branch, replaced, token, offer)
        now = current(stores, repository)
        assert now.sealed_tokens == (token, branch.sealed_tokens[2])
        assert now.version == branch.version + 1

    def test_a_swap_that_another_change_came_before_is_refused_or_unknown(
        self, stores: DynamoDBStores, lose: Losing
    ) -> None:
        repository = create(stores)
        branch = sealed(stores, repository, 3)
        _move(stores, repository, branch)
        lose("TransactWriteItems")
        with pytest.raises((StaleVersionError, UnknownOutcomeError)):
            swap(stores, repository, branch, branch.sealed_tokens)
        assert current(stores, repository).sealed_tokens == ()
