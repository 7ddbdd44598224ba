"""The contract of every RefStore for restoring a repository's refs."""

import pytest
from msgspec.structs import replace

from graveler.errors import NotFoundError, StaleVersionError, UnknownOutcomeError
from graveler.model import Branch, ProtectionRule, Repository, Tag
from graveler.ports import RefStore
from tests.contract.conftest import (
    COMMIT_ID,
    OTHER_ID,
    DynamoDBStores,
    Losing,
    Stores,
    new_commit,
    new_event,
    new_repository,
    new_token,
)

pytestmark = pytest.mark.usefixtures("spread")


def create_bare(refs: RefStore) -> Repository:
    repository = replace(new_repository(), restoring="")
    refs.create_repository(repository, None, None, new_event())
    return repository


@pytest.fixture
def bare(stores: Stores) -> Repository:
    return create_bare(stores.refs)


def test_a_bare_repository_has_no_refs_and_stays_bare(stores: Stores, bare: Repository) -> None:
    assert stores.refs.repository(bare.name) == bare
    assert bare.is_bare
    assert stores.refs.branches(bare, "", "", 10, show_hidden=True).results == ()
    assert list(stores.refs.every_commit(bare)) == []
    assert stores.refs.repository_metadata(bare) == {}
    stores.refs.update_repository_metadata(bare, {"k": "v"}, ())
    stores.refs.delete_repository(bare, new_event())
    assert stores.refs.repository(bare.name) is None


def test_all_commits_are_stored_however_many(stores: Stores, bare: Repository) -> None:
    commits = sorted(
        (new_commit(generation) for generation in range(1, 61)), key=lambda commit: commit.id
    )
    stores.refs.restore_commits(bare, commits[:40])
    stores.refs.restore_commits(bare, commits[20:])
    stores.refs.restore_commits(bare, [])
    assert list(stores.refs.every_commit(bare)) == commits
    assert [commit.generation for commit in stores.refs.commits_below(bare, 60, 3)] == [60, 59, 58]


def test_a_repository_is_deleted_with_all_its_branches_however_many(
    stores: Stores, bare: Repository
) -> None:
    branches = [Branch(f"b{number:03}", COMMIT_ID, new_token()) for number in range(100)]
    stores.refs.restore_branches(bare, branches)
    crowded = replace(branches[7], sealed_tokens=tuple(new_token() for _ in range(301)))
    stores.refs.restore_branches(bare, [replace(crowded, name="crowded")])
    stores.refs.delete_repository(bare, new_event())
    assert stores.refs.branches(bare, "", "", 1000, show_hidden=True).results == ()
    tokens = {token for branch in (*branches, crowded) for token in branch.tokens}
    assert tokens <= stores.tokens_to_drop().keys()


def test_branches_that_exist_stay_as_they_are(stores: Stores, bare: Repository) -> None:
    branches = [Branch(f"b{number:02}", COMMIT_ID, new_token()) for number in range(30)]
    stores.refs.restore_branches(bare, branches[:20])
    moved = replace(branches[7], commit_id=OTHER_ID)
    stores.exports.delete_branch(bare, branches[7], new_event(), 0)
    stores.refs.create_branch(bare, moved, new_event())
    anew = [replace(branch, staging_token=new_token(), hidden=True) for branch in branches]
    stores.refs.restore_branches(bare, anew)
    found = stores.refs.branches(bare, "", "", 100, show_hidden=True).results
    assert found == (*branches[:7], moved, *branches[8:20], *anew[20:])


def test_tags_that_exist_stay_as_they_are(stores: Stores, bare: Repository) -> None:
    tags = [Tag(f"t{number:02}", COMMIT_ID) for number in range(30)]
    stores.refs.restore_tags(bare, tags[:20])
    stores.refs.restore_tags(bare, [replace(tag, commit_id=OTHER_ID) for tag in tags])
    found = stores.refs.tags(bare, "", "", 100).results
    assert [tag.name for tag in found] == [tag.name for tag in tags]
    assert [tag.commit_id for tag in found] == [COMMIT_ID] * 20 + [OTHER_ID] * 10


def test_names_are_stored_however_many(stores: Stores, bare: Repository) -> None:
    tags = [Tag(f"t{number:03}", COMMIT_ID) for number in range(210)]
    stores.refs.restore_tags(bare, tags[95:105])
    stores.refs.restore_tags(bare, tags)
    assert stores.refs.tags(bare, "", "", 300).results == tuple(tags)


