"""Large changes of a metarange, described so that any process can read them from any key.

A change has a base, which is a metarange, and a source, which gives its changes. Sources name only
immutable things: sealed staging tokens and metaranges. So two processes that read a source see the
same changes.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from graveler.branches.views import View
from graveler.branches.watching import Watching, unwatched
from graveler.committed.apply import Applied, apply_changes
from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import Changes, Slice, plan
from graveler.diff.virtual_base import Base, CrossedBase
from graveler.imports.changes import import_changes, is_whole, plan_import
from graveler.imports.keys import KeyInterval
from graveler.merge import Resolutions, check_resolutions, merge_changes, plan_merge
from graveler.model import Branch, Change, MetaRangeID
from graveler.model.tokens import JsonToken, json_token, token_of_json
from graveler.open_repository import OpenRepository
from graveler.refs.base_graph import VirtualBase


class StagedSource(msgspec.Struct, frozen=True, tag_field="kind", tag="staged"):
    """The changes that sealed tokens hold; newest tokens first.

    version: the branch's, which rises when a token may hold a change that no scan has seen.
    """

    tokens: tuple[JsonToken, ...]
    version: int

    @classmethod
    def of(cls, branch: Branch) -> "StagedSource":
        """Return the source of the branch's sealed changes."""
        return cls(tuple(map(json_token, branch.sealed_tokens)), branch.version)

    def changes(
        self, repo: OpenRepository, base: MetaRange, watching: Watching = unwatched
    ) -> Changes:
        """Return the function that reads the changes from one key to another."""
        view = View(repo, tuple(map(token_of_json, self.tokens)), base)
        return lambda start, end: watching(view.changes(start, end))

    def plan(self, repo: OpenRepository, base: MetaRange, watching: Watching) -> Iterator[Slice]:
        """Yield slices that cover all changes."""
        view = View(repo, tuple(map(token_of_json, self.tokens)), base)
        return plan(
            base, repo.engine.committed.breaking, view.changes, watching(view.changed_paths())
        )


class MergedSource(msgspec.Struct, frozen=True, tag_field="kind", tag="merged"):
    """The changes of a metarange since another one, merged into the base (`graveler.merge`).

    After crossed merges, the other one is virtual. resolutions: by path, the strategy for its
    conflict.
    """

    since: MetaRangeID | VirtualBase
    theirs: MetaRangeID
    strategy: str = ""
    resolutions: Mapping[str, str] = {}

    def changes(
        self, repo: OpenRepository, base: MetaRange, watching: Watching = unwatched
    ) -> Changes:
        """Return the function that reads the changes from one key to another."""
        since, theirs = self._sides(repo)

        def changes(start: bytes, end: bytes | None) -> Iterator[Change]:
            return merge_changes(
                since, theirs, base, self.strategy, start, end, watching, self._resolved
            )

        return changes

    def plan(self, repo: OpenRepository, base: MetaRange, watching: Watching) -> Iterator[Slice]:
        """Yield slices that cover all changes."""
        since, theirs = self._sides(repo)
        return plan_merge(
            repo.engine.committed,
            since,
            theirs,
            base,
            self.strategy,
            watching=watching,
            resolutions=self._resolved,
        )

    def check(self, repo: OpenRepository, base: MetaRange, watching: Watching) -> None:
        """Check that the resolutions are about conflicts.

        Raises:
            InvalidInputError: one is not.
        """
        check_resolutions(*self._sides(repo), base, watching(sorted(self._resolved)))

    @property
    def _resolved(self) -> Resolutions:
        return {path.encode(): strategy for path, strategy in self.resolutions.items()}

    def _sides(self, repo: OpenRepository) -> tuple[Base, MetaRange]:
        since = opened_base(repo, self.since)
        return since, repo.metarange(self.theirs)


class ImportedSource(msgspec.Struct, frozen=True, tag_field="kind", tag="imported"):
    """A metarange that replaces the base's records in intervals of keys (`graveler.imports`)."""

    imported: MetaRangeID
    replaced: tuple[KeyInterval, ...]

    def changes(
        self, repo: OpenRepository, base: MetaRange, watching: Watching = unwatched
    ) -> Changes:
        """Return the function that reads the changes from one key to another."""
        imported = repo.metarange(self.imported)

        def changes(start: bytes, end: bytes | None) -> Iterator[Change]:
            return watching(import_changes(imported, base, self.replaced, start, end))

        return changes

    def plan(self, repo: OpenRepository, base: MetaRange, watching: Watching) -> Iterator[Slice]:
        """Yield slices that cover all changes."""
        imported = repo.metarange(self.imported)
        return plan_import(repo.engine.committed, imported, base, self.replaced, watching=watching)


# As JSON, a source names its kind.
ChangeSource = StagedSource | MergedSource | ImportedSource

# Applies a source's changes to a base, and stores the resulting metarange.
Apply = Callable[[OpenRepository, MetaRange, ChangeSource], Applied]


def opened_base(repo: OpenRepository, base: MetaRangeID | VirtualBase) -> Base:
    """Return the content of a merge's base; reading it raises if a part does not exist."""
    if isinstance(base, VirtualBase):
        return CrossedBase(base, repo.metarange)
    return repo.metarange(base)


def apply_at_once(watching: Watching) -> Apply:
    """Return the function that applies changes in one pass, in this process."""

    def apply(repo: OpenRepository, base: MetaRange, source: ChangeSource) -> Applied:
        changes = source.changes(repo, base, watching)(b"", None)
        return apply_changes(repo.engine.committed, base, changes)

    return apply


def apply_merge(
    apply: Apply, repo: OpenRepository, base: MetaRange, source: MergedSource
) -> Applied:
    """Apply a merge. If only the source changed something, the result is the source.

    Raises:
        MergeConflictError: both sides changed a key differently, and there is no strategy.
    """
    if base.id == source.since and source.since != source.theirs:
        # The count only says that something changed.
        return Applied(source.theirs, Counts(changed=1))
    return apply(repo, base, source)


def apply_import(
    apply: Apply, repo: OpenRepository, base: MetaRange, source: ImportedSource
) -> Applied:
    """Apply an import. If nothing of base stays, the result is the imported metarange."""
    imported = repo.metarange(source.imported)
    if imported.id and is_whole(base, source.replaced):
        # The count only says that something changed.
        return Applied(imported.id, Counts(changed=int(imported.id != base.id)))
    return apply(repo, base, source)
