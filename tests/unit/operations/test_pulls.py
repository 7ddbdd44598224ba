"""Pull requests: who may be merged into what, once, and what users see of it."""

from dataclasses import replace

import pytest
from msgspec import structs

from graveler.errors import (
    ForbiddenError,
    InvalidInputError,
    MergeConflictError,
    NotFoundError,
    StillRunningError,
)
from graveler.limits import PULL_REQUEST_BYTES_MAX
from graveler.model.pulls import PullRequestStatus, PullRequestUpdate
from graveler.model.tasks import TaskSettings, TaskState
from graveler.operations import branches, commits, pulls, repositories, tags
from graveler.operations.merges import MergeRequest
from graveler.operations.tasks.requests import cancel, list_page
from graveler.operations.tasks.waiting import ClientWait
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import REPO, apart, commit, content, named, upload

IMPATIENT = TaskSettings(request_work_s=0, request_wait_s=0)
CLOSED, OPEN, MERGED = PullRequestStatus.CLOSED, PullRequestStatus.OPEN, PullRequestStatus.MERGED


@pytest.fixture
def pull(engine):
    """An open pull request from `source`, with a change of its own, to `main`."""
    apart(engine, source={"s": "S"}, destination={"d": "D"})
    return create(engine)


def create(engine, source="source", destination="main", title="title", **more):
    asked = pulls.NewPullRequest("ann", source, destination, title, **more)
    return pulls.create(engine, REPO, asked)


def now(engine, pull):
    return pulls.get(engine, REPO, pull.id)


def set_status(engine, pull, status):
    return pulls.update(engine, REPO, pull.id, PullRequestUpdate(status=status), "ann")


def kinds(world):
    return [event.kind for event in world.refs.events if "pull_request" in event.kind]


def test_a_new_pull_request_is_open_and_its_authors(engine, pull):
    found = now(engine, pull)
    assert found == pull
    assert (found.status, found.author) == (OPEN, "ann")
    assert (found.closed_time_ns, found.merged_commit_id) == (None, "")


def test_the_newest_pull_request_is_listed_first(world, engine, pull):
    world.clock.tick(1)
    newer = create(engine)
    page = pulls.list_page(engine, REPO, "", "", 1)
    assert page.results == (newer,)
    assert pulls.list_page(engine, REPO, "", page.next_after, 1).results == (pull,)


def test_merged_pull_requests_are_listed_as_closed(engine, pull):
    merged, closed = create(engine), create(engine)
    pulls.merge(engine, REPO, merged.id, MergeRequest("ann"))
    set_status(engine, closed, CLOSED)
    ids = {
        name: {each.id for each in pulls.list_page(engine, REPO, "", "", 10, name).results}
        for name in ("open", "closed", "all")
    }
    assert ids["open"] == {pull.id}
    assert ids["closed"] == {merged.id, closed.id}
    assert ids["all"] == ids["open"] | ids["closed"]


@pytest.mark.parametrize(
    ("source", "destination", "error", "message"),
    [
        ("main", "main", InvalidInputError, "source and destination branches are the same"),
        ("a$b", "main", InvalidInputError, "argument src: branch id"),
        ("main", "a$b", InvalidInputError, "argument dest: branch id"),
        ("nothing", "main", NotFoundError, "branch not found"),
        ("main", "nothing", NotFoundError, "branch not found"),
    ],
)
def test_a_pull_request_is_between_two_existing_branches(
    world, engine, source, destination, error, message
):
    with pytest.raises(error, match=message):
        create(engine, source, destination)
    assert kinds(world) == []


