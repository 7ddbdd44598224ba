"""Branches, tags, commits, log and diff over HTTP."""

from urllib.parse import quote

import pytest
from lakefs_sdk import models

from graveler.branches.lookup import read_repository
from graveler.model import CommitID, Tag
from tests.support.clients.api import ApiClient, event

REPO = "/repositories/repo"
BRANCHES = f"{REPO}/branches"
MAIN = f"{BRANCHES}/main"


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    return api


def head(api, branch="main"):
    return api.ask("GET", f"{BRANCHES}/{branch}").json["commit_id"]


# Branches


def test_creating_a_branch_returns_its_commit_id_as_plain_text(api):
    reply = api.ask("POST", BRANCHES, {"name": "dev", "source": "main"})
    assert reply.status == 201
    assert reply.headers["Content-Type"] == "text/html"
    assert reply.content.decode() == head(api)
    models.Ref.from_dict(api.ask("GET", f"{BRANCHES}/dev").json)


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"name": "a/b", "source": "main"}, 400, "branch id"),
        ({"name": "main", "source": "main"}, 409, "main"),
        ({"name": "dev", "source": "nothing"}, 404, "nothing"),
        ({"name": "dev", "source": "main~x"}, 400, "main~x"),
        ({"name": "dev", "source": ""}, 400, "ref"),
        ({"name": "dev"}, 400, "source"),
        ({"name": 1, "source": "main"}, 400, "name"),
    ],
)
def test_a_bad_branch_is_not_created(api, body, status, named):
    reply = api.ask("POST", BRANCHES, body)
    assert reply.status == status
    assert named in reply.message
    assert len(api.ask("GET", BRANCHES).json["results"]) == 1


def test_branches_are_listed_without_the_hidden_ones(api):
    for name, hidden in (("a1", False), ("a2", True), ("a3", False)):
        body = {"name": name, "source": "main", "hidden": hidden}
        assert api.ask("POST", BRANCHES, body).status == 201
    page = api.ask("GET", BRANCHES, prefix="a", amount=1).json
    models.RefList.from_dict(page)
    assert [row["id"] for row in page["results"]] == ["a1"]
    rest = api.ask("GET", BRANCHES, prefix="a", after=page["pagination"]["next_offset"]).json
    assert [row["id"] for row in rest["results"]] == ["a3"]
    everything = api.ask("GET", BRANCHES, prefix="a", show_hidden="True").json
    assert [row["id"] for row in everything["results"]] == ["a1", "a2", "a3"]


def test_branches_are_deleted_but_for_the_default_one(api):
    api.branch("dev")
    assert api.ask("DELETE", f"{BRANCHES}/dev").status == 204
    assert api.ask("GET", f"{BRANCHES}/dev").status == 404
    assert api.ask("DELETE", f"{BRANCHES}/dev").status == 404
    assert api.ask("DELETE", MAIN).status == 403


def test_a_reset_drops_the_changes_that_it_names(api):
    for path in ("a/1", "a/2", "b/1", "c"):
        api.upload(path)
    assert api.ask("PUT", MAIN, {"type": "object", "path": "c"}).status == 204
    assert api.paths() == ["a/1", "a/2", "b/1"]
    assert api.ask("PUT", MAIN, {"type": "common_prefix", "path": "a/"}).status == 204
    assert api.paths() == ["b/1"]
    assert api.ask("PUT", MAIN, {"type": "reset"}).status == 204
    assert api.paths() == []


@pytest.mark.parametrize(
    ("body", "named"), [({"type": "all"}, "type"), ({}, "type"), ({"type": "object"}, "path")]
)
def test_a_bad_reset_drops_nothing(api, body, named):
    api.upload("a")
    reply = api.ask("PUT", MAIN, body)
    assert reply.status == 400
    assert named in reply.message
    assert api.paths() == ["a"]


