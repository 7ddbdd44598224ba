"""Transactions of `lakefs.Branch.transact`."""

import pytest
from lakefs.exceptions import NotFoundException, TransactionException

pytestmark = pytest.mark.server


def test_a_transaction_arrives_whole_as_the_documentation_shows(repository, main):
    for path in ("old/1", "old/2", "kept"):
        main.object(path).upload("before")
    main.commit("first")
    with main.transact(commit_message="my transaction", commit_metadata={"k": "v"}) as tx:
        assert tx.source_id == "main"
        tx.delete_objects([found.path for found in tx.objects(prefix="old/")])
        tx.object("new_object").upload("new object data")
        assert {change.type for change in tx.uncommitted()} == {"added", "removed"}
        assert not main.object("new_object").exists()
    assert [found.path for found in main.objects()] == ["kept", "new_object"]
    logged = {each.message: each.metadata for each in main.log(max_amount=2)}
    assert logged["my transaction"]["k"] == "v"
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]


def test_message_metadata_and_tag_may_be_set_while_it_is_open(repository, main):
    with main.transact() as tx:
        tx.object("a").upload("1")
        tx.object("b").upload("1")
        tx.reset_changes("object", "b")
        tx.commit_message = "decided late"
        tx.commit_metadata = {"k": "v"}
        tx.tag = "v1"
        assert (tx.commit_message, tx.commit_metadata) == ("decided late", {"k": "v"})
        assert tx.tag == "v1"
    assert [found.path for found in repository.tag("v1").objects()] == ["a"]
    assert "decided late" in [each.message for each in main.log()]


def test_an_error_leaves_nothing_behind(repository, main):
    def fail() -> None:
        with main.transact("m") as tx:
            tx.object("a").upload("1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(main.objects()) == []
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]


def test_the_branch_of_a_failed_transaction_may_be_kept(repository, main):
    def conflict() -> None:
        with main.transact("m", delete_branch_on_error=False) as tx:
            tx.object("a").upload("theirs")
            main.object("a").upload("ours")
            main.commit("meanwhile")

    with pytest.raises(TransactionException):
        conflict()
    assert main.object("a").reader("r").read() == "ours"
    [kept] = [branch for branch in repository.branches(show_hidden=True) if branch.id != "main"]
    assert kept.object("a").reader("r").read() == "theirs"


def test_a_transaction_needs_a_branch(repository):
    with pytest.raises(NotFoundException), repository.branch("nothing").transact("m"):
        pass
