"""Merge, revert and cherry-pick over HTTP: statuses, bodies, and what reaches the operation.

What these operations do to a branch is tested in tests/unit/operations/test_merges.py.
"""

from typing import Any

import pytest
from lakefs_sdk import models

from graveler.operations import merges, replays
from graveler.operations.merges import MergeRequest
from graveler.operations.replays import CherryPickRequest, RevertRequest
from graveler.operations.tasks.waiting import ClientWait
from tests.support.clients.api import ApiClient

REPO = "/repositories/repo"
MAIN = f"{REPO}/branches/main"
MERGE = f"{REPO}/refs/dev/merge/main"


@pytest.fixture
def api() -> ApiClient:
    """A repository whose branch `dev` has one commit more than `main`."""
    api = ApiClient()
    api.repository()
    api.upload("both", b"1")
    api.commit()
    api.branch("dev")
    api.upload("both", b"2", branch="dev")
    api.commit("on dev", branch="dev")
    return api


def head(api: ApiClient, ref: str = "main") -> Any:
    return api.ask("GET", f"{REPO}/commits/{ref}").json


# A request with every field, and one with the required fields only.
REQUESTS = [
    pytest.param(
        MERGE,
        {
            "message": "mine",
            "metadata": {"k": "v"},
            "strategy": "source-wins",
            "force": True,
            "allow_empty": True,
            "squash_merge": True,
        },
        merges,
        "merge",
        ("dev", "main", MergeRequest("ann", "mine", {"k": "v"}, "source-wins", True, True, True)),
        id="merge",
    ),
    pytest.param(
        MERGE, None, merges, "merge", ("dev", "main", MergeRequest("ann")), id="merge, no body"
    ),
    pytest.param(
        f"{MAIN}/revert",
        {
            "ref": "main~0",
            "parent_number": 1,
            "force": True,
            "allow_empty": True,
            "commit_overrides": {"message": "mine", "metadata": {"k": "v"}},
        },
        replays,
        "revert",
        ("main", RevertRequest("main~0", "ann", 1, "mine", {"k": "v"}, True, True)),
        id="revert",
    ),
    pytest.param(
        f"{MAIN}/revert",
        {"ref": "main", "parent_number": 0},
        replays,
        "revert",
        ("main", RevertRequest("main", "ann")),
        id="revert, required fields",
    ),
    pytest.param(
        f"{MAIN}/cherry-pick",
        {
            "ref": "dev",
            "parent_number": 1,
            "force": True,
            "commit_overrides": {"message": "mine", "metadata": {"k": "v"}},
        },
        replays,
        "cherry_pick",
        ("main", CherryPickRequest("dev", "ann", 1, "mine", {"k": "v"}, True)),
        id="cherry-pick",
    ),
    pytest.param(
        f"{MAIN}/cherry-pick",
        {"ref": "dev"},
        replays,
        "cherry_pick",
        ("main", CherryPickRequest("dev", "ann")),
        id="cherry-pick, required fields",
    ),
]


@pytest.mark.parametrize(("path", "body", "module", "operation", "expected"), REQUESTS)
def test_every_field_of_a_request_reaches_the_operation(
    api, monkeypatch, path, body, module, operation, expected
):
    run, requests = getattr(module, operation), []

    def record(engine, repository, *request):
        *asked, wait = request
        assert wait == ClientWait(is_last=False, is_first=True)
        requests.append(tuple(asked))
        return run(engine, repository, *request)

    monkeypatch.setattr(module, operation, record)
    assert api.ask("POST", path, body).status in {200, 201, 204}
    assert requests == [expected]


def test_a_merge_returns_the_id_of_its_commit(api):
    reply = api.ask("POST", MERGE, {})
    assert (reply.status, reply.json) == (200, {"reference": head(api)["id"]})
    models.MergeResult.from_dict(reply.json)


def test_a_merge_with_a_conflict_returns_an_empty_reference_and_names_what_conflicts(api):
    api.upload("both", b"3")
    api.commit()
    reply = api.ask("POST", MERGE, {})
    assert reply.status == 409
    assert reply.json == {"reference": "", "details": "both sides changed 'both' differently"}


def test_a_revert_returns_no_content(api):
    reply = api.ask("POST", f"{MAIN}/revert", {"ref": "main", "parent_number": 0})
    assert (reply.status, reply.content) == (204, b"")
    assert head(api)["message"] == "Revert main"


def test_a_cherry_pick_returns_its_commit(api):
    reply = api.ask("POST", f"{MAIN}/cherry-pick", {"ref": "dev"})
    assert (reply.status, reply.json) == (201, head(api))
    models.Commit.from_dict(reply.json)


