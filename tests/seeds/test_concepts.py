"""The reference of concepts: objects, repositories, commits, branches, storage, URIs."""

from hashlib import md5
from time import time
from uuid import uuid4

import lakefs
import pytest
from lakefs.exceptions import NotFoundException
from lakefs_sdk import models

from graveler.identity import commit_id
from graveler.model import CommitID, MetaRangeID
from tests.acceptance.clients import create_repository
from tests.seeds.clients import Clients, commit, files
from tests.seeds.statements import COLON, said, shows

pytestmark = pytest.mark.server

UNDONE = "tests/browser/test_history.py::test_changes_of_one_object_and_of_one_folder_are_undone"

STATEMENTS = {
    # Object store
    "000.01": said("blends concepts from object stores such as S3 with concepts from Git"),
    "000.02": said("An object store links objects to paths"),
    "000.03": said("contents, with unlimited size and format"),
    "000.04": said("size in bytes"),
    "000.05": said("the creation time, a timestamp with seconds resolution"),
    "000.06": said("a checksum string which uniquely identifies the contents"),
    "000.07": said("user metadata, a small map of strings to strings"),
    "000.08": said("objects are immutable and never rewritten; entirely replaced or deleted"),
    "000.09": said("The actual data itself is … in an underlying object store"),
    "000.10": said("store a pointer to the object in its metadata database"),
    # Version control
    "000.11": said("a repository is a logical namespace … objects, branches, and commits"),
    "000.12": said("the lakeFS analog of a bucket in an object store"),
    "000.13": said('Commits are immutable "checkpoints" containing an entire snapshot'),
    "000.14": said("the committer, timestamp, a commit message, … arbitrary key/value pairs"),
    "000.15": said("the data you see is exactly as it was at the point of committing it"),
    "000.16": said("Every repository has exactly one initial commit with no parents"),
    "000.18": said("identified by its commit ID, a digest of all contents of the commit"),
    "000.19": said("you may use a unique prefix to abbreviate them"),
    "000.21": said("a mutable pointer to a commit and its staging area"),
    "000.22": said("a consistent snapshot …, which is isolated from other branches"),
    "000.23": said("Example branches: main, staging, dev:joe-bugfix-1234", but=COLON),
    "000.24": said("where your changes appear before they are committed"),
    "000.25": said("every branch in lakeFS has its own staging area"),
    "000.26": said("Uncommitted changes are visible to all users with read permissions"),
    "000.27": said(
        "the Uncommitted Changes tab in the UI",
        UNDONE,
        but="The tab is called *Uncommitted*: [the web page](web.md#pages)",
    ),
    "000.28": said("a new commit is added …, and the changes disappear from the staging area"),
    "000.29": said(
        "readers will either see all your committed changes or none at all",
        "tests/unit/operations/test_commits.py::test_readers_see_all_of_a_commit_or_nothing",
        "tests/integration/test_crashes.py::"
        "test_a_crash_leaves_all_or_nothing_and_the_next_attempt_succeeds",
    ),
    # Concepts unique to lakeFS
    "000.60": said("a location in an object store where lakeFS keeps your objects and … metadata"),
    "000.61": said("you assign it with a storage namespace"),
    "000.62": said("where data for this repository will be stored"),
    "000.63": said("The path used to store the contents of an object is … a physical path"),
    "000.64": said("Once lakeFS saves an object … it is never modified"),
    "000.65": said(
        "except to remove it entirely during some cleanups",
        "tests/seeds/test_garbage_collection.py::test_expired_objects_are_hard_deleted",
    ),
    "000.66": said("lakeFS may map multiple paths to the same object on backing storage"),
    "000.67": said("always does this for objects that are unchanged across versions"),
    "000.68": said(
        "lakefs://<REPO>/<REF>/<KEY> is … used both for path prefixes and for full paths"
    ),
    "000.69": said("lakefs://<REPO>/<REF> identifies the repository at a ref expression"),
    "000.70": said("lakefs://<REPO> identifies a repo"),
}


@pytest.fixture(scope="module")
def main(repository: lakefs.Repository) -> lakefs.Branch:
    return repository.branch("main")


