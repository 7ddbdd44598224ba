"""Active commits: those whose objects garbage collection must keep.

Theory of operation. A branch that retains for N days keeps everything that was readable at its head
during the last N days. These are its head, every commit made in that period, and the head when the
period began. That one is the first parent of the oldest commit in the period.

- *A branch's past heads are its chain of first parents.* A merge commit has the content of its
  second parent, and the branch retains the merge. The second parent was never the branch's head, so
  only its own branches retain it. lakeFS does the same, and its known answers (tests/golden) prove
  it. In a commit of lakeFS's version 0, the first parent is the last in the list.
- *The largest number of days wins.* Each commit takes the earliest threshold (now minus N days) of
  all heads above it. That is the union of what each branch alone retains, so the order of commits
  and branches does not matter. (lakeFS's walk can stop at a commit that another branch has visited,
  and so miss what its own branch retains. Its result depends on the order of commit IDs.)
- *Deleted branches.* A commit that is neither a head nor a first parent is left over from a deleted
  branch or a reset. It starts a chain of its own, under the default rule. The time when it ceased
  to be a head is unknown, and counts as the time when it was made. So, unlike a head, it is active
  only if it is younger than the threshold.
- *Clients choose the dates of commits.* So each commit is judged by its own date and its child's,
  never by its place. It is active if either is in the period. This retains everything that lakeFS
  retains, which looks at the child's date only. It also retains everything that a walk would retain
  which stops at the first commit that is too old.

Tags retain nothing, as in lakeFS. To keep a commit, create a branch at it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from graveler.errors import CorruptDataError
from graveler.model import Commit, CommitID, MetaRangeID
from graveler.retention.rules import RetentionRules

SECONDS_PER_DAY = 24 * 60 * 60


def first_parent(commit: Commit) -> CommitID | None:
    """Return the commit that was the branch's head before this one; None for a first commit."""
    if not commit.parents:
        return None
    return commit.parents[0 if commit.version > 0 else -1]


def active_commits(
    commits: Iterable[Commit],
    heads: Iterable[tuple[str, CommitID]],
    rules: RetentionRules,
    now_s: int,
) -> dict[CommitID, MetaRangeID]:
    """Return the active commits, in no order: metarange ID by commit ID.

    heads are all branches, hidden ones included, each with its head's commit ID. commits are all
    commits of the repository, read after the heads. now_s is in Unix seconds.

    Raises:
        CorruptDataError: a commit is missing that a head or another commit names. What it retains
            is unknown.
    """
    lines = _Lines()
    for commit in commits:
        lines.add(commit)
    thresholds = _head_thresholds(lines, heads, rules, now_s)
    active = set(thresholds)
    default_threshold = now_s - rules.default_days * SECONDS_PER_DAY
    for commit_id in lines.children_first():
        # A commit with neither branch nor child is left over: the default rule applies.
        threshold = thresholds.setdefault(commit_id, default_threshold)
        parent = lines.parents[commit_id]
        if lines.dates[commit_id] > threshold:
            active.add(commit_id)
            if parent is not None:
                active.add(parent)
        if parent is not None:
            thresholds[parent] = min(threshold, thresholds.get(parent, threshold))
    return {commit_id: lines.metaranges[commit_id] for commit_id in active}


def _head_thresholds(
    lines: "_Lines", heads: Iterable[tuple[str, CommitID]], rules: RetentionRules, now_s: int
) -> dict[CommitID, int]:
    """Return the earliest threshold of each head's branches, in Unix seconds."""
    thresholds: dict[CommitID, int] = {}
    for branch, commit_id in heads:
        if commit_id not in lines.parents:
            raise CorruptDataError(f"commit {commit_id} is missing, the head of branch {branch!r}")
        threshold = now_s - rules.days_of(branch) * SECONDS_PER_DAY
        thresholds[commit_id] = min(threshold, thresholds.get(commit_id, threshold))
    return thresholds


@dataclass(frozen=True, slots=True)
class _Lines:
    """The commits and their first parents: trees whose roots are the first commits."""

    parents: dict[CommitID, CommitID | None] = field(default_factory=dict)
    dates: dict[CommitID, int] = field(default_factory=dict)
    metaranges: dict[CommitID, MetaRangeID] = field(default_factory=dict)

    def add(self, commit: Commit) -> None:
        self.parents[commit.id] = first_parent(commit)
        self.dates[commit.id] = commit.creation_date
        self.metaranges[commit.id] = commit.metarange_id

    def children_first(self) -> list[CommitID]:
        """Return every commit, each after all of its children.

        Raises:
            CorruptDataError: a parent is missing, or a commit is its own ancestor.
        """
        children_left = dict.fromkeys(self.parents, 0)
        for commit_id, parent in self.parents.items():
            if parent is None:
                continue
            if parent not in children_left:
                raise CorruptDataError(f"commit {parent} is missing, the parent of {commit_id}")
            children_left[parent] += 1
        order = [commit_id for commit_id, count in children_left.items() if count == 0]
        for commit_id in order:  # which grows during the loop
            parent = self.parents[commit_id]
            if parent is not None:
                children_left[parent] -= 1
                if children_left[parent] == 0:
                    order.append(parent)
        if len(order) < len(self.parents):
            raise CorruptDataError("some commits are their own ancestors")
        return order
