"""Versioning with the official `lakefs` package, as its documentation shows it."""

import io
from typing import Any
from uuid import uuid4

import lakefs
import pyarrow.parquet as pq
import pytest
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
    ObjectExistsException,
    ServerException,
    TransactionException,
)
from lakefs_sdk import BranchProtectionRule

from tests.acceptance.clients import create_repository
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server


def commit(branch: lakefs.Branch, **files: str) -> lakefs.Reference:
    """A commit that writes these files; its message names them."""
    for path, text in files.items():
        branch.object(path).upload(text)
    return branch.commit(" ".join(files))


def files_of(reference: lakefs.Reference) -> dict[str, str]:
    """Path and text of every file."""
    paths = [found.path for found in reference.objects()]
    return {path: str(reference.object(path).reader("r").read()) for path in paths}


def messages_of(reference: lakefs.Reference, **query: Any) -> list[str]:
    return [found.message for found in reference.log(**query)]


def changes_of(left: lakefs.Reference, right: lakefs.Reference, **query: Any) -> dict[str, str]:
    return {change.path: change.type for change in left.diff(right, **query)}


# Repositories


def test_a_new_repository_has_a_default_branch_and_one_commit(client):
    repository = create_repository(client)
    assert repository.properties.default_branch == "main"
    assert repository.properties.storage_namespace == f"s3://{BUCKET}/{repository.id}"
    assert [branch.id for branch in repository.branches()] == ["main"]
    assert messages_of(repository.branch("main")) == ["Repository created"]
    assert files_of(repository.branch("main")) == {}


def test_a_repository_can_begin_with_sample_data(client):
    name = f"sample-{uuid4().hex[:8]}"
    repository = lakefs.Repository(name, client).create(
        f"s3://{BUCKET}/{name}", include_samples=True
    )
    main = repository.branch("main")
    assert messages_of(main) == ["Add sample data", "Repository created"]
    files = {found.path for found in main.objects()}
    assert {"README.md", "lakes.parquet"} < files
    assert f"lakefs://{name}/main" in main.object("README.md").reader("r").read()
    content: Any = main.object("lakes.parquet").reader("rb").read()
    table = pq.read_table(io.BytesIO(content))
    assert "Denmark" in table.column("Country").to_pylist()
    with pytest.raises(ForbiddenException):
        main.commit("protected")


def test_what_a_hook_guards_is_refused(repository):
    action = "name: quality\non: {pre-commit: }\nhooks:\n- {id: check, type: lua, properties: {script: x}}"
    main = repository.branch("main")
    main.object("_lakefs_actions/quality.yaml").upload(action)
    with pytest.raises(ServerException, match="hooks of type 'lua' are not served") as refused:
        main.commit("guarded")
    assert refused.value.status_code == 412
    main.object("_lakefs_actions/quality.yaml").delete()
    commit(main, a="1")


def test_repositories_are_listed_by_prefix_and_created_once(client, repository):
    assert [found.id for found in lakefs.repositories(client, prefix=repository.id)] == [
        repository.id
    ]
    again = lakefs.Repository(repository.id, client)
    with pytest.raises(ConflictException):
        again.create(f"s3://{BUCKET}/{repository.id}-again")
    assert again.create(f"s3://{BUCKET}/other", exist_ok=True).properties == repository.properties


def test_a_deleted_repository_is_gone_and_its_name_is_free(client, repository, main):
    commit(main, a="1")
    repository.delete()
    with pytest.raises(NotFoundException):
        lakefs.Repository(repository.id, client).properties  # noqa: B018 - reads it
    with pytest.raises(NotFoundException):
        main.object("a").upload("2", pre_sign=False)
    repository.create(f"s3://{BUCKET}/{repository.id}-anew")
    assert files_of(main) == {}


def test_a_read_only_repository_refuses_changes(client, repository):
    name = f"{repository.id}-ro"
    client.sdk_client.repositories_api.create_repository(
        {"name": name, "storage_namespace": f"s3://{BUCKET}/{name}", "read_only": True}
    )
    with pytest.raises(ForbiddenException):
        lakefs.Branch(name, "main", client).object("a").upload("1", pre_sign=False)