@pytest.fixture
def branch(repository: lakefs.Repository, main: lakefs.Branch) -> lakefs.Branch:
    """A branch of the test's own, with one commit over main's."""
    made = repository.branch(f"branch-{uuid4().hex[:8]}").create(main)
    commit(made, p="shared")
    return made


@shows("000.01", "000.02", "000.03", "000.04", "000.05", "000.06", "000.07", "000.12")
def test_an_object_has_contents_and_metadata_at_a_path(clients, repository, branch):
    for size in (0, 1, 6_000_000):
        branch.object(f"sizes/{size}").upload(b"\xff\x00" * size, content_type="made/up")
        assert branch.object(f"sizes/{size}").reader().read() == b"\xff\x00" * size
    began = int(time())
    for name, content in (("one", b"contents"), ("same", b"contents"), ("other", b"Contents")):
        clients.gateway.put_object(
            Bucket=repository.id,
            Key=f"{branch.id}/s3/{name}",
            Body=content,
            Metadata={"owner": "joe"},
        )
    one, other, same = (each for each in branch.objects(prefix="s3/", user_metadata=True))
    assert (one.path, one.size_bytes, one.metadata) == ("s3/one", 8, {"X-Amz-Meta-owner": "joe"})
    assert isinstance(one.mtime, int)
    assert began <= one.mtime <= time()
    assert one.checksum == same.checksum == md5(b"contents").hexdigest() != other.checksum
    # Git's side of the same bytes.
    head = commit(branch)
    read = clients.gateway.get_object(Bucket=repository.id, Key=f"{head}/s3/one")
    assert read["Body"].read() == b"contents"


@shows("000.08", "000.09", "000.10", "000.60", "000.61", "000.62", "000.63", "000.64", "000.66")
def test_objects_are_replaced_or_deleted_and_never_modified(clients, repository, branch):
    namespace = repository.properties.storage_namespace
    prefix = namespace.removeprefix("s3://").partition("/")[2] + "/"
    first = branch.object("o").upload("first").stat().physical_address
    commit(branch)
    assert first.startswith(f"{namespace}/data/")
    assert clients.content(first) == b"first"
    before = clients.stored(prefix)
    second = branch.object("o").upload("second").stat().physical_address
    assert second != first
    assert branch.object("o").reader().read() == b"second"
    copy = branch.object("o").copy(branch.id, "copied")
    clients.http(
        "POST",
        f"{repository.id}/branches/{branch.id}/objects/copy?dest_path=shallow",
        json={"src_path": "o", "src_ref": branch.id, "shallow": True},
    ).raise_for_status()
    assert branch.object("shallow").stat().physical_address == second
    branch.object("o").delete()
    commit(branch)
    with pytest.raises(NotFoundException):
        branch.object("o").stat()
    assert copy.reader().read() == branch.object("shallow").reader().read() == b"second"
    after = clients.stored(prefix)
    assert {name: after[name] for name in before} == before
    assert {name.partition("/")[0] for name in after} == {"data", "_lakefs"}


@shows("000.11", "000.12", "000.16", "000.69", "000.70")
def test_a_repository_groups_objects_branches_and_commits(clients, repository, branch):
    other = create_repository(clients.lakefs)
    uri = f"lakefs://{repository.id}"
    assert {repository.id, other.id} <= {
        each["Name"] for each in clients.gateway.list_buckets()["Buckets"]
    }
    for each in (repository, other):  # among those of other tests, more than a page
        shown = clients.graveler("repo", "list", "--amount=1", f"--after={each.id[:-1]}")
        assert shown.split("\t")[0] == each.id
    assert [row.id for row in other.branches()] == ["main"]
    assert list(other.branch("main").objects()) == []
    parents = [len(each.parents) for each in branch.log()]
    assert parents[-1] == 0
    assert set(parents[:-1]) == {1}
    assert branch.id in clients.graveler("branch", "list", uri, "--amount=-1")
    shown = clients.graveler("log", f"{uri}/{branch.id}~0", "--amount=1")
    assert f"ID:            {branch.head.id}\n" in shown


