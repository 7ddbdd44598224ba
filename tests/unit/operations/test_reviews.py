"""Reviews and comments of pull requests, and merges that need approvals."""

from dataclasses import replace

import msgspec
import pytest

from graveler.aws.system import SystemNames
from graveler.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    StillRunningError,
)
from graveler.limits import (
    ACCOUNT_NAME_BYTES_MAX,
    COMMENT_BYTES_MAX,
    PULL_REQUEST_BYTES_MAX,
    REVIEWERS_MAX,
)
from graveler.model import ProtectionRule
from graveler.model.pulls import PullRequest, PullRequestStatus, PullRequestUpdate, ReviewVerdict
from graveler.model.tasks import TaskSettings, TaskState
from graveler.operations import branches, merges, pulls, repositories, reviews
from graveler.operations.merges import MergeRequest
from graveler.operations.tasks.requests import list_page
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import REPO, apart, commit, named, upload

IMPATIENT = TaskSettings(request_work_s=0, request_wait_s=0)
APPROVED, CHANGES = ReviewVerdict.APPROVED, ReviewVerdict.CHANGES_REQUESTED


@pytest.fixture
def pull(engine):
    """An open pull request of ann from `source`, with a change of its own, to `main`."""
    apart(engine, source={"s": "S"}, destination={"d": "D"})
    return create(engine)


def create(engine, author="ann", **more):
    return pulls.create(engine, REPO, pulls.NewPullRequest(author, "source", "main", "t", **more))


def review(engine, pull, user, verdict=APPROVED, commit_id=None):
    commit_id = commit_id or named(engine, "source")
    return reviews.review(engine, REPO, pull.id, verdict, commit_id, user)


def delete_comment(engine, pull_id, comment_id, check=lambda _: None):
    reviews.delete_comment(engine, REPO, pull_id, comment_id, check)


def require(engine, approvals, *patterns):
    rules = [ProtectionRule(each, required_approvals=approvals) for each in patterns or ["main"]]
    repositories.set_protection_rules(engine, REPO, rules)


def merge(engine, pull, **more):
    return pulls.merge(engine, REPO, pull.id, MergeRequest("ann", **more))


def meanwhile_of(world, act, moment="refs.move_branch"):
    """Return an engine whose first call of the moment finds that something else was done."""
    done = []

    def around(name, call):
        if name == moment and not done:
            done.append(name)
            act()
        return call()

    return engine_around(world.engine(), around)


def kinds(world):
    return [event.kind for event in world.refs.events if event.kind == "pull_request_reviewed"]