def test_the_commit_that_is_picked_stays_as_it_was(api):
    api.upload("both", b"3", branch="dev")
    api.commit("again", branch="dev", metadata={"of": "dev"})
    before = head(api, "dev")
    api.ask("POST", f"{MAIN}/cherry-pick", {"ref": "dev~1"})
    picked = api.ask("POST", f"{MAIN}/cherry-pick", {"ref": "dev"}).json
    assert picked["metadata"]["cherry-pick-origin"] == before["id"]
    assert head(api, "dev") == head(api, before["id"]) == before
    assert api.ask("GET", f"{REPO}/refs/dev/commits").json["results"][0] == before
    assert before["metadata"] == {"of": "dev"}


@pytest.mark.parametrize(
    ("path", "body", "status", "named"),
    [
        (MERGE, {"strategy": "mine"}, 400, "strategy"),
        (MERGE, {"force": "yes"}, 400, "force"),
        (MERGE, [], 400, "object"),
        (f"{REPO}/refs/nothing/merge/main", {}, 404, "nothing"),
        (f"{REPO}/refs/dev/merge/nothing", {}, 404, "nothing"),
        (f"{REPO}/refs/main/merge/main", {}, 400, "main"),
        (f"{MAIN}/revert", {"ref": "main"}, 400, "parent_number"),
        (f"{MAIN}/revert", {"ref": "main", "parent_number": -1}, 400, "parent_number"),
        (f"{MAIN}/revert", {"ref": "nothing", "parent_number": 0}, 404, "nothing"),
        (f"{MAIN}/cherry-pick", {}, 400, "ref"),
        (f"{MAIN}/cherry-pick", {"ref": "nothing"}, 404, "nothing"),
    ],
)
def test_a_bad_request_changes_nothing_and_names_the_mistake(api, path, body, status, named):
    before = head(api)
    reply = api.ask("POST", path, body)
    assert reply.status == status
    assert named in reply.message
    assert head(api) == before


def test_the_merge_base_is_found(api):
    reply = api.ask("GET", MERGE)
    models.FindMergeBaseResult.from_dict(reply.json)
    assert reply.json == {
        "source_commit_id": head(api, "dev")["id"],
        "destination_commit_id": head(api)["id"],
        "base_commit_id": head(api)["id"],
    }
    assert api.ask("GET", f"{REPO}/refs/nothing/merge/main").status == 404


def test_the_distance_of_two_refs_counts_the_commits_of_each_alone(api):
    api.commit("on main", allow_empty=True)
    api.commit("on main", allow_empty=True)
    reply = api.ask("GET", MERGE, ahead_behind="true").json
    assert reply.items() >= {"ahead": 1, "behind": 2, "is_exact": True}.items()
    same = api.ask("GET", f"{REPO}/refs/main/merge/main", ahead_behind="true").json
    assert same.items() >= {"ahead": 0, "behind": 0, "is_exact": True}.items()


def test_choices_settle_the_conflicts_of_a_merge(api):
    api.upload("both", b"3")
    api.commit()
    reply = api.ask("POST", MERGE, {"resolutions": {"both": "dest-wins"}})
    assert (reply.status, reply.json) == (200, {"reference": head(api)["id"]})
    assert api.ask("GET", f"{REPO}/refs/main/objects", path="both").content == b"3"
    wrong = api.ask("POST", MERGE, {"resolutions": {"both": "mine"}})
    assert (wrong.status, "resolutions" in wrong.message) == (400, True)


@pytest.mark.parametrize("done", ["merge", "merge as a task", "merge of a pull request", "reset"])
def test_what_needs_a_head_that_has_moved_is_refused_with_412(api, done):
    asked = {"source_branch": "dev", "destination_branch": "main", "title": "t"}
    pull = api.ask("POST", f"{REPO}/pulls", asked).json["id"]
    seen = api.ask("GET", MAIN).headers["ETag"]
    method, path = {
        "merge": ("POST", MERGE),
        "merge as a task": ("POST", f"{MERGE}/async"),
        "merge of a pull request": ("PUT", f"{REPO}/pulls/{pull}/merge"),
        "reset": ("PUT", f"{MAIN}/hard_reset?ref=main"),
    }[done]
    path, _, query = path.partition("?")

    def ask(tag):
        return api.ask(method, path, query=query, headers={"If-Match": tag})

    api.commit("meanwhile", allow_empty=True)
    now = head(api)
    refused = ask(seen)
    assert (refused.status, now["id"] in refused.message) == (412, True)
    assert ask(f'W/"{now["id"]}"').status == 412
    assert ask("").status == ask('"a", b').status == 400
    assert ask(seen.strip('"')).status == 412
    assert head(api) == now
    assert ask(f'{seen}, "{now["id"]}"').status in {200, 202, 204}


def test_a_merge_of_a_source_that_has_moved_is_refused_with_412(api):
    seen = head(api, "dev")["id"]
    api.commit("meanwhile", branch="dev", allow_empty=True)
    reply = api.ask("POST", MERGE, {"source_commit_id": seen})
    assert (reply.status, head(api, "dev")["id"] in reply.message) == (412, True)
    assert api.ask("POST", MERGE, {"source_commit_id": head(api, "dev")["id"]}).status == 200
