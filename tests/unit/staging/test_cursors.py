"""Readers of staged changes jump as far as they like, and fetch little that they do not need."""

from collections.abc import Iterator

from graveler.model import Change
from graveler.ports import ChangesPage
from graveler.staging.cursors import StagedChanges, TokenChanges
from tests.support.checks.cases import for_each


class Pages:
    """What a store holds, and the pages that were fetched: from where, and how many changes."""

    def __init__(self, amount: int) -> None:
        self.changes: list[Change] = [(b"%06d" % number, b"x") for number in range(amount)]
        self.fetched: list[tuple[bytes, int]] = []

    def __call__(self, start: bytes, amount: int) -> Iterator[ChangesPage]:
        rest = [change for change in self.changes if change[0] >= start]
        while True:
            self.fetched.append((start, amount))
            yield ChangesPage(rest[:amount], has_more=len(rest) > amount)
            rest = rest[amount:]
            if not rest:
                return
            start = rest[0][0]

    @property
    def read(self) -> int:
        """How many changes were fetched, or would have been if there were so many."""
        return sum(amount for _, amount in self.fetched)


def first_after_jumps(pages: Pages, jumps: list[int]) -> list[bytes | None]:
    staged = StagedChanges([TokenChanges(pages, 1000)])
    return [next((path for path, _ in staged.from_path(b"%06d" % to)), None) for to in jumps]


@for_each(
    "jumps", [[0, 999, 1000], [0, 1000], [500, 1200, 2999], [0, 500, 1500, 2100], [0, 2999, 3000]]
)
def test_jumps_of_any_length_arrive(jumps):
    found = first_after_jumps(Pages(3000), jumps)
    assert found == [b"%06d" % to if to < 3000 else None for to in jumps]


def test_short_jumps_ask_the_store_once():
    pages = Pages(3000)
    first_after_jumps(pages, list(range(0, 999, 100)))
    assert pages.fetched == [(b"000000", 1000)]


def test_behind_the_last_change_the_store_is_not_asked_again():
    pages = Pages(10)
    assert first_after_jumps(pages, [5, 20, 30]) == [b"000005", None, None]
    assert len(pages.fetched) == 1


def test_the_first_page_that_was_fetched_elsewhere_is_not_fetched_again():
    pages = Pages(10)
    token = TokenChanges(pages, 1000, iter([ChangesPage(pages.changes, has_more=False)]))
    assert list(token.from_path(b"000003")) == pages.changes[3:]
    assert pages.fetched == []


def test_of_large_folders_little_is_read():
    """A jump that leaves the page behind fetches few changes, because it may be followed by another."""
    pages = Pages(50_000)
    first_after_jumps(pages, list(range(0, 50_000, 500)))  # 100 folders
    assert pages.read < 100 * 100


def test_of_small_folders_many_are_read_at_once():
    pages = Pages(10_000)
    first_after_jumps(pages, list(range(0, 10_000, 2)))  # 5,000 folders
    assert len(pages.fetched) <= 12


def test_tokens_are_overlaid_newest_first_after_any_jump():
    newest = iter([ChangesPage([(b"a", b"1"), (b"c", None)], has_more=False)])
    older = iter([ChangesPage([(b"a", b"2"), (b"b", b"2"), (b"c", b"2")], has_more=False)])
    tokens = [TokenChanges(Pages(0), 1000, pages) for pages in (newest, older)]
    staged = StagedChanges(tokens)
    assert next(staged.from_path(b"")) == (b"a", b"1")
    assert list(staged.from_path(b"b")) == [(b"b", b"2"), (b"c", None)]


def test_a_reader_is_told_how_far_it_came_before_more_is_fetched():
    pages = Pages(25)
    passed: list[bytes] = []
    token = TokenChanges(pages, 10, passed=passed.append)
    assert len(list(token.from_path(b""))) == 25
    assert passed == [b"000009", b"000019"]