class TestReviews:
    def test_each_user_has_one_verdict_the_last(self, world, engine, pull):
        review(engine, pull, "bob", CHANGES)
        review(engine, pull, "cy")
        found = review(engine, pull, "bob")
        assert [(each.user, each.verdict) for each in found.reviews] == [
            ("cy", APPROVED),
            ("bob", APPROVED),
        ]
        assert {each.commit_id for each in found.reviews} == {named(engine, "source")}
        assert pulls.get(engine, REPO, pull.id) == found
        event = world.refs.events[-1]
        assert (event.detail["user"], event.detail["verdict"]) == ("bob", "approved")
        assert event.detail["commit_id"] == named(engine, "source")

    def test_a_repeated_review_has_no_second_effect(self, world, engine, pull):
        first = review(engine, pull, "bob")
        world.clock.tick(1)
        assert review(engine, pull, "bob") == first
        assert len(kinds(world)) == 1

    def test_a_review_is_about_the_head_that_the_user_saw(self, engine, pull):
        seen = named(engine, "source")
        upload(engine, b"more", b"x", "source")
        commit(engine, "source")
        with pytest.raises(PreconditionFailedError, match=named(engine, "source")):
            review(engine, pull, "bob", commit_id=seen)
        assert pulls.get(engine, REPO, pull.id) == pull

    @pytest.mark.parametrize("verdict", ReviewVerdict)
    def test_the_author_reviews_nothing(self, engine, pull, verdict):
        with pytest.raises(ForbiddenError, match="'ann' is the author"):
            review(engine, pull, "ann", verdict)

    def test_only_an_open_one_is_reviewed(self, engine, pull):
        closed = PullRequestUpdate(status=PullRequestStatus.CLOSED)
        pulls.update(engine, REPO, pull.id, closed, "ann")
        with pytest.raises(InvalidInputError, match="bad pull request status"):
            review(engine, pull, "bob")

    def test_another_branch_of_the_name_is_not_reviewed(self, engine, pull):
        seen = named(engine, "source")
        branches.delete(engine, REPO, "source")
        branches.create(engine, REPO, name="source", source=seen)
        with pytest.raises(NotFoundError):
            review(engine, pull, "bob", commit_id=seen)

    def test_of_two_reviews_at_once_both_are_stored(self, world, engine, pull):
        other = meanwhile_of(world, lambda: review(engine, pull, "cy"), "refs.replace_pull_request")
        review(other, pull, "bob")
        assert {each.user for each in pulls.get(engine, REPO, pull.id).reviews} == {"bob", "cy"}

    def test_a_full_record_takes_no_more_reviews(self, engine, pull):
        full = create(engine, description="\x01" * (PULL_REQUEST_BYTES_MAX - 1))
        names = [f"{number:0{ACCOUNT_NAME_BYTES_MAX}}" for number in range(40)]

        def review_by_all():
            for name in names:
                review(engine, full, name)

        with pytest.raises(InvalidInputError, match="no room"):
            review_by_all()
        assert 10 < len(pulls.get(engine, REPO, full.id).reviews) < len(names)
        review(engine, pull, "bob")

    @pytest.mark.usefixtures("pull")
    def test_reviewers_are_set_at_the_creation_and_later(self, world, engine):
        asked = create(engine, reviewers=("bob", "cy", "bob"))
        assert asked.reviewers == ("bob", "cy")
        update = PullRequestUpdate(reviewers=("dee",))
        assert pulls.update(engine, REPO, asked.id, update, "ann").reviewers == ("dee",)
        assert world.refs.events[-1].detail["reviewers"] == ("dee",)
        for reviewer, found in (("dee", 1), ("bob", 0)):
            page = pulls.list_page(engine, REPO, "", "", 10, "open", reviewer)
            assert len(page.results) == found
        titled = pulls.update(engine, REPO, asked.id, PullRequestUpdate("new"), "ann")
        assert titled.reviewers == ("dee",)

    @pytest.mark.parametrize(
        "names", [("",), ("a/b",), ("a\n",), tuple(map(str, range(REVIEWERS_MAX + 1)))]
    )
    def test_reviewers_have_names_of_users_and_a_number(self, engine, pull, names):
        with pytest.raises(InvalidInputError):
            create(engine, reviewers=names)
        with pytest.raises(InvalidInputError):
            pulls.update(engine, REPO, pull.id, PullRequestUpdate(reviewers=names), "ann")
        assert pulls.list_page(engine, REPO, "", "", 10).results == (pull,)


class TestViews:
    def test_a_destination_that_has_every_commit_of_the_source_is_noticed(self, engine, pull):
        assert not reviews.view(engine, REPO, pull.id).is_contained
        merges.merge(engine, REPO, "source", "main", MergeRequest("bob"))
        assert reviews.view(engine, REPO, pull.id).is_contained
        upload(engine, b"more", b"x", "source")
        commit(engine, "source")
        assert not reviews.view(engine, REPO, pull.id).is_contained

    def test_branches_that_are_too_far_apart_are_not_compared(self, world, engine, pull):
        merges.merge(engine, REPO, "source", "main", MergeRequest("bob"))
        world.task_settings = IMPATIENT
        assert not reviews.view(world.engine(), REPO, pull.id).is_contained

    def test_a_closed_or_merged_one_is_not_looked_at(self, engine, pull):
        merge(engine, pull)
        found = reviews.view(engine, REPO, pull.id)
        assert (found.is_contained, found.source_id) == (False, named(engine, "source"))

    @pytest.mark.parametrize("name", ["source", "destination"])
    @pytest.mark.usefixtures("pull")
    def test_a_deleted_branch_contains_nothing(self, engine, name):
        branches.create(engine, REPO, name="destination", source="source")
        asked = pulls.NewPullRequest("ann", "source", "destination", "t")
        contained = pulls.create(engine, REPO, asked)
        assert reviews.view(engine, REPO, contained.id).is_contained
        branches.delete(engine, REPO, name)
        branches.create(engine, REPO, name=name, source="main")
        assert not reviews.view(engine, REPO, contained.id).is_contained


