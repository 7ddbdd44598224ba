"""Repositories, their metadata, branch protection."""

import pytest
from lakefs_sdk import models

from tests.support.clients.api import ApiClient


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    return api


def test_a_new_repository_has_a_default_branch(api):
    body = {"name": "lake", "storage_namespace": "s3://bucket/lake/", "default_branch": "trunk"}
    reply = api.ask("POST", "/repositories", body)
    assert reply.status == 201
    models.Repository.from_dict(reply.json)
    assert reply.json == {
        "id": "lake",
        "creation_date": reply.json["creation_date"],
        "default_branch": "trunk",
        "storage_id": "",
        "storage_namespace": "s3://bucket/lake",
        "read_only": False,
    }
    assert api.ask("GET", "/repositories/lake").json == reply.json
    assert api.ask("GET", "/repositories/lake/branches/trunk").status == 200


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        ({"name": "A"}, 400, "repository id"),
        ({"name": "ab"}, 400, "repository id"),
        ({"name": None}, 400, "name"),
        ({"name": "repo"}, 409, "not unique"),
        ({"storage_namespace": "bucket/x"}, 400, "storage namespace"),
        ({"storage_namespace": "gs://bucket/x"}, 400, "invalid namespace: 'gs:"),
        ({"storage_namespace": "s3://bucket/repo"}, 400, "in use"),
        ({"storage_namespace": 5}, 400, "storage_namespace"),
        ({"default_branch": "a/b"}, 400, "branch id"),
        ({"storage_id": "other"}, 400, "storage_id"),
        ({"sample_data": True, "read_only": True}, 400, "sample data"),
    ],
)
def test_a_bad_repository_is_not_made(api, change, status, named):
    body = {"name": "lake", "storage_namespace": "s3://bucket/lake", **change}
    reply = api.ask("POST", "/repositories", body)
    assert reply.status == status
    assert named in reply.message
    assert api.ask("GET", "/repositories/lake").status == 404
    assert len(api.ask("GET", "/repositories").json["results"]) == 1


def test_a_repository_with_sample_data_is_answered_when_all_of_it_is_there(api):
    body = models.RepositoryCreation(
        name="sample", storage_namespace="s3://bucket/sample", default_branch="trunk"
    ).to_dict()
    assert api.ask("POST", "/repositories", body | {"sample_data": True}).status == 201
    listing = api.ask("GET", "/repositories/sample/refs/trunk@/objects/ls").json["results"]
    assert [row["path"] for row in listing] == [
        "README.md",
        "data/countries.json",
        "data/lakes.csv",
        "lakes.parquet",
    ]
    log = api.ask("GET", "/repositories/sample/refs/trunk/commits").json["results"]
    assert [(row["message"], row["committer"]) for row in log] == [
        ("Add sample data", "ann"),
        ("Repository created", ""),
    ]
    rules = api.ask("GET", "/repositories/sample/settings/branch_protection").json
    assert rules == [{"pattern": "trunk"}]


def test_a_bare_repository_has_no_sample_data(api):
    body = {"name": "bare", "storage_namespace": "s3://bucket/bare", "sample_data": True}
    assert api.ask("POST", "/repositories", body, bare="true").status == 201
    assert api.ask("GET", "/repositories/bare/refs/main/objects/ls").status == 404


def test_repositories_are_listed_by_pages_and_prefixes(api):
    for name in ("alpha", "beta", "bravo"):
        api.repository(name)
    first = api.ask("GET", "/repositories", amount=2).json
    models.RepositoryList.from_dict(first)
    assert [row["id"] for row in first["results"]] == ["alpha", "beta"]
    assert first["pagination"] == {
        "has_more": True,
        "next_offset": "beta",
        "results": 2,
        "max_per_page": 1000,
    }
    rest = api.ask("GET", "/repositories", after="beta").json
    assert [row["id"] for row in rest["results"]] == ["bravo", "repo"]
    assert rest["pagination"]["next_offset"] == ""
    found = api.ask("GET", "/repositories", prefix="b").json
    assert [row["id"] for row in found["results"]] == ["beta", "bravo"]


def test_repositories_are_found_by_a_part_of_their_name(api):
    for name in ("my-lake", "other", "your-lake", "lake-three"):
        api.repository(name)
    page = api.ask("GET", "/repositories", search="lake", amount=2).json
    assert [row["id"] for row in page["results"]] == ["lake-three", "my-lake"]
    assert page["pagination"]["has_more"]
    rest = api.ask(
        "GET", "/repositories", search="lake", after=page["pagination"]["next_offset"]
    ).json
    assert [row["id"] for row in rest["results"]] == ["your-lake"]
    assert not rest["pagination"]["has_more"]


@pytest.mark.parametrize("amount", ["1001", "many"])
def test_a_bad_amount_is_refused_everywhere(api, amount):
    for path in (
        "/repositories",
        "/repositories/repo/branches",
        "/repositories/repo/tags",
        "/repositories/repo/refs/main/commits",
        "/repositories/repo/refs/main/objects/ls",
        "/repositories/repo/branches/main/diff",
        "/repositories/repo/refs/main/diff/main",
    ):
        reply = api.ask("GET", path, amount=amount)
        assert reply.status == 400
        assert '"amount"' in reply.message