# Files


@pytest.mark.parametrize("pre_sign", [False, True], ids=["through the API", "by presigned URL"])
def test_an_object_keeps_its_content_type_and_metadata(main, pre_sign):
    main.object("a.csv").upload(
        "1,2", pre_sign=pre_sign, content_type="text/csv", metadata={"owner": "me", "k-2": "v 2"}
    )
    for reference in (main, main.commit("typed")):
        found = reference.object("a.csv").stat()
        assert found.content_type == "text/csv"
        assert found.metadata == {"owner": "me", "k-2": "v 2"}
        assert found.size_bytes == 3


@pytest.mark.parametrize("pre_sign", [False, True], ids=["through the API", "by presigned URL"])
def test_exclusive_creation_never_overwrites(main, pre_sign):
    main.object("a").upload("first", mode="x", pre_sign=pre_sign)
    writer = main.object("b").writer("x", pre_sign=pre_sign)
    writer.write("too late")
    main.object("b").upload("first")
    with pytest.raises(ObjectExistsException):
        writer.close()
    with pytest.raises(FileExistsError):
        main.object("a").upload("second", mode="x", pre_sign=pre_sign)
    assert files_of(main) == {"a": "first", "b": "first"}


def test_a_writer_that_fails_half_way_writes_nothing(main):
    def write_half() -> None:
        with main.object("a").writer() as writer:
            writer.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert files_of(main) == {}


@pytest.mark.parametrize("pre_sign", [False, True], ids=["through the API", "by presigned URL"])
def test_a_reader_behaves_like_an_open_file(main, pre_sign):
    text = "first line\nsecond line\n\nlast"
    main.object("a").upload(text)
    with main.object("a").reader("r", pre_sign=pre_sign) as reader:
        assert reader.read(5) == "first"
        assert reader.tell() == 5
        assert reader.read(6) == " line\n"
        reader.seek(-4, io.SEEK_END)
        assert reader.read() == "last"
        assert reader.read() == ""
        reader.seek(1_000)
        assert reader.read(10) == ""
    lines = list(main.object("a").reader("r", pre_sign=pre_sign))
    assert lines == text.splitlines(keepends=True)
    main.object("empty").upload("")
    assert main.object("empty").reader(pre_sign=pre_sign).read() == b""
    assert main.object("empty").reader(pre_sign=pre_sign).read(10) == b""


def test_a_copy_is_independent_of_its_source(main):
    first = commit(main, a="1")
    main.object("a").copy("main", "b")
    commit(main, a="2")
    first.object("a").copy("main", "a-as-it-was")
    assert files_of(main) == {"a": "2", "b": "1", "a-as-it-was": "1"}


def test_deleting_many_objects_takes_names_and_listed_objects(main):
    commit(main, a="1", b="2", c="3", d="4")
    main.delete_objects(["a", "there is none"])
    main.delete_objects(main.object("b"))
    main.delete_objects("c")
    main.object("d").delete()
    main.object("d").delete()
    assert files_of(main) == {}
    assert {change.path: change.type for change in main.uncommitted()} == dict.fromkeys(
        "abcd", "removed"
    )


# Branches and commits


def test_a_branch_is_isolated_until_it_is_merged(repository, main):
    commit(main, shared="1")
    dev = repository.branch("dev").create(main)
    dev.object("shared").upload("2")
    dev.object("new").upload("3")
    main.object("other").upload("4")
    assert files_of(dev) == {"shared": "2", "new": "3"}
    assert files_of(main) == {"shared": "1", "other": "4"}
    dev.commit("on dev")
    assert files_of(main) == {"shared": "1", "other": "4"}
    main.commit("on main")
    dev.merge_into(main)
    assert files_of(main) == {"shared": "2", "new": "3", "other": "4"}


