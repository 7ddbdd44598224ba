"""What every StagingStore promises."""

import pytest

from graveler.limits import PATH_BYTES_MAX
from graveler.model import Repository
from graveler.ports import Staged
from tests.contract.conftest import Stores, new_repository, new_token

VALUE = b"\x00value\xff"


def test_what_is_put_is_read(stores: Stores) -> None:
    token, longest = new_token(), b"\xff" * PATH_BYTES_MAX
    stores.staging.put(token, b"a", VALUE)
    stores.staging.put(token, longest, None)
    assert stores.staging.get(token, b"a") == Staged(VALUE)
    assert stores.staging.get(token, longest) == Staged(None)
    assert stores.staging.get(token, b"b") is None
    assert stores.staging.get(new_token(), b"a") is None


def test_the_last_put_wins(stores: Stores) -> None:
    token = new_token()
    for value in (b"1", None, b"2"):
        stores.staging.put(token, b"a", value)
        assert stores.staging.get(token, b"a") == Staged(value)


def test_a_branch_and_an_entry_are_read_together(stores: Stores, repository: Repository) -> None:
    branch = stores.refs.branch(repository, "main")
    assert branch is not None
    token = branch.staging_token
    stores.staging.put(token, b"a", VALUE)
    stores.staging.put(token, b"gone", None)
    read = stores.staging.get_with_branch
    assert read(repository, "main", token, b"a") == (branch, Staged(VALUE))
    assert read(repository, "main", token, b"gone") == (branch, Staged(None))
    assert read(repository, "main", token, b"b") == (branch, None)
    assert read(repository, "absent", token, b"a") == (None, Staged(VALUE))
    assert read(new_repository(), "main", new_token(), b"a") == (None, None)


def test_many_changes_are_staged(stores: Stores) -> None:
    token = new_token()
    changes = {b"%04d" % n: None if n % 7 == 0 else VALUE * (n % 5) for n in range(333)}
    stores.staging.put_many(token, list(reversed(changes.items())))
    assert list(stores.staging.scan(token, b"", None)) == list(changes.items())
    stores.staging.put_many(token, [])


@pytest.mark.parametrize("now", [None, Staged(None), Staged(b"old")], ids=repr)
@pytest.mark.parametrize("expected", [None, Staged(None), Staged(b"old")], ids=repr)
def test_a_conditional_put_needs_what_was_expected(
    stores: Stores, now: Staged | None, expected: Staged | None
) -> None:
    token = new_token()
    if now is not None:
        stores.staging.put(token, b"a", now.value)
    assert stores.staging.put_if(token, b"a", b"new", expected) is (now == expected)
    assert stores.staging.get(token, b"a") == (Staged(b"new") if now == expected else now)


@pytest.mark.parametrize("expected", [None, Staged(None), Staged(b"old")], ids=repr)
def test_a_conditional_put_of_what_is_there_is_done(
    stores: Stores, expected: Staged | None
) -> None:
    token = new_token()
    stores.staging.put(token, b"a", b"new")
    assert stores.staging.put_if(token, b"a", b"new", expected)


class TestScan:
    PATHS = (b"a", b"a\x00", b"a/b", b"a\xff", b"b", b"\xff", b"\xff" * PATH_BYTES_MAX)

    @pytest.fixture
    def token(self, stores: Stores) -> str:
        token = new_token()
        stores.staging.put_many(token, [(path, path[:10]) for path in self.PATHS])
        # A neighbour's changes are not ours.
        stores.staging.put(token + "0", b"a", b"other")
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
        self, stores: Stores, token: str, start: bytes, end: bytes | None
    ) -> None:
        expected = [
            (path, path[:10])
            for path in self.PATHS
            if path >= start and (end is None or path < end)
        ]
        assert list(stores.staging.scan(token, start, end)) == expected

    def test_it_goes_on_over_many_pages(self, stores: Stores) -> None:
        token = new_token()
        changes = [(b"%05d" % n, bytes(1_000)) for n in range(2_500)]
        stores.staging.put_many(token, changes)
        assert list(stores.staging.scan(token, b"", None)) == changes
        assert list(stores.staging.scan(token, b"01200", b"02400")) == changes[1_200:2_400]

    def test_it_comes_with_the_branch(self, stores: Stores, repository: Repository) -> None:
        branch = stores.refs.branch(repository, "main")
        assert branch is not None
        token = branch.staging_token
        stores.staging.put_many(token, [(b"a", VALUE), (b"b", None), (b"c", VALUE)])

        def read(name: str, start: bytes, end: bytes | None) -> tuple:
            found, changes = stores.staging.scan_with_branch(repository, name, token, start, end)
            return found, list(changes)

        assert read("main", b"b", None) == (branch, [(b"b", None), (b"c", VALUE)])
        assert read("main", b"x", b"x") == (branch, [])
        assert read("absent", b"", b"b") == (None, [(b"a", VALUE)])


def test_a_dropped_token_holds_nothing(stores: Stores) -> None:
    dropped, kept = new_token(), new_token()
    for token in (dropped, kept):
        stores.staging.put_many(token, [(b"%d" % n, VALUE) for n in range(60)])
    stores.staging.drop(dropped)
    stores.staging.drop(dropped)
    assert list(stores.staging.scan(dropped, b"", None)) == []
    assert stores.staging.get(dropped, b"1") is None
    assert len(list(stores.staging.scan(kept, b"", None))) == 60
