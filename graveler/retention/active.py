"""Which commits are active: those whose objects garbage collection must keep.

Theory of operation. A branch that retains for N days keeps what could be read at its head during
the last N days: its head; every commit made since then; and the commit that was the head when the
period began, which is the first parent of the oldest commit made since.

- *A branch's past heads are found by walking first parents.* A merge brings the content of its
  second parent into the merge commit, which the branch retains; the second parent itself was never
  the branch's head, so it is retained by the branches that it lies on and not by the merge. lakeFS
  does the same, and its known answers (tests/golden) settle it. Of a commit of lakeFS's version 0,
  the first parent stands last.
- *The largest number of days wins.* Each commit takes the earliest threshold (now less N days) of
  all the starts above it. That is the union of what each branch alone retains, so the order of
  commits and branches cannot matter. (lakeFS's walk can stop at a commit that another branch came
  by, before it finds what that one retains: there the result depends on the order of commit IDs.)
- *Deleted branches.* A commit that is nobody's first parent and no head was left by a deleted
  branch, or by a reset. It starts a line of its own, under the default rule; it was the head until
  some time after it was made, which nobody knows, so it counts as gone since it was made: unlike a
  head it is active only if it is younger than the threshold.
- *Dates are what the commits say*, and whoever commits may state any. So each commit is judged by
  its own date and its child's, never by its place: it is active if either lies in the period. This
  retains what lakeFS does, which asks for the child's date only, and what a walk would retain that
  stops at the first commit which is too old.

Tags retain nothing, as in lakeFS: make a branch of what has to stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from graveler.errors import CorruptDataError
from graveler.model import Commit
from graveler.retention.rules import RetentionRules

SECONDS_PER_DAY = 24 * 60 * 60


def first_parent(commit: Commit) -> str | None:
    """Return the commit that was the branch's head before this one; None for a first commit."""
    if not commit.parents:
        return None
    return commit.parents[0 if commit.version > 0 else -1]


def active_commits(
    commits: Iterable[Commit],
    heads: Iterable[tuple[str, str]],
    rules: RetentionRules,
    now_s: int,
) -> dict[str, str]:
    """Return the active commits, in no order: the metarange's ID by the commit's.

    heads are branches, hidden ones too, each with a commit ID that is or was its head a moment
    ago; commits are all of the repository, read after the heads. now_s is in Unix seconds.

    Raises:
        CorruptDataError: a commit is missing that a head or another commit names, so nobody can
            tell what it retains.
    """
    lines = _Lines()
    for commit in commits:
        lines.add(commit)
    thresholds = _head_thresholds(lines, heads, rules, now_s)
    active = set(thresholds)
    default_threshold = now_s - rules.default_days * SECONDS_PER_DAY
    for commit_id in lines.children_first():
        # What has neither a branch nor a child was left behind.
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
    lines: "_Lines", heads: Iterable[tuple[str, str]], rules: RetentionRules, now_s: int
) -> dict[str, int]:
    """Return the earliest threshold of each head's branches, in Unix seconds."""
    thresholds: dict[str, int] = {}
    for branch, commit_id in heads:
        if commit_id not in lines.parents:
            raise CorruptDataError(f"commit {commit_id} is missing, the head of branch {branch!r}")
        threshold = now_s - rules.days_of(branch) * SECONDS_PER_DAY
        thresholds[commit_id] = min(threshold, thresholds.get(commit_id, threshold))
    return thresholds


@dataclass(frozen=True, slots=True)
class _Lines:
    """The commits, joined by first parents: trees whose roots are the first commits."""

    parents: dict[str, str | None] = field(default_factory=dict)
    dates: dict[str, int] = field(default_factory=dict)
    metaranges: dict[str, str] = field(default_factory=dict)

    def add(self, commit: Commit) -> None:
        self.parents[commit.id] = first_parent(commit)
        self.dates[commit.id] = commit.creation_date
        self.metaranges[commit.id] = commit.metarange_id

    def children_first(self) -> list[str]:
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
        for commit_id in order:  # which grows meanwhile
            parent = self.parents[commit_id]
            if parent is not None:
                children_left[parent] -= 1
                if children_left[parent] == 0:
                    order.append(parent)
        if len(order) < len(self.parents):
            raise CorruptDataError("there are commits that are their own ancestors")
        return order
