"""Pages fold what lies behind a delimiter, and jump over it."""

from collections.abc import Iterator

from graveler.staging.listing import CommonPrefix, PageQuery, list_page, prefix_end
from tests.support.checks.cases import for_each

KEYS = [b"a", b"b/", b"b/1", b"b/2", b"b/c/1", b"b0", b"c//x", b"c//y", b"d"]


def page(query: PageQuery) -> tuple[list[bytes | CommonPrefix], bytes, list[bytes]]:
    """Items, where to go on, and the keys from which the items were asked for."""
    starts: list[bytes] = []

    def items(start: bytes, end: bytes | None) -> Iterator[bytes]:
        starts.append(start)
        return iter([key for key in KEYS if start <= key and (end is None or key < end)])

    found = list_page(items, lambda key: key, query)
    return found.results, found.next_after, starts


@for_each(
    ("query", "expected"),
    [
        (PageQuery(100), KEYS),
        (PageQuery(100, delimiter=b"/"), [b"a", "b/", b"b0", "c/", b"d"]),
        (PageQuery(100, prefix=b"b/"), [b"b/", b"b/1", b"b/2", b"b/c/1"]),
        (PageQuery(100, prefix=b"b/", delimiter=b"/"), [b"b/", b"b/1", b"b/2", "b/c/"]),
        (PageQuery(100, prefix=b"b", delimiter=b"/"), ["b/", b"b0"]),
        (PageQuery(100, delimiter=b"//"), [b"a", *KEYS[1:6], "c//", b"d"]),
        (PageQuery(100, after=b"b/", delimiter=b"/"), [b"b0", "c/", b"d"]),
        (PageQuery(100, after=b"b/"), KEYS[2:]),
        (PageQuery(100, prefix=b"b/", after=b"b/", delimiter=b"/"), [b"b/1", b"b/2", "b/c/"]),
        (PageQuery(100, prefix=b"c", after=b"d"), []),
        (PageQuery(100, prefix=b"c", after=b"a"), [b"c//x", b"c//y"]),
        (PageQuery(100, prefix=b"x"), []),
    ],
)
def test_a_listing_shows_keys_and_common_prefixes(query, expected):
    shown = [CommonPrefix(item.encode()) if isinstance(item, str) else item for item in expected]
    assert page(query)[:2] == (shown, b"")


def test_a_full_page_returns_where_to_continue():
    assert page(PageQuery(2, delimiter=b"/"))[:2] == ([b"a", CommonPrefix(b"b/")], b"b/")
    assert page(PageQuery(2, after=b"b/", delimiter=b"/"))[:2] == (
        [b"b0", CommonPrefix(b"c/")],
        b"c/",
    )
    assert page(PageQuery(2, after=b"c/", delimiter=b"/"))[:2] == ([b"d"], b"")


def test_a_page_that_holds_the_last_item_is_the_last():
    assert page(PageQuery(len(KEYS)))[1] == b""


def test_folded_keys_are_jumped_over():
    assert page(PageQuery(100, delimiter=b"/"))[2] == [b"", b"b0", b"c0"]


def test_an_after_under_a_common_prefix_shows_the_prefix_if_there_is_more():
    shown, _, _ = page(PageQuery(1, after=b"b/1", delimiter=b"/"))
    assert shown == [CommonPrefix(b"b/")]
    shown, _, _ = page(PageQuery(1, after=b"b/c/1", delimiter=b"/"))
    assert shown == [b"b0"]


@for_each(
    ("prefix", "end"),
    [(b"", None), (b"\xff\xff", None), (b"a", b"b"), (b"a\xff", b"b"), (b"a\xfe", b"a\xff")],
)
def test_a_prefix_ends_before_the_next_one(prefix, end):
    assert prefix_end(prefix) == end
