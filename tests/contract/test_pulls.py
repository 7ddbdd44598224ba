"""The contract of every PullRequestStore, and of a move that merges a pull request."""

from uuid import uuid4

import pytest
from msgspec.structs import replace

from graveler.addresses import encode_xid
from graveler.errors import AlreadyExistsError, StaleVersionError, UnknownOutcomeError
from graveler.model import Commit, CommitID, Event, Repository, pulls
from graveler.model.pulls import (
    PullRequest,
    PullRequestComment,
    PullRequestMerge,
    PullRequestStatus,
    PullRequestUpdate,
    Review,
    ReviewVerdict,
)
from tests.contract.conftest import (
    DynamoDBStores,
    Losing,
    Stores,
    create,
    main_of,
    new_commit,
    new_event,
)

NOW_NS = 1_700_000_000_123_456_789


def new_pull(number: int = 0, **fields: object) -> PullRequest:
    """Return a pull request; a higher number makes its ID a later one."""
    pull_id = encode_xid(number.to_bytes(4, "big") + uuid4().bytes[:8])
    pull = PullRequest(pull_id, "ann", NOW_NS, "dev", "main", "title")
    return replace(pull, **fields)


def new_comment(number: int = 0, **fields: object) -> PullRequestComment:
    """Return a comment; a higher number makes its ID a later one."""
    comment_id = encode_xid(number.to_bytes(4, "big") + uuid4().bytes[:8])
    comment = PullRequestComment(comment_id, "ann", NOW_NS, "text")
    return replace(comment, **fields)


PULL_ID = new_pull().id


def created(stores: Stores, repository: Repository, pull: PullRequest | None = None) -> PullRequest:
    pull = pull or new_pull()
    stores.refs.create_pull_request(repository, pull, new_event())
    return pull


def everything(_pull: PullRequest) -> bool:
    return True


def is_open(pull: PullRequest) -> bool:
    return pull.status is PullRequestStatus.OPEN


def closed(pull: PullRequest) -> PullRequest:
    return pulls.updated(pull, PullRequestUpdate(status=PullRequestStatus.CLOSED), NOW_NS + 1)


def merge(stores: Stores, repository: Repository, pull: PullRequest) -> tuple[Commit, list[Event]]:
    """Move main to a new commit that merges the pull request."""
    main, events = main_of(stores, repository), [new_event(), new_event()]
    commit = new_commit(2, (main.commit_id,))
    stores.refs.move_branch(
        repository,
        main,
        commit=commit,
        commit_id=commit.id,
        applied_tokens=(),
        new_staging_token=None,
        event=events[0],
        drop_after_ns=5,
        is_clean=True,
        merges=PullRequestMerge(pull, pulls.merged(pull, commit.id, NOW_NS + 2), events[1]),
    )
    return commit, events