def test_title_and_description_have_a_size(engine, pull):
    half = "é" * (PULL_REQUEST_BYTES_MAX // 4)
    fitting = create(engine, title=half, description=half)
    with pytest.raises(InvalidInputError, match="too large"):
        create(engine, title=half, description=half + "x")
    with pytest.raises(InvalidInputError, match="too large"):
        pulls.update(engine, REPO, fitting.id, PullRequestUpdate(title=half + "x"), "ann")
    assert now(engine, fitting) == fitting


def test_an_update_changes_the_given_fields(engine, pull):
    pulls.update(engine, REPO, pull.id, PullRequestUpdate(description="why"), "bob")
    pulls.update(engine, REPO, pull.id, PullRequestUpdate(title="new"), "bob")
    found = now(engine, pull)
    assert (found.title, found.description, found.status) == ("new", "why", OPEN)


def test_an_update_without_a_change_has_no_effect(world, engine, pull):
    pulls.update(engine, REPO, pull.id, PullRequestUpdate(pull.title, status=OPEN), "ann")
    assert now(engine, pull) == pull
    assert kinds(world) == ["pull_request_created"]


def test_a_closed_pull_request_can_be_opened_again(engine, pull):
    closed = set_status(engine, pull, CLOSED)
    assert closed.closed_time_ns > pull.creation_time_ns
    with pytest.raises(InvalidInputError, match="bad pull request status"):
        pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    assert set_status(engine, pull, OPEN).closed_time_ns is None
    pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    assert now(engine, pull).status is MERGED


def test_only_a_merge_makes_a_pull_request_merged_for_good(engine, pull):
    with pytest.raises(InvalidInputError, match="invalid pull request status"):
        set_status(engine, pull, MERGED)
    pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    for status in (OPEN, CLOSED):
        with pytest.raises(InvalidInputError, match="invalid pull request status"):
            set_status(engine, pull, status)
    assert set_status(engine, pull, MERGED).status is MERGED
    pulls.update(engine, REPO, pull.id, PullRequestUpdate(title="after"), "ann")
    assert now(engine, pull).title == "after"


def test_a_merge_merges_the_source_and_is_recorded(world, engine, pull):
    made = pulls.merge(engine, REPO, pull.id, MergeRequest("bob"))
    assert (made.committer, made.message) == ("bob", "Merge 'source' into 'main'")
    assert named(engine, "main") == made.id
    assert content(engine, "main", b"s") == b"S"
    found = now(engine, pull)
    assert (found.status, found.merged_commit_id) == (MERGED, made.id)
    assert found.closed_time_ns > pull.creation_time_ns
    (event,) = [each for each in world.refs.events if each.kind == "pull_request_merged"]
    assert event.detail["commit_id"] == made.id
    assert (event.detail["author"], event.detail["user"]) == ("ann", "bob")


def test_a_merged_pull_request_cannot_be_merged_again(engine, pull):
    made = pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    with pytest.raises(InvalidInputError, match="bad pull request status") as caught:
        pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    assert made.id in caught.value.details
    assert named(engine, "main") == made.id


def test_a_refused_merge_leaves_the_pull_request_open(engine, pull):
    upload(engine, b"staged", b"x")
    with pytest.raises(InvalidInputError, match="uncommitted changes"):
        pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    upload(engine, b"s", b"other")
    commit(engine)
    with pytest.raises(MergeConflictError):
        pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    assert now(engine, pull) == pull


def test_nothing_to_merge_leaves_the_pull_request_open(engine, pull):
    empty = create(engine, "main", "source")
    pulls.merge(engine, REPO, empty.id, MergeRequest("ann"))
    again = create(engine, "main", "source")
    with pytest.raises(InvalidInputError, match="update branch source: no changes"):
        pulls.merge(engine, REPO, again.id, MergeRequest("ann"))
    assert now(engine, again).status is OPEN


def test_a_pull_request_of_a_deleted_branch_stays_and_cannot_be_merged(engine, pull):
    # A tag of the name is no branch.
    branches.delete(engine, REPO, "source")
    tags.create(engine, REPO, name="source", ref="main")
    with pytest.raises(NotFoundError, match="update branch main: get commit by ref source"):
        pulls.merge(engine, REPO, pull.id, MergeRequest("ann"))
    assert now(engine, pull) == pull


def test_a_read_only_repository_refuses_merges(world, engine, pull):
    stored = world.refs.repository(REPO)
    world.refs.update_repository(stored, structs.replace(stored, read_only=True))
    with pytest.raises(ForbiddenError, match="read-only repository"):
        pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"))
    assert now(engine, pull) == pull


@pytest.mark.parametrize("pull_id", ["", "nothing", "CS7EHLB6RCTC7BK7MNK0", "a/b"])
def test_a_malformed_id_is_refused(engine, pull_id):
    with pytest.raises(InvalidInputError, match="argument pullRequestID: pull request id"):
        pulls.get(engine, REPO, pull_id)


def test_an_unknown_pull_request_is_not_found(engine):
    for act in (
        lambda: pulls.get(engine, REPO, "cs7ehlb6rctc7bk7mnk0"),
        lambda: pulls.merge(engine, REPO, "cs7ehlb6rctc7bk7mnk0", MergeRequest("ann")),
        lambda: pulls.update(engine, REPO, "cs7ehlb6rctc7bk7mnk0", PullRequestUpdate("x"), "ann"),
    ):
        with pytest.raises(NotFoundError, match="pull request not found"):
            act()


def test_a_new_repository_of_the_name_has_none_of_the_old_pull_requests(engine, pull):
    repositories.delete(engine, REPO)
    repositories.create(engine, name=REPO, storage_namespace="s3://bucket/other")
    assert pulls.list_page(engine, REPO, "", "", 10).results == ()
    with pytest.raises(NotFoundError):
        pulls.get(engine, REPO, pull.id)


@pytest.mark.parametrize("status", [CLOSED, MERGED])
def test_of_a_merge_and_another_change_at_the_same_time_one_wins(world, engine, pull, status):
    """The other one comes between the merge's check and its transaction."""
    others = []

    def meanwhile(name, call):
        if name == "refs.move_branch" and not others:
            others.append(name)
            if status is CLOSED:
                set_status(engine, pull, CLOSED)
            else:
                pulls.merge(engine, REPO, pull.id, MergeRequest("bob"))
        return call()

    with pytest.raises(InvalidInputError, match="bad pull request status"):
        pulls.merge(engine_around(world.engine(), meanwhile), REPO, pull.id, MergeRequest("ann"))
    assert others
    found = now(engine, pull)
    assert found.status is status
    merges = [event for event in world.refs.events if event.kind == "merge_completed"]
    assert [event.detail["commit_id"] for event in merges] == [found.merged_commit_id] * (
        status is MERGED
    )


def test_a_change_of_the_title_meanwhile_does_not_stop_a_merge(world, engine, pull):
    changes = []

    def meanwhile(name, call):
        if name == "refs.move_branch" and not changes:
            changes.append(pulls.update(engine, REPO, pull.id, PullRequestUpdate("new"), "bob"))
        return call()

    made = pulls.merge(engine_around(world.engine(), meanwhile), REPO, pull.id, MergeRequest("ann"))
    found = now(engine, pull)
    assert (found.title, found.status, found.merged_commit_id) == ("new", MERGED, made.id)


class TestTasks:
    """Merges that are left to a task."""

    @pytest.fixture
    def left(self, world, pull):
        """A request that left its merge to a task, and was told to come back."""
        world.task_settings = IMPATIENT
        with pytest.raises(StillRunningError) as caught:
            pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"))
        return caught.value.task_id

    def test_a_repeated_request_joins_the_task_and_gets_its_commit(self, world, pull, left):
        with pytest.raises(StillRunningError) as caught:
            pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"), ClientWait(left))
        assert caught.value.task_id == left
        run_all(world.task_queue, world.engine())
        made = pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"))
        found = now(world.engine(), pull)
        assert (found.status, found.merged_commit_id) == (MERGED, made.id)
        assert kinds(world).count("pull_request_merged") == 1

    @pytest.mark.usefixtures("left")
    def test_whoever_comes_later_is_told_that_it_is_merged(self, world, pull):
        run_all(world.task_queue, world.engine())
        with pytest.raises(InvalidInputError, match="bad pull request status"):
            pulls.merge(world.engine(), REPO, pull.id, MergeRequest("bob"))

    @pytest.mark.usefixtures("left")
    def test_a_pull_request_that_is_closed_meanwhile_fails_the_task(self, world, pull):
        head = named(world.engine(), "main")
        set_status(world.engine(), pull, CLOSED)
        run_all(world.task_queue, world.engine())
        (task,) = list_page(world.engine(), REPO, "", 10).results
        assert task.state is TaskState.FAILED
        assert task.failure.message == "bad pull request status"
        assert named(world.engine(), "main") == head

    def test_a_cancelled_task_leaves_the_pull_request_open(self, world, pull, left):
        cancel(world.engine(), REPO, left)
        run_all(world.task_queue, world.engine())
        assert now(world.engine(), pull) == pull

    def test_after_a_conflict_was_resolved_the_next_request_tries_again(self, world, pull):
        engine = world.engine()
        upload(engine, b"s", b"other")
        commit(engine)
        world.task_settings = IMPATIENT
        with pytest.raises(StillRunningError):
            pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"))
        run_all(world.task_queue, world.engine())
        upload(engine, b"s", b"other", "source")
        commit(engine, "source")
        with pytest.raises(StillRunningError):  # not the conflict again
            pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"))
        run_all(world.task_queue, world.engine())
        made = pulls.merge(world.engine(), REPO, pull.id, MergeRequest("ann"))
        assert now(engine, pull).merged_commit_id == made.id

    @pytest.mark.usefixtures("left")
    def test_what_came_to_the_source_after_the_request_is_not_merged(self, world, pull):
        engine = replace(world.engine(), task_settings=TaskSettings())
        asked_for = named(engine, "source")
        upload(engine, b"later", b"L", "source")
        commit(engine, "source")
        run_all(world.task_queue, world.engine())
        made = commits.get(engine, REPO, now(engine, pull).merged_commit_id)
        assert made.parents[1] == asked_for
