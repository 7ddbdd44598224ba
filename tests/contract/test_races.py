"""Many threads change one record of DynamoDB: one wins, and the others get an error."""

import pytest
from msgspec.structs import replace

from graveler.errors import StaleVersionError
from graveler.model import Branch, CommitID, Repository, StagingToken, Tag
from graveler.ports import Staged, StagedChange
from tests.contract.conftest import (
    OTHER_ID,
    DynamoDBStores,
    new_commit,
    new_event,
    new_repository,
    new_token,
)
from tests.contract.racing import ROUNDS, THREADS, outcomes, winner

pytestmark = pytest.mark.usefixtures("spread")


@pytest.fixture
def stores(dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
    return dynamodb_stores


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_of_many_creates_a_repository(stores: DynamoDBStores, _round: int) -> None:
    name = new_repository().name
    candidates = [new_repository(name) for _ in range(THREADS)]
    commit = new_commit()
    won = winner(
        outcomes(
            lambda n: stores.refs.create_repository(
                candidates[n], Branch("main", commit.id, new_token()), commit, new_event()
            )
        )
    )
    assert stores.refs.repository(name) == candidates[won]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_of_many_creates_a_tag(
    stores: DynamoDBStores, repository: Repository, _round: int
) -> None:
    tags = [Tag("v1", CommitID(f"{n:064x}")) for n in range(THREADS)]
    won = winner(outcomes(lambda n: stores.refs.create_tag(repository, tags[n], new_event())))
    assert stores.refs.tag(repository, "v1") == tags[won]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_of_many_seals(stores: DynamoDBStores, repository: Repository, _round: int) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    tokens = [new_token() for _ in range(THREADS)]
    won = winner(outcomes(lambda n: stores.refs.seal_token(repository, branch, tokens[n])))
    now = stores.refs.branch(repository, "main")
    assert now == replace(branch, staging_token=tokens[won], sealed_tokens=(branch.staging_token,))


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_of_many_moves_the_branch(
    stores: DynamoDBStores, repository: Repository, _round: int
) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    commits = [new_commit(2, (branch.commit_id,)) for _ in range(THREADS)]

    def move(number: int) -> None:
        stores.refs.move_branch(
            repository,
            branch,
            commit=commits[number],
            commit_id=commits[number].id,
            applied_tokens=(),
            new_staging_token=None,
            event=new_event(),
            drop_after_ns=5,
        )

    won = winner(outcomes(move))
    now = stores.refs.branch(repository, "main")
    assert now == replace(branch, commit_id=commits[won].id, version=1)
    found = stores.refs.commits(repository, [commit.id for commit in commits])
    assert set(found) == {commits[won].id}


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_seals_never_disturb_a_move(
    stores: DynamoDBStores, repository: Repository, _round: int
) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    old = stores.refs.seal_token(repository, branch, new_token())

    def seal_or_move(number: int) -> None:
        if number == 0:
            stores.refs.move_branch(
                repository,
                old,
                commit=None,
                commit_id=OTHER_ID,
                applied_tokens=old.sealed_tokens,
                new_staging_token=None,
                event=new_event(),
                drop_after_ns=5,
            )
            return
        while True:
            now = stores.refs.branch(repository, "main")
            assert now is not None
            try:
                stores.refs.seal_token(repository, now, StagingToken(f"sealed by {number}"))
            except StaleVersionError:
                continue
            return

    assert outcomes(seal_or_move) == [None] * THREADS
    now = stores.refs.branch(repository, "main")
    assert now is not None
    assert (now.commit_id, now.version) == (OTHER_ID, 1)
    sealed = {f"sealed by {number}" for number in range(1, THREADS)}
    assert set(now.tokens) == sealed | {old.staging_token}
    assert now.sealed_tokens[-1] == old.staging_token


@pytest.mark.parametrize("expected", [None, Staged(b"old")], ids=repr)
def test_one_of_many_conditional_changes_wins(
    stores: DynamoDBStores, repository: Repository, expected: Staged | None
) -> None:
    main = stores.refs.branch(repository, "main")
    assert main is not None
    token = main.staging_token
    if expected is not None:
        stores.staging.stage(token, [(b"a", expected.value)])
    won = winner(
        outcomes(
            lambda n: stores.staging.stage_if(
                repository, main, [StagedChange(b"a", b"%d" % n, expected)]
            )
        )
    )
    assert stores.staging.get(token, b"a") == Staged(b"%d" % won)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_a_token_that_closes_has_exactly_what_it_did_not_refuse(
    stores: DynamoDBStores, _round: int
) -> None:
    token = new_token()
    refused: dict[int, object] = {}

    def stage_or_close(number: int) -> None:
        if number == 0:
            stores.staging.close(token)
        else:
            for turn in range(5):
                path = b"%d/%d" % (number, turn)
                refused[number * 5 + turn] = stores.staging.stage(token, [(path, path)]).refused

    assert outcomes(stage_or_close) == [None] * THREADS
    held = {path for path, _ in stores.staging.scan(token, b"", None)}
    accepted = {b"%d/%d" % divmod(n, 5) for n, back in refused.items() if not back}
    assert held == accepted


def test_metadata_written_by_many_is_all_there(
    stores: DynamoDBStores, repository: Repository
) -> None:
    outcomes(lambda n: stores.refs.update_repository_metadata(repository, {f"key {n}": str(n)}, []))
    assert stores.refs.repository_metadata(repository) == {
        f"key {n}": str(n) for n in range(THREADS)
    }