def test_a_hard_reset_moves_the_branch(api):
    first = head(api)
    api.upload("a")
    api.commit()
    assert api.ask("PUT", f"{MAIN}/hard_reset").status == 400
    assert api.ask("PUT", f"{MAIN}/hard_reset", ref="nothing").status == 404
    assert api.ask("PUT", f"{MAIN}/hard_reset", ref=first).status == 204
    assert head(api) == first


def test_deletions_are_kept_over_the_head_that_a_hard_reset_brings(api):
    dev = f"{BRANCHES}/dev"
    api.branch("dev")
    api.upload("staged", branch="dev")
    assert api.ask("DELETE", f"{dev}/objects", path="staged").status == 204
    assert api.ask("POST", f"{dev}/objects/delete", {"paths": ["nothing"]}).status == 200
    for path in ("kept", "nothing", "staged"):
        api.upload(path)
    api.commit()
    assert api.ask("PUT", f"{dev}/hard_reset", ref="main").status == 204
    assert api.paths("dev") == ["kept"]


# Tags


def test_tags_are_created_listed_and_deleted(api):
    tags = f"{REPO}/tags"
    for name in ("v1", "v1.é", "v2"):
        reply = api.ask("POST", tags, {"id": name, "ref": "main"})
        assert reply.status == 201
        assert reply.json == {"id": name, "commit_id": head(api)}
    assert api.ask("GET", f"{tags}/v1.%C3%A9").json["id"] == "v1.é"
    page = api.ask("GET", tags, amount=2).json
    models.RefList.from_dict(page)
    assert [row["id"] for row in page["results"]] == ["v1", "v1.é"]
    assert page["pagination"]["next_offset"] == "v1.é"
    assert api.ask("DELETE", f"{tags}/v1").status == 204
    assert api.ask("GET", f"{tags}/v1").status == 404
    assert api.ask("DELETE", f"{tags}/v1").status == 404


@pytest.mark.parametrize("function_url", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "50%",
        "a%zz",
        "#1",
        'é"🎉',
        "{x}",
        "a;b=c",
        "+",
        "a%20b",
        "%41",
        "%2F",
        "%2E%2E",
        "%FF",
        "%c3",
    ],
)
@pytest.mark.parametrize("times", [1, 2])
def test_a_name_may_be_encoded_once_or_twice(api, name, times, function_url):
    assert api.ask("POST", f"{REPO}/tags", {"id": name, "ref": "main"}).status == 201
    encoded = name
    for _ in range(times):
        encoded = quote(encoded, safe="")

    def ask(method, path):
        headers = {"authorization": api.authorization}
        path = f"/api/v1{REPO}/{path}"
        return api.send(event(method, path, headers=headers, function_url=function_url))

    assert ask("GET", f"tags/{encoded}").json["id"] == name
    assert ask("GET", f"commits/{encoded}").json["id"] == head(api)
    assert ask("DELETE", f"tags/{encoded}").status == 204
    assert api.ask("GET", f"{REPO}/tags").json["results"] == []


def test_a_tag_that_no_ref_names_is_not_created_but_an_old_one_is_listed_and_deleted(api):
    for name in ("a~1", "a@b", "a$", "$a", "a%23b", "%25", "%E2%82%AC"):
        reply = api.ask("POST", f"{REPO}/tags", {"id": name, "ref": "main"})
        assert reply.status == 400
        assert f"tag id: invalid value: validation error: {name!r}" in reply.message
        tag = Tag(name, CommitID(head(api)))
        found = read_repository(api.engine, "repo")
        made = found.event("tag_created", tag=name, commit_id=tag.commit_id)
        api.engine.refs.create_tag(found.record, tag, made)
        encoded = quote(quote(name, safe=""), safe="")
        assert [row["id"] for row in api.ask("GET", f"{REPO}/tags").json["results"]] == [name]
        assert api.ask("GET", f"{REPO}/tags/{encoded}").json["id"] == name
        assert api.ask("DELETE", f"{REPO}/tags/{encoded}").status == 204


