"""Reviews and comments over HTTP, and merges into branches that require approvals."""

from typing import Any

import pytest

from graveler.model import CommitID
from graveler.model.pulls import ReviewVerdict
from graveler.operations import reviews
from tests.support.checks.cases import for_each
from tests.support.clients.api import ApiClient
from tests.support.fakes.access import RestrictedClient, allowing

REPO = "/repositories/repo"
PULLS = f"{REPO}/pulls"
RULES = f"{REPO}/settings/branch_protection"
WRITE = ("pr:WritePullRequest", "*")


@pytest.fixture
def api() -> ApiClient:
    """A repository whose branch `dev` has a commit more than `main`."""
    api = ApiClient()
    api.repository()
    api.branch("dev")
    api.upload("a", b"on dev", branch="dev")
    api.commit(branch="dev")
    return api


@pytest.fixture
def pull(api: ApiClient) -> str:
    """The path of a pull request of ann."""
    body = {"title": "t", "source_branch": "dev", "destination_branch": "main"}
    made = api.ask("POST", PULLS, {**body, "reviewers": ["bob"]})
    return f"{PULLS}/{made.json['id']}"


def head(api: ApiClient, branch: str = "dev") -> CommitID:
    return CommitID(api.ask("GET", f"{REPO}/branches/{branch}").json["commit_id"])


def approve(api: ApiClient, pull: str, user: str) -> None:
    pull_id = pull.rpartition("/")[2]
    engine = api.world.engine()
    reviews.review(engine, "repo", pull_id, ReviewVerdict.APPROVED, head(api), user)


def test_a_pull_request_shows_reviewers_and_reviews(api: ApiClient, pull: str) -> None:
    seen = head(api)
    approve(api, pull, "bob")
    shown = api.ask("GET", pull).json
    assert shown["reviewers"] == ["bob"]
    (review,) = shown["reviews"]
    assert {**review, "creation_date": ""} == {
        "user": "bob",
        "verdict": "approved",
        "commit_id": seen,
        "creation_date": "",
        "is_current": True,
    }
    (row,) = api.ask("GET", PULLS).json["results"]
    assert row["reviews"][0]["commit_id"] == seen
    api.upload("b", branch="dev")
    api.commit(branch="dev")
    assert api.ask("GET", pull).json["reviews"][0]["is_current"] is False
    assert api.ask("PATCH", pull, {"reviewers": []}).status == 204
    assert "reviewers" not in api.ask("GET", pull).json


def test_the_author_does_not_review(api: ApiClient, pull: str) -> None:
    body = {"verdict": "approved", "commit_id": head(api)}
    reply = api.ask("PUT", f"{pull}/review", body)
    assert reply.status == 403
    assert reply.json["message"].startswith("'ann' is the author")
    assert "reviews" not in api.ask("GET", pull).json


@for_each(
    "body",
    [
        {},
        {"verdict": "approved"},
        {"verdict": "fine", "commit_id": "1"},
        {"verdict": "approved", "commit_id": ""},
        {"verdict": "approved", "commit_id": 1},
    ],
)
def test_a_review_of_another_shape_is_refused(body: Any) -> None:
    api = ApiClient()
    api.repository()
    assert api.ask("PUT", f"{PULLS}/cs7ehlb6rctc7bk7mnk0/review", body).status == 400


def test_another_user_reviews_what_was_seen(api: ApiClient, pull: str) -> None:
    user = RestrictedClient(api)
    user.may(allowing(WRITE))
    stale = user.ask_as("PUT", f"{pull}/review", {"verdict": "approved", "commit_id": "0" * 64})
    assert (stale.status, head(api) in stale.json["message"]) == (412, True)
    body = {"verdict": "changes_requested", "commit_id": head(api)}
    assert user.ask_as("PUT", f"{pull}/review", body).status == 204
    (review,) = api.ask("GET", pull).json["reviews"]
    assert review["verdict"] == "changes_requested"


def test_a_branch_with_required_approvals_takes_approved_pull_requests_alone(
    api: ApiClient, pull: str
) -> None:
    assert api.ask("PUT", RULES, [{"pattern": "ma*", "required_approvals": 2}]).status == 204
    before = head(api, "main")
    for form in ("", "/async"):
        for body in ({}, {"force": True}):
            direct = api.ask("POST", f"{REPO}/refs/dev/merge/main{form}", body)
            assert (direct.status, "pull request" in direct.json["message"]) == (403, True)
    approve(api, pull, "bob")
    refused = api.ask("PUT", f"{pull}/merge", {"force": True})
    assert refused.status == 403
    assert refused.json["message"].startswith("1 of 2 required approvals are missing")
    assert head(api, "main") == before
    approve(api, pull, "cy")
    assert api.ask("PUT", f"{pull}/merge").status == 200


