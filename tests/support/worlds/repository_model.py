"""A reference model of a repository in plain dictionaries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graveler.errors import GravelerError, InvalidInputError, MergeConflictError
from graveler.model import Change, Commit
from tests.support.worlds.crossed_model import ancestors, base_of, best_common
from tests.support.worlds.model import (
    Conflict,
    Records,
    applied,
    changes_between,
    differences,
    merged,
)

Changes = dict[bytes, bytes | None]


@dataclass
class ModelBranch:
    """A head, the staged changes, and the sealed changes below them.

    restored: what resets staged, which repeats the head as long as nothing else is staged there.
    """

    head: str
    staged: Changes = field(default_factory=dict)
    sealed: Changes = field(default_factory=dict)
    restored: Changes = field(default_factory=dict)

    @property
    def changes(self) -> list[Change]:
        return sorted((self.sealed | self.staged).items())

    def seal(self) -> None:
        self.sealed |= self.staged
        self.staged = {}

    def clear(self) -> None:
        self.staged, self.sealed, self.restored = {}, {}, {}

    def hard_reset(self, head: str) -> None:
        """Move the head; what resets staged goes with it."""
        self.head, self.sealed = head, {}
        for path, value in self.restored.items():
            if path in self.staged and self.staged[path] is value:
                del self.staged[path]
        self.restored = {}


@dataclass(frozen=True)
class ModelBase:
    """What a merge compares both sides with; the metaranges of the commits that it is made of."""

    content: Records
    metarange_ids: frozenset[str]


class ModelRepository:
    """Branches, tags, and every commit ever made, with its whole content."""

    def __init__(self, first: Commit) -> None:
        self.commits: dict[str, Commit] = {first.id: first}
        self.contents: dict[str, Records] = {first.id: {}}
        self.branches = {"main": ModelBranch(first.id)}
        self.tags: dict[str, str] = {}

    def live(self, branch: str) -> Records:
        """Return the records that a reader of the branch sees."""
        found = self.branches[branch]
        records = dict(self.contents[found.head])
        for path, value in found.changes:
            records.pop(path, None)
            if value is not None:
                records[path] = value
        return records

    def head_content(self, branch: str) -> Records:
        return self.contents[self.branches[branch].head]

    def uncommitted(self, branch: str) -> list[tuple[bytes, bytes | None, bytes | None]]:
        """Return (path, committed value, staged value) of every staged change."""
        head, live = self.head_content(branch), self.live(branch)
        return [(path, head.get(path), live.get(path)) for path, _ in changes_between(head, live)]

    def sealed_is_void(self, branch: str) -> bool:
        head = self.head_content(branch)
        return all(head.get(p) == v for p, v in self.branches[branch].sealed.items())

    def after_commit(self, branch: str) -> Records:
        """The content of a commit of everything staged."""
        return applied(self.head_content(branch), self.branches[branch].changes)

    def reset(self, branch: str, start: bytes, *, whole: bool) -> None:
        """Drop the staged changes at the path, or under it."""
        head, found = self.head_content(branch), self.branches[branch]
        for path, _ in found.changes:
            if path == start if whole else path.startswith(start):
                found.staged[path] = found.restored[path] = head.get(path)

    def add_commit(self, branch: str, commit: Commit, content: Records) -> None:
        """Record that the commit was made on the branch, with everything that was staged."""
        self.commits[commit.id] = commit
        self.contents[commit.id] = content
        self.branches[branch].head = commit.id
        self.branches[branch].clear()

    def merge_error(
        self, branch: str, base: ModelBase, source: Commit, strategy: str
    ) -> type[GravelerError] | None:
        """Return the error that a merge into the branch raises; None if it succeeds."""
        if self.uncommitted(branch):
            return InvalidInputError
        try:
            self.merged(branch, base, source, strategy)
        except Conflict:
            return MergeConflictError
        return None

    def merged(self, branch: str, base: ModelBase, source: Commit, strategy: str) -> Records:
        """The content of a merge into the branch's head."""
        head = self.commits[self.branches[branch].head]
        if base.metarange_ids == {head.metarange_id}:
            return self.contents[source.id]
        contents = self.contents
        return merged(base.content, contents[source.id], contents[head.id], strategy)

    @property
    def parents(self) -> Mapping[str, Sequence[str]]:
        return {commit.id: commit.parents for commit in self.commits.values()}

    def base_of_merge(self, source_id: str, head_id: str) -> ModelBase:
        """Return what a merge of the two commits compares both with."""
        return ModelBase(
            base_of(self.parents, self.contents, source_id, head_id),
            frozenset(
                self.commits[one].metarange_id
                for one in best_common(self.parents, source_id, head_id)
            ),
        )

    def base_at(self, commit: Commit) -> ModelBase:
        """Return the commit as a base."""
        return ModelBase(self.contents[commit.id], frozenset([commit.metarange_id]))

    def ancestors(self, commit_id: str) -> set[str]:
        """Return the commit and all its ancestors."""
        return ancestors(self.parents, commit_id)

    def log(self, commit_id: str) -> list[str]:
        """Return the ancestors, newest first; the tests' clock gives every commit its own date."""
        ancestors = [self.commits[one] for one in self.ancestors(commit_id)]
        return [c.id for c in sorted(ancestors, key=lambda c: c.creation_date, reverse=True)]

    def changed_paths(self, commit_id: str) -> set[bytes]:
        """Return the paths that a commit with one parent changed."""
        (parent,) = self.commits[commit_id].parents
        found = differences(self.contents[parent], self.contents[commit_id])
        return {path for path, _, _ in found}