@pytest.mark.parametrize("function_url", [False, True])
def test_a_slash_in_a_name_changes_no_route(api, function_url):
    asked = event(
        "GET",
        f"/api/v1{REPO}/tags%252Fv1",
        headers={"authorization": api.authorization},
        function_url=function_url,
    )
    assert api.send(asked).message == "invalid API endpoint"


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"id": "a b", "ref": "main"}, 400, "tag id"),
        ({"id": "v", "ref": "nothing"}, 404, "nothing"),
        ({"id": "v0", "ref": "main"}, 409, "v0"),
        ({"id": "v"}, 400, "ref"),
    ],
)
def test_a_bad_tag_is_not_created(api, body, status, named):
    assert api.ask("POST", f"{REPO}/tags", {"id": "v0", "ref": "main"}).status == 201
    reply = api.ask("POST", f"{REPO}/tags", body)
    assert reply.status == status
    assert named in reply.message
    assert len(api.ask("GET", f"{REPO}/tags").json["results"]) == 1


# Commits and the log


def test_a_commit_returns_its_committer_message_and_metadata(api):
    api.upload("a")
    root = head(api)
    made = api.commit("first", metadata={"k": "v"}, date=1_500_000_000)
    models.Commit.from_dict(made)
    assert made == {
        "id": made["id"],
        "parents": [root],
        "committer": "ann",
        "message": "first",
        "creation_date": 1_500_000_000,
        "meta_range_id": made["meta_range_id"],
        "metadata": {"k": "v"},
        "generation": 2,
        "version": 1,
    }
    for ref in (made["id"], "main", made["id"][:12], "main~0", "main%40"):
        assert api.ask("GET", f"{REPO}/commits/{ref}").json == made
    assert api.ask("GET", f"{REPO}/commits/main~1").json["id"] == root


@pytest.mark.parametrize(
    ("body", "named"),
    [({}, "message"), ({"message": "m"}, "no changes"), ({"message": "m", "date": -1}, "date")],
)
def test_a_bad_commit_is_not_created(api, body, named):
    before = head(api)
    reply = api.ask("POST", f"{MAIN}/commits", body)
    assert reply.status == 400
    assert named in reply.message
    assert head(api) == before


def test_an_empty_commit_is_created_if_allowed(api):
    assert api.commit(allow_empty=True)["parents"]


def test_a_commit_may_name_its_metarange(api):
    api.upload("a")
    made = api.commit()
    path = f"{BRANCHES}/dev/commits"
    api.branch("dev", "main~1")
    reply = api.ask("POST", path, {"message": "m"}, source_metarange=made["meta_range_id"])
    assert reply.status == 201
    assert api.paths("dev") == ["a"]
    assert api.ask("POST", path, {"message": "m"}, source_metarange="f" * 64).status == 404


def test_the_log_is_newest_first_and_paged(api):
    ids = [head(api)]
    for number in range(3):
        api.upload(f"a/{number}")
        ids.insert(0, api.commit()["id"])
    log = f"{REPO}/refs/main/commits"
    everything = api.ask("GET", log).json
    models.CommitList.from_dict(everything)
    assert [row["id"] for row in everything["results"]] == ids
    page = api.ask("GET", log, amount=2).json
    assert page["pagination"]["next_offset"] == ids[1]
    rest = api.ask("GET", log, after=ids[1]).json
    assert [row["id"] for row in rest["results"]] == ids[2:]
    for ref in ("main~1", "main^", ids[1][:12]):
        assert api.ask("GET", log, after=ref).json == rest
    assert api.ask("GET", log, after="nothing").status == 404
    touching = api.ask("GET", log, objects=["a/1", "a/2"]).json
    assert [row["id"] for row in touching["results"]] == ids[:2]
    under = api.ask("GET", log, prefixes="a/", limit="true", amount=1).json
    assert [row["id"] for row in under["results"]] == ids[:1]
    assert not under["pagination"]["has_more"]
    stopped = api.ask("GET", log, stop_at=ids[2]).json
    assert [row["id"] for row in stopped["results"]] == ids[:3]