def test_a_commit_tells_who_when_why_and_after_what(main):
    first = commit(main, a="1").get_commit()
    main.object("a").upload("2")
    second = main.commit("why", metadata={"job": "7"}, date=1_700_000_000).get_commit()
    assert (second.message, second.metadata) == ("why", {"job": "7"})
    assert second.creation_date == 1_700_000_000
    assert second.parents == [first.id]
    assert second.committer == first.committer != ""
    assert main.head.id == second.id


def test_a_commit_without_changes_is_refused_unless_it_is_asked_for(main):
    with pytest.raises(BadRequestException, match="no changes"):
        main.commit("nothing")
    main.commit("nothing", allow_empty=True)
    main.object("a").upload("1")
    main.object("a").delete()
    with pytest.raises(BadRequestException, match="no changes"):
        main.commit("written and deleted")


def test_the_log_is_newest_first_and_follows_one_file_or_folder(main):
    for number in range(3):
        main.object(f"folder/{number}").upload("x")
        main.commit(f"folder {number}")
        main.object("file").upload(str(number))
        main.commit(f"file {number}")
    assert messages_of(main) == [
        *("file 2", "folder 2", "file 1", "folder 1", "file 0", "folder 0"),
        "Repository created",
    ]
    assert messages_of(main, max_amount=2) == ["file 2", "folder 2"]
    assert messages_of(main, amount=1) == messages_of(main)
    assert messages_of(main, objects=["file"]) == ["file 2", "file 1", "file 0"]
    assert messages_of(main, prefixes=["folder/"]) == ["folder 2", "folder 1", "folder 0"]


def test_every_way_to_name_a_commit_finds_it(repository, main):
    first, second, third = (commit(main, a=text) for text in "123")
    repository.tag("v2").create(second)
    main.object("a").upload("uncommitted")
    named = {
        "main": "uncommitted",
        "main$": "uncommitted",
        "main@": "3",
        "main~": "2",
        "main~1": "2",
        "main^": "2",
        "main~2": "1",
        "main^^": "1",
        "v2": "2",
        "v2~1": "1",
        first.id: "1",
        third.id[:12]: "3",
        f"{third.id}~2": "1",
    }
    for name, text in named.items():
        assert files_of(repository.ref(name)) == {"a": text}, name
    assert repository.ref("v2~1").get_commit().id == first.id


def test_uncommitted_changes_can_be_dropped_by_file_by_folder_or_all(main):
    commit(main, kept="1")
    for path in ("folder/a", "folder/b", "folder2/c", "file", "kept"):
        main.object(path).upload("changed")
    main.reset_changes("object", "file")
    main.reset_changes("common_prefix", "folder/")
    assert {change.path: change.type for change in main.uncommitted()} == {
        "folder2/c": "added",
        "kept": "changed",
    }
    main.reset_changes()
    assert files_of(main) == {"kept": "1"}


def test_hundreds_of_branches_and_tags_are_listed_page_by_page(repository, main):
    names = [f"b{number:03}" for number in range(120)]
    for name in names:
        repository.branch(name).create(main)
        repository.tag(f"t{name}").create(main)
    assert [branch.id for branch in repository.branches()] == [*names, "main"]
    assert [branch.id for branch in repository.branches(prefix="b11")] == names[110:]
    assert [branch.id for branch in repository.branches(after="b117")] == ["b118", "b119", "main"]
    assert [tag.id for tag in repository.tags(max_amount=110)] == [f"t{n}" for n in names[:110]]


def test_a_branch_is_created_once_and_deleted_once(repository, main):
    branch = repository.branch("dev").create(main)
    with pytest.raises(ConflictException):
        branch.create(main)
    assert branch.create(main, exist_ok=True).id == "dev"
    branch.delete()
    with pytest.raises(NotFoundException):
        branch.delete()
    with pytest.raises(ForbiddenException):
        main.delete()


