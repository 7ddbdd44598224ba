"""The merge base: the commit from which two histories went apart.

Theory of operation. Both commits colour their parents with their own colour, those pass on what
they have, and so down the graph, always from the commit of the highest generation: when a commit
passes its colours on, all its children have done so. The first commit that gets both colours is
the candidate, which is lakeFS's answer.

Where merges cross, there can be several common ancestors of which none leads to another; lakeFS's
choice among them is kept. But the candidate may also be an ancestor of a better one: when M has
the parents (old, new) and old is an ancestor of new (every merge into a branch that had not moved
makes such a commit), old gets its colours from M and not by way of new. A merge that starts from
old brings back what one side has deleted since. So the walk goes on until it comes to the
candidate: common ancestors that it meets before shadow all that they lead to, and if the candidate
lies in the shadow, the first of them, which nothing can shadow, is the merge base.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

from graveler.errors import InvalidInputError
from graveler.model import Commit
from graveler.refs.history import History

# Most branches are merged soon after they left; the walk reads ahead in growing steps.
READ_AHEAD = 16

_LEFT, _RIGHT, _SHADOW = 1, 2, 4
_BOTH = _LEFT | _RIGHT


def merge_base(history: History, left_id: str, right_id: str) -> Commit:
    """The best common ancestor of the two commits, which is one of them if it leads to the other.

    Raises:
        InvalidInputError: they have no common ancestor.
        CorruptDataError: a commit is missing.
    """
    if left_id == right_id:
        return history.commit(left_id)
    walk = history.walk(READ_AHEAD)
    colours = {left_id: _LEFT, right_id: _RIGHT}
    queue = sorted(map(_Waiting, history.commits([left_id, right_id])))
    candidate_id = ""
    highest: Commit | None = None
    while queue:
        commit = heappop(queue).commit
        colour = colours[commit.id]
        if commit.id == candidate_id:
            return highest if highest and colour & _SHADOW else commit
        if colour & _BOTH == _BOTH:
            highest = highest or commit
            colour |= _SHADOW
        new_ids = [p for p in dict.fromkeys(commit.parents) if p not in colours]
        for parent in walk.parents(commit, new_ids):
            heappush(queue, _Waiting(parent))
        for parent_id in commit.parents:
            colours[parent_id] = colours.get(parent_id, 0) | colour
            if not candidate_id and colours[parent_id] & _BOTH == _BOTH:
                candidate_id = parent_id
    if candidate_id:  # stored generations that do not fall from child to parent
        return history.commit(candidate_id)
    raise InvalidInputError(
        f"commits {left_id} and {right_id} have no common ancestor, so they cannot be merged"
    )


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A commit in the queue; the highest generation comes out first, of one the newest."""

    commit: Commit

    def __lt__(self, other: "_Waiting") -> bool:
        one, another = self.commit, other.commit
        return (one.generation, one.creation_date, one.id) > (
            another.generation,
            another.creation_date,
            another.id,
        )
