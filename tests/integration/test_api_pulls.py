"""Pull requests over HTTP, as lakeFS's web UI and the SDK use them."""

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from lakefs_sdk import models

from graveler.model.tasks import TaskSettings
from tests.support.clients.api import ApiClient

REPO = "/repositories/repo"
PULLS = f"{REPO}/pulls"
UNKNOWN = "cs7ehlb6rctc7bk7mnk0"


@pytest.fixture
def api() -> ApiClient:
    """A repository whose branch `dev` has a commit more than `main`."""
    api = ApiClient()
    api.repository()
    api.branch("dev")
    api.upload("a", b"on dev", branch="dev")
    api.commit(branch="dev")
    return api


def create(api: ApiClient, **fields: Any) -> str:
    body = {"title": "title", "source_branch": "dev", "destination_branch": "main", **fields}
    reply = api.ask("POST", PULLS, body)
    assert reply.status == 201
    assert list(reply.json) == ["id"]
    return str(reply.json["id"])


def get(api: ApiClient, pull_id: str) -> models.PullRequest:
    reply = api.ask("GET", f"{PULLS}/{pull_id}")
    assert reply.status == 200
    pull = models.PullRequest.from_dict(reply.json)
    assert pull is not None
    return pull


def test_a_pull_request_from_its_creation_to_its_merge(api: ApiClient) -> None:
    pull_id = create(api, description="why")
    pull = get(api, pull_id)
    assert (pull.id, pull.status, pull.author) == (pull_id, "open", "ann")
    assert (pull.title, pull.description) == ("title", "why")
    assert (pull.source_branch, pull.destination_branch) == ("dev", "main")
    assert isinstance(pull.creation_date, datetime)
    assert (pull.closed_date, pull.merged_commit_id) == (None, None)

    reply = api.ask("PUT", f"{PULLS}/{pull_id}/merge")
    assert (reply.status, list(reply.json)) == (200, ["reference"])
    merged = get(api, pull_id)
    assert (merged.status, merged.merged_commit_id) == ("merged", reply.json["reference"])
    assert merged.closed_date is not None
    assert api.paths() == ["a"]
    head = api.ask("GET", f"{REPO}/commits/main").json
    assert (head["id"], head["committer"]) == (merged.merged_commit_id, "ann")
    assert head["message"] == "Merge 'dev' into 'main'"


def test_the_answer_leaves_out_what_an_open_pull_request_has_not(api: ApiClient) -> None:
    reply = api.ask("GET", f"{PULLS}/{create(api)}")
    assert sorted(reply.json) == [
        "author",
        "creation_date",
        "description",
        "destination_branch",
        "id",
        "source_branch",
        "status",
        "title",
    ]


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"source_branch": "a$"}, 400, "argument src: branch id: invalid value: validation error"),
        (
            {"destination_branch": "a$"},
            400,
            "argument dest: branch id: invalid value: validation error",
        ),
        ({"source_branch": "nothing"}, 404, "branch not found"),
        ({"destination_branch": "nothing"}, 404, "branch not found"),
        (
            {"destination_branch": "dev"},
            400,
            "source and destination branches are the same: same branch validation error",
        ),
    ],
)
def test_a_bad_pull_request_is_refused_in_lakefs_words(
    api: ApiClient, fields: dict[str, str], status: int, message: str
) -> None:
    body = {"title": "", "source_branch": "dev", "destination_branch": "main", **fields}
    reply = api.ask("POST", PULLS, body)
    assert (reply.status, reply.json["message"]) == (status, message)
    assert api.ask("GET", PULLS).json["results"] == []


@pytest.mark.parametrize(
    "body", [{}, {"title": "t", "source_branch": "dev"}, {"title": 1}, [], "x", None]
)
def test_a_body_of_another_shape_is_refused(api: ApiClient, body: Any) -> None:
    reply = api.ask("POST", PULLS, body)
    assert reply.status == 400
    assert reply.json["message"].startswith("request body has an error: ")


def test_pull_requests_are_listed_in_pages_by_status(api: ApiClient) -> None:
    ids = [create(api, description="secret") for _ in range(3)]
    assert api.ask("PATCH", f"{PULLS}/{ids[0]}", {"status": "closed"}).status == 204
    for status, count in (("open", 2), ("closed", 1), ("merged", 0), ("all", 3)):
        reply = api.ask("GET", PULLS, status=status)
        page = models.PullRequestsList.from_dict(reply.json)
        assert page is not None
        assert len(page.results) == page.pagination.results == count
        assert {each.description for each in page.results} <= {""}
    first = api.ask("GET", PULLS, amount=2).json
    assert first["pagination"]["has_more"]
    rest = api.ask("GET", PULLS, after=first["pagination"]["next_offset"]).json
    assert {row["id"] for row in first["results"] + rest["results"]} == set(ids)
    assert api.ask("GET", PULLS, prefix="0").json["results"] == []


