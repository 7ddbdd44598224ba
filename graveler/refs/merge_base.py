"""The merge bases, which are the best common ancestors of two commits, and the distance to them.

Theory of operation. Each of the two commits has a colour and passes it to its parents. These pass
their colours on, down the graph. The commit of the highest generation is always next, so all its
children have passed their colours before it does. A commit that has both colours is a common
ancestor. It shadows its own ancestors, which are no better ones. So a commit that has both colours
and no shadow when it is next is a best common ancestor.

If merges cross, there are several of which none leads to another. The walk continues until no other
one can come: one of the colours is only left in the shadow. In most histories that is so at the
first one.

lakeFS's merge base (pkg/graveler/ref/merge_base_finder.go) is the first commit that gets both
colours. It is the first of ours, if it is one of them. It may also be an ancestor of a better one.
Let M have the parents (old, new), where old is an ancestor of new. Each merge into a branch that
had not moved makes such a commit. Then old gets its colours from M directly and not by way of new.
A merge with base old would bring back what one side has deleted since.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from graveler.errors import InvalidInputError
from graveler.model import Commit, CommitID
from graveler.refs.history import History

# Most branches are merged soon after they were created; the walk reads ahead in growing steps.
READ_AHEAD = 16

_LEFT, _RIGHT, _SHADOW, _DONE = 1, 2, 4, 8
_BOTH = _LEFT | _RIGHT

# A commit in the queue; the highest generation is first, and of equal ones the newest. The numbers
# differ, so commits are never compared.
_Waiting = tuple[int, int, int, Commit]


def merge_base(history: History, left_id: CommitID, right_id: CommitID) -> Commit:
    """Return a best common ancestor of two commits; one of them, if the other leads to it.

    Of several it is lakeFS's choice. A merge compares with all of them (`virtual_base`).

    Raises:
        InvalidInputError: they have no common ancestor.
        CorruptDataError: a commit is missing.
    """
    return merge_bases(history, left_id, right_id)[0]


def merge_bases(history: History, left_id: CommitID, right_id: CommitID) -> list[Commit]:
    """Return all best common ancestors of two commits, lakeFS's choice first.

    Raises:
        InvalidInputError: they have no common ancestor.
        CorruptDataError: a commit is missing.
    """
    found = best_common_ancestors(history, left_id, right_id)
    if not found:
        raise InvalidInputError(
            f"commits {left_id} and {right_id} have no common ancestor, so they cannot be merged"
        )
    return found


def leads_to(history: History, head_id: CommitID, commit_id: CommitID) -> bool:
    """Return whether the commit is the head or one of its ancestors.

    Raises:
        CorruptDataError: a commit is missing.
    """
    if head_id == commit_id:
        return True
    return [each.id for each in best_common_ancestors(history, head_id, commit_id)] == [commit_id]


def best_common_ancestors(history: History, left_id: CommitID, right_id: CommitID) -> list[Commit]:
    """Return all best common ancestors of two commits, lakeFS's choice first; there may be none.

    Raises:
        CorruptDataError: a commit is missing.
    """
    if left_id == right_id:
        return [history.commit(left_id)]
    walk = _ColouredWalk(history, left_id, right_id)
    found = []
    for commit, colour in walk:
        if colour == _BOTH:
            found.append(commit)
        if found and not walk.may_meet:
            break  # without reading the commit's parents
    choice_id = walk.first_met_id
    if not found and choice_id:  # only if stored generations do not fall from child to parent
        return [history.commit(choice_id)]
    return sorted(found, key=lambda commit: commit.id != choice_id)


def ahead_behind(
    history: History, left_id: CommitID, right_id: CommitID, is_over: Callable[[], bool]
) -> tuple[int, int, bool]:
    """Return how many commits lead to left only, how many to right only, and whether that is all.

    is_over ends the count early.

    Raises:
        CorruptDataError: a commit is missing.
    """
    counts = {_LEFT: 0, _RIGHT: 0}
    if left_id == right_id:
        return 0, 0, True
    walk = _ColouredWalk(history, left_id, right_id)
    for _, colour in walk.until_shared():
        if colour in counts:
            counts[colour] += 1
        if is_over():
            return counts[_LEFT], counts[_RIGHT], False
    return counts[_LEFT], counts[_RIGHT], walk.is_exact


def commits_ahead(history: History, left_id: CommitID, right_id: CommitID) -> set[CommitID]:
    """Return the commits that lead to left only.

    Raises:
        CorruptDataError: a commit is missing.
    """
    if left_id == right_id:
        return set()
    walk = _ColouredWalk(history, left_id, right_id)
    return {commit.id for commit, colour in walk.until_shared() if colour == _LEFT}


class _ColouredWalk:
    """The commits that lead to two others, each with its colours when it is next.

    first_met_id: the commit that was first reached from both.
    is_exact: False if a commit got a colour late: stored generations do not fall.
    """

    def __init__(self, history: History, left_id: CommitID, right_id: CommitID) -> None:
        self._walk = history.walk(READ_AHEAD)
        self._colours = {left_id: _LEFT, right_id: _RIGHT}
        self._queue = sorted(map(_waiting, history.commits([left_id, right_id])))
        self._in_queue = [0, 1, 1, 0, 0, 0, 0, 0]  # how many commits of each colour
        self.first_met_id: CommitID | None = None
        self.is_exact = True

    def __iter__(self) -> Iterator[tuple[Commit, int]]:
        colours, in_queue = self._colours, self._in_queue
        while self._queue:
            commit = heappop(self._queue)[-1]
            colour = colours[commit.id]
            colours[commit.id] |= _DONE
            if colour == _BOTH:
                in_queue[colour] -= 1
                yield commit, colour
                colour |= _SHADOW
            else:  # it waits as long as it has not passed its colours on
                yield commit, colour
                in_queue[colour] -= 1
            new_ids = [p for p in dict.fromkeys(commit.parents) if p not in colours]
            if new_ids:
                for parent in self._walk.parents(commit, new_ids):
                    heappush(self._queue, _waiting(parent))
            for parent_id in commit.parents:
                before = colours.get(parent_id, 0)
                self.is_exact &= before < _DONE or before | colour == before
                coloured = colours[parent_id] = before | colour
                if not self.first_met_id and coloured & _BOTH == _BOTH:
                    self.first_met_id = parent_id
                if coloured < _DONE and coloured != before:
                    in_queue[coloured] += 1
                    if before:
                        in_queue[before] -= 1

    def until_shared(self) -> Iterator[tuple[Commit, int]]:
        """Yield commits, with their colours, until all that wait lead to both."""
        for commit, colour in self:
            if colour not in (_LEFT, _RIGHT) and not self.is_one_sided:
                return
            yield commit, colour

    @property
    def may_meet(self) -> bool:
        """Whether a further best common ancestor can come."""
        in_queue = self._in_queue
        return bool(in_queue[_BOTH] or (in_queue[_LEFT] and in_queue[_RIGHT]))

    @property
    def is_one_sided(self) -> bool:
        """Whether a waiting commit leads to one of the two only, as far as is known."""
        return bool(self._in_queue[_LEFT] or self._in_queue[_RIGHT])


def _waiting(commit: Commit) -> _Waiting:
    return -commit.generation, -commit.creation_date, -int(commit.id, 16), commit