class TestApprovals:
    def test_a_merge_needs_the_approvals_of_its_destination(self, engine, pull):
        require(engine, 2)
        for missing in (2, 1):
            with pytest.raises(ForbiddenError, match=f"{missing} of 2 required approvals"):
                merge(engine, pull, force=True)
            review(engine, pull, "bob" if missing == 2 else "cy")
        assert named(engine, "main") != named(engine, "source")
        made = merge(engine, pull)
        assert named(engine, "main") == made.id

    def test_of_several_rules_the_greatest_number_counts(self, engine, pull):
        rules = [ProtectionRule("m*", required_approvals=1), ProtectionRule("main")]
        repositories.set_protection_rules(engine, REPO, rules)
        with pytest.raises(ForbiddenError, match="1 of 1"):
            merge(engine, pull)

    def test_a_commit_after_the_approval_is_not_approved(self, engine, pull):
        require(engine, 1)
        review(engine, pull, "bob")
        upload(engine, b"more", b"x", "source")
        commit(engine, "source")
        with pytest.raises(ForbiddenError, match="1 of 1"):
            merge(engine, pull)
        review(engine, pull, "bob")
        merge(engine, pull)

    def test_requested_changes_stop_a_merge_whoever_approves(self, engine, pull):
        require(engine, 1)
        review(engine, pull, "bob", CHANGES)
        review(engine, pull, "cy")
        with pytest.raises(ForbiddenError, match="'bob' requests changes"):
            merge(engine, pull)
        review(engine, pull, "bob")
        merge(engine, pull)

    def test_without_required_approvals_reviews_stop_nothing(self, engine, pull):
        review(engine, pull, "bob", CHANGES)
        merge(engine, pull)

    @pytest.mark.parametrize("force", [False, True])
    def test_only_pull_requests_merge_where_approvals_are_required(self, engine, pull, force):
        review(engine, pull, "bob")
        require(engine, 1)
        request = MergeRequest("ann", force=force)
        for start in (merges.merge, merges.start_merge):
            with pytest.raises(ForbiddenError, match="merge a pull request"):
                start(engine, REPO, "source", "main", request)

    def test_an_approval_counts_for_its_pull_request_alone(self, engine, pull):
        """The author approves of another one with the same commit."""
        require(engine, 1)
        other = create(engine, author="bob")
        review(engine, other, "ann")
        with pytest.raises(ForbiddenError, match="1 of 1"):
            merge(engine, pull)

    def test_an_opened_again_one_keeps_to_its_commit(self, engine, pull):
        require(engine, 1)
        review(engine, pull, "bob")
        for status in (PullRequestStatus.CLOSED, PullRequestStatus.OPEN):
            pulls.update(engine, REPO, pull.id, PullRequestUpdate(status=status), "ann")
        upload(engine, b"more", b"x", "source")
        commit(engine, "source")
        with pytest.raises(ForbiddenError, match="1 of 1"):
            merge(engine, pull)

    def test_another_branch_of_the_sources_name_is_not_merged(self, engine, pull):
        require(engine, 1)
        review(engine, pull, "bob")
        head = named(engine, "source")
        branches.delete(engine, REPO, "source")
        branches.create(engine, REPO, name="source", source=head)
        with pytest.raises(NotFoundError):
            merge(engine, pull)

    def test_an_approval_that_is_withdrawn_during_a_merge_counts_no_more(self, world, engine, pull):
        require(engine, 1)
        review(engine, pull, "bob")
        head = named(engine, "main")
        other = meanwhile_of(world, lambda: review(engine, pull, "bob", CHANGES))
        with pytest.raises(ForbiddenError, match="requests changes"):
            merge(other, pull)
        assert named(engine, "main") == head

    def test_a_rule_that_is_set_during_a_merge_counts(self, world, engine, pull):
        other = meanwhile_of(world, lambda: require(engine, 1), "files.write")
        with pytest.raises(ForbiddenError, match="1 of 1"):
            merge(other, pull)


class TestTasks:
    """Merges that are left to a task, while the rules or the reviews change."""

    def failure(self, world):
        run_all(world.task_queue, world.engine())
        (task,) = list_page(world.engine(), REPO, "", 10).results
        assert task.state is TaskState.FAILED
        return task.failure

    def test_missing_approvals_are_reported_before_a_task_begins(self, world, engine, pull):
        require(engine, 1)
        world.task_settings = IMPATIENT
        with pytest.raises(ForbiddenError, match="1 of 1"):
            merge(world.engine(), pull)

    def test_an_approval_that_is_withdrawn_counts_no_more(self, world, engine, pull):
        require(engine, 1)
        review(engine, pull, "bob")
        world.task_settings = IMPATIENT
        with pytest.raises(StillRunningError):
            merge(world.engine(), pull)
        review(engine, pull, "bob", CHANGES)
        assert "requests changes" in self.failure(world).message

    @pytest.mark.usefixtures("pull")
    def test_a_rule_that_is_set_meanwhile_stops_a_merge_without_approvals(self, world, engine):
        head = named(engine, "main")
        merges.start_merge(engine, REPO, "source", "main", MergeRequest("ann"))
        require(engine, 1)
        assert "requires approvals" in self.failure(world).message
        assert named(engine, "main") == head

    @pytest.mark.usefixtures("pull")
    def test_a_rule_that_is_set_while_the_task_merges_stops_it(self, world, engine):
        head = named(engine, "main")
        merges.start_merge(engine, REPO, "source", "main", MergeRequest("ann"))
        other = meanwhile_of(world, lambda: require(engine, 1), "files.write")
        run_all(world.task_queue, other)
        (task,) = list_page(engine, REPO, "", 10).results
        assert task.state is TaskState.FAILED
        assert named(engine, "main") == head


