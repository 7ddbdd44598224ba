"""Commits by ID, and walks over the commit graph in few requests.

Theory of operation. Commits never change, so a cache shared by the whole process holds them. A walk
(log, merge base, `~n`) visits parents; with a request for each step, a log of 1,000 commits would
wait 1,000 times. The store can return commits by generation, and a parent's generation is below its
child's. So if a parent is not cached, the walk reads a page of commits, from the generation below
the child's downwards. It holds the parent and, usually, many of the next commits.

A page can be incomplete or useless; neither changes a result:

- It is eventually consistent. A parent that it misses is read by ID.
- It also holds other branches' commits; if those are many, it helps little. A page takes about as
  long as a few reads by ID. If the walk used fewer commits of the last page, it continues by ID and
  tries a page again after ever longer pauses.
"""

from collections.abc import Sequence

from graveler.cache import BoundedCache
from graveler.errors import CorruptDataError
from graveler.model import Commit, CommitID, Repository, RepositoryUID
from graveler.ports import CommitStore

# By repository uid and commit ID; costs are bytes, about. Two repositories can hold commits of one
# ID, but a commit of one must not exist in the other.
CommitCache = BoundedCache[tuple[RepositoryUID, CommitID], Commit]

# A log of 1,000 commits needs one more, to know whether it ends there. This many commits take about
# half a megabyte, and DynamoDB returns a megabyte at most.
READ_AHEAD_MAX = 1024
READ_AHEAD_GROWTH = 4

# A page of 1,024 commits takes about as long as 16 reads by ID.
COMMITS_PER_READ = 64
PAUSE_READS_MIN = 8
PAUSE_READS_MAX = 256


class History:
    """The commits of one repository; make a new one for each request."""

    def __init__(self, refs: CommitStore, repository: Repository, cache: CommitCache) -> None:
        self.repository = repository
        self._refs = refs
        self._cache = cache

    def find(self, ids: Sequence[CommitID]) -> dict[CommitID, Commit]:
        """Return the existing ones of the commits, by ID; at most one request."""
        held = {commit_id: self.cached(commit_id) for commit_id in ids}
        found = {commit_id: commit for commit_id, commit in held.items() if commit is not None}
        missing = [commit_id for commit_id in held if commit_id not in found]
        if missing:
            for commit in self._refs.commits(self.repository, missing).values():
                found[commit.id] = self.keep(commit)
        return found

    def commit(self, commit_id: CommitID) -> Commit:
        """Return the commit that a branch, a tag or another commit names.

        Raises:
            CorruptDataError: it does not exist.
        """
        return self.commits([commit_id])[0]

    def commits(self, ids: Sequence[CommitID]) -> list[Commit]:
        """Return the commits of these IDs, in their order; at most one request.

        Raises:
            CorruptDataError: one does not exist.
        """
        found = self.find(ids)
        for commit_id in ids:
            if commit_id not in found:
                raise CorruptDataError(
                    f"commit {commit_id} of repository {self.repository.name} is missing, "
                    "though a branch, a tag or another commit names it"
                )
        return [found[commit_id] for commit_id in ids]

    def walk(self, read_ahead: int) -> "HistoryWalk":
        """Return a walk that expects to read about that many commits."""
        return HistoryWalk(self, read_ahead)

    def cached(self, commit_id: CommitID) -> Commit | None:
        """Return the commit if it is cached; no request."""
        return self._cache.get((self.repository.uid, commit_id))

    def page_below(self, generation: int, amount: int) -> dict[CommitID, Commit]:
        """Return up to amount commits up to that generation, highest first; may miss new ones."""
        page = self._refs.commits_below(self.repository, generation, amount)
        return {commit.id: self.keep(commit) for commit in page}

    def keep(self, commit: Commit) -> Commit:
        """Cache the commit, which is stored, and return it."""
        self._cache.put((self.repository.uid, commit.id), commit, _cost_bytes(commit))
        return commit


class HistoryWalk:
    """One walk down the commit graph, which adapts how far it reads ahead."""

    def __init__(self, history: History, read_ahead: int) -> None:
        self._history = history
        self._amount = min(max(read_ahead, 1), READ_AHEAD_MAX)
        # The unused commits of the last page: the cache may be too small to hold them.
        self._ahead: dict[CommitID, Commit] = {}
        self._page_size = 0
        self._used_min = 0  # how many of its commits must be used to make another page worth it
        self._pause_reads = 0
        self._next_pause_reads = PAUSE_READS_MIN

    def parents(self, child: Commit, ids: Sequence[CommitID]) -> list[Commit]:
        """Return the parents of child that have these IDs, in their order.

        Raises:
            CorruptDataError: one does not exist.
        """
        if len(ids) == 1:  # as mostly; a walk may be long
            found = self._ahead.pop(ids[0], None) or self._history.cached(ids[0])
            if found is not None:
                return [found]
        at_hand = self._take(ids)
        if len(at_hand) < len(ids) and self._page_pays():
            self._ahead = self._history.page_below(max(child.generation - 1, 1), self._amount)
            self._page_size = len(self._ahead)
            self._used_min = max(1, self._page_size // COMMITS_PER_READ)
            at_hand |= self._take([commit_id for commit_id in ids if commit_id not in at_hand])
        missing = [commit_id for commit_id in ids if commit_id not in at_hand]
        at_hand |= zip(missing, self._history.commits(missing), strict=True)
        return [at_hand[commit_id] for commit_id in ids]

    def _take(self, ids: Sequence[CommitID]) -> dict[CommitID, Commit]:
        found = {}
        for commit_id in ids:
            commit = self._ahead.pop(commit_id, None) or self._history.cached(commit_id)
            if commit is not None:
                found[commit_id] = commit
        return found

    def _page_pays(self) -> bool:
        """Return whether to read a page now, judging by the used commits of the last one."""
        if self._pause_reads > 0:
            self._pause_reads -= 1
            return False
        if self._amount == 1:
            self._amount = READ_AHEAD_GROWTH
            return False
        used = self._page_size - len(self._ahead)
        if used < self._used_min:
            self._pause_reads = self._next_pause_reads - 1
            self._next_pause_reads = min(2 * self._next_pause_reads, PAUSE_READS_MAX)
            self._ahead, self._page_size, self._used_min = {}, 0, 0
            return False
        if self._used_min > 0:
            self._next_pause_reads = PAUSE_READS_MIN
            self._amount = min(self._amount * READ_AHEAD_GROWTH, READ_AHEAD_MAX)
        return True


def _cost_bytes(commit: Commit) -> int:
    cost_bytes = 512 + len(commit.committer) + len(commit.message)
    for parent in commit.parents:
        cost_bytes += len(parent)
    for key, value in commit.metadata.items():
        cost_bytes += len(key) + len(value)
    return cost_bytes
