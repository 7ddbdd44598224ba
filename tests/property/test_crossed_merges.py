"""Merges after crossed merges lose no side, and do not depend on IDs, dates or order."""

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import event, given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes
from graveler.committed.store import Breaking, Committed
from graveler.diff.virtual_base import Base, CrossedBase
from graveler.errors import MergeConflictError
from graveler.identity import make_commit
from graveler.merge import merge_changes
from graveler.model import Commit
from graveler.refs.base_graph import VirtualBase, base_of_merge
from graveler.refs.merge_base import merge_bases
from tests.support.worlds.crossed_model import Parents, base_of, best_common
from tests.support.worlds.model import (
    Conflict,
    Records,
    committed_in_memory,
    merged,
    opened,
    read,
    same_records,
    token_value,
    write,
)
from tests.unit.refs.graphs import CountingRefs

PATHS = (b"a", b"b", b"c")
contents = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(["A", "B", "C"]))


@dataclass(frozen=True)
class Lake:
    """Commits with their contents, in an order in which parents come first."""

    parents: Parents
    contents: Mapping[str, Records]
    heads: list[str]

    def stored(
        self, committed: Committed, dates: list[int]
    ) -> tuple[CountingRefs, dict[str, Commit]]:
        """The store that holds the commits, made at these dates, and the commits by name."""
        made: dict[str, Commit] = {}
        for (name, parents), date in zip(self.parents.items(), dates, strict=False):
            before = [made[parent] for parent in parents]
            made[name] = make_commit(
                committer="c",
                message=f"{name} {date}",
                metarange_id=write(committed, self.contents[name]).id,
                creation_date=date,
                metadata={},
                parents=[commit.id for commit in before],
                generation=1 + max((commit.generation for commit in before), default=0),
            )
        refs = CountingRefs()
        refs.add(made.values())
        return refs, made


@st.composite
def lakes(draw: st.DrawFn) -> Lake:
    """Histories of a few branches that are often merged into each other at once.

    A commit changes one path of what it merges, or has any content.
    """
    heads = ["0"]
    parents: dict[str, list[str]] = {"0": []}
    made: dict[str, Records] = {"0": records_of(draw(contents))}

    def add(*of: str) -> str:
        name = str(len(parents))
        parents[name] = [*of]
        content = dict(made[draw(st.sampled_from(of))])
        path, value = draw(st.sampled_from(PATHS)), draw(st.sampled_from(["A", "B", ""]))
        content.pop(path, None)
        if value:
            content[path] = token_value(value)
        made[name] = content
        return name

    heads += [add("0") for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(1, 8))):
        at, other = draw(st.permutations(range(len(heads))))[:2]
        step = draw(st.sampled_from(["commit", "merge", "cross", "cross", "cross"]))
        before = heads[at], heads[other]
        if step == "commit":
            heads[at] = add(before[0])
        else:
            heads[at] = add(*before)
        if step == "cross":
            heads[other] = add(*reversed(before))
    return Lake(parents, made, heads)


def records_of(tokens: Mapping[bytes, str]) -> Records:
    return {path: token_value(token) for path, token in tokens.items()}


def merge_of(
    committed: Committed, base: Base, source: Commit, destination: Commit, strategy: str
) -> Records | None:
    """The engine's merge; None for a conflict."""
    source_content, onto = (opened(committed, each.metarange_id) for each in (source, destination))
    try:
        changes = merge_changes(base, source_content, onto, strategy)
        return read(opened(committed, apply_changes(committed, onto, changes).metarange_id))
    except MergeConflictError:
        return None


@given(
    st.data(),
    lakes(),
    st.sampled_from(["", "source-wins", "dest-wins"]),
    st.lists(st.integers(0, 20), min_size=20, max_size=20),
)
def test_a_merge_compares_with_all_best_common_ancestors(data, lake, strategy, dates):
    source, destination = data.draw(st.permutations(lake.heads))[:2]
    best = best_common(lake.parents, source, destination)
    reference = base_of(lake.parents, lake.contents, source, destination)
    expected = None
    try:
        expected = merged(reference, lake.contents[source], lake.contents[destination], strategy)
    except Conflict:
        assert not strategy
    committed, _ = committed_in_memory(Breaking(2))
    refs, made = lake.stored(committed, dates)
    assert {c.id for c in merge_bases(refs.history(), made[source].id, made[destination].id)} == {
        made[name].id for name in best
    }
    base = base_of_merge(refs.history(), made[source].id, made[destination].id)
    if isinstance(base, VirtualBase):
        event(f"{len(best)} bases, {len(base.sets)} sets, expected {expected is None}")
        since: Base = CrossedBase(base, lambda each: opened(committed, each))
    else:
        since = opened(committed, base)
    found = merge_of(committed, since, made[source], made[destination], strategy)
    if found is None or expected is None:
        assert found is expected
    else:
        assert same_records(found, expected)