@shows("000.13", "000.14", "000.15", "000.18", "000.19")
def test_a_commit_is_an_immutable_snapshot_named_by_its_contents(clients, repository, branch):
    commit(branch, kept="1", replaced="1")
    branch.object("more").upload("1")
    first = branch.commit("why", metadata={"ticket": "17"}).get_commit()
    commit(branch, kept=None, replaced="2", added="2")
    assert files(repository.ref(first.id)) == dict.fromkeys(("kept", "more", "replaced"), "1") | {
        "p": "shared"
    }
    found = clients.http("GET", f"{repository.id}/commits/{first.id[:12]}").json()
    me = clients.lakefs.sdk_client.auth_api.get_current_user().user.id
    assert (found["id"], found["committer"], found["message"]) == (first.id, me, "why")
    assert found["metadata"] == {"ticket": "17"}
    assert abs(found["creation_date"] - time()) < 100

    def digest(**changed) -> str:
        fields = {
            "committer": found["committer"],
            "message": found["message"],
            "metarange_id": MetaRangeID(found["meta_range_id"]),
            "creation_date": found["creation_date"],
            "metadata": found["metadata"],
            "parents": [CommitID(each) for each in found["parents"]],
        }
        return commit_id(**fields | changed)

    assert digest() == first.id
    assert digest(message="forged") != first.id != digest(metarange_id=MetaRangeID("0" * 64))


@shows("000.21", "000.22", "000.24", "000.25", "000.28", "000.67")
def test_a_branch_is_a_pointer_and_a_staging_area_of_its_own(repository, branch):
    head = branch.head.id
    other = repository.branch(f"{branch.id}-other").create(branch)
    committed = repository.ref(f"{branch.id}@")
    branch.object("p").upload("changed")
    branch.object("new").upload("new")
    assert [(each.type, each.path) for each in branch.uncommitted()] == [
        ("added", "new"),
        ("changed", "p"),
    ]
    assert list(other.uncommitted()) == []
    assert files(branch) == {"new": "new", "p": "changed"}
    assert files(committed) == files(other) == {"p": "shared"}
    assert branch.head.id == head

    made = commit(branch)
    assert [each.id for each in branch.log(max_amount=2)] == [made, head]
    assert list(branch.uncommitted()) == []
    assert files(committed) == {"new": "new", "p": "changed"}
    assert files(other) == {"p": "shared"}
    next_one = commit(branch, third="3")
    addresses = [
        repository.ref(ref).object("new").stat().physical_address for ref in (made, next_one)
    ]
    assert addresses[0] == addresses[1]


@shows("000.23")
def test_branches_have_names_like_the_examples(repository, main):
    for name in ("staging", "dev:joe-bugfix-1234"):
        made = repository.branch(name).create(main)
        commit(made, p=name)
        assert files(repository.ref(f"{name}~0")) == {"p": name}
    assert main.get_commit().parents == []


@shows("000.26")
def test_who_may_read_sees_uncommitted_changes(clients: Clients, repository, branch):
    auth = clients.lakefs.sdk_client.auth_api
    name = f"reader-{uuid4().hex[:8]}"
    auth.create_user(user_creation=models.UserCreation(id=name))
    auth.attach_policy_to_user(name, "FSReadAll")
    pair = auth.create_credentials(name)
    reader = lakefs.Client(
        host=clients.stack.endpoint, username=pair.access_key_id, password=pair.secret_access_key
    )
    branch.object("staged").upload("not committed")
    seen = lakefs.Repository(repository.id, reader).branch(branch.id)
    assert [each.path for each in seen.uncommitted()] == ["staged"]
    assert seen.object("staged").reader().read() == b"not committed"
    auth.delete_user(name)


@shows("000.68", "000.69")
def test_uris_name_paths_prefixes_and_refs(clients, repository, branch):
    commit(branch, **{"a/1": "one", "a/2": "two", "b": "b"})
    uri = f"lakefs://{repository.id}/{branch.id}~0/"
    assert clients.graveler("fs", "cat", f"{uri}a/1") == "one"
    listed = clients.graveler("fs", "ls", f"{uri}a/")
    assert [line.split()[-1] for line in listed.splitlines()] == ["1", "2"]
    folded = clients.graveler("fs", "ls", uri)
    assert [line.split()[-1] for line in folded.splitlines()] == ["a/", "b", "p"]
