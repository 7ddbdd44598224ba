"""List many objects in the order of their keys, with several requests at a time.

Theory of operation. A page of a listing shows where the next one begins, so pages come one after
another. But a listing with a delimiter shows the folders of a tree, which can be listed beside each
other. That costs at least one request for each folder, so it suits large folders only. If the first
page does not leave its first folder, the tree is listed by folders, else page by page. After a few
small folders, the listing starts again behind them. Listing ahead is bounded: each deeper level of
folders gets half, and levels with less than a page list page by page.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from itertools import islice

from graveler.ports import ListedObject, ObjectListing
from graveler.threads import ContextThreads

# A page of S3.
PAGE_OBJECTS = 1000
# A folder with less than this share of a page is small.
_LARGE_SHARE = 10
# The objects of one folder to list ahead, some 4 MB, and the folders. All levels take some 60 MB.
AHEAD_OBJECTS = 10_000
_FOLDERS_AT_ONCE = 8
# While pages are awaited, the caller hears this often that the listing goes on.
_TICK_S = 1.0
_SMALL_FOLDERS_MAX = 8


def list_tree(
    objects: ObjectListing,
    prefix_uri: str,
    start_after_uri: str = "",
    *,
    page_objects: int = PAGE_OBJECTS,
    ahead_objects: int = AHEAD_OBJECTS,
    report: Callable[[], None] = lambda: None,
) -> Iterator[ListedObject]:
    """Yield what list_objects of the same prefix and start yields.

    ahead_objects: the objects of one folder to list ahead, of folders inside a folder half as many.
        Below page_objects, nothing is listed ahead.
    report: called for each folder, because many may come before the next object. Also called each
        second while pages are awaited. It may raise.

    Raises:
        InvalidInputError: the bucket does not exist or denies access.
    """
    tree = _Tree(objects, page_objects, report)
    try:
        yield from tree.walk(prefix_uri, start_after_uri, ahead_objects)
    finally:
        tree.close()


class _Tree:
    """The listing of one tree, and the threads that list ahead."""

    def __init__(
        self,
        objects: ObjectListing,
        page_objects: int,
        report: Callable[[], None],
    ) -> None:
        self._objects = objects
        self._page_objects = page_objects
        self._report = report
        self._pool: ContextThreads | None = None

    def walk(self, prefix_uri: str, after_uri: str, ahead_objects: int) -> Iterator[ListedObject]:
        """Yield the objects behind after_uri, with so many of one folder listed ahead."""
        start: str | None = after_uri
        while start is not None:
            listing = self._objects.list_objects(prefix_uri, start)
            page = list(islice(listing, self._page_objects))
            yield from page
            is_full = len(page) == self._page_objects <= ahead_objects
            if not is_full or not _is_in_one_folder(prefix_uri, page):
                yield from listing
                return
            start = page[-1].uri
            page.clear()
            start = yield from self._walk_folders(prefix_uri, start, ahead_objects)

    def _walk_folders(
        self, prefix_uri: str, after_uri: str, ahead_objects: int
    ) -> Generator[ListedObject, None, str | None]:
        """Yield the objects behind after_uri, while the next folders are listed ahead.

        Return the last object's URI if small folders follow, and None at the end.
        """
        pool = self._pool = self._pool or ContextThreads(_FOLDERS_AT_ONCE)
        ahead: deque[Iterator[ListedObject]] = deque()
        last_uri, small = after_uri, 0
        for child in self._objects.list_folder(prefix_uri):
            self._report()
            if isinstance(child, ListedObject):
                if child.uri > after_uri:
                    ahead.append(iter([child]))
            elif child > after_uri or after_uri.startswith(child):
                start = after_uri if after_uri.startswith(child) else ""
                head = pool.submit(self._head, child, start, ahead_objects)
                ahead.append(self._folder(child, head, ahead_objects))
            if len(ahead) <= _FOLDERS_AT_ONCE:
                continue
            taken = 0
            for listed in ahead.popleft():
                yield listed
                last_uri = listed.uri
                taken += 1
            small = 0 if taken * _LARGE_SHARE >= self._page_objects else small + 1
            if small == _SMALL_FOLDERS_MAX:
                return last_uri
        for each in ahead:
            yield from each
        return None

    def _head(self, folder_uri: str, after_uri: str, ahead_objects: int) -> list[ListedObject]:
        listing = self._objects.list_objects(folder_uri, after_uri)
        return list(islice(listing, ahead_objects))

    def _folder(
        self, folder_uri: str, listed: Future[list[ListedObject]], ahead_objects: int
    ) -> Iterator[ListedObject]:
        while wait([listed], _TICK_S).not_done:
            self._report()
        head = listed.result()
        yield from head
        if len(head) == ahead_objects:
            last_uri = head[-1].uri
            head.clear()
            # Other folders' heads stay in memory meanwhile, so each level gets half.
            yield from self.walk(folder_uri, last_uri, ahead_objects // 2)

    def close(self) -> None:
        """Stop to list ahead."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _is_in_one_folder(prefix_uri: str, page: list[ListedObject]) -> bool:
    """Return whether all objects of the page are in one folder that begins with the prefix."""
    folder, slash, _ = page[0].uri.removeprefix(prefix_uri).partition("/")
    return bool(slash) and page[-1].uri.startswith(f"{prefix_uri}{folder}/")
