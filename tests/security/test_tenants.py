"""What lies beside a repository in its bucket, and who gets there."""

import pytest

from graveler.addresses import relative_address
from graveler.model import AddressType
from graveler.retention.liveness import live_addresses
from tests.support.clients.api import ApiClient

BACKING = "/repositories/{0}/branches/main/staging/backing"
OBJECTS = "/repositories/{0}/branches/main/objects"
READ = "/repositories/{0}/refs/main/objects"


@pytest.fixture
def api() -> ApiClient:
    """Repositories of which one's name begins with the other's."""
    api = ApiClient()
    api.repository("repo")
    api.repository("repo2")
    return api


def address(api: ApiClient, repository: str, path: str = "a") -> str:
    return api.ask("GET", BACKING.format(repository), path=path).json["physical_address"]


def link(api: ApiClient, repository: str, physical_address: str, path: str = "a") -> int:
    body = {"staging": {"physical_address": physical_address}, "checksum": "c", "size_bytes": 1}
    return api.ask("PUT", BACKING.format(repository), body, path=path).status


def test_an_upload_address_is_for_one_path_of_one_branch_of_one_repository(api):
    issued = address(api, "repo")
    api.branch("dev")
    body = {"staging": {"physical_address": issued}, "checksum": "c", "size_bytes": 1}
    other_branch = "/repositories/repo/branches/dev/staging/backing"
    assert api.ask("PUT", other_branch, body, path="a").status == 400
    assert link(api, "repo", issued, "b") == 400
    moved = issued.replace("s3://bucket/repo/", "s3://bucket/repo2/")
    assert link(api, "repo2", moved) == 400
    assert link(api, "repo", issued) == 200


@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a + "x", lambda a: a.split(",")[0]])
def test_an_upload_address_without_its_signature_is_refused(api, change):
    assert link(api, "repo", change(address(api, "repo"))) == 400


def test_an_upload_address_of_another_installation_is_refused(api):
    other = ApiClient()
    other.repository("repo")
    object.__setattr__(other.engine, "signing_key", b"another" * 5)
    assert link(api, "repo", address(other, "repo")) == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_uploads_in_parts_touch_nothing_outside_of_the_repository(api, method):
    upload = api.ask("POST", "/repositories/repo/branches/main/staging/pmpu", path="a", parts=1)
    upload_id = upload.json["upload_id"]
    for foreign in ("s3://bucket/repo2/data/x/y", "s3://else/where", "s3://bucket/repo/_lakefs/x"):
        body = {"physical_address": foreign, "parts": [{"part_number": 1, "etag": "e"}]}
        path = f"/repositories/repo/branches/main/staging/pmpu/{upload_id}"
        reply = api.ask(method, path, body, path="a")
        assert (reply.status, "was not issued" in reply.message) == (400, True)


def test_a_linked_object_of_another_repository_is_read_and_stays_the_others(api):
    """As in lakeFS: every user may read what the deployment reads, and there is no finer right."""
    api.ask("POST", OBJECTS.format("repo2"), b"theirs", path="x")
    theirs = api.ask("GET", f"{READ.format('repo2')}/stat", path="x").json["physical_address"]
    body = {"physical_address": theirs, "checksum": "c", "size_bytes": 6}
    assert api.ask("PUT", OBJECTS.format("repo"), body, path="mine").status == 201
    assert api.ask("GET", READ.format("repo"), path="mine").content == b"theirs"
    found = api.engine.refs.repository_and_branch(api.engine.refs.repository("repo"), "main")
    staged = api.engine.staging.get(found[1].staging_token, b"mine")
    # Written in full, so that no collection of this repository counts it, or deletes it.
    assert list(live_addresses("s3://bucket/repo", [staged.value])) == []
    assert api.ask("DELETE", OBJECTS.format("repo"), path="mine").status == 204
    assert api.world.objects.get(theirs) == b"theirs"


def test_a_namespace_with_a_common_prefix_is_separate():
    assert relative_address("s3://bucket/repo", "s3://bucket/repo2/data/x") == (
        "s3://bucket/repo2/data/x",
        AddressType.FULL,
    )
    assert relative_address("s3://bucket/repo", "s3://bucket/repo/data/x") == (
        "data/x",
        AddressType.RELATIVE,
    )


@pytest.mark.parametrize(
    "uri",
    [
        "s3://bucket/repo/data/../../repo2/data/x",
        "s3://bucket/../other/x",
        "s3://bucket/..",
        "s3://bucket/a\x00b",
        f"s3://bucket/{'a' * 1025}",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data",
        "s3://bucket",
    ],
)
def test_a_uri_that_cannot_be_an_object_is_not_linked(api, uri):
    body = {"physical_address": uri, "checksum": "c", "size_bytes": 1}
    assert api.ask("PUT", OBJECTS.format("repo"), body, path="a").status == 400
    assert link(api, "repo", uri) == 400


@pytest.mark.parametrize(
    "namespace",
    ["s3://bucket/a/../repo", "s3://bucket/./repo", "s3://bucket/..", "s3://bucket/.", "file:///x"],
)
def test_a_namespace_with_dot_segments_is_refused(api, namespace):
    body = {"name": "third", "storage_namespace": namespace}
    assert api.ask("POST", "/repositories", body).status == 400


@pytest.mark.parametrize("path", ["../x", "/a", "a//b", "a/../b", "a\x00b", "\u202e", "%2e%2e/x"])
def test_a_path_with_dot_segments_is_only_a_name(api, path):
    reply = api.ask("POST", OBJECTS.format("repo"), b"1", path=path)
    stored = reply.json["physical_address"]
    assert stored.startswith("s3://bucket/repo/data/")
    assert path not in stored
    assert api.ask("GET", READ.format("repo"), path=path).content == b"1"
    assert api.paths() == [path]


@pytest.mark.parametrize(
    "name", ["../repo2/_lakefs/" + "a" * 64, "a" * 63, "A" * 64, "dummy", "\0"]
)
def test_a_commit_takes_no_file_of_another_name_for_a_metarange(api, name):
    read = []
    for method in ("read_tail", "read", "read_all"):
        setattr(api.world.files, method, lambda *arguments: read.append(arguments))
    path = "/repositories/repo/branches/main/commits"
    assert api.ask("POST", path, {"message": "m"}, source_metarange=name).status == 404
    body = {f"{kind}_meta_range_id": name for kind in ("commits", "branches", "tags")}
    bare = {"name": "bare", "storage_namespace": "s3://bucket/bare"}
    assert api.ask("POST", "/repositories", bare, bare="true").status == 201
    assert api.ask("PUT", "/repositories/bare/refs/restore", body).status == 400
    assert read == []