@pytest.mark.parametrize("end", ["finished", "deleted", "created again", "claimed by another"])
def test_a_late_restore_stores_no_name(stores: Stores, bare: Repository, end: str) -> None:
    refs = stores.refs
    if end in ("deleted", "created again"):
        refs.delete_repository(bare, new_event())
        if end == "created again":
            again = replace(bare, uid=new_repository().uid)
            refs.create_repository(again, None, None, new_event())
    else:
        restoring = None if end == "finished" else "another dump"
        refs.update_repository(bare, replace(bare, restoring=restoring), new_event())
    with pytest.raises(StaleVersionError):
        refs.restore_branches(bare, [Branch("late", COMMIT_ID, new_token())])
    with pytest.raises(StaleVersionError):
        refs.restore_tags(bare, [Tag("late", COMMIT_ID)])
    assert refs.branches(bare, "", "", 10, show_hidden=True).results == ()
    assert refs.tags(bare, "", "", 10).results == ()


def test_an_update_and_its_event_come_together_or_not(stores: Stores, bare: Repository) -> None:
    begun, event = replace(bare, restoring="a dump"), new_event()
    stores.refs.update_repository(bare, begun, event)
    assert stores.refs.repository(bare.name) == begun
    assert event.id in stores.event_ids(bare)
    for told in (new_event(), None):
        with pytest.raises(StaleVersionError):
            stores.refs.update_repository(bare, replace(bare, restoring="another"), told)
    done, last = replace(begun, restoring=None), new_event()
    stores.refs.update_repository(begun, done, last)
    assert stores.refs.repository(bare.name) == done
    assert stores.event_ids(bare) >= {event.id, last.id}
    with_rules = replace(done, protection_rules=(ProtectionRule("x"),))
    stores.refs.update_repository(done, with_rules)
    assert stores.refs.repository(bare.name) == with_rules


def test_the_second_of_two_writers_that_finish_gets_an_error_and_reports_no_event(
    stores: Stores, bare: Repository
) -> None:
    done, late = replace(bare, restoring=None), new_event()
    stores.refs.update_repository(bare, done, new_event())
    with pytest.raises(StaleVersionError):
        stores.refs.update_repository(bare, done, late)
    assert late.id not in stores.event_ids(bare)


def test_a_repository_that_is_deleted_beside_an_update_stays_deleted(
    dynamodb_stores: DynamoDBStores,
) -> None:
    stores, bare = dynamodb_stores, create_bare(dynamodb_stores.refs)
    stores.http.before["PutItem"] = lambda: stores.refs.delete_repository(bare, new_event())
    with pytest.raises(StaleVersionError):
        stores.refs.update_repository(bare, replace(bare, restoring="a dump"))
    assert stores.refs.repository(bare.name) is None


class TestLostAnswers:
    """A write lands and its answer is lost: see test_lost_answers."""

    def test_finish(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        bare, event = create_bare(dynamodb_stores.refs), new_event()
        lose("TransactWriteItems")
        done = replace(bare, restoring=None)
        dynamodb_stores.refs.update_repository(bare, done, event)
        assert dynamodb_stores.refs.repository(bare.name) == done
        assert event.id in dynamodb_stores.event_ids(bare)

    def test_claim(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        bare = create_bare(dynamodb_stores.refs)
        lose("PutItem")
        claimed = replace(bare, restoring="a dump")
        dynamodb_stores.refs.update_repository(bare, claimed)
        assert dynamodb_stores.refs.repository(bare.name) == claimed

    def test_restore(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        """With every answer lost nobody may say more than that the outcome is unknown."""
        refs = dynamodb_stores.refs
        bare, commit, tag = create_bare(refs), new_commit(), Tag("v1", COMMIT_ID)
        for operation, restore in (
            ("BatchWriteItem", lambda: refs.restore_commits(bare, [commit])),
            ("TransactWriteItems", lambda: refs.restore_tags(bare, [tag])),
        ):
            lose(operation)
            try:
                restore()
            except UnknownOutcomeError:
                assert dynamodb_stores.http.to_lose[operation] > 0
        assert list(refs.every_commit(bare)) == [commit]
        assert refs.tag(bare, "v1") == tag


def test_a_repository_that_is_gone_is_not_updated(stores: Stores, bare: Repository) -> None:
    stores.refs.delete_repository(bare, new_event())
    with pytest.raises((StaleVersionError, NotFoundError)):
        stores.refs.update_repository(bare, replace(bare, restoring=None), new_event())
    assert stores.refs.repository(bare.name) is None
