"""Which commits are active: lakeFS's known answers, the documented example, and broken histories."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graveler.errors import CorruptDataError
from graveler.model import Commit, CommitID, MetaRangeID
from graveler.retention.active import SECONDS_PER_DAY, active_commits, first_parent
from graveler.retention.rules import RetentionRules, make_rules
from tests.support.checks.cases import for_each

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
NOW_S = 1_700_000_000


def commit(name: str, creation_date: int, *parents: str, version: int = 1) -> Commit:
    metarange_id, ids = MetaRangeID(f"metarange of {name}"), tuple(map(CommitID, parents))
    return Commit(CommitID(name), "", "", metarange_id, creation_date, ids, version=version)


def in_days(name: str, age_days: float, *parents: str) -> Commit:
    return commit(name, NOW_S - round(age_days * SECONDS_PER_DAY), *parents)


def active_names(
    commits: list[Commit], heads: dict[str, str], rules: RetentionRules, now_s: int = NOW_S
) -> set[str]:
    ids = [(branch, CommitID(name)) for branch, name in heads.items()]
    return set(active_commits(commits, ids, rules, now_s))


@for_each("case", json.loads((VECTORS / "gc.json").read_text()))
def test_known_answers_over_all_orders_of_commit_ids(case: dict[str, Any]) -> None:
    commits = [
        commit(
            each["name"],
            NOW_S - each["age_hours"] * 3600,
            *each["parents"],
            version=each["version"],
        )
        for each in case["commits"]
    ]
    rules = make_rules(case["default_retention_days"], case["branch_retention_days"].items())
    expected = set(case["active"])
    for other in case["other_results_seen_with_other_ids"]:
        expected.update(other.split(","))
    assert active_names(commits, case["branches"], rules) == expected


# The example of the documentation, collected on 2022-03-31.


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


MAIN = ["02-27", "03-01", "03-09", "03-12", "03-18", "03-26", "03-28"]
DEV = ["d: 03-14", "d: 03-20", "d: 03-23", "d: 03-29"]


def line(dates: list[str], parent: str | None = None) -> list[Commit]:
    commits = []
    for date in dates:
        parents = () if parent is None else (parent,)
        commits.append(commit(date, at(f"2022-{date.removeprefix('d: ')}T12:00"), *parents))
        parent = date
    return commits


def test_the_documented_example() -> None:
    commits = line(MAIN) + line(DEV, parent="03-12")
    rules = make_rules(14, [("main", 21), ("dev", 7)])
    heads = {"main": "03-28", "dev": "d: 03-29"}
    collected = {"02-27", "03-01", "d: 03-14", "d: 03-20"}
    assert active_names(commits, heads, rules, at("2022-03-31T12:00")) == (
        {*MAIN, *DEV} - collected
    )


def test_the_documented_example_with_dev_deleted_goes_by_the_default() -> None:
    commits = line(MAIN) + line(DEV, parent="03-12")
    rules = make_rules(14, [("main", 21), ("dev", 7)])
    # 14 days ago, on 03-17, the head of what was dev was 03-14.
    assert active_names(commits, {"main": "03-28"}, rules, at("2022-03-31T12:00")) == (
        {*MAIN, *DEV} - {"02-27", "03-01"}
    )


# Single rules


def test_a_head_is_active_however_old() -> None:
    commits = [in_days("a", 1000), in_days("b", 900, "a")]
    assert active_names(commits, {"main": "b"}, make_rules(0, [])) == {"b"}


def test_the_head_when_the_period_began_is_active_and_nothing_before_it() -> None:
    commits = [in_days("a", 30), in_days("b", 20, "a"), in_days("c", 5, "b"), in_days("d", 1, "c")]
    assert active_names(commits, {"main": "d"}, make_rules(7, [])) == {"b", "c", "d"}


def test_a_commit_made_exactly_when_the_period_began_was_the_head_then() -> None:
    commits = [in_days("a", 8), in_days("b", 7, "a"), in_days("c", 6, "b")]
    assert active_names(commits, {"main": "c"}, make_rules(7, [])) == {"b", "c"}


def test_the_largest_number_of_days_wins_where_branches_share_commits() -> None:
    commits = [
        in_days("a", 30),
        in_days("b", 20, "a"),
        in_days("long", 1, "b"),
        in_days("short", 1, "b"),
    ]
    heads = {"dev": "short", "main": "long"}
    rules = make_rules(1, [("main", 25), ("dev", 3)])
    assert active_names(commits, heads, rules) == {"a", "b", "long", "short"}
    assert active_names(commits, heads, make_rules(1, [("dev", 3)])) == {"b", "long", "short"}


def test_branches_of_one_head_retain_by_the_larger_number() -> None:
    commits = [in_days("a", 30), in_days("b", 20, "a"), in_days("c", 10, "b")]
    heads = {"main": "c", "dev": "c", "old": "c"}
    rules = make_rules(1, [("dev", 15)])
    assert active_names(commits, heads, rules) == {"b", "c"}


def test_a_branch_that_moved_while_it_was_read_has_both_heads() -> None:
    commits = [in_days("a", 30), in_days("b", 20, "a"), in_days("c", 10, "a")]
    heads = [("main", CommitID("b")), ("main", CommitID("c"))]
    assert set(active_commits(commits, heads, make_rules(1, []), NOW_S)) == {"b", "c"}


def test_what_a_merge_brought_in_is_not_retained_by_it() -> None:
    commits = [
        in_days("a", 30),
        in_days("m", 20, "a"),
        in_days("d", 15, "a"),
        in_days("merge", 2, "m", "d"),
    ]
    assert active_names(commits, {"main": "merge"}, make_rules(7, [])) == {"m", "merge"}


def test_a_merge_of_version_0_has_its_first_parent_last() -> None:
    merge = commit("merge", NOW_S, "d", "m", version=0)
    assert first_parent(merge) == "m"
    commits = [in_days("m", 20), in_days("d", 15), merge]
    assert active_names(commits, {"main": "merge"}, make_rules(7, [])) == {"m", "merge"}


def test_what_a_deleted_branch_left_goes_by_the_default_rule_and_its_own_age() -> None:
    commits = [
        in_days("a", 30),
        in_days("head", 25, "a"),
        in_days("left", 9, "a"),
        in_days("left2", 8, "left"),
        in_days("gone", 20, "a"),
    ]
    heads = {"main": "head"}
    assert active_names(commits, heads, make_rules(7, [])) == {"head"}
    assert active_names(commits, heads, make_rules(10, [])) == {"a", "head", "left", "left2"}
    rules = make_rules(8, [("main", 100)])
    assert active_names(commits, heads, rules) == {"a", "head"}


def test_each_commit_is_judged_by_its_own_date_and_its_childs() -> None:
    commits = [
        in_days("first", 0),  # of a repository made today, whose history is older
        in_days("a", 30, "first"),
        in_days("b", 20, "a"),
        in_days("c", 3, "b"),
        in_days("misdated", 40, "c"),
        in_days("misdated2", 50, "misdated"),
        in_days("d", 1, "misdated2"),
    ]
    assert active_names(commits, {"main": "d"}, make_rules(7, [])) == {
        "first", "b", "c", "misdated2", "d",
    }  # fmt: skip


def test_each_active_commit_comes_with_its_metarange() -> None:
    commits = [in_days("a", 30), in_days("b", 20, "a")]
    found = active_commits(commits, [("main", CommitID("b"))], make_rules(7, []), NOW_S)
    assert found == {"b": "metarange of b"}


# Nothing is ever taken for garbage because something else is missing.


def test_a_missing_parent_is_corrupt_even_where_nothing_would_be_retained() -> None:
    commits = [in_days("b", 900, "a"), in_days("c", 800, "b")]
    with pytest.raises(CorruptDataError, match="commit a is missing, the parent of b"):
        active_commits(commits, [("main", CommitID("c"))], make_rules(0, []), NOW_S)


def test_a_missing_head_is_corrupt() -> None:
    with pytest.raises(CorruptDataError, match="commit b is missing, the head of branch 'main'"):
        active_commits([in_days("a", 1)], [("main", CommitID("b"))], make_rules(0, []), NOW_S)


def test_a_circle_of_commits_is_corrupt() -> None:
    commits = [in_days("a", 2, "b"), in_days("b", 1, "a"), in_days("c", 1)]
    with pytest.raises(CorruptDataError, match="own ancestors"):
        active_commits(commits, [("main", CommitID("c"))], make_rules(0, []), NOW_S)


def test_a_second_parent_may_be_missing() -> None:
    commits = [in_days("a", 9), in_days("merge", 1, "a", "missing")]
    assert active_names(commits, {"main": "merge"}, make_rules(7, [])) == {"a", "merge"}
