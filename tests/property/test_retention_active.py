"""Active commits against a slow reader of the documentation, one branch at a time."""

import random
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from graveler.model import EMPTY_METARANGE, NO_COMMIT, Commit, CommitID
from graveler.retention.active import SECONDS_PER_DAY, active_commits, first_parent
from graveler.retention.rules import RetentionRules

NOW_S = 1_700_000_000
BRANCHES = ("main", "dev", "dev:old")


@dataclass(frozen=True)
class World:
    commits: list[Commit]
    heads: dict[str, CommitID]
    rules: RetentionRules

    @property
    def active(self) -> set[CommitID]:
        return set(active_commits(self.commits, self.heads.items(), self.rules, NOW_S))


@st.composite
def worlds(draw: st.DrawFn, *, dates_ascend: bool) -> World:
    count = draw(st.integers(1, 14))
    ages_days = draw(st.lists(st.integers(-3, 40), min_size=count, max_size=count))
    if dates_ascend:
        ages_days.sort(reverse=True)
    commits: list[Commit] = []
    for number, age_days in enumerate(ages_days):
        earlier = st.sampled_from([commit.id for commit in commits] or [NO_COMMIT])
        parents = tuple(
            dict.fromkeys(
                parent for parent in draw(st.lists(earlier, min_size=1, max_size=2)) if parent
            )
        )
        date = NOW_S - age_days * SECONDS_PER_DAY
        version = draw(st.sampled_from([0, 1]))
        commits.append(
            Commit(CommitID(f"c{number}"), "", "", EMPTY_METARANGE, date, parents, version=version)
        )
    ids = st.sampled_from([commit.id for commit in commits])
    heads = draw(st.dictionaries(st.sampled_from(BRANCHES), ids))
    days = st.integers(0, 40)
    rules = RetentionRules(draw(days), draw(st.dictionaries(st.sampled_from(BRANCHES), days)))
    return World(commits, heads, rules)


def slow_active(world: World) -> set[CommitID]:
    """As the documentation says it, for histories whose dates ascend."""
    by_id = {commit.id: commit for commit in world.commits}
    active: set[CommitID] = set()

    def retain(head: CommitID, days: int) -> None:
        begin_s = NOW_S - days * SECONDS_PER_DAY
        at: CommitID | None = head
        while at is not None:
            active.add(at)
            if by_id[at].creation_date <= begin_s:
                return  # this was the head when the period began
            at = first_parent(by_id[at])

    for branch, head in world.heads.items():
        retain(head, world.rules.days_of(branch))
    has_child = {first_parent(commit) for commit in world.commits}
    for commit in world.commits:
        if commit.id not in has_child and commit.id not in world.heads.values():
            begin_s = NOW_S - world.rules.default_days * SECONDS_PER_DAY
            if commit.creation_date > begin_s:
                retain(commit.id, world.rules.default_days)
    return active


@given(worlds(dates_ascend=True))
def test_as_the_documentation_says(world: World) -> None:
    assert world.active == slow_active(world)


@given(worlds(dates_ascend=False))
def test_whatever_the_dates_no_reading_retains_more(world: World) -> None:
    """Not that which stops at the first old commit, nor that which judges each by its own date."""
    assert world.active >= slow_active(world)
    by_id = {commit.id: commit for commit in world.commits}
    for branch, head in world.heads.items():
        begin_s = NOW_S - world.rules.days_of(branch) * SECONDS_PER_DAY
        at: CommitID | None = head
        while at is not None:
            parent = first_parent(by_id[at])
            if by_id[at].creation_date > begin_s:
                assert {at, parent or at} <= world.active
            at = parent


@given(worlds(dates_ascend=False), st.randoms())
def test_the_order_of_commits_and_branches_does_not_matter(
    world: World, chance: random.Random
) -> None:
    commits, heads = list(world.commits), list(world.heads.items())
    chance.shuffle(commits)
    chance.shuffle(heads)
    assert World(commits, dict(heads), world.rules).active == world.active


@given(worlds(dates_ascend=False), st.sampled_from([*BRANCHES, ""]), st.integers(0, 20))
def test_more_days_never_retain_less(world: World, branch: str, more_days: int) -> None:
    default_days, branch_days = world.rules.default_days, dict(world.rules.branch_days)
    if branch in branch_days:
        branch_days[branch] += more_days
    else:
        default_days += more_days
    longer = World(world.commits, world.heads, RetentionRules(default_days, branch_days))
    assert longer.active >= world.active


@given(worlds(dates_ascend=False))
def test_every_head_is_active(world: World) -> None:
    assert world.active >= set(world.heads.values())