class TestRules:
    @pytest.mark.usefixtures("pull")
    def test_a_pattern_that_clients_write_back_keeps_its_number(self, engine):
        require(engine, 2, "main", "v*")
        rules = [ProtectionRule("main"), ProtectionRule("v*"), ProtectionRule("new")]
        keeping = {"main", "new"}
        repositories.set_protection_rules(engine, REPO, rules, keeping=keeping)
        found, _ = repositories.protection_rules(engine, REPO)
        assert [each.required_approvals for each in found] == [2, 0, 0]


class TestComments:
    def test_comments_are_listed_oldest_first_in_pages(self, world, engine, pull):
        made = []
        for number in range(3):
            world.clock.tick(1)
            made.append(reviews.comment(engine, REPO, pull.id, "bob", f"text {number}"))
        page = reviews.comments(engine, REPO, pull.id, "", 2)
        assert page.results == tuple(made[:2])
        assert reviews.comments(engine, REPO, pull.id, page.next_after, 2).results == (made[2],)

    def test_comments_of_one_second_are_in_order_whichever_process_made_them(
        self, world, engine, pull
    ):
        world.clock.step_ns = 1000
        made = []
        for _ in range(8):
            process = replace(engine, names=SystemNames(world.clock))
            made.append(reviews.comment(process, REPO, pull.id, "bob", "text"))
        assert reviews.comments(engine, REPO, pull.id, "", 8).results == tuple(made)

    def test_a_comment_may_be_about_an_object_and_has_an_event(self, world, engine, pull):
        made = reviews.comment(engine, REPO, pull.id, "bob", "é", "ü".encode())
        assert (made.author, made.text, made.path) == ("bob", "é", "ü".encode())
        (event,) = [each for each in world.refs.events if each.kind == "pull_request_commented"]
        assert (event.detail["text"], event.detail["path"]) == ("é", "ü")
        assert event.detail["comment_id"] == made.id

    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("", None),
            (" \n", None),
            ("x" * (COMMENT_BYTES_MAX + 1), None),
            ("x", b""),
            ("x", b"p" * 1025),
        ],
    )
    def test_a_bad_comment_is_refused(self, engine, pull, text, path):
        with pytest.raises(InvalidInputError):
            reviews.comment(engine, REPO, pull.id, "bob", text, path)
        assert reviews.comments(engine, REPO, pull.id, "", 10).results == ()

    def test_a_deleted_comment_is_gone(self, engine, pull):
        made = reviews.comment(engine, REPO, pull.id, "bob", "x" * COMMENT_BYTES_MAX)
        delete_comment(engine, pull.id, made.id)
        assert reviews.comments(engine, REPO, pull.id, "", 10).results == ()
        with pytest.raises(NotFoundError, match=made.id):
            delete_comment(engine, pull.id, made.id)
        with pytest.raises(InvalidInputError):
            delete_comment(engine, pull.id, "x")

    def test_a_comment_that_may_not_be_deleted_stays(self, engine, pull):
        made = reviews.comment(engine, REPO, pull.id, "bob", "x")

        def refuse(comment):
            raise ForbiddenError(comment.author)

        with pytest.raises(ForbiddenError, match="bob"):
            delete_comment(engine, pull.id, made.id, refuse)
        assert reviews.comments(engine, REPO, pull.id, "", 10).results == (made,)

    @pytest.mark.usefixtures("pull")
    def test_an_unknown_pull_request_has_no_comments(self, engine):
        unknown = "cs7ehlb6rctc7bk7mnk0"
        for act in (
            lambda: reviews.comment(engine, REPO, unknown, "bob", "x"),
            lambda: reviews.comments(engine, REPO, unknown, "", 10),
            lambda: delete_comment(engine, unknown, unknown),
        ):
            with pytest.raises(NotFoundError, match="pull request not found"):
                act()

    def test_comments_of_another_pull_request_are_not_listed(self, engine, pull):
        other = create(engine)
        made = reviews.comment(engine, REPO, other.id, "bob", "x")
        assert reviews.comments(engine, REPO, pull.id, "", 10).results == ()
        with pytest.raises(NotFoundError):
            delete_comment(engine, pull.id, made.id)


def test_a_pull_request_that_was_stored_without_reviews_has_none(pull):
    stored = msgspec.json.decode(msgspec.json.encode(pull))
    older = {name: value for name, value in stored.items() if not name.startswith("review")}
    assert msgspec.json.decode(msgspec.json.encode(older), type=PullRequest) == pull
