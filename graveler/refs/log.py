"""The log: the commits that a commit leads to, newest first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from graveler.model import Commit, Page
from graveler.refs.history import READ_AHEAD_MAX, History


def log(
    history: History,
    start_id: str,
    *,
    amount: int,
    after: str = "",
    limit: bool = False,
    first_parent: bool = False,
    since_s: int | None = None,
    stop_at: str = "",
    matches: Callable[[Commit], bool] | None = None,
) -> Page[Commit]:
    """Return up to amount (at least 1) commits from start_id on, newest first by creation date.

    after continues behind the commit of that ID, stop_at ends with the one of that ID. since_s
    (Unix seconds) leaves out what is older and what only older commits lead to. first_parent
    follows no other parents. With matches, only commits of exactly one parent that it accepts are
    listed; the parent is in the history's cache when it is asked. limit ends the listing with this
    page, which saves looking for more.

    Raises:
        CorruptDataError: a commit is missing.
    """
    # The walk reads each commit's parents before it gives the commit, and one more tells whether
    # there is another page.
    read_ahead = READ_AHEAD_MAX if after else amount + 1
    commits = _newest_first(
        history, start_id, first_parent=first_parent, since_s=since_s, read_ahead=read_ahead
    )
    found: list[Commit] = []
    skipping = after != ""
    for commit in commits:
        if skipping:
            skipping = commit.id != after
        elif matches is None or (len(commit.parents) == 1 and matches(commit)):
            if len(found) == amount:
                return Page(tuple(found), next_after=found[-1].id)
            found.append(commit)
            if limit and len(found) == amount:
                break
        if commit.id == stop_at:
            break
    return Page(tuple(found))


def _newest_first(
    history: History, start_id: str, *, first_parent: bool, since_s: int | None, read_ahead: int
) -> Iterator[Commit]:
    walk = history.walk(read_ahead)
    start = history.commit(start_id)
    reached = {start_id}
    queue: list[_Waiting] = []
    numbers = count()
    arrived = [start]
    while arrived or queue:
        for commit in arrived:
            if since_s is None or commit.creation_date >= since_s:
                heappush(queue, _Waiting(commit, next(numbers)))
        if not queue:
            return
        commit = heappop(queue).commit
        parent_ids = commit.parents[:1] if first_parent else commit.parents
        new_ids = [parent_id for parent_id in dict.fromkeys(parent_ids) if parent_id not in reached]
        reached.update(new_ids)
        arrived = walk.parents(commit, new_ids)
        yield commit


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A commit in the queue; the newest comes out first.

    A date is a whole second, and a script makes several commits in one: of one date the greatest
    generation comes first, so that no commit stands before one it led to; then the one that was
    reached first, so that a merge's first parent stands before the second.
    """

    commit: Commit
    number: int

    def __lt__(self, other: "_Waiting") -> bool:
        one, another = self.commit, other.commit
        return (one.creation_date, one.generation, -self.number) > (
            another.creation_date,
            another.generation,
            -other.number,
        )
