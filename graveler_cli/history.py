"""The log of a ref, read page by page on demand."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graveler_cli.schemas import Commit, Pagination
from graveler_cli.uris import RefUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

_LOG = "/repositories/{repository}/refs/{ref}/commits"
_COMMIT = "/repositories/{repository}/commits/{ref}"
_PAGE_SIZE = 1000

# With --no-merges, pages are larger by this factor, as in lakectl.
_WITH_MERGES = 3


def commit_of(server: "LakeClient", ref: RefUri) -> Commit:
    """Return the commit that a ref names.

    Raises:
        ApiRefusedError: the ref does not exist.
        CommandError: the server could not be reached.
    """
    names = {"repository": ref.repository, "ref": ref.ref}
    return server.ask("GET", _COMMIT, names, Commit)


@dataclass
class Log:
    """The commits that lead to a ref, newest first."""

    server: "LakeClient"
    ref: RefUri
    amount: int = 0  # 0: all of them
    no_merges: bool = False
    limit: bool = False
    query: Mapping[str, object] = field(default_factory=dict)
    pagination: Pagination = field(default_factory=Pagination)  # of the last page

    def __iter__(self) -> Iterator[Commit]:
        """Yield the commits; raises as `pages`."""
        for page in self.pages():
            yield from page

    def pages(self) -> Iterator[list[Commit]]:
        """Yield the commits in pages, each read on demand.

        Raises:
            ApiRefusedError: the server refused a page.
            CommandError: the server could not be reached.
        """
        left, after = self.amount, self.query.get("after", "")
        while True:
            found = self._page(after, left)
            page = [each for each in found if not (self.no_merges and len(each.parents) > 1)]
            if self.amount > 0 and left <= len(page):
                page = page[:left]
                if self.pagination.has_more or page[-1] is not found[-1]:
                    self.pagination = Pagination(has_more=True, next_offset=page[-1].id)
                yield page
                return
            yield page
            if not self.pagination.has_more:
                return
            left, after = left - len(page), self.pagination.next_offset

    def _page(self, after: object, wanted: int) -> list[Commit]:
        names = {"repository": self.ref.repository, "ref": self.ref.ref}
        size = wanted if self.amount > 0 else _PAGE_SIZE
        size = min(size * (_WITH_MERGES if self.no_merges else 1), _PAGE_SIZE)
        # With a limit, the server does not look for a next page.
        is_last = self.limit and not self.no_merges and 0 < wanted <= _PAGE_SIZE
        asked = {**self.query, "after": after, "amount": size, "limit": is_last}
        page = self.server.page(_LOG, names, Commit, asked)
        self.pagination = page.pagination
        return page.results


@dataclass
class ChildrenFirst:
    """The commits of a log, each after all its children that the log has.

    A log is sorted by date, and users choose dates: a child may be older than its parent. So a
    commit waits while a later commit of the log may be its descendant. A descendant has a greater
    generation. The generations of parents that have not come yet are asked for where needed.
    """

    pages: Iterable[list[Commit]]  # of a log
    server: "LakeClient"
    repository: str
    first_parent: bool = False
    # Commits that wait, and the number of their waiting children by parent.
    _waiting: dict[str, Commit] = field(default_factory=dict)
    _children: dict[str, int] = field(default_factory=dict)
    # The greatest possible generation of each parent that has not come; and those that are exact.
    _ahead: dict[str, int] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _arriving: dict[str, int] = field(default_factory=dict)  # generations of the page

    def __iter__(self) -> Iterator[Commit]:
        for page in self.pages:
            self._arriving = {commit.id: commit.generation for commit in page}
            for commit in page:
                self._arrive(commit)
                yield from self._ready()
        self._ahead.clear()
        yield from self._ready()

    def parents(self, commit: Commit) -> list[str]:
        """Return the parents that the log follows."""
        return commit.parents[:1] if self.first_parent else commit.parents

    def _arrive(self, commit: Commit) -> None:
        self._waiting[commit.id] = commit
        self._ahead.pop(commit.id, None)
        self._known.discard(commit.id)
        for parent in self.parents(commit):
            self._children[parent] = self._children.get(parent, 0) + 1
            if parent not in self._waiting and parent not in self._known:
                most = commit.generation - 1
                self._ahead[parent] = min(self._ahead.get(parent, most), most)

    def _ready(self) -> Iterator[Commit]:
        """Yield the commits that need not wait any longer."""
        has_yielded = True
        while has_yielded:
            has_yielded = False
            for commit in list(self._waiting.values()):
                if self._children.get(commit.id) or self._may_have_descendants(commit):
                    continue
                del self._waiting[commit.id]
                self._children.pop(commit.id, None)
                for parent in self.parents(commit):
                    self._children[parent] -= 1
                has_yielded = True
                yield commit

    def _may_have_descendants(self, commit: Commit) -> bool:
        """Return whether a later commit of the log may be a descendant of this one."""
        for parent, generation in self._ahead.items():
            if generation > commit.generation and parent not in self._known:
                self._ahead[parent] = self._arriving.get(parent) or self._generation(parent)
                self._known.add(parent)
        return any(generation > commit.generation for generation in self._ahead.values())

    def _generation(self, commit_id: str) -> int:
        return commit_of(self.server, RefUri(self.repository, commit_id)).generation