def test_clients_that_know_only_patterns_keep_the_number(api: ApiClient) -> None:
    rules = [{"pattern": "main", "required_approvals": 2}, {"pattern": "v*"}]
    assert api.ask("PUT", RULES, rules).status == 204
    assert api.ask("GET", RULES).json == rules
    patterns = [{"pattern": "main"}, {"pattern": "v*"}, {"pattern": "main"}, {"pattern": "new"}]
    assert api.ask("PUT", RULES, patterns).status == 204
    assert api.ask("GET", RULES).json == [*rules, {"pattern": "new"}]
    created = api.ask("POST", f"{REPO}/branch_protection", {"pattern": "main"})
    assert created.status == 204
    assert api.ask("GET", RULES).json == [*rules, {"pattern": "new"}]
    last = [{"pattern": "main"}, {"pattern": "main", "required_approvals": 0}]
    assert api.ask("PUT", RULES, last).status == 204
    assert api.ask("GET", RULES).json == [{"pattern": "main"}]


@for_each("number", [-1, 101, 1.5, "1", True])
def test_a_number_of_approvals_has_bounds(number: Any) -> None:
    api = ApiClient()
    api.repository()
    reply = api.ask("PUT", RULES, [{"pattern": "main", "required_approvals": number}])
    assert reply.status == 400
    assert api.ask("GET", RULES).json == []


def test_a_destination_that_has_all_of_the_source_is_noticed(api: ApiClient, pull: str) -> None:
    assert "is_contained" not in api.ask("GET", pull).json
    assert api.ask("POST", f"{REPO}/refs/dev/merge/main", {}).status == 200
    assert api.ask("GET", pull).json["is_contained"] is True


def test_comments_are_made_listed_and_deleted(api: ApiClient, pull: str) -> None:
    first = api.ask("POST", f"{pull}/comments", {"text": "why?"})
    second = api.ask("POST", f"{pull}/comments", {"text": "here", "path": "a"})
    assert (first.status, second.status) == (201, 201)
    assert sorted(first.json) == ["author", "creation_date", "id", "text"]
    assert (second.json["author"], second.json["path"]) == ("ann", "a")
    page = api.ask("GET", f"{pull}/comments", amount=1).json
    assert page["results"] == [first.json]
    rest = api.ask("GET", f"{pull}/comments", after=page["pagination"]["next_offset"]).json
    assert rest["results"] == [second.json]
    assert api.ask("DELETE", f"{pull}/comments/{first.json['id']}").status == 204
    assert api.ask("DELETE", f"{pull}/comments/{first.json['id']}").status == 404
    assert api.ask("GET", f"{pull}/comments").json["results"] == [second.json]


@for_each("body", [{}, {"text": ""}, {"text": " "}, {"text": 1}, {"text": "x", "path": ""}])
def test_a_comment_of_another_shape_is_refused(body: Any) -> None:
    api = ApiClient()
    api.repository()
    api.branch("dev")
    body_of_pull = {"title": "t", "source_branch": "dev", "destination_branch": "main"}
    comments = f"{PULLS}/{api.ask('POST', PULLS, body_of_pull).json['id']}/comments"
    assert api.ask("POST", comments, body).status == 400
    assert api.ask("GET", comments).json["results"] == []


def test_only_its_author_or_an_administrator_deletes_a_comment(api: ApiClient, pull: str) -> None:
    theirs = api.ask("POST", f"{pull}/comments", {"text": "of ann"}).json["id"]
    user = RestrictedClient(api)
    user.may(allowing(WRITE))
    own = user.ask_as("POST", f"{pull}/comments", {"text": "own"}).json["id"]
    assert user.ask_as("DELETE", f"{pull}/comments/{own}").status == 204
    assert user.ask_as("DELETE", f"{pull}/comments/{theirs}").status == 401
    user.may(allowing(WRITE, ("fs:UpdateRepository", "*")))
    assert user.ask_as("DELETE", f"{pull}/comments/{theirs}").status == 204