class TestPullRequests:
    def test_a_pull_request_is_stored_as_it_is(
        self, stores: Stores, repository: Repository
    ) -> None:
        pull = new_pull(title="é\n\"'", description="x" * 60_000)
        assert stores.refs.pull_request(repository, pull.id) is None
        created(stores, repository, pull)
        assert stores.refs.pull_request(repository, pull.id) == pull

    def test_every_field_of_its_later_life_is_stored(
        self, stores: Stores, repository: Repository
    ) -> None:
        pull = created(stores, repository)
        stored = stores.refs.replace_pull_request(repository, pull, closed(pull), new_event())
        assert stored == replace(closed(pull), version=2)
        review = Review("bob", ReviewVerdict.APPROVED, CommitID("1" * 64), NOW_NS)
        new = replace(stored, reviewers=("bob", "cy"), reviews=(review,))
        stored = stores.refs.replace_pull_request(repository, stored, new, new_event())
        assert stored == replace(new, version=3)
        assert stores.refs.pull_request(repository, pull.id) == stored

    def test_a_pull_request_is_its_repositorys(
        self, stores: Stores, repository: Repository
    ) -> None:
        pull = created(stores, repository)
        other = create(stores)
        assert stores.refs.pull_request(other, pull.id) is None
        assert stores.refs.pull_requests(other, "", "", 10, everything).results == ()

    def test_an_id_is_taken_once(self, stores: Stores, repository: Repository) -> None:
        pull = created(stores, repository)
        with pytest.raises(AlreadyExistsError):
            created(stores, repository, replace(pull, title="other"))
        assert stores.refs.pull_request(repository, pull.id) == pull

    def test_of_two_changes_of_one_version_one_is_made(
        self, stores: Stores, repository: Repository
    ) -> None:
        pull = created(stores, repository)
        stored = stores.refs.replace_pull_request(
            repository, pull, replace(pull, title="first"), new_event()
        )
        with pytest.raises(StaleVersionError):
            stores.refs.replace_pull_request(
                repository, pull, replace(pull, title="second"), new_event()
            )
        assert stores.refs.pull_request(repository, pull.id) == stored

    def test_the_wanted_ones_are_listed_by_id_in_pages(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = [created(stores, repository, new_pull(number)) for number in (4, 1, 3, 0, 2)]
        by_id = sorted(made, key=lambda pull: pull.id)
        stores.refs.replace_pull_request(repository, by_id[1], closed(by_id[1]), new_event())
        after, found = "", []
        for _ in range(2):
            page = stores.refs.pull_requests(repository, "", after, 2, is_open)
            found += page.results
            after = page.next_after
        assert found == [by_id[0], *by_id[2:]]
        assert after == ""
        prefix = by_id[3].id[:8]
        page = stores.refs.pull_requests(repository, prefix, "", 10, everything)
        assert page.results == (by_id[3],)


class TestComments:
    def test_a_comment_is_stored_as_it_is(self, stores: Stores, repository: Repository) -> None:
        comment = new_comment(text="é\n\"'\x01" + "x" * 60_000, path=b"\xff/\x00")
        assert stores.refs.comment(repository, PULL_ID, comment.id) is None
        stores.refs.create_comment(repository, PULL_ID, comment, new_event())
        assert stores.refs.comment(repository, PULL_ID, comment.id) == comment

    def test_an_id_is_taken_once(self, stores: Stores, repository: Repository) -> None:
        comment = new_comment()
        stores.refs.create_comment(repository, PULL_ID, comment, new_event())
        other = replace(comment, text="other")
        with pytest.raises(AlreadyExistsError):
            stores.refs.create_comment(repository, PULL_ID, other, new_event())
        assert stores.refs.comment(repository, PULL_ID, comment.id) == comment

    def test_they_are_listed_by_id_in_pages_and_are_their_pull_requests(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = [new_comment(number) for number in (2, 0, 1)]
        for comment in made:
            stores.refs.create_comment(repository, PULL_ID, comment, new_event())
        by_id = sorted(made, key=lambda comment: comment.id)
        other = new_pull().id
        stores.refs.create_comment(repository, other, made[0], new_event())
        page = stores.refs.comments(repository, PULL_ID, "", 2)
        assert page.results == tuple(by_id[:2])
        rest = stores.refs.comments(repository, PULL_ID, page.next_after, 2)
        assert (rest.results, rest.next_after) == ((by_id[2],), "")
        assert stores.refs.comments(repository, other, "", 9).results == (made[0],)
        assert stores.refs.comments(create(stores), PULL_ID, "", 9).results == ()
        assert stores.refs.pull_requests(repository, "", "", 9, everything).results == ()

    def test_a_deleted_one_is_gone_and_may_be_deleted_again(
        self, stores: Stores, repository: Repository
    ) -> None:
        kept, deleted = new_comment(0), new_comment(1)
        for comment in (kept, deleted):
            stores.refs.create_comment(repository, PULL_ID, comment, new_event())
        for _ in range(2):
            stores.refs.delete_comment(repository, PULL_ID, deleted.id)
        assert stores.refs.comments(repository, PULL_ID, "", 9).results == (kept,)


class TestMerges:
    def test_the_head_and_the_pull_request_change_together(
        self, stores: Stores, repository: Repository
    ) -> None:
        pull = created(stores, repository)
        commit, _ = merge(stores, repository, pull)
        assert main_of(stores, repository).commit_id == commit.id
        stored = stores.refs.pull_request(repository, pull.id)
        assert stored == replace(pulls.merged(pull, commit.id, NOW_NS + 2), version=2)

    def test_a_pull_request_that_changed_stops_the_move(
        self, stores: Stores, repository: Repository
    ) -> None:
        pull = created(stores, repository)
        stored = stores.refs.replace_pull_request(repository, pull, closed(pull), new_event())
        before = main_of(stores, repository)
        with pytest.raises(StaleVersionError):
            merge(stores, repository, pull)
        assert main_of(stores, repository) == before
        assert stores.refs.pull_request(repository, pull.id) == stored


class TestLostAnswers:
    def test_to_a_creation(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        repository, pull = create(dynamodb_stores), new_pull()
        lose("TransactWriteItems")
        created(dynamodb_stores, repository, pull)
        assert dynamodb_stores.refs.pull_request(repository, pull.id) == pull

    def test_to_a_change(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        repository = create(dynamodb_stores)
        pull = created(dynamodb_stores, repository)
        lose("TransactWriteItems")
        stored = dynamodb_stores.refs.replace_pull_request(
            repository, pull, closed(pull), new_event()
        )
        assert dynamodb_stores.refs.pull_request(repository, pull.id) == stored

    def test_to_a_change_that_another_was_faster_than(
        self, dynamodb_stores: DynamoDBStores, lose: Losing
    ) -> None:
        repository = create(dynamodb_stores)
        pull = created(dynamodb_stores, repository)
        stored = dynamodb_stores.refs.replace_pull_request(
            repository, pull, closed(pull), new_event()
        )
        lose("TransactWriteItems")
        with pytest.raises((StaleVersionError, UnknownOutcomeError)):
            dynamodb_stores.refs.replace_pull_request(
                repository, pull, replace(pull, title="second"), new_event()
            )
        assert dynamodb_stores.refs.pull_request(repository, pull.id) == stored

    def test_to_a_comment(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        repository, comment, event = create(dynamodb_stores), new_comment(), new_event()
        lose("TransactWriteItems")
        dynamodb_stores.refs.create_comment(repository, PULL_ID, comment, event)
        assert dynamodb_stores.refs.comments(repository, PULL_ID, "", 9).results == (comment,)
        assert event.id in dynamodb_stores.event_ids(repository)

    def test_to_a_merge(self, dynamodb_stores: DynamoDBStores, lose: Losing) -> None:
        repository = create(dynamodb_stores)
        pull = created(dynamodb_stores, repository)
        lose("TransactWriteItems")
        commit, events = merge(dynamodb_stores, repository, pull)
        assert main_of(dynamodb_stores, repository).commit_id == commit.id
        stored = dynamodb_stores.refs.pull_request(repository, pull.id)
        assert stored is not None
        assert stored.merged_commit_id == commit.id
        assert {event.id for event in events} <= dynamodb_stores.event_ids(repository)
