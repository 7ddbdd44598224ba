"""The merge base: the best common ancestor of two commits.

Theory of operation. Each of the two commits has a colour and passes it to its parents, which pass
their colours on, down the graph. The commit of the highest generation is always next, so all its
children have passed their colours before it does. The first commit that gets both colours is the
candidate, and lakeFS's merge base (pkg/graveler/ref/merge_base_finder.go).

If merges cross, several common ancestors may exist of which none leads to another. We keep lakeFS's
choice among them. But the candidate may also be an ancestor of a better one. Let M have the parents
(old, new), where old is an ancestor of new: each merge into a branch that had not moved makes such
a commit. Then old gets its colours from M directly and not by way of new. A merge with base old
would bring back what one side has deleted since.

So the walk continues until it reaches the candidate. Each common ancestor that it meets before
shadows its own ancestors. If the candidate is shadowed, the merge base is the first of those common
ancestors, which nothing can shadow.
"""

from heapq import heappop, heappush

from graveler.errors import InvalidInputError
from graveler.model import Commit, CommitID
from graveler.refs.history import History

# Most branches are merged soon after they were created; the walk reads ahead in growing steps.
READ_AHEAD = 16

_LEFT, _RIGHT, _SHADOW = 1, 2, 4
_BOTH = _LEFT | _RIGHT

# A commit in the queue; the highest generation is first, and of equal ones the newest. The numbers
# differ, so commits are never compared.
_Waiting = tuple[int, int, int, Commit]


def merge_base(history: History, left_id: CommitID, right_id: CommitID) -> Commit:
    """Return the best common ancestor of two commits; one of them, if the other leads to it.

    Raises:
        InvalidInputError: they have no common ancestor.
        CorruptDataError: a commit is missing.
    """
    if left_id == right_id:
        return history.commit(left_id)
    walk = history.walk(READ_AHEAD)
    colours = {left_id: _LEFT, right_id: _RIGHT}
    queue = sorted(map(_waiting, history.commits([left_id, right_id])))
    candidate_id: CommitID | None = None
    highest: Commit | None = None
    while queue:
        commit = heappop(queue)[-1]
        colour = colours[commit.id]
        if commit.id == candidate_id:
            return highest if highest and colour & _SHADOW else commit
        if colour & _BOTH == _BOTH:
            highest = highest or commit
            colour |= _SHADOW
        new_ids = [p for p in dict.fromkeys(commit.parents) if p not in colours]
        if new_ids:
            for parent in walk.parents(commit, new_ids):
                heappush(queue, _waiting(parent))
        for parent_id in commit.parents:
            coloured = colours[parent_id] = colours.get(parent_id, 0) | colour
            if not candidate_id and coloured & _BOTH == _BOTH:
                candidate_id = parent_id
    if candidate_id:  # only if stored generations do not fall from child to parent
        return history.commit(candidate_id)
    raise InvalidInputError(
        f"commits {left_id} and {right_id} have no common ancestor, so they cannot be merged"
    )


def _waiting(commit: Commit) -> _Waiting:
    return -commit.generation, -commit.creation_date, -int(commit.id, 16), commit