def test_a_protected_branch_changes_only_by_merging(client, repository, main):
    commit(main, a="1")
    dev = repository.branch("dev").create(main)
    client.sdk_client.repositories_api.set_branch_protection_rules(
        repository.id, [BranchProtectionRule(pattern="ma*")]
    )
    for pre_sign in (False, True):
        with pytest.raises(Exception, match="protected branch"):
            main.object("a").upload("2", pre_sign=pre_sign)
    with pytest.raises(PermissionError):
        main.object("a").delete()
    with pytest.raises(ForbiddenException):
        main.commit("no", allow_empty=True)
    commit(dev, a="3")
    dev.merge_into(main)
    assert files_of(main) == {"a": "3"}


# Tags, and changes taken back or over


def test_a_tag_stays_where_it_was_put(repository, main):
    commit(main, a="1")
    tag = repository.tag("v1").create(main)
    commit(main, a="2")
    assert files_of(tag) == {"a": "1"}
    with pytest.raises(ConflictException):
        repository.tag("v1").create(main)
    assert repository.tag("v1").create(main, exist_ok=True).id == "v1"
    assert files_of(tag) == {"a": "1"}
    tag.delete()
    assert list(repository.tags()) == []
    with pytest.raises(NotFoundException):
        tag.delete()


def test_a_revert_takes_back_one_commit_and_keeps_later_ones(main):
    commit(main, a="1")
    bad = commit(main, a="2", bad="x")
    commit(main, b="3")
    made = main.revert(bad)
    assert files_of(main) == {"a": "1", "b": "3"}
    assert made.parents == [main.get_commit().parents[0]]
    assert bad.id in made.message
    commit(main, a="4")
    with pytest.raises(ConflictException):
        main.revert(bad)
    assert files_of(main) == {"a": "4", "b": "3"}


def test_a_merge_is_reverted_relative_to_the_parent_that_is_named(repository, main):
    commit(main, a="1")
    dev = repository.branch("dev").create(main)
    commit(dev, b="2")
    commit(main, c="3")
    merged = dev.merge_into(main)
    with pytest.raises(ConflictException, match="parent"):
        main.revert(merged)
    main.revert(merged, parent_number=1)
    assert files_of(main) == {"a": "1", "c": "3"}


def test_a_cherry_pick_brings_one_commit_and_says_where_from(repository, main):
    commit(main, a="1")
    dev = repository.branch("dev").create(main)
    commit(dev, b="2")
    wanted = commit(dev, c="3")
    commit(dev, d="4")
    made = main.cherry_pick(wanted)
    assert files_of(main) == {"a": "1", "c": "3"}
    assert made.message == wanted.get_commit().message
    assert made.metadata["cherry-pick-origin"] == wanted.id
    commit(main, b="other")
    with pytest.raises(ConflictException):
        main.cherry_pick("dev~2")
    assert files_of(main) == {"a": "1", "c": "3", "b": "other"}


# Transactions


def test_a_transaction_arrives_as_a_whole_and_is_tagged(repository, main):
    commit(main, old="1")
    with main.transact("both or none", {"job": "7"}, tag="done") as transaction:
        transaction.object("a").upload("1")
        transaction.object("b").upload("2")
        transaction.object("old").delete()
        assert files_of(main) == {"old": "1"}
        assert [branch.id for branch in repository.branches()] == ["main"]
    assert files_of(main) == files_of(repository.tag("done")) == {"a": "1", "b": "2"}
    assert "both or none" in messages_of(main)
    hidden = [branch.id for branch in repository.branches(show_hidden=True)]
    assert hidden == ["main"]


def test_a_transaction_that_fails_leaves_nothing_behind(repository, main):
    commit(main, a="1")

    def stop_half_way() -> None:
        with main.transact("never") as transaction:
            transaction.object("a").upload("2")
            raise RuntimeError

    def conflict() -> None:
        with main.transact("conflicts") as transaction:
            transaction.object("a").upload("2")
            commit(main, a="3")

    with pytest.raises(RuntimeError):
        stop_half_way()
    with pytest.raises(TransactionException):
        conflict()
    assert files_of(main) == {"a": "3"}
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]