def test_the_log_may_begin_at_a_time(api):
    api.upload("a")
    api.commit(date=1_600_000_000)
    api.upload("b")
    late = api.commit(date=1_700_000_000)
    log = f"{REPO}/refs/main/commits"
    since = api.ask("GET", log, since="2021-01-01T00:00:00+01:00", first_parent="1").json
    assert [row["id"] for row in since["results"]] == [late["id"]]
    reply = api.ask("GET", log, since="yesterday")
    assert reply.status == 400
    assert '"since"' in reply.message


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/commits/nothing", 404),
        ("/commits/main%24", 400),
        ("/commits/main~-", 400),
        ("/refs/nothing/commits", 404),
        ("/refs/main~9/commits", 404),
    ],
)
def test_a_missing_ref_is_404_and_a_malformed_one_400(api, path, status):
    reply = api.ask("GET", f"{REPO}{path}")
    assert reply.status == status
    assert reply.message


# Differences


def test_uncommitted_changes_are_listed_by_path(api):
    api.upload("gone")
    api.upload("kept")
    api.upload("old", b"1")
    api.commit()
    api.upload("new", b"abc")
    api.upload("old", b"22")
    api.ask("DELETE", f"{MAIN}/objects", path="gone")
    listing = api.ask("GET", f"{MAIN}/diff").json
    models.DiffList.from_dict(listing)
    assert [(row["type"], row["path"], row["path_type"]) for row in listing["results"]] == [
        ("removed", "gone", "object"),
        ("added", "new", "object"),
        ("changed", "old", "object"),
    ]
    # As in lakeFS, what is removed has no size: it is a tombstone.
    assert [row["size_bytes"] for row in listing["results"]] == [0, 3, 2]
    assert "right" not in listing["results"][1]
    page = api.ask("GET", f"{MAIN}/diff", amount=1).json
    assert page["pagination"]["next_offset"] == "gone"
    assert len(api.ask("GET", f"{MAIN}/diff", after="gone", prefix="n").json["results"]) == 1


def test_refs_are_compared_from_their_merge_base_unless_asked_otherwise(api):
    api.branch("dev")
    api.upload("dir/a", b"1", branch="dev", headers={"x-lakefs-meta-k": "v"})
    api.commit(branch="dev")
    api.upload("main-only")
    api.commit()
    path = f"{REPO}/refs/main/diff/dev"
    three = api.ask("GET", path).json
    assert [(row["type"], row["path"]) for row in three["results"]] == [("added", "dir/a")]
    two = api.ask("GET", path, type="two_dot", include_right_stats="true").json
    models.DiffList.from_dict(two)
    assert [(row["type"], row["path"]) for row in two["results"]] == [
        ("added", "dir/a"),
        ("removed", "main-only"),
    ]
    assert [row["size_bytes"] for row in two["results"]] == [1, 1]
    right = two["results"][0]["right"]
    assert right["metadata"] == {"k": "v"}
    assert right["content_type"] == "text/plain"
    assert two["results"][1]["right"]["checksum"]
    folded = api.ask("GET", path, delimiter="/").json["results"]
    assert folded == [{"type": "prefix_changed", "path": "dir/", "path_type": "common_prefix"}]


