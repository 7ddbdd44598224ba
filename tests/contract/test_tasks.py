"""The contract of every TaskStore, and of a move that ends a task."""

from uuid import uuid4

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.models import partition_of
from graveler.aws.dynamodb.tables import key
from graveler.aws.dynamodb.tasks import task_key
from graveler.errors import InvalidInputError, StaleTaskError, StaleVersionError
from graveler.model import Branch, Commit, Event, Repository, tasks
from graveler.model.tasks import Task, TaskEnd, TaskKind
from graveler.times import NS_PER_S
from tests.contract.conftest import (
    DynamoDBStores,
    Stores,
    create,
    main_of,
    new_commit,
    new_event,
    new_token,
)

NOW_NS = 1_700_000_000 * NS_PER_S


def new_task(number: int = 0, **fields: object) -> Task:
    """Return a task; a higher number makes its ID a later one."""
    task_id = f"CA{number:08}{uuid4().hex[:12]}"
    task = Task(task_id, TaskKind.COMMIT, "ann", NOW_NS, NOW_NS, branch="main", digest="d" * 64)
    return replace(task, **fields)


def created(stores: Stores, repository: Repository, task: Task | None = None) -> Task:
    task = task or new_task()
    joinable = stores.refs.joinable_task(repository, task.digest)
    stores.refs.create_task(repository, task, joinable, new_event())
    return task


