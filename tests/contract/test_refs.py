"""The contract of every RefStore."""

from typing import Any

import pytest
from msgspec.structs import replace

from graveler.errors import AlreadyExistsError, NotFoundError, StaleVersionError
from graveler.model import Branch, ProtectionRule, Repository, RepositoryUID, Tag
from tests.contract.conftest import (
    COMMIT_ID,
    OTHER_ID,
    DynamoDBStores,
    Stores,
    create,
    main_of,
    new_commit,
    new_event,
    new_repository,
    new_token,
)

pytestmark = pytest.mark.usefixtures("spread")


class TestRepositories:
    def test_a_new_repository_has_its_record_branch_commit_and_event(self, stores: Stores) -> None:
        rules = (ProtectionRule("main"), ProtectionRule("v*", block_commit=False))
        repository = replace(new_repository(), read_only=True, protection_rules=rules)
        commit, event = new_commit(), new_event()
        branch = Branch("main", commit.id, new_token(), hidden=True)
        stores.refs.create_repository(repository, branch, commit, event)
        assert stores.refs.repository(repository.name) == repository
        assert stores.refs.repository_and_branch(repository, "main") == (repository, branch)
        assert stores.refs.commits(repository, [commit.id]) == {commit.id: commit}
        assert stores.refs.repository_metadata(repository) == {}
        assert event.id in stores.event_ids(repository)

    @pytest.mark.parametrize(
        ("before", "others"),
        [
            ({}, {"uid": RepositoryUID("another")}),
            ({}, {"storage_namespace": "s3://elsewhere/path"}),
            ({}, {"default_branch": "other"}),
            ({}, {"read_only": True}),
            ({}, {"protection_rules": (ProtectionRule("main"),)}),
            ({}, {"restoring": ""}),
            ({"restoring": ""}, {"restoring": None}),
            ({"restoring": ""}, {"restoring": "a dump"}),
        ],
        ids=str,
    )
    def test_an_update_beside_any_other_is_stale(
        self,
        dynamodb_stores: DynamoDBStores,
        monkeypatch: pytest.MonkeyPatch,
        before: dict[str, Any],
        others: dict[str, Any],
    ) -> None:
        refs, dynamodb = dynamodb_stores.refs, dynamodb_stores.tables.dynamodb
        old = replace(new_repository(), **before)
        refs.create_repository(old, None, None, new_event())
        changed = replace(old, **others)
        call = dynamodb.call

        def beside_another(operation: str, *more: Any) -> Any:
            if operation == "PutItem":
                monkeypatch.setattr(dynamodb, "call", call)
                refs.update_repository(old, changed)
            return call(operation, *more)

        monkeypatch.setattr(dynamodb, "call", beside_another)
        with pytest.raises(StaleVersionError):
            refs.update_repository(old, replace(old, creation_date=1))
        assert refs.repository(old.name) == changed

    def test_a_taken_name_is_refused_and_changes_nothing(
        self, stores: Stores, repository: Repository
    ) -> None:
        other = new_repository(repository.name)
        commit, event = new_commit(), new_event()
        with pytest.raises(AlreadyExistsError):
            stores.refs.create_repository(
                other, Branch("main", commit.id, new_token()), commit, event
            )
        assert stores.refs.repository(repository.name) == repository
        assert stores.refs.branch(other, "main") is None
        assert stores.refs.commits(other, [commit.id]) == {}
        assert event.id not in stores.event_ids(other)

    def test_names_that_nobody_took_are_not_found(self, stores: Stores) -> None:
        absent = new_repository()
        assert stores.refs.repository(absent.name) is None
        assert stores.refs.repository_and_branch(absent, "main") == (None, None)

    def test_repositories_are_listed_by_name_in_pages(self, stores: Stores) -> None:
        stem = new_repository().name
        names = [f"{stem}-{letter}" for letter in "abcde"]
        for name in reversed(names):
            create(stores, name)
        first = stores.refs.repositories(f"{stem}-", "", 2)
        assert [r.name for r in first.results] == names[:2]
        assert first.next_after == names[1]
        last = stores.refs.repositories(f"{stem}-", names[1], 3)
        assert [r.name for r in last.results] == names[2:]
        assert not last.has_more

    def test_an_update_replaces_what_was_read(self, stores: Stores, repository: Repository) -> None:
        new = replace(repository, protection_rules=(ProtectionRule("x"),))
        stores.refs.update_repository(repository, new)
        assert stores.refs.repository(repository.name) == new

    def test_an_update_of_what_somebody_changed_is_stale(
        self, stores: Stores, repository: Repository
    ) -> None:
        new = replace(repository, read_only=True)
        stores.refs.update_repository(repository, new)
        with pytest.raises(StaleVersionError):
            stores.refs.update_repository(repository, replace(repository, default_branch="x"))
        assert stores.refs.repository(repository.name) == new

    def test_a_deleted_repository_is_unreachable_and_its_name_free(
        self, stores: Stores, repository: Repository
    ) -> None:
        event = new_event()
        stores.refs.delete_repository(repository, event)
        assert stores.refs.repository(repository.name) is None
        assert stores.refs.branch(repository, "main") is None
        assert event.id in stores.event_ids(repository)
        listed = stores.refs.repositories(repository.name, "", 10)
        assert listed.results == ()
        again = create(stores, repository.name)
        assert stores.refs.repository(repository.name) == again
        with pytest.raises(NotFoundError, match="repository not found"):
            stores.refs.delete_repository(repository, new_event())
        assert stores.refs.repository(repository.name) == again

    def test_metadata_is_set_and_dropped_by_key(
        self, stores: Stores, repository: Repository
    ) -> None:
        stores.refs.update_repository_metadata(repository, {"a.b": "1", "é": "", "c": "3"}, [])
        stores.refs.update_repository_metadata(repository, {"c": "4"}, ["a.b", "absent"])
        assert stores.refs.repository_metadata(repository) == {"é": "", "c": "4"}

    def test_many_metadata_keys_are_set_at_once(
        self, stores: Stores, repository: Repository
    ) -> None:
        many = {f"key-{number}": str(number) for number in range(1_000)}
        stores.refs.update_repository_metadata(repository, many, [])
        assert stores.refs.repository_metadata(repository) == many