def test_a_comparison_after_crossed_merges_shows_what_the_merge_does(api):
    api.branch("dev")
    for branch in ("main", "dev"):
        api.upload("both", branch.encode(), branch=branch)
        api.upload(branch, branch=branch)
        api.commit(branch=branch)
    main, dev = (
        api.ask("GET", f"{REPO}/refs/{name}/commits").json["results"][0]["id"]
        for name in ("main", "dev")
    )
    api.ask("POST", f"{REPO}/refs/{dev}/merge/main", {"strategy": "dest-wins"})
    api.ask("POST", f"{REPO}/refs/{main}/merge/dev", {"strategy": "source-wins"})
    for name in ("both", "main", "dev"):
        api.ask("DELETE", f"{REPO}/branches/dev/objects", path=name)
    api.commit(branch="dev")
    page = api.ask("GET", f"{REPO}/refs/main/diff/dev", include_right_stats="true").json
    models.DiffList.from_dict(page)
    assert [(row["type"], row["path"], "right" in row) for row in page["results"]] == [
        ("conflict", "both", False),  # both had changed it, so no side of it is the older one
        ("removed", "dev", True),
        ("removed", "main", True),
    ]
    assert api.ask("POST", f"{REPO}/refs/dev/merge/main", {}).status == 409
    assert api.ask("POST", f"{REPO}/refs/dev/merge/main", {"strategy": "source-wins"}).status == 200
    assert api.ask("GET", f"{REPO}/refs/main/objects/ls").json["results"] == []


@pytest.mark.parametrize("delimiter", ["", "/", "//"])
@pytest.mark.parametrize("path", ["/branches/dev/diff", "/refs/main/diff/dev%24"])
def test_pages_of_a_diff_show_paths_that_begin_with_the_last_one_before(api, path, delimiter):
    paths = ["dir/1", "dir/10", "dir/1/x", "dir/2"]
    api.branch("dev")
    for name in paths:
        api.upload(name, branch="dev")
    parameters = {"prefix": "dir/", "delimiter": delimiter, "amount": 1, "type": "two_dot"}
    shown, after, more = [], "", True
    while more:
        page = api.ask("GET", f"{REPO}{path}", after=after, **parameters).json
        shown += [row["path"] for row in page["results"]]
        after, more = page["pagination"]["next_offset"], page["pagination"]["has_more"]
    folded = {"dir/1/" if delimiter == "/" and name == "dir/1/x" else name for name in paths}
    assert shown == sorted(folded)


@pytest.mark.parametrize(
    ("path", "parameters", "status", "named"),
    [
        ("/refs/main/diff/nothing", {}, 404, "nothing"),
        ("/refs/nothing/diff/main", {}, 404, "nothing"),
        ("/refs/main/diff/main", {"type": "four_dot"}, 400, "type"),
        ("/refs/main%24/diff/main", {}, 400, "main$"),
        ("/branches/nothing/diff", {}, 404, "nothing"),
        ("/refs/main/diff/main", {"include_right_stats": "x"}, 400, "include_right_stats"),
    ],
)
def test_a_bad_comparison_is_refused(api, path, parameters, status, named):
    reply = api.ask("GET", f"{REPO}{path}", **parameters)
    assert reply.status == status
    assert named in reply.message


# Symlinks


def test_creating_symlinks_returns_the_location_of_the_manifests(api):
    api.upload("table/x")
    path = "/repositories/repo/refs/main/symlink"
    reply = api.ask("POST", path, location="table/")
    assert (reply.status, reply.json) == (201, {"location": "s3://bucket/repo/symlinks"})
    models.StorageURI.from_dict(reply.json)
    stat = api.ask("GET", "/repositories/repo/refs/main/objects/stat", path="table/x").json
    manifest = "s3://bucket/repo/symlinks/repo/main/table/symlink.txt"
    assert api.engine.objects.get(manifest).decode() == stat["physical_address"]
    assert api.ask("POST", "/repositories/repo/refs/nobody/symlink").status == 404


def test_branches_are_listed_with_the_commits_of_their_heads(api):
    page = api.ask("GET", f"{REPO}/branches", with_commits="true").json["results"]
    assert page
    for row in page:
        assert row["commit"] == api.ask("GET", f"{REPO}/commits/{row['id']}").json
    plain = api.ask("GET", f"{REPO}/branches").json["results"]
    assert all(row.keys() == {"id", "commit_id"} for row in plain)
