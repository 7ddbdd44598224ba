"""Commits that a client describes: stored only if every reader can work with them."""

import pytest
from lakefs_sdk import models
from msgspec.structs import replace

from graveler.identity import make_commit
from graveler.limits import GENERATION_MAX
from graveler.model import Commit
from tests.support.clients.api import ApiClient, Reply

PATH = "/repositories/repo/commits"


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    api.upload("a")
    api.commit()
    return api


def head(api: ApiClient) -> dict:
    return api.ask("GET", "/repositories/repo/refs/main/commits", amount=1).json["results"][0]


def described(api: ApiClient, **fields) -> Commit:
    """A commit over main's head, with its content."""
    parent = head(api)
    return make_commit(
        **{
            "committer": "somebody",
            "message": "copied",
            "metarange_id": parent["meta_range_id"],
            "creation_date": 1_500_000_000,
            "metadata": {"k": "v"},
            "parents": [parent["id"]],
            "generation": parent["generation"] + 1,
            **fields,
        }
    )


def create(api: ApiClient, commit: Commit, **fields) -> Reply:
    body = models.CommitRecordCreation(
        commit_id=commit.id,
        version=commit.version,
        committer=commit.committer,
        message=commit.message,
        metarange_id=commit.metarange_id,
        creation_date=commit.creation_date,
        parents=list(commit.parents),
        metadata=dict(commit.metadata),
        generation=commit.generation,
    )
    return api.ask("POST", PATH, body.to_dict() | fields)


@pytest.mark.parametrize("version", [0, 1])
def test_a_described_commit_is_one_like_others(api, version):
    commit = replace(described(api), version=version)
    reply = create(api, commit)
    assert (reply.status, reply.content) == (204, b"")
    found = models.Commit.from_dict(api.ask("GET", f"{PATH}/{commit.id}").json)
    assert (found.id, found.message, found.version) == (commit.id, "copied", version)
    assert found.parents == list(commit.parents)
    api.branch("copy", commit.id)
    assert api.paths("copy") == ["a"]
    api.upload("b", branch="copy")
    made = api.commit(branch="copy")
    assert (made["parents"], made["generation"]) == ([commit.id], commit.generation + 1)
    merged = api.ask("POST", "/repositories/repo/refs/copy/merge/main", {})
    assert merged.status == 200
    log = api.ask("GET", "/repositories/repo/refs/main/commits").json["results"]
    assert commit.id in [row["id"] for row in log]


def test_a_root_and_an_empty_commit_can_be_described(api):
    root = described(api, parents=[], generation=1, metarange_id="")
    assert create(api, root).status == 204
    assert create(api, described(api, parents=[root.id], generation=9)).status == 204


def test_the_same_commit_is_not_stored_twice(api):
    commit = described(api)
    assert create(api, commit).status == 204
    for again in (commit, replace(commit, generation=commit.generation + 1)):
        reply = create(api, again)
        assert reply.status == 409
        assert "commit already exists: not unique" in reply.message
    assert api.ask("GET", f"{PATH}/{commit.id}").json["generation"] == commit.generation


@pytest.mark.parametrize(
    ("fields", "status", "named"),
    [
        ({"parents": ["1" * 64]}, 404, "parent commit not found: '111"),
        ({"parents": ["main"]}, 404, "parent commit not found: 'main'"),
        ({"parents": ["x" * 3000]}, 404, "parent commit not found: 'xxx"),
        ({"metarange_id": "2" * 64}, 404, "metarange not found: '222"),
        ({"metarange_id": "../dummy"}, 404, "metarange not found: '../dummy'"),
        ({"generation": 2}, 400, "generation 2 is invalid: it must be 3 or more"),
        ({"generation": 0, "parents": []}, 400, "generation 0 is invalid: it must be 1 or more"),
        ({"generation": GENERATION_MAX + 1}, 400, f"at most {GENERATION_MAX}"),
        ({"message": "x" * 400_000}, 400, "too large for a commit"),
        ({"committer": "x" * 400_000}, 400, "too large for a commit"),
        ({"parents": ["1" * 64] * 17}, 400, "at most 16 parents"),
        ({"creation_date": -1}, 400, "creation_date"),
    ],
)
def test_what_would_break_the_history_is_refused(api, fields, status, named):
    commit = described(api, **fields)
    reply = create(api, commit)
    assert (reply.status, named in reply.message) == (status, True), reply.message
    assert api.ask("GET", f"{PATH}/{commit.id}").status == 404


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"commit_id": "0" * 64}, "the fields make"),
        ({"commit_id": "main"}, "the fields make"),
        ({"message": "another"}, "the fields make"),
        ({"version": 2}, "version"),
        ({"parents": None}, "parents"),
    ],
)
def test_an_id_that_is_not_of_the_fields_is_refused(api, fields, named):
    reply = create(api, described(api), **fields)
    assert (reply.status, named in reply.message) == (400, True), reply.message


def test_a_read_only_repository_takes_none_unless_forced(api):
    api.repository("mirror", read_only=True)
    root = described(api, parents=[], generation=1, metarange_id="")
    fields = {"commit_id": root.id, "version": 1, "committer": root.committer}
    fields |= {"message": root.message, "metarange_id": "", "metadata": {"k": "v"}}
    fields |= {"creation_date": root.creation_date, "parents": [], "generation": 1}
    assert api.ask("POST", "/repositories/mirror/commits", fields).status == 403
    assert api.ask("POST", "/repositories/mirror/commits", fields | {"force": True}).status == 204
    assert api.ask("POST", "/repositories/nobody/commits", fields).status == 404
