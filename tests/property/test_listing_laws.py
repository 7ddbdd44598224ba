"""Listings show every key once, folded or not, whatever is staged over what is committed."""

from collections.abc import Callable, Iterator
from itertools import accumulate, cycle

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.store import Breaking
from graveler.ports import ChangesPage
from graveler.staging.cursors import StagedChanges, TokenChanges
from graveler.staging.listing import CommonPrefix, PageQuery, PageTime, list_page, prefix_end
from graveler.staging.overlay import live_records
from graveler.times import NS_PER_S
from tests.support.worlds.model import Records, committed_in_memory, listed, write
from tests.support.worlds.strategies import breakings, paths, records, values

delimiters = st.sampled_from([b"", b"/", b"a", b"ab", b"//", b"\xff", b"\x00", b"k0"])
prefixes = st.just(b"") | paths | st.sampled_from([b"a/", b"k0", b"\xff", b"\xff\xff", b"k01"])
tokens = st.lists(st.dictionaries(paths, st.none() | values, max_size=20), max_size=3)


def pages(
    committed: Records,
    staged: list[dict[bytes, bytes | None]],
    breaking: Breaking,
    query: PageQuery,
    now_ns: Callable[[], int] = lambda: 0,
    page_changes: int = 1000,
) -> Iterator[list[bytes | CommonPrefix]]:
    """All pages from the query's on, each read as a request of its own."""
    store, _ = committed_in_memory(breaking)
    metarange = write(store, committed)
    while True:
        time = PageTime(now_ns, query)
        changes = _staged_changes(staged, query, time, page_changes)
        page = list_page(
            lambda start, end: time.begun(  # noqa: B023 - used before the loop goes on
                live_records(
                    changes.from_path(start),  # noqa: B023
                    metarange.records(start, end),
                )
            ),
            lambda record: record[0],
            query,
            lambda: time.is_over,  # noqa: B023
        )
        yield [item if isinstance(item, CommonPrefix) else item[0] for item in page.results]
        if not page.next_after:
            return
        assert page.next_after > query.after
        query = PageQuery(query.amount, query.prefix, page.next_after, query.delimiter)


def _staged_changes(
    staged: list[dict[bytes, bytes | None]], query: PageQuery, time: PageTime, page_changes: int
) -> StagedChanges:
    """The changes of tokens in a store whose pages have at most so many changes."""

    def token_changes(token: dict[bytes, bytes | None]) -> TokenChanges:
        def read(start: bytes, amount: int) -> Iterator[ChangesPage]:
            changes = sorted(
                (path, value)
                for path, value in token.items()
                if start <= path and (query.end is None or path < query.end)
            )
            step = min(amount, page_changes)
            for at in range(0, len(changes), step):
                yield ChangesPage(changes[at : at + step], has_more=at + step < len(changes))

        return TokenChanges(read, query.amount + 1, passed=time.check)

    return StagedChanges(list(map(token_changes, staged)))


def live_keys(committed: Records, staged: list[dict[bytes, bytes | None]]) -> set[bytes]:
    keys = set(committed)
    for token in reversed(staged):
        for path, value in token.items():
            (keys.discard if value is None else keys.add)(path)
    return keys


@given(records, tokens, breakings, prefixes, delimiters, st.integers(1, 7))
def test_all_pages_together_show_everything_once(
    committed: Records,
    staged: list[dict[bytes, bytes | None]],
    breaking: Breaking,
    prefix: bytes,
    delimiter: bytes,
    amount: int,
) -> None:
    query = PageQuery(amount, prefix, b"", delimiter)
    found = list(pages(committed, staged, breaking, query))
    assert [item for page in found for item in page] == listed(live_keys(committed, staged), query)
    assert all(len(page) == amount for page in found[:-1])
    assert len(found) == 1 or found[-1]


@given(
    records,
    tokens,
    breakings,
    prefixes,
    delimiters,
    st.integers(1, 7),
    st.integers(1, 5),
    st.lists(st.integers(0, NS_PER_S // 5), min_size=1, max_size=5),
)
def test_pages_that_end_early_show_everything_once(
    committed: Records,
    staged: list[dict[bytes, bytes | None]],
    breaking: Breaking,
    prefix: bytes,
    delimiter: bytes,
    amount: int,
    page_changes: int,
    steps_ns: list[int],
) -> None:
    passed_ns = accumulate(cycle(steps_ns))
    query = PageQuery(amount, prefix, b"", delimiter)
    found = list(pages(committed, staged, breaking, query, lambda: next(passed_ns), page_changes))
    assert [item for page in found for item in page] == listed(live_keys(committed, staged), query)
    assert all(found[:-1])  # an empty page is the last one


@given(records, tokens, breakings, prefixes, st.just(b"") | paths, delimiters, st.integers(1, 7))
def test_a_page_begins_behind_any_key(
    committed: Records,
    staged: list[dict[bytes, bytes | None]],
    breaking: Breaking,
    prefix: bytes,
    after: bytes,
    delimiter: bytes,
    amount: int,
) -> None:
    query = PageQuery(amount, prefix, after, delimiter)
    (page, *_) = pages(committed, staged, breaking, query)
    folded = query.folded(after)
    expected = listed(live_keys(committed, staged), query)
    if folded is not None and folded != after:
        # after lies under a common prefix, which is shown if there is more under it.
        more = any(key.startswith(folded) and key > after for key in live_keys(committed, staged))
        expected = [*[CommonPrefix(folded)] * more, *expected]
    assert page == expected[:amount]


@given(st.integers(0, 400), st.integers(1, 5), st.data())
def test_jumping_over_many_staged_changes_loses_none(
    per_folder: int, folders: int, data: st.DataObject
) -> None:
    """More changes than are looked ahead, so that some jumps end in what is held, some beyond."""
    sizes = [data.draw(st.sampled_from([1, per_folder + 1, 1500, 700])) for _ in range(folders)]
    staged: dict[bytes, bytes | None] = {
        b"f%02d/%05d" % (folder, number): b"x"
        for folder, size in enumerate(sizes)
        for number in range(size)
    }
    query = PageQuery(data.draw(st.integers(1, 10)), delimiter=b"/")
    found = [item for page in pages({}, [staged], Breaking(), query) for item in page]
    assert found == [CommonPrefix(b"f%02d/" % folder) for folder in range(folders)]


@given(paths, paths)
def test_the_end_of_a_prefix_is_the_least_key_behind_it(prefix: bytes, key: bytes) -> None:
    end = prefix_end(prefix)
    if key.startswith(prefix):
        assert end is None or key < end
    elif end is not None and key > prefix:
        assert key >= end