class TestBranches:
    def test_a_new_branch_is_as_it_was_given(self, stores: Stores, repository: Repository) -> None:
        event = new_event()
        branch = Branch("dev", COMMIT_ID, new_token(), (new_token(), new_token()), 7, hidden=True)
        branch = replace(branch, uid="d8qj3tkbtms0fh2ok8ng")
        stores.refs.create_branch(repository, branch, event)
        assert stores.refs.branch(repository, "dev") == branch
        assert event.id in stores.event_ids(repository)

    def test_a_taken_name_is_refused(self, stores: Stores, repository: Repository) -> None:
        before, event = main_of(stores, repository), new_event()
        with pytest.raises(AlreadyExistsError):
            stores.refs.create_branch(repository, replace(before, staging_token=new_token()), event)
        assert main_of(stores, repository) == before
        assert event.id not in stores.event_ids(repository)

    def test_listing_pages_by_name_and_hides_the_hidden(
        self, stores: Stores, repository: Repository
    ) -> None:
        for name in ("a-1", "a-2", "a-3", "a-4", "b"):
            hidden = name in ("a-2", "a-3")
            branch = Branch(name, COMMIT_ID, new_token(), hidden=hidden)
            stores.refs.create_branch(repository, branch, new_event())

        def listed(prefix: str, after: str, amount: int, *, hidden: bool = False) -> tuple:
            page = stores.refs.branches(repository, prefix, after, amount, show_hidden=hidden)
            return [branch.name for branch in page.results], page.next_after

        assert listed("", "", 10) == (["a-1", "a-4", "b", "main"], "")
        assert listed("", "", 2) == (["a-1", "a-4"], "a-4")
        assert listed("a", "", 2) == (["a-1", "a-4"], "")
        assert listed("a", "", 2, hidden=True) == (["a-1", "a-2"], "a-2")
        assert listed("a", "a-2", 9, hidden=True) == (["a-3", "a-4"], "")
        assert listed("a-", "a-", 1, hidden=True) == (["a-1"], "a-1")
        assert listed("b", "a", 9) == (["b"], "")
        assert listed("b", "b", 9) == ([], "")
        assert listed("a", "b", 9) == ([], "")
        assert listed("zz", "", 9) == ([], "")

    def test_a_version_is_raised_while_the_branch_has_the_token(
        self, stores: Stores, repository: Repository
    ) -> None:
        main = main_of(stores, repository)
        assert stores.refs.bump_version(repository, "main", new_token()) is None
        assert main_of(stores, repository) == main
        raised = stores.refs.bump_version(repository, "main", main.staging_token)
        assert main_of(stores, repository) == raised == replace(main, version=main.version + 1)
        sealed = stores.refs.seal_token(repository, raised, new_token())
        raised = stores.refs.bump_version(repository, "main", main.staging_token)
        assert main_of(stores, repository) == raised
        assert raised == replace(sealed, version=sealed.version + 1)

    def test_an_edit_is_counted_while_the_token_is_open(
        self, stores: Stores, repository: Repository
    ) -> None:
        main = main_of(stores, repository)
        assert stores.refs.count_edit(repository, "main", new_token()) is None
        counted = stores.refs.count_edit(repository, "main", main.staging_token)
        assert main_of(stores, repository) == counted == replace(main, edits=main.edits + 1)
        sealed = stores.refs.seal_token(repository, counted, new_token())
        assert stores.refs.count_edit(repository, "main", main.staging_token) is None
        assert main_of(stores, repository) == sealed

    def test_sealing_puts_a_new_token_before_the_old_ones(
        self, stores: Stores, repository: Repository
    ) -> None:
        before, tokens = main_of(stores, repository), [new_token(), new_token()]
        once = stores.refs.seal_token(repository, before, tokens[0])
        twice = stores.refs.seal_token(repository, once, tokens[1])
        assert twice.tokens == (tokens[1], tokens[0], before.staging_token)
        assert (twice.version, twice.commit_id) == (before.version, before.commit_id)
        assert main_of(stores, repository) == twice

    def test_sealing_loses_to_another_seal(self, stores: Stores, repository: Repository) -> None:
        before = main_of(stores, repository)
        sealed = stores.refs.seal_token(repository, before, new_token())
        with pytest.raises(StaleVersionError):
            stores.refs.seal_token(repository, before, new_token())
        assert main_of(stores, repository) == sealed

    def test_a_token_that_is_not_the_branchs_any_more_is_not_sealed(
        self, stores: Stores, repository: Repository
    ) -> None:
        before = main_of(stores, repository)
        stores.exports.delete_branch(repository, before, new_event(), drop_after_ns=5)
        again = replace(before, staging_token=new_token())
        stores.refs.create_branch(repository, again, new_event())
        with pytest.raises(StaleVersionError):
            stores.refs.seal_token(repository, before, new_token())
        assert main_of(stores, repository) == again

    def test_sealing_a_branch_that_is_gone_finds_nothing(
        self, stores: Stores, repository: Repository
    ) -> None:
        absent = replace(main_of(stores, repository), name="absent")
        with pytest.raises(NotFoundError, match="branch not found: 'absent'"):
            stores.refs.seal_token(repository, absent, new_token())
        assert stores.refs.branch(repository, "absent") is None

    def test_a_branch_is_deleted_with_its_tokens_and_an_event(
        self, stores: Stores, repository: Repository
    ) -> None:
        branch = stores.refs.seal_token(repository, main_of(stores, repository), new_token())
        event = new_event()
        stores.exports.delete_branch(repository, branch, event, drop_after_ns=77)
        assert stores.refs.branch(repository, "main") is None
        assert {stores.tokens_to_drop()[token] for token in branch.tokens} == {77}
        assert event.id in stores.event_ids(repository)

    def test_a_changed_branch_is_not_deleted(self, stores: Stores, repository: Repository) -> None:
        before, event = main_of(stores, repository), new_event()
        sealed = stores.refs.seal_token(repository, before, new_token())
        with pytest.raises(StaleVersionError):
            stores.exports.delete_branch(repository, before, event, drop_after_ns=77)
        assert main_of(stores, repository) == sealed
        assert event.id not in stores.event_ids(repository)
        assert before.staging_token not in stores.tokens_to_drop()