@pytest.mark.parametrize("status", ["done", "", "OPEN"])
def test_an_unknown_status_is_refused(api: ApiClient, status: str) -> None:
    reply = api.ask("GET", PULLS, status=status)
    assert reply.status == 400
    assert reply.json["message"].startswith(
        'parameter "status" in query has an error: value is not one of the allowed values'
    )


def test_a_user_changes_what_the_body_names(api: ApiClient) -> None:
    pull_id = create(api)
    for body in ({"title": "new"}, {"description": "why"}, {"status": "closed"}, {}):
        reply = api.ask("PATCH", f"{PULLS}/{pull_id}", body)
        assert (reply.status, reply.content) == (204, b"")
    pull = get(api, pull_id)
    assert (pull.title, pull.description, pull.status) == ("new", "why", "closed")
    assert pull.closed_date is not None
    assert api.ask("PUT", f"{PULLS}/{pull_id}/merge").json["message"] == "bad pull request status"
    assert api.ask("PATCH", f"{PULLS}/{pull_id}", {"status": "open"}).status == 204
    assert get(api, pull_id).closed_date is None


@pytest.mark.parametrize("body", [{"status": "merged"}, {"status": "nothing"}, {"title": 1}, None])
def test_a_bad_change_changes_nothing(api: ApiClient, body: Any) -> None:
    pull_id = create(api)
    before = get(api, pull_id)
    assert api.ask("PATCH", f"{PULLS}/{pull_id}", body).status == 400
    assert get(api, pull_id) == before


@pytest.mark.parametrize(
    ("method", "action", "body"), [("GET", "", None), ("PATCH", "", {}), ("PUT", "/merge", None)]
)
def test_an_id_is_an_xid_of_a_pull_request(
    api: ApiClient, method: str, action: str, body: Any
) -> None:
    bad = api.ask(method, f"{PULLS}/nope{action}", body)
    assert (bad.status, bad.json["message"]) == (
        400,
        "argument pullRequestID: pull request id: invalid value: validation error",
    )
    unknown = api.ask(method, f"{PULLS}/{UNKNOWN}{action}", body)
    assert (unknown.status, unknown.json["message"]) == (404, "pull request not found")
    elsewhere = api.ask(method, f"/repositories/none/pulls/{UNKNOWN}{action}", body)
    assert (elsewhere.status, elsewhere.json["message"]) == (404, "repository not found")


def test_merges_that_are_refused_answer_as_in_lakefs(api: ApiClient) -> None:
    pull_id = create(api)
    merge = f"{PULLS}/{pull_id}/merge"
    api.upload("a", b"on main")
    dirty = api.ask("PUT", merge)
    assert (dirty.status, dirty.json["message"]) == (400, "uncommitted changes (dirty branch)")
    api.commit()
    conflict = api.ask("PUT", merge)
    assert conflict.status == 409
    assert conflict.json["message"] == "update branch main: conflict found"
    assert api.ask("DELETE", f"{REPO}/branches/dev").status == 204
    gone = api.ask("PUT", merge)
    assert gone.status == 404
    assert gone.json["message"] == "update branch main: get commit by ref dev: not found"
    assert get(api, pull_id).status == "open"


def test_a_long_merge_is_a_task_that_the_same_request_joins(api: ApiClient) -> None:
    pull_id = create(api)
    api.upload("b", b"on main")
    api.commit()  # else the result of the merge is the source's content, which takes no time
    api.leave_to_tasks(TaskSettings(request_work_s=0, request_wait_s=0))
    asked = api.ask("PUT", f"{PULLS}/{pull_id}/merge")
    assert asked.status == 307
    query = urlsplit(asked.headers["Location"]).query
    api.run_tasks()
    answer = api.ask("PUT", f"{PULLS}/{pull_id}/merge", query=query)
    assert answer.status == 200
    assert get(api, pull_id).merged_commit_id == answer.json["reference"]
    (task,) = api.ask("GET", f"{REPO}/tasks").json["results"]
    assert (task["kind"], task["state"]) == ("merge-pull-request", "completed")
