"""`lakefs.Branch`: changes, commits, and what takes them back."""

import lakefs
import pytest
from lakefs.exceptions import BadRequestException, ConflictException, NotFoundException

pytestmark = pytest.mark.server


def commit(branch: lakefs.Branch, path: str, text: str) -> lakefs.Reference:
    branch.object(path).upload(text)
    return branch.commit(f"{path}={text}")


def test_a_branch_is_created_from_any_reference(repository, main):
    first = commit(main, "a", "1")
    commit(main, "a", "2")
    for name, source in {"b1": main, "b2": "main~1", "b3": first, "b4": first.id}.items():
        branch = repository.branch(name).create(source)
        assert branch.object("a").reader("r").read() == ("2" if name == "b1" else "1")
    with pytest.raises(ConflictException):
        repository.branch("b1").create(main)
    assert repository.branch("b1").create(main, exist_ok=True).id == "b1"
    with pytest.raises(NotFoundException):
        repository.branch("b5").create("nothing")


def test_a_branch_is_deleted(repository, main):
    branch = repository.branch("dev").create(main)
    branch.delete()
    with pytest.raises(NotFoundException):
        branch.get_commit()


def test_its_head_stays_and_the_branch_moves(main):
    head = main.head
    assert head.id == main.get_commit().id
    second = commit(main, "a", "1")
    assert head.get_commit().message == "Repository created"
    assert main.head.id == second.id == main.get_commit().id


def test_a_commit_has_metadata_a_date_and_may_be_empty(main):
    main.object("a").upload("1")
    made = main.commit("m", metadata={"k": "v"}, date=1_600_000_000).get_commit()
    assert (made.message, made.metadata, made.creation_date) == ("m", {"k": "v"}, 1_600_000_000)
    with pytest.raises(BadRequestException, match="no changes"):
        main.commit("nothing")
    assert main.commit("nothing", allow_empty=True).get_commit().parents == [made.id]


def test_uncommitted_changes_are_listed(main):
    for path in ("a", "folder/1", "folder/2"):
        main.object(path).upload("1")
    found = {change.path: (change.type, change.size_bytes) for change in main.uncommitted()}
    assert found == dict.fromkeys(("a", "folder/1", "folder/2"), ("added", 1))
    assert [each.path for each in main.uncommitted(prefix="folder/")] == ["folder/1", "folder/2"]
    assert [each.path for each in main.uncommitted(after="a", max_amount=1)] == ["folder/1"]
    assert [each.path for each in main.uncommitted(delimiter="/")] == ["a", "folder/"]


def test_objects_are_deleted_by_name_by_object_or_many(main):
    for path in "abcd":
        main.object(path).upload(path)
    main.delete_objects("a")
    main.delete_objects(main.object("b"))
    main.delete_objects([main.object("c"), "nothing"])
    assert [found.path for found in main.objects()] == ["d"]


def test_changes_are_reset_by_object_by_folder_or_all(main):
    for path in ("a", "folder/1", "z"):
        main.object(path).upload("1")
    main.reset_changes("object", path="a")
    main.reset_changes("common_prefix", path="folder/")
    assert [found.path for found in main.objects()] == ["z"]
    main.reset_changes()
    assert list(main.objects()) == []


def test_a_commit_is_reverted(main):
    commit(main, "a", "1")
    second = commit(main, "a", "2")
    commit(main, "b", "1")
    reverted = main.revert(second)
    assert main.get_commit().id == reverted.id
    assert main.object("a").reader("r").read() == "1"
    assert main.object("b").exists()
    with pytest.raises(BadRequestException, match="no changes"):
        main.revert(second)


def test_a_merge_is_reverted_against_one_parent(repository, main):
    dev = repository.branch("dev").create(main)
    commit(main, "a", "main")
    commit(dev, "b", "dev")
    merged = dev.merge_into(main)
    main.revert(merged, parent_number=1)
    assert [found.path for found in main.objects()] == ["a"]


def test_a_commit_is_cherry_picked(repository, main):
    dev = repository.branch("dev").create(main)
    commit(dev, "a", "1")
    picked = commit(dev, "b", "1")
    made = main.cherry_pick(picked)
    assert (made.message, main.get_commit().id) == ("b=1", made.id)
    assert [found.path for found in main.objects()] == ["b"]
    dev.merge_into(repository.branch("other").create("main"))
    with pytest.raises(BadRequestException):
        repository.branch("third").create("main~1").cherry_pick("other")
    repository.branch("third").cherry_pick("other", parent_number=1)
    assert repository.branch("third").object("a").exists()


def test_import_data_and_transact_lead_to_the_branch(main):
    assert main.import_data("m", metadata={"k": "v"}).commit_message == "m"
    with main.transact(commit_message="t") as transaction:
        transaction.object("a").upload("1")
    assert main.object("a").exists()