def test_a_deleted_repository_is_gone(api):
    assert api.ask("DELETE", "/repositories/repo").status == 204
    assert api.ask("GET", "/repositories/repo").status == 404
    assert api.ask("DELETE", "/repositories/repo").status == 404


def test_a_read_only_repository_changes_by_force_only(api):
    api.repository("frozen", read_only=True)
    branch = {"name": "b", "source": "main"}
    assert api.ask("POST", "/repositories/frozen/branches", branch).status == 403
    forced = {**branch, "force": True}
    assert api.ask("POST", "/repositories/frozen/branches", forced).status == 201
    assert api.ask("DELETE", "/repositories/frozen").status == 403
    assert api.ask("DELETE", "/repositories/frozen", force="true").status == 204


def test_an_unknown_repository_is_404_with_its_name_everywhere(api):
    for method, path in (
        ("GET", ""),
        ("GET", "/branches"),
        ("GET", "/branches/main"),
        ("GET", "/tags"),
        ("GET", "/refs/main/commits"),
        ("GET", "/metadata"),
        ("GET", "/settings/branch_protection"),
        ("GET", "/branch_protection/set_allowed"),
        ("DELETE", ""),
    ):
        reply = api.ask(method, f"/repositories/nobody{path}")
        assert reply.status == 404
        assert "nobody" in reply.message


def test_metadata_are_set_read_and_dropped_by_key(api):
    path = "/repositories/repo/metadata"
    assert api.ask("GET", path).json == {}
    assert api.ask("POST", path, {"metadata": {"a": "1", "b": "2"}}).status == 204
    assert api.ask("POST", path, {"metadata": {"b": "3"}}).status == 204
    assert api.ask("GET", path).json == {"a": "1", "b": "3"}
    assert api.ask("DELETE", path, {"keys": ["a", "missing"]}).status == 204
    assert api.ask("GET", path).json == {"b": "3"}


@pytest.mark.parametrize(
    ("method", "body", "named"),
    [
        ("POST", {"metadata": {"a": 1}}, "metadata"),
        ("POST", {}, "metadata"),
        ("POST", {"metadata": {"a": "1", "": "2"}}, "0 bytes"),
        ("POST", {"metadata": {"a": "1", "k" * 65_536: "2"}}, "65536 bytes"),
        ("POST", {"metadata": {"a": "1", "é" * 35_000: "2"}}, "70000 bytes"),
        ("POST", {"metadata": {"a": "v" * 307_200}}, "within 307200 bytes"),
        ("POST", {"metadata": {f"{n:05}": "" for n in range(60_000)}}, "within 307200 bytes"),
        ("DELETE", {}, "keys"),
    ],
)
def test_bad_metadata_change_nothing(api, method, body, named):
    reply = api.ask(method, "/repositories/repo/metadata", body)
    assert reply.status == 400
    assert named in reply.message
    assert api.ask("GET", "/repositories/repo/metadata").json == {}


RULES = "/repositories/repo/settings/branch_protection"


def test_protection_rules_are_changed_by_read_modify_write(api):
    empty = api.ask("GET", RULES)
    assert empty.json == []
    headers = {"if-match": empty.headers["ETag"]}
    assert api.ask("PUT", RULES, [{"pattern": "rel-*"}], headers=headers).status == 204
    stored = api.ask("GET", RULES)
    assert stored.json == [{"pattern": "rel-*"}]
    late = api.ask("PUT", RULES, [], headers=headers)
    assert late.status == 412
    assert api.ask("GET", RULES).json == stored.json
    bare = {"if-match": stored.headers["ETag"].strip('"')}
    assert api.ask("PUT", RULES, [{"pattern": "x"}], headers=bare).status == 204
    assert api.ask("PUT", RULES, []).status == 204


@pytest.mark.parametrize("rules", [[{"pattern": ""}], [{}], {}, [{"pattern": 1}], [1]])
def test_bad_protection_rules_change_nothing(api, rules):
    assert api.ask("PUT", RULES, rules).status == 400
    assert api.ask("GET", RULES).json == []


def test_a_protected_branch_takes_no_writes(api):
    api.upload("a")
    assert api.ask("PUT", RULES, [{"pattern": "mai*"}]).status == 204
    branch = "/repositories/repo/branches/main"
    for reply in (
        api.ask("POST", f"{branch}/objects", b"x", path="b"),
        api.ask("DELETE", f"{branch}/objects", path="a"),
        api.ask("POST", f"{branch}/commits", {"message": "m"}),
        api.ask("GET", f"{branch}/objects/stage_allowed", path="b"),
    ):
        assert reply.status == 403
        assert "protected branch" in reply.message
    assert api.paths() == ["a"]


def test_the_deprecated_single_rules_still_work(api):
    path = "/repositories/repo/branch_protection"
    assert api.ask("GET", f"{path}/set_allowed").status == 204
    assert api.ask("POST", path, {"pattern": "a*"}).status == 204
    assert api.ask("POST", path, {"pattern": "b*"}).status == 204
    assert api.ask("POST", path, {"pattern": "a*"}).status == 204
    assert api.ask("GET", path).json == [{"pattern": "a*"}, {"pattern": "b*"}]
    assert api.ask("DELETE", path, {"pattern": "a*"}).status == 204
    assert api.ask("DELETE", path, {"pattern": "a*"}).status == 404
    assert api.ask("GET", RULES).json == [{"pattern": "b*"}]