class TestTasks:
    def test_a_task_is_stored_as_it_is(self, stores: Stores, repository: Repository) -> None:
        task = new_task(
            request={"message": "é", "metadata": {"k": ""}, "date_s": None, "force": True},
            covers="main:token",
            is_called_back=True,
            is_unwanted=True,
        )
        assert stores.refs.task(repository, task.id) is None
        created(stores, repository, task)
        assert stores.refs.task(repository, task.id) == task

    def test_every_field_of_its_later_life_is_stored(
        self, stores: Stores, repository: Repository
    ) -> None:
        task = created(stores, repository)
        for changed in (
            tasks.taken(task, "runner", NOW_NS + 1),
            tasks.reported(tasks.taken(task, "runner", NOW_NS), NOW_NS + 2, 3, 10**9),
            replace(task, saved={"after": ["é", None, 1.5]}),
            tasks.completed(task, {"commit_id": "c"}, NOW_NS + 3, 7),
            tasks.failed(task, InvalidInputError("why: é", "and how"), NOW_NS + 4),
        ):
            task = stores.refs.replace_task(repository, task, changed)
            assert task == replace(changed, version=task.version)
            assert stores.refs.task(repository, task.id) == task

    def test_a_task_is_its_repositorys(self, stores: Stores, repository: Repository) -> None:
        task = created(stores, repository)
        other = create(stores)
        assert stores.refs.task(other, task.id) is None
        assert stores.refs.joinable_task(other, task.digest) is None
        assert stores.refs.tasks(other, "", 10).results == ()

    @pytest.mark.parametrize("wrong", ["", "MA", "none"])
    def test_an_id_is_found_as_a_whole_only(
        self, stores: Stores, repository: Repository, wrong: str
    ) -> None:
        task = created(stores, repository)
        assert stores.refs.task(repository, wrong + task.id[2:]) is None
        assert stores.refs.task(repository, task.id[:-1]) is None

    def test_tasks_are_listed_newest_first_in_pages(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = [created(stores, repository, new_task(n, digest="")) for n in (3, 1, 2, 5, 4)]
        newest = sorted(made, key=lambda task: task.id, reverse=True)
        after, found = "", []
        for _ in range(3):
            page = stores.refs.tasks(repository, after, 2)
            found += page.results
            after = page.next_after
        assert found == newest
        assert after == ""
        assert stores.refs.tasks(repository, "", 5).next_after == ""

    def test_wanted_tasks_are_listed_in_pages(self, stores: Stores, repository: Repository) -> None:
        made = [created(stores, repository, new_task(n, digest="")) for n in range(1, 8)]
        wanted = [made[5], made[3], made[0]]
        after, found = "", []
        for _ in range(2):
            page = stores.refs.tasks(repository, after, 2, lambda task: task in wanted)
            found += page.results
            after = page.next_after
        assert (found, after) == (wanted, "")

    def test_kinds_do_not_disturb_the_order(self, stores: Stores, repository: Repository) -> None:
        older, newer = new_task(1, digest=""), new_task(2, digest="")
        older = replace(older, id="MA" + older.id[2:], kind=TaskKind.MERGE)
        for task in (newer, older):
            created(stores, repository, task)
        assert stores.refs.tasks(repository, "", 10).results == (newer, older)
        assert stores.refs.tasks(repository, newer.id, 10).results == (older,)


class TestJoining:
    def test_the_last_task_of_a_digest_is_joinable(
        self, stores: Stores, repository: Repository
    ) -> None:
        assert stores.refs.joinable_task(repository, "d" * 64) is None
        first = created(stores, repository, new_task(1))
        assert stores.refs.joinable_task(repository, first.digest) == first
        second = created(stores, repository, new_task(2))
        assert stores.refs.joinable_task(repository, first.digest) == second
        assert stores.refs.joinable_task(repository, "e" * 64) is None

    def test_a_joinable_task_is_returned_as_it_is_now(
        self, stores: Stores, repository: Repository
    ) -> None:
        task = created(stores, repository)
        taken = stores.refs.replace_task(repository, task, tasks.taken(task, "runner", NOW_NS))
        assert stores.refs.joinable_task(repository, task.digest) == taken

    @pytest.mark.parametrize("is_first", [True, False])
    def test_of_two_that_read_the_same_only_one_creates_a_task(
        self, stores: Stores, repository: Repository, is_first: bool
    ) -> None:
        last = None if is_first else created(stores, repository, new_task(1))
        one, other, event = new_task(2), new_task(3), new_event()
        stores.refs.create_task(repository, one, last, new_event())
        with pytest.raises(StaleVersionError):
            stores.refs.create_task(repository, other, last, event)
        assert stores.refs.task(repository, other.id) is None
        assert stores.refs.joinable_task(repository, one.digest) == one
        assert event.id not in stores.event_ids(repository)

    def test_tasks_without_a_digest_do_not_race(
        self, stores: Stores, repository: Repository
    ) -> None:
        for number in (1, 2):
            task = new_task(number, digest="")
            stores.refs.create_task(repository, task, None, new_event())
            assert stores.refs.task(repository, task.id) == task


class TestReplacing:
    def test_a_task_that_changed_since_it_was_read_stays(
        self, stores: Stores, repository: Repository
    ) -> None:
        task, event = created(stores, repository), new_event()
        taken = stores.refs.replace_task(repository, task, tasks.taken(task, "first", NOW_NS))
        for reported in (None, event):
            late = tasks.taken(task, "second", NOW_NS)
            with pytest.raises(StaleVersionError):
                stores.refs.replace_task(repository, task, late, reported)
        assert stores.refs.task(repository, task.id) == taken
        assert event.id not in stores.event_ids(repository)

    def test_a_runner_with_an_older_report_replaces_no_newer_one(
        self, stores: Stores, repository: Repository
    ) -> None:
        task = created(stores, repository)
        taken = stores.refs.replace_task(repository, task, tasks.taken(task, "first", NOW_NS))
        newer = stores.refs.replace_task(repository, taken, tasks.reported(taken, NOW_NS, 2, 2))
        with pytest.raises(StaleVersionError):
            stores.refs.replace_task(repository, taken, tasks.reported(taken, NOW_NS, 1, 2))
        assert stores.refs.task(repository, task.id) == newer

    def test_the_event_is_stored_with_the_change(
        self, stores: Stores, repository: Repository
    ) -> None:
        task, started, ended = new_task(), new_event(), new_event()
        stores.refs.create_task(repository, task, None, started)
        assert started.id in stores.event_ids(repository)
        stores.refs.replace_task(repository, task, tasks.cancelled(task, NOW_NS), ended)
        assert ended.id in stores.event_ids(repository)

    def test_a_task_that_does_not_exist_is_not_made(
        self, stores: Stores, repository: Repository
    ) -> None:
        task = new_task()
        with pytest.raises(StaleVersionError):
            stores.refs.replace_task(repository, task, tasks.cancelled(task, NOW_NS))
        assert stores.refs.task(repository, task.id) is None


class TestMovesThatEndATask:
    def move(
        self,
        stores: Stores,
        repository: Repository,
        task: Task,
        *,
        branch: Branch | None = None,
    ) -> tuple[Commit, Task, list[Event]]:
        """Move main to a new commit, which ends the task."""
        branch = branch or main_of(stores, repository)
        commit, events = new_commit(2, (branch.commit_id,)), [new_event(), new_event()]
        ended = tasks.completed(task, {"commit_id": commit.id}, NOW_NS + 9, 1)
        self.tried = commit, ended, events
        stores.refs.move_branch(
            repository,
            branch,
            commit=commit,
            commit_id=commit.id,
            applied_tokens=branch.sealed_tokens,
            new_staging_token=None,
            event=events[0],
            drop_after_ns=5,
            ends=TaskEnd(task, ended, events[1]),
        )
        return commit, ended, events

    def assert_nothing_happened(self, stores: Stores, repository: Repository) -> None:
        commit, ended, events = self.tried
        assert stores.refs.commits(repository, [commit.id]) == {}
        assert main_of(stores, repository).commit_id != commit.id
        task = stores.refs.task(repository, ended.id)
        assert task is None or not task.has_ended
        assert not {event.id for event in events} & stores.event_ids(repository)

    def test_commit_end_and_both_events_are_one(
        self, stores: Stores, repository: Repository
    ) -> None:
        task = created(stores, repository)
        old = main_of(stores, repository)
        stores.refs.seal_token(repository, old, new_token())
        commit, ended, events = self.move(stores, repository, task)
        assert main_of(stores, repository).commit_id == commit.id
        stored = stores.refs.task(repository, task.id)
        assert stored == replace(ended, version=task.version + 1)
        assert {event.id for event in events} <= stores.event_ids(repository)

    def test_a_task_that_changed_keeps_the_branch_where_it_is(
        self, stores: Stores, repository: Repository
    ) -> None:
        task = created(stores, repository)
        unwanted = tasks.unwanted(tasks.taken(task, "runner", NOW_NS), NOW_NS)
        stores.refs.replace_task(repository, task, unwanted)
        with pytest.raises(StaleTaskError):
            self.move(stores, repository, task)
        self.assert_nothing_happened(stores, repository)

    def test_a_branch_that_moved_keeps_the_task_open(
        self, stores: Stores, repository: Repository
    ) -> None:
        task, old = created(stores, repository), main_of(stores, repository)
        self.move(stores, repository, created(stores, repository, new_task(1)))
        with pytest.raises(StaleVersionError) as raised:
            self.move(stores, repository, task, branch=old)
        assert not isinstance(raised.value, StaleTaskError)
        self.assert_nothing_happened(stores, repository)

    def test_if_both_changed_neither_is_written(
        self, stores: Stores, repository: Repository
    ) -> None:
        task, old = created(stores, repository), main_of(stores, repository)
        self.move(stores, repository, created(stores, repository, new_task(1)))
        stores.refs.replace_task(repository, task, tasks.taken(task, "runner", NOW_NS))
        with pytest.raises(StaleVersionError):
            self.move(stores, repository, task, branch=old)
        self.assert_nothing_happened(stores, repository)


def test_a_task_stays_for_a_week_after_its_last_report(dynamodb_stores: DynamoDBStores) -> None:
    repository = create(dynamodb_stores)
    task = created(dynamodb_stores, repository)
    later_ns = NOW_NS + 6 * 24 * 60 * 60 * 10**9
    dynamodb_stores.refs.replace_task(repository, task, tasks.reported(task, later_ns, 1, 2))
    raw = dynamodb_stores.tables.get(partition_of(repository), task_key(task.id))
    assert raw is not None
    assert int(raw["expires_at"]["N"]) == later_ns // 10**9 + 7 * 24 * 60 * 60


def test_a_task_that_expired_before_its_digest_hinders_no_other(
    dynamodb_stores: DynamoDBStores,
) -> None:
    """DynamoDB deletes expired items in no order."""
    repository = create(dynamodb_stores)
    tables = dynamodb_stores.tables
    expired = created(dynamodb_stores, repository)
    item_key = key(partition_of(repository), task_key(expired.id))
    tables.dynamodb.call("DeleteItem", {"TableName": tables.refs, "Key": item_key})
    assert dynamodb_stores.refs.joinable_task(repository, expired.digest) is None
    task = created(dynamodb_stores, repository, new_task(1))
    assert dynamodb_stores.refs.joinable_task(repository, task.digest) == task
    with pytest.raises(StaleVersionError):
        dynamodb_stores.refs.create_task(repository, new_task(2), None, new_event())


def test_a_repeated_creation_leaves_the_task_as_its_runner_changed_it(
    dynamodb_stores: DynamoDBStores,
) -> None:
    repository, task = create(dynamodb_stores), new_task(digest="")
    taken = tasks.taken(task, "runner", NOW_NS)
    http, refs = dynamodb_stores.http, dynamodb_stores.refs
    http.to_lose["TransactWriteItems"] = 1
    http.forget_tokens = True
    http.meanwhile = lambda: refs.replace_task(repository, task, taken)
    try:
        created(dynamodb_stores, repository, task)
    finally:
        http.forget_tokens, http.meanwhile = False, lambda: None
    assert refs.task(repository, task.id) == replace(taken, version=task.version + 1)
