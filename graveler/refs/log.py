"""The log: a commit and its ancestors, newest first."""

from collections.abc import Callable, Container, Iterator
from heapq import heappop, heappush
from itertools import count

from graveler.model import Commit, CommitID, Page
from graveler.refs.history import READ_AHEAD_MAX, History

# A commit in the queue; the newest is first. Dates are whole seconds, and a script makes several
# commits in one. Of equal dates the greatest generation is first, so that a child precedes its
# parents. Then comes the commit that was reached first, so that a merge's first parent precedes the
# second. The last numbers differ, so commits are never compared.
_Waiting = tuple[int, int, int, Commit]


def log(
    history: History,
    start_id: CommitID,
    *,
    amount: int,
    after: CommitID | None = None,
    limit: bool = False,
    first_parent: bool = False,
    since_s: int | None = None,
    stop_at: CommitID | None = None,
    within: Container[CommitID] | None = None,
    matches: Callable[[Commit], bool] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Page[Commit]:
    """Return up to amount commits from start_id on, newest first by creation date.

    amount is at least 1. The page begins behind the commit `after`. The log ends with the commit
    `stop_at`. since_s (Unix seconds) skips older commits, and ancestors that only they lead to.
    within skips other commits in the same way.
    first_parent follows first parents only. With matches, the log has only commits that have
    exactly one parent and that matches accepts. The parent is then in the history's cache. limit
    ends the log with this page, which saves looking for the next commit. is_over ends the page
    early, perhaps without any commit.

    Raises:
        CorruptDataError: a commit is missing.
    """
    # The walk reads each commit's parents before it yields the commit. One more commit shows
    # whether there is another page.
    read_ahead = amount + 1 if after is None else READ_AHEAD_MAX
    commits = _newest_first(
        history,
        start_id,
        first_parent=first_parent,
        since_s=since_s,
        within=within,
        read_ahead=read_ahead,
    )
    found: list[Commit] = []
    skipping = after is not None
    for commit in commits:
        was_skipped = skipping
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
        # A page looks at one commit at least, so that the pages go on.
        if is_over is not None and not was_skipped and is_over():
            return Page(tuple(found), next_after=commit.id)
    return Page(tuple(found))


def _newest_first(
    history: History,
    start_id: CommitID,
    *,
    first_parent: bool,
    since_s: int | None,
    within: Container[CommitID] | None,
    read_ahead: int,
) -> Iterator[Commit]:
    walk = history.walk(read_ahead)
    start = history.commit(start_id)
    reached = {start_id}
    queue: list[_Waiting] = []
    numbers = count()
    arrived = [start]
    while arrived or queue:
        for commit in arrived:
            is_recent = since_s is None or commit.creation_date >= since_s
            if is_recent and (within is None or commit.id in within):
                waiting = (-commit.creation_date, -commit.generation, next(numbers), commit)
                heappush(queue, waiting)
        if not queue:
            return
        commit = heappop(queue)[-1]
        parent_ids = commit.parents[:1] if first_parent else commit.parents
        new_ids = [parent_id for parent_id in dict.fromkeys(parent_ids) if parent_id not in reached]
        reached.update(new_ids)
        arrived = walk.parents(commit, new_ids) if new_ids else []
        yield commit