class TestMovingABranch:
    @pytest.fixture
    def sealed(self, stores: Stores, repository: Repository) -> Branch:
        """The main branch with two sealed tokens."""
        branch = main_of(stores, repository)
        for _ in range(2):
            branch = stores.refs.seal_token(repository, branch, new_token())
        return branch

    def finish(self, stores: Stores, repository: Repository, old: Branch, **changes) -> None:
        arguments = {
            "commit": None,
            "commit_id": old.commit_id,
            "applied_tokens": old.sealed_tokens,
            "new_staging_token": None,
            "event": new_event(),
            "drop_after_ns": 5,
        }
        stores.refs.move_branch(repository, old, **(arguments | changes))

    def test_a_commit_moves_head_tokens_and_event_together(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        commit, event = new_commit(2, (sealed.commit_id,)), new_event()
        self.finish(stores, repository, sealed, commit=commit, commit_id=commit.id, event=event)
        assert main_of(stores, repository) == replace(
            sealed, commit_id=commit.id, sealed_tokens=(), version=sealed.version + 1
        )
        assert stores.refs.commits(repository, [commit.id]) == {commit.id: commit}
        assert event.id in stores.event_ids(repository)
        to_drop = stores.tokens_to_drop()
        assert [to_drop.get(token) for token in sealed.tokens] == [None, 5, 5]

    def test_a_stored_commit_keeps_its_generation(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        commit = new_commit(7, (sealed.commit_id,))
        stores.refs.create_commit(repository, commit)
        other, event = replace(commit, generation=2), new_event()
        with pytest.raises(AlreadyExistsError):
            self.finish(stores, repository, sealed, commit=other, commit_id=commit.id, event=event)
        assert main_of(stores, repository) == sealed
        assert stores.refs.commits(repository, [commit.id]) == {commit.id: commit}
        self.finish(stores, repository, sealed, commit=commit, commit_id=commit.id)
        assert main_of(stores, repository).commit_id == commit.id

    @pytest.mark.parametrize(("before", "after"), [("1", "2"), ("", "2"), ("1", ""), ("", "")])
    def test_another_branch_of_the_name_is_not_moved(
        self, stores: Stores, repository: Repository, before: str, after: str
    ) -> None:
        old = Branch("dev", COMMIT_ID, new_token(), uid=before)
        stores.refs.create_branch(repository, old, new_event())
        stores.exports.delete_branch(repository, old, new_event(), drop_after_ns=5)
        # Without identities, the head tells them apart.
        head = OTHER_ID if before == after else COMMIT_ID
        other = replace(old, commit_id=head, staging_token=new_token(), uid=after)
        stores.refs.create_branch(repository, other, new_event())
        with pytest.raises(StaleVersionError):
            self.finish(stores, repository, old, commit_id=OTHER_ID)
        assert stores.refs.branch(repository, "dev") == other
        self.finish(stores, repository, other, commit_id=OTHER_ID)
        moved = stores.refs.seal_token(repository, other, new_token())
        assert (moved.commit_id, moved.uid) == (OTHER_ID, after)

    def test_a_clean_move_is_stale_after_the_branchs_first_conditional_change(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        assert sealed.edits == 0
        counted = stores.refs.count_edit(repository, "main", sealed.staging_token)
        assert counted is not None
        with pytest.raises(StaleVersionError):
            self.finish(stores, repository, sealed, is_clean=True)
        assert main_of(stores, repository) == counted
        self.finish(stores, repository, counted, is_clean=True)

    def test_tokens_sealed_meanwhile_stay(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        later = stores.refs.seal_token(repository, sealed, new_token())
        self.finish(stores, repository, sealed, commit_id=OTHER_ID)
        now = main_of(stores, repository)
        assert now.tokens == (later.staging_token, sealed.staging_token)
        assert now.commit_id == OTHER_ID

    def test_only_the_applied_tokens_go(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        self.finish(stores, repository, sealed, applied_tokens=sealed.sealed_tokens[1:])
        assert main_of(stores, repository).sealed_tokens == sealed.sealed_tokens[:1]

    @pytest.mark.parametrize("count", [90, 500])
    def test_any_number_of_tokens_goes(
        self, stores: Stores, repository: Repository, count: int
    ) -> None:
        tokens = tuple(new_token() for _ in range(count))
        old = Branch("many", COMMIT_ID, new_token(), tokens)
        stores.refs.create_branch(repository, old, new_event())
        self.finish(stores, repository, old, applied_tokens=tokens[1:], commit_id=OTHER_ID)
        now = stores.refs.branch(repository, "many")
        assert now == replace(old, commit_id=OTHER_ID, sealed_tokens=tokens[:1], version=1)
        assert stores.tokens_to_drop().keys() >= set(tokens[1:])

    def test_a_reset_replaces_the_staging_token_too(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        fresh = new_token()
        self.finish(stores, repository, sealed, new_staging_token=fresh, event=None)
        assert main_of(stores, repository) == replace(
            sealed, staging_token=fresh, sealed_tokens=(), version=sealed.version + 1
        )
        assert stores.tokens_to_drop().keys() >= set(sealed.tokens)

    def test_a_reset_is_stale_when_the_staging_token_is_sealed(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        now = stores.refs.seal_token(repository, sealed, new_token())
        with pytest.raises(StaleVersionError):
            self.finish(stores, repository, sealed, new_staging_token=new_token(), event=None)
        assert main_of(stores, repository) == now
        assert sealed.staging_token not in stores.tokens_to_drop()

    @pytest.mark.parametrize("with_event", [True, False])
    def test_the_second_of_two_moves_is_stale_and_changes_nothing(
        self, stores: Stores, repository: Repository, sealed: Branch, with_event: bool
    ) -> None:
        self.finish(stores, repository, sealed, applied_tokens=())
        now = main_of(stores, repository)
        commit, event = new_commit(2), new_event() if with_event else None
        with pytest.raises(StaleVersionError):
            self.finish(stores, repository, sealed, commit=commit, commit_id=commit.id, event=event)
        assert main_of(stores, repository) == now
        assert stores.refs.commits(repository, [commit.id]) == {}
        assert event is None or event.id not in stores.event_ids(repository)
        assert not stores.tokens_to_drop().keys() & set(sealed.tokens)

    def test_a_branch_made_again_under_the_name_is_another(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        stores.exports.delete_branch(repository, sealed, new_event(), drop_after_ns=5)
        again = replace(sealed, staging_token=new_token(), sealed_tokens=(new_token(),) * 2)
        stores.refs.create_branch(repository, again, new_event())
        with pytest.raises(StaleVersionError):
            self.finish(stores, repository, sealed)
        assert main_of(stores, repository) == again

    def test_a_branch_that_is_gone_is_not_found(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        stores.exports.delete_branch(repository, sealed, new_event(), drop_after_ns=5)
        with pytest.raises(NotFoundError, match="branch not found: 'main'"):
            self.finish(stores, repository, sealed)
        assert stores.refs.branch(repository, "main") is None

    def test_a_commit_that_exists_is_no_obstacle(
        self, stores: Stores, repository: Repository, sealed: Branch
    ) -> None:
        commit = new_commit(2)
        self.finish(stores, repository, sealed, commit=commit, applied_tokens=())
        again = main_of(stores, repository)
        self.finish(stores, repository, again, commit=commit, commit_id=commit.id)
        assert main_of(stores, repository).commit_id == commit.id


class TestTags:
    def test_a_tag_is_made_listed_and_deleted(self, stores: Stores, repository: Repository) -> None:
        names = ["a", "v1", "v1.0/x", "é", "\U0001f600"]
        events = [new_event() for _ in names]
        for name, event in zip(reversed(names), events, strict=True):
            stores.refs.create_tag(repository, Tag(name, COMMIT_ID), event)
        assert stores.event_ids(repository) >= {event.id for event in events}
        assert stores.refs.tag(repository, "é") == Tag("é", COMMIT_ID)
        page = stores.refs.tags(repository, "", "", 10)
        assert [tag.name for tag in page.results] == names
        page = stores.refs.tags(repository, "v", "v1", 1)
        assert [tag.name for tag in page.results] == ["v1.0/x"]
        assert not page.has_more
        event = new_event()
        stores.refs.delete_tag(repository, Tag("a", COMMIT_ID), event)
        assert stores.refs.tag(repository, "a") is None
        assert event.id in stores.event_ids(repository)

    def test_a_taken_name_is_refused(self, stores: Stores, repository: Repository) -> None:
        stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
        for commit_id in (COMMIT_ID, OTHER_ID):
            with pytest.raises(AlreadyExistsError):
                stores.refs.create_tag(repository, Tag("v1", commit_id), new_event())
        assert stores.refs.tag(repository, "v1") == Tag("v1", COMMIT_ID)

    def test_a_branch_and_a_tag_cannot_share_a_name(
        self, stores: Stores, repository: Repository
    ) -> None:
        branch = Branch("shared", COMMIT_ID, new_token())
        stores.refs.create_branch(repository, branch, new_event())
        with pytest.raises(AlreadyExistsError):
            stores.refs.create_tag(repository, Tag("shared", COMMIT_ID), new_event())
        stores.refs.create_tag(repository, Tag("other", COMMIT_ID), new_event())
        with pytest.raises(AlreadyExistsError):
            stores.refs.create_branch(
                repository, Branch("other", COMMIT_ID, new_token()), new_event()
            )
        assert stores.refs.tag(repository, "shared") is None
        assert stores.refs.branch(repository, "other") is None

    @pytest.mark.parametrize(
        "name", ["branch#main", "tag#v1", "commit#" + COMMIT_ID, "metadata", "outbox#x", "x#y", "'"]
    )
    def test_a_tag_that_is_called_like_a_record_is_a_tag_and_nothing_else(
        self, stores: Stores, repository: Repository, name: str
    ) -> None:
        main = main_of(stores, repository)
        stores.refs.create_tag(repository, Tag("v1", OTHER_ID), new_event())
        stores.refs.create_tag(repository, Tag(name, COMMIT_ID), new_event())
        assert stores.refs.branch(repository, "main") == main
        assert stores.refs.branch(repository, name) is None
        assert stores.refs.tag(repository, "v1") == Tag("v1", OTHER_ID)
        assert stores.refs.commits(repository, [COMMIT_ID]) == {}
        assert stores.refs.repository_metadata(repository) == {}
        page = stores.refs.tags(repository, "", "", 10)
        assert sorted(tag.name for tag in page.results) == sorted(["v1", name])
        stores.refs.delete_tag(repository, Tag(name, COMMIT_ID), new_event())
        assert stores.refs.branch(repository, "main") == main
        assert stores.refs.tag(repository, "v1") is not None

    def test_a_tag_of_another_commit_is_not_deleted(
        self, stores: Stores, repository: Repository
    ) -> None:
        stores.refs.create_tag(repository, Tag("v1", COMMIT_ID), new_event())
        with pytest.raises(StaleVersionError):
            stores.refs.delete_tag(repository, Tag("v1", OTHER_ID), new_event())
        with pytest.raises(StaleVersionError):
            stores.refs.delete_tag(repository, Tag("v2", COMMIT_ID), new_event())
        assert stores.refs.tag(repository, "v1") == Tag("v1", COMMIT_ID)
