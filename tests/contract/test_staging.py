"""The contract of every StagingStore."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from msgspec.structs import replace

from graveler.addresses import encode_xid
from graveler.aws.dynamodb import gates
from graveler.aws.dynamodb.branches import branch_key
from graveler.aws.dynamodb.models import BranchItem, partition_of
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.errors import InvalidInputError, StaleVersionError
from graveler.limits import PATH_BYTES_MAX, RESTORED_MAX
from graveler.model import Branch, Event, Repository, StagingToken
from graveler.model.tokens import PLAIN, Spread, spread_of
from graveler.ports import CHANGES_TOGETHER_MAX, Staged, StagedChange
from tests.contract.conftest import (
    OTHER_ID,
    DynamoDBStores,
    Stores,
    create,
    new_event,
    new_repository,
    new_token,
    no_request_arrives,
    strong,
)

pytestmark = pytest.mark.usefixtures("spread")

VALUE = b"\x00value\xff"


def test_a_put_record_is_read(stores: Stores) -> None:
    token, longest = new_token(), b"\xff" * PATH_BYTES_MAX
    stores.staging.stage(token, [(b"a", VALUE)])
    stores.staging.stage(token, [(longest, None)])
    assert stores.staging.get(token, b"a") == Staged(VALUE)
    assert stores.staging.get(token, longest) == Staged(None)
    assert stores.staging.get(token, b"b") is None
    assert stores.staging.get(new_token(), b"a") is None


def test_the_last_put_wins(stores: Stores) -> None:
    token = new_token()
    for value in (b"1", None, b"2"):
        stores.staging.stage(token, [(b"a", value)])
        assert stores.staging.get(token, b"a") == Staged(value)


def test_a_branch_and_an_entry_are_read_together(stores: Stores, repository: Repository) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    token = branch.staging_token
    stores.staging.stage(token, [(b"a", VALUE)])
    stores.staging.stage(token, [(b"gone", None)])
    read = stores.staging.get_with_branch
    assert read(repository, "main", token, b"a") == (branch, Staged(VALUE))
    assert read(repository, "main", token, b"gone") == (branch, Staged(None))
    assert read(repository, "main", token, b"b") == (branch, None)
    assert read(repository, "absent", token, b"a") == (None, Staged(VALUE))
    assert read(new_repository(), "main", new_token(), b"a") == (None, None)


def test_a_repository_a_branch_and_an_entry_are_read_together(
    stores: Stores, repository: Repository
) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    token = branch.staging_token
    stores.staging.stage(token, [(b"a", VALUE)])
    read = stores.staging.get_with_repository
    assert read(repository, "main", token, b"a") == (repository, branch, Staged(VALUE))
    assert read(repository, "main", token, b"b") == (repository, branch, None)
    assert read(repository, "absent", token, b"a") == (repository, None, Staged(VALUE))
    assert read(new_repository(), "main", new_token(), b"a") == (None, None, None)
    renewed = replace(repository, uid=new_repository().uid)  # another one has the name by now
    assert read(renewed, "main", token, b"a") == (repository, None, Staged(VALUE))


def test_many_changes_are_staged(stores: Stores) -> None:
    token = new_token()
    changes = {b"%04d" % n: None if n % 7 == 0 else VALUE * (n % 5) for n in range(333)}
    stores.staging.stage(token, list(reversed(changes.items())))
    assert list(stores.staging.scan(token, b"", None)) == list(changes.items())
    stores.staging.stage(token, [])


def test_a_closed_token_refuses_every_change_and_keeps_what_it_has(stores: Stores) -> None:
    closed, other = new_token(), new_token()
    changes = [(b"%04d" % n, VALUE) for n in range(120)]
    assert not stores.staging.stage(closed, changes).refused
    stores.staging.close(closed)
    later = [(path, b"later") for path, _ in changes] + [(b"new", None)]
    assert sorted(stores.staging.stage(closed, later).refused) == sorted(later)
    assert stores.staging.stage(closed, [(b"0001", None)]).refused == [(b"0001", None)]
    stores.staging.close(closed)
    assert list(stores.staging.scan(closed, b"", None)) == changes
    assert not stores.staging.stage(other, later).refused


def test_a_closed_token_refuses_each_path_by_itself(stores: Stores) -> None:
    token = new_token()
    changes = [(b"%d" % n, VALUE) for n in range(120)]
    assert {gates.gate_of(token, path) for path, _ in changes} == set(range(spread_of(token).gates))
    stores.staging.close(token)
    assert [stores.staging.stage(token, [change]).refused for change in changes] == [
        [change] for change in changes
    ]


def test_a_token_is_followed_by_one_that_suits_what_it_took(
    dynamodb_stores: DynamoDBStores,
) -> None:
    few, many = Spread(shards=1, gates=2), Spread(shards=4, gates=7)
    stores, token = dynamodb_stores, new_token()
    staging = DynamoStagingStore(stores.tables, ((0, few), (100, many)))
    assert stores.staging.next_spread(new_token()) == PLAIN
    assert staging.next_spread(new_token()) == few
    staging.stage(token, [(b"%04d" % n, VALUE) for n in range(300)])
    strong(stores)
    assert staging.next_spread(token) == many
    with no_request_arrives(stores, "Query"):
        assert staging.next_spread(token) == spread_of(token)


def test_of_changes_beside_a_close_those_that_were_not_refused_are_there(
    stores: Stores,
) -> None:
    """Some gates are closed and others are not, as while another process closes them."""
    token = new_token()
    changes = [(b"%04d" % n, VALUE) for n in range(300)]
    with ThreadPoolExecutor(2) as pool:
        staged = pool.submit(stores.staging.stage, token, changes)
        pool.submit(stores.staging.close, token).result()
        refused = set(staged.result().refused)
    assert list(stores.staging.scan(token, b"", None)) == [c for c in changes if c not in refused]


def test_the_newest_changes_of_many_paths_are_those_of_each(stores: Stores) -> None:
    tokens = [new_token() for _ in range(3)]
    paths = [b"%03d" % number for number in range(120)]
    for age, token in enumerate(tokens):
        staged = [
            (path, None if number % 7 == 0 else b"%d" % age)
            for number, path in enumerate(paths)
            if number % 2**age == age and number % 5
        ]
        stores.staging.stage(token, staged)
    each = {path: stores.staging.newest(tokens, path) for path in paths}
    expected = {path: found for path, found in each.items() if found is not None}
    assert 0 < len(expected) < len(paths)
    assert stores.staging.newest_each(tokens, paths) == expected
    assert stores.staging.newest_each((), paths) == {}


def test_threads_that_write_at_once_lose_nothing(stores: Stores) -> None:
    token = new_token()
    changes = {b"%04d" % n: b"value %d" % n for n in range(200)}
    with ThreadPoolExecutor(16) as pool:
        refused = pool.map(
            lambda change: stores.staging.stage(token, [change]).refused, changes.items()
        )
        assert not any(refused)
    assert dict(stores.staging.scan(token, b"", None)) == changes


def test_threads_that_write_one_path_at_once_leave_one_of_their_values(stores: Stores) -> None:
    token = new_token()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: stores.staging.stage(token, [(b"a", b"%d" % n)]), range(64)))
    (left,) = stores.staging.scan(token, b"", None)
    assert left in [(b"a", b"%d" % n) for n in range(64)]


def test_a_write_that_is_too_large_fails_no_other_thread(stores: Stores) -> None:
    token, too_large = new_token(), bytes(500 * 1024)

    def stage(number: int) -> bool:
        value = too_large if number % 10 == 0 else b"%d" % number
        failed = stores.staging.stage(token, [(b"%04d" % number, value)]).failed.values()
        assert all(isinstance(error, InvalidInputError) for error in failed)
        return not failed or number % 10 == 0

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(stage, range(60)))
    staged = dict(stores.staging.scan(token, b"", None))
    assert {path: v for path, v in staged.items() if v != too_large} == {
        b"%04d" % n: b"%d" % n for n in range(60) if n % 10
    }


def test_of_writes_of_threads_beside_a_close_those_that_were_not_refused_are_there(
    stores: Stores,
) -> None:
    token = new_token()
    changes = [(b"%04d" % n, VALUE) for n in range(160)]
    with ThreadPoolExecutor(16) as pool:
        staged = [pool.submit(stores.staging.stage, token, [change]) for change in changes]
        stores.staging.close(token)
        refused = {change for each in staged for change in each.result().refused}
    # Nothing lands after the close: what is there then, stays so.
    assert list(stores.staging.scan(token, b"", None)) == [c for c in changes if c not in refused]


def test_threads_that_read_a_branch_at_once_see_what_was_written_before(
    stores: Stores, repository: Repository
) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    token = branch.staging_token

    def write_and_read(number: int) -> bool:
        path, value = b"%04d" % number, b"%d" % number
        stores.staging.stage(token, [(path, value)])
        read = stores.staging.get_with_branch(repository, "main", token, path)
        both = stores.refs.repository_and_branch(repository, "main")
        absent = stores.staging.get_with_branch(repository, "main", token, path + b"?")
        return (read, both, absent) == (
            (branch, Staged(value)),
            (repository, branch),
            (branch, None),
        )

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(write_and_read, range(120)))


@pytest.fixture
def main(stores: Stores, repository: Repository) -> Branch:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    return branch


@pytest.mark.parametrize("now", [None, Staged(None), Staged(b"old")], ids=repr)
@pytest.mark.parametrize("expected", [None, Staged(None), Staged(b"old")], ids=repr)
@pytest.mark.parametrize("new", [b"new", None], ids=repr)
def test_a_conditional_change_needs_what_was_expected(
    stores: Stores,
    repository: Repository,
    main: Branch,
    now: Staged | None,
    expected: Staged | None,
    new: bytes | None,
) -> None:
    token = main.staging_token
    if now is not None:
        stores.staging.stage(token, [(b"a", now.value)])

    def change() -> None:
        stores.staging.stage_if(repository, main, [StagedChange(b"a", new, expected)])

    if now == expected:
        change()
    else:
        with pytest.raises(StaleVersionError):
            change()
    assert stores.staging.get(token, b"a") == (Staged(new) if now == expected else now)


@pytest.mark.parametrize("count", [2, CHANGES_TOGETHER_MAX])
@pytest.mark.parametrize("stale", ["nothing", "first", "last", "branch"])
def test_conditional_changes_of_several_paths_are_made_together_or_not_at_all(
    stores: Stores, repository: Repository, main: Branch, count: int, stale: str
) -> None:
    token, get = main.staging_token, stores.staging.get
    paths = [b"%03d" % n for n in range(count)]
    stores.staging.stage(token, [(paths[0], b"old")])
    replaced = {paths[0]: Staged(b"old")}
    changed = {"first": paths[0], "last": paths[-1]}
    if stale in changed:
        stores.staging.stage(token, [(changed[stale], b"of another")])
    if stale == "branch":
        _move(stores, repository, main, is_clean=False)
    before = {path: get(token, path) for path in paths}
    changes = [StagedChange(path, b"new", replaced.get(path)) for path in paths]
    event = Event(encode_xid(b"1" * 12), "tested", repository.name, 0)
    if stale == "nothing":
        stores.staging.stage_if(repository, main, changes, event)
        assert {get(token, path) for path in paths} == {Staged(b"new")}
        now = stores.refs.branch(repository, "main")
        assert now is not None
        assert now.edits == main.edits + 1
    else:
        with pytest.raises(StaleVersionError):
            stores.staging.stage_if(repository, main, changes, event)
        assert {path: get(token, path) for path in paths} == before
    assert (event in stores.refs.events_since(repository, 0)) == (stale == "nothing")


def test_an_equal_change_by_another_writer_is_not_ours(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    stores.staging.stage_if(repository, main, [StagedChange(b"a", b"new", None)])
    with pytest.raises(StaleVersionError):
        stores.staging.stage_if(repository, main, [StagedChange(b"a", b"new", None)])


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_move_over_a_clean_branch_fails_after_a_conditional_change(
    stores: Stores, repository: Repository, main: Branch, is_clean: bool
) -> None:
    def move(old: Branch) -> None:
        _move(stores, repository, old, is_clean=is_clean)

    stores.staging.stage_if(repository, main, [StagedChange(b"a", b"new", None)])
    if is_clean:
        with pytest.raises(StaleVersionError):
            move(main)
        now = stores.refs.branch(repository, "main")
        assert now is not None
        main = now
    move(main)


def _seal(stores: Stores, repository: Repository, main: Branch) -> None:
    stores.refs.seal_token(repository, main, new_token())


def _move(stores: Stores, repository: Repository, main: Branch, **options: Any) -> None:
    stores.refs.move_branch(
        repository,
        main,
        commit=None,
        commit_id=OTHER_ID,
        applied_tokens=(),
        new_staging_token=None,
        event=new_event(),
        drop_after_ns=5,
        **options,
    )


def _reset(stores: Stores, repository: Repository, main: Branch) -> None:
    stores.staging.restore(repository, main, [(b"other", None)])


def _delete(stores: Stores, repository: Repository, main: Branch) -> None:
    stores.exports.delete_branch(repository, main, new_event(), 5)


@pytest.mark.parametrize("change", [_seal, _move, _reset, _delete])
def test_a_conditional_change_needs_the_branch_as_it_was(
    stores: Stores,
    repository: Repository,
    main: Branch,
    change: Callable[[Stores, Repository, Branch], None],
) -> None:
    change(stores, repository, main)
    with pytest.raises(StaleVersionError):
        stores.staging.stage_if(repository, main, [StagedChange(b"a", b"new", None)])
    with pytest.raises(StaleVersionError):
        stores.staging.restore(repository, main, [(b"a", b"new")])
    assert stores.staging.get(main.staging_token, b"a") is None


def test_restored_entries_are_known_and_raise_the_version(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    token = main.staging_token
    changes = [(b"%04d" % n, bytes(40_000)) for n in range(120)] + [(b"end", None)]
    stores.staging.stage(token, [(b"0000", b"of a user"), (b"own", b"of a user")])
    now = stores.staging.restore(repository, main, changes)
    assert now == stores.refs.branch(repository, "main")
    assert now.version > main.version
    assert list(stores.staging.scan(token, b"", None)) == [*changes, (b"own", b"of a user")]
    assert list(stores.staging.restored_paths(token)) == [path for path, _ in changes]
    stores.staging.stage(token, [(b"0001", b"again")])
    stores.staging.stage_if(repository, now, [StagedChange(b"end", b"again", Staged(None))])
    left = [path for path, _ in changes if path not in (b"0001", b"end")]
    assert list(stores.staging.restored_paths(token)) == left


def test_a_restored_branch_remembers_its_token_as_text(dynamodb_stores: DynamoDBStores) -> None:
    """Earlier versions can read the branch when its tokens with a spread are gone."""
    stores, repository = dynamodb_stores, create(dynamodb_stores)
    main = stores.refs.branch(repository, "main")
    assert main is not None
    stores.staging.restore(repository, main, [(b"a", b"1")])
    raw = stores.tables.get(partition_of(repository), "branch#main")
    assert raw is not None
    assert raw["restored_token"] == {"S": main.staging_token}


def test_restoring_again_replaces_no_later_write(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    token = main.staging_token
    now = stores.staging.restore(repository, main, [(b"a", b"1"), (b"b", b"1")])
    now = stores.staging.restore(repository, now, [(b"a", b"2"), (b"c", b"2")], [b"a", b"b"])
    stores.staging.stage(token, [(b"a", b"of a user")])
    with pytest.raises(StaleVersionError):
        stores.staging.restore(repository, now, [(b"a", b"3"), (b"b", b"3")], [b"a"])
    assert stores.refs.branch(repository, "main") == now
    expected = [(b"a", b"of a user"), (b"b", b"1"), (b"c", b"2")]
    assert list(stores.staging.scan(token, b"", None)) == expected


def test_a_move_restores_in_the_same_transaction(
    stores: Stores, repository: Repository, main: Branch
) -> None:
    changes = [(b"%02d" % n, b"v") for n in range(RESTORED_MAX - 1)] + [(b"gone", None)]

    def move(old: Branch) -> None:
        _move(stores, repository, old, restored=changes)

    before = [(path, b"before") for path, _ in changes]
    old = stores.staging.restore(repository, main, before)
    sealed = stores.refs.seal_token(repository, old, new_token())
    with pytest.raises(StaleVersionError):
        move(old)
    now = stores.staging.restore(repository, sealed, before)
    # Written since: a move must not undo it.
    stores.staging.stage(now.staging_token, [(b"07", b"of a user")])
    with pytest.raises(StaleVersionError):
        move(now)
    assert stores.refs.branch(repository, "main") == now
    now = stores.staging.restore(repository, now, before)
    move(now)
    assert list(stores.staging.scan(now.staging_token, b"", None)) == changes
    assert len(list(stores.staging.restored_paths(now.staging_token))) == RESTORED_MAX


class TestScan:
    PATHS = (b"a", b"a\x00", b"a/b", b"a\xff", b"b", b"\xff", b"\xff" * PATH_BYTES_MAX)

    @pytest.fixture
    def token(self, stores: Stores) -> StagingToken:
        token = new_token()
        stores.staging.stage(token, [(path, path[:10]) for path in self.PATHS])
        # A neighbour's changes are not ours.
        stores.staging.stage(StagingToken(token + "0"), [(b"a", b"other")])
        return token

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            (b"", None),
            (b"a", None),
            (b"a\x00", b"b"),
            (b"", b"a/b"),
            (b"a", b"a"),
            (b"b", b"a"),
            (b"", b""),
            (b"c", b"d"),
            (b"\xff", None),
            (b"\xff" * PATH_BYTES_MAX, None),
            (b"\xff" * (PATH_BYTES_MAX + 1), None),
            (b"a" * (PATH_BYTES_MAX + 1), b"b" * (PATH_BYTES_MAX + 1)),
            (b"", b"\xff" * PATH_BYTES_MAX),
            (b"", b"\xff" * (PATH_BYTES_MAX + 1)),
        ],
        ids=lambda bound: repr(bound)[:12],
    )
    def test_it_gives_the_interval_in_byte_order(
        self, stores: Stores, token: StagingToken, start: bytes, end: bytes | None
    ) -> None:
        expected = [
            (path, path[:10])
            for path in self.PATHS
            if path >= start and (end is None or path < end)
        ]
        assert list(stores.staging.scan(token, start, end)) == expected
        paths = [path for path, _ in expected]
        assert list(stores.staging.scan_paths(token, start, end)) == paths

    def test_it_goes_on_over_many_pages(self, stores: Stores) -> None:
        token = new_token()
        changes = [(b"%05d" % n, bytes(1_000)) for n in range(2_500)]
        stores.staging.stage(token, changes)
        assert list(stores.staging.scan(token, b"", None)) == changes
        assert list(stores.staging.scan(token, b"01200", b"02400")) == changes[1_200:2_400]
        paths = [path for path, _ in changes]
        assert list(stores.staging.scan_paths(token, b"", None)) == paths
        assert list(stores.staging.scan_paths(token, b"01200", b"02400")) == paths[1_200:2_400]

    def test_it_goes_on_after_the_longest_path(self, stores: Stores) -> None:
        token = new_token()
        paths = [b"%05d" % n for n in range(999)]
        paths += [b"1".ljust(PATH_BYTES_MAX, end) for end in (b"\x00", b"\x01")] + [b"2"]
        stores.staging.stage(token, [(path, None) for path in paths])
        assert list(stores.staging.scan(token, b"", None)) == [(path, None) for path in paths]
        assert list(stores.staging.scan_paths(token, b"", b"2")) == paths[:-1]

    @pytest.mark.parametrize("amount", [1, 7, 50, 51, 1_000])
    def test_its_first_page_has_as_many_changes_as_wanted_or_a_few_more(
        self, stores: Stores, amount: int, spread: Spread
    ) -> None:
        strong(stores)
        token = new_token()
        changes = [(b"%05d" % n, None if n % 3 else VALUE) for n in range(50)]
        stores.staging.stage(token, changes)
        pages = list(stores.staging.scan_pages(token, b"", None, amount))
        first = pages[0].changes
        assert first == changes[: len(first)]
        assert len(first) == min(amount, 50) or (spread != PLAIN and amount < len(first))
        assert all(page.has_more for page in pages[:-1])
        assert not pages[-1].has_more
        assert [change for page in pages for change in page.changes] == changes

    def test_it_comes_with_the_branch(self, stores: Stores, repository: Repository) -> None:
        branch = stores.refs.branch(repository, "main")
        assert branch is not None
        token = branch.staging_token
        stores.staging.stage(token, [(b"a", VALUE), (b"b", None), (b"c", VALUE)])

        def read(name: str, start: bytes, end: bytes | None) -> tuple:
            found, pages = stores.staging.scan_pages_with_branch(
                repository, name, token, start, end, 1
            )
            return found, [change for page in pages for change in page.changes]

        assert read("main", b"b", None) == (branch, [(b"b", None), (b"c", VALUE)])
        assert read("main", b"x", b"x") == (branch, [])
        assert read("absent", b"", b"b") == (None, [(b"a", VALUE)])


def test_a_dropped_token_holds_nothing(stores: Stores) -> None:
    dropped, kept = new_token(), new_token()
    for token in (dropped, kept):
        stores.staging.stage(token, [(b"%d" % n, VALUE) for n in range(60)])
    stores.staging.close(dropped)
    stores.staging.drop(dropped)
    stores.staging.drop(dropped)
    assert list(stores.staging.scan(dropped, b"", None)) == []
    assert stores.staging.get(dropped, b"1") is None
    assert len(list(stores.staging.scan(kept, b"", None))) == 60


def test_a_dropped_token_leaves_no_item(dynamodb_stores: DynamoDBStores) -> None:
    tables, token = dynamodb_stores.tables, new_token()
    dynamodb_stores.staging.close(token)
    dynamodb_stores.staging.drop(token)
    assert tables.get_batch(tables.staging, gates.keys(token)) == []


def test_a_token_is_closed_for_as_long_as_a_drop_may_leave_something(
    dynamodb_stores: DynamoDBStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, token = dynamodb_stores, new_token()
    changes = [(b"%d" % n, VALUE) for n in range(60)]
    stores.staging.stage(token, changes)
    stores.staging.close(token)
    call, refused = stores.tables.dynamodb.call, []

    def beside_a_late_writer(operation: str, *more: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(stores.tables.dynamodb, "call", call)
            if list(stores.staging.scan_paths(token, b"", None)):
                refused.append(stores.staging.stage(token, changes).refused == changes)
        return call(operation, *more)

    with monkeypatch.context() as patch:
        patch.setattr(stores.tables.dynamodb, "call", beside_a_late_writer)
        stores.staging.drop(token)
    assert len(refused) >= 2
    assert all(refused)


def test_a_branch_that_an_older_version_stored_works_on(dynamodb_stores: DynamoDBStores) -> None:
    """It has no count of edits, and no token under which changes were taken back."""
    stores, tables = dynamodb_stores, dynamodb_stores.tables
    repository = create(stores)
    key = branch_key(repository, "main")
    tables.dynamodb.call(
        "UpdateItem",
        tables.update(key, [BranchItem.edits.remove(), BranchItem.restored_token.remove()]),
    )

    def main() -> Branch:
        found = stores.refs.branch(repository, "main")
        assert found is not None
        return found

    def move(old: Branch) -> None:
        _move(stores, repository, old, is_clean=True)

    old = main()
    assert (old.edits, old.has_restored) == (0, False)
    move(old)
    old = main()
    stores.staging.stage_if(repository, old, [StagedChange(b"a", b"v", None)])
    with pytest.raises(StaleVersionError):
        move(old)
    assert main().edits == 1
    assert stores.staging.restore(repository, main(), [(b"a", None)]).has_restored
    assert main().has_restored
