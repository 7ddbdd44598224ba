"""What ref expressions name, and what finding out costs."""

import pytest
from msgspec.structs import replace

from graveler.errors import InvalidInputError, NotFoundError
from graveler.model import Commit, RepositoryUID
from graveler.refs.history import History
from graveler.refs.resolve import Staging, resolve, resolve_commit, resolve_commit_id
from tests.support.checks.cases import for_each
from tests.unit.refs.graphs import (
    REPOSITORY,
    CountingRefs,
    chain,
    child_of,
    commit_of_vector,
    vectors,
)

CASES = vectors("refs")["resolve"]
ERRORS = {"invalid_ref": InvalidInputError, "not_found": NotFoundError}
STAGING = {"none": Staging.WITH, "committed": Staging.WITHOUT, "staging": Staging.ONLY}


@pytest.fixture
def refs() -> CountingRefs:
    store = CountingRefs()
    store.add(map(commit_of_vector, CASES["commits"]), CASES["branches"], CASES["tags"])
    return store


@for_each("case", CASES["cases"], ids=lambda case: case["expr"])
def test_an_expression_names_what_it_names_in_lakefs(refs, case):
    if case["error"]:
        with pytest.raises(ERRORS[case["error"]]):
            resolve(refs, refs.history(), case["expr"])
        return
    resolved = resolve(refs, refs.history(), case["expr"])
    assert resolved.commit_id == case["commit_id"]
    assert resolved.tokens == ((case["staging_token"],) if "staging_token" in case else ())
    if case["type"] == "branch":
        assert resolved.staging == STAGING[case["branch_modifier"]]
        assert resolved.branch is not None
    else:
        assert resolved.staging == Staging.WITHOUT
        assert resolved.branch is None


@pytest.fixture
def line() -> tuple[CountingRefs, list[Commit]]:
    store = CountingRefs()
    commits = chain(600)
    store.add(commits, {"main": commits[-1].id}, {"v1.0": commits[0].id})
    return store, commits


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("main", ["branch"]),
        ("main@", ["branch"]),
        ("main$", ["branch"]),
        ("main~0", ["branch"]),
        ("v1.0", ["tag"]),
        ("main~1", ["branch", "commits"]),
        ("main~2", ["branch", "commits", "commits"]),
        ("main~500", ["branch", "commits", "page"]),
    ],
)
def test_an_expression_costs_no_more_requests_than_it_must(line, text, requests):
    refs, _ = line
    resolve(refs, refs.history(), text)
    assert refs.requests == requests


def test_a_commit_id_costs_one_read_and_none_when_the_process_knows_it(line):
    refs, commits = line
    history = refs.history()
    resolve(refs, history, commits[5].id)
    assert refs.requests == ["commits"]
    resolve(refs, history, commits[5].id)
    assert refs.requests == ["commits"]


def test_a_name_that_only_looks_like_part_of_a_commit_id_is_a_branch_first():
    refs = CountingRefs()
    commits = chain(2)
    prefix = commits[0].id[:10]
    refs.add(commits, {prefix: commits[1].id})
    assert resolve_commit_id(refs, refs.history(), prefix) == commits[1].id
    assert refs.requests == ["branch"]


def test_the_commit_of_a_branch_is_its_head(line):
    refs, commits = line
    assert resolve_commit_id(refs, refs.history(), "main") == commits[-1].id
    assert resolve_commit(refs, refs.history(), "main@") == commits[-1]
    assert resolve_commit(refs, refs.history(), "main~2") == commits[-3]


def test_staged_changes_are_no_commit(line):
    refs, _ = line
    with pytest.raises(
        InvalidInputError, match="'main\\$': reference to staging area with \\$ is not a commit"
    ):
        resolve_commit_id(refs, refs.history(), "main$")


def test_an_unknown_ref_is_named_in_the_error(line):
    refs, _ = line
    with pytest.raises(NotFoundError, match=r"^not found: no branch, tag or commit 'x'"):
        resolve(refs, refs.history(), "x")


def test_an_ambiguous_prefix_is_not_found_and_the_message_says_why():
    refs = CountingRefs()
    commits = chain(17)  # of 17 hex texts, two start with the same digit
    refs.add(commits)
    first = [commit.id[0] for commit in commits]
    digit = next(digit for digit in first if first.count(digit) > 1)
    with pytest.raises(NotFoundError, match="several commit IDs start with"):
        resolve(refs, refs.history(), digit)


def test_white_space_is_refused_before_anything_is_read(line):
    refs, _ = line
    with pytest.raises(InvalidInputError):
        resolve(refs, refs.history(), "main ")
    assert refs.requests == []


@for_each("text", ["main^3", "main^9223372036854775807"])
def test_a_parent_that_no_commit_has_is_refused(text):
    refs = CountingRefs()
    root = child_of()
    head = child_of(root)
    refs.add([root, head], {"main": head.id})
    with pytest.raises(InvalidInputError, match="which has 1"):
        resolve(refs, refs.history(), text)


def test_an_endless_climb_ends_at_the_root(line):
    refs, commits = line
    with pytest.raises(NotFoundError, match=f"beyond commit {commits[0].id}"):
        resolve(refs, refs.history(), "main~9223372036854775807")


@pytest.mark.parametrize("text", ["main~-1", "main^-1", "main~1~-1", "none~-1"])
def test_a_number_below_zero_is_refused_before_anything_is_read(line, text):
    refs, _ = line
    with pytest.raises(InvalidInputError, match="a number is below 0"):
        resolve(refs, refs.history(), text)
    assert refs.requests == []


def test_a_commit_of_another_repository_is_not_found_through_the_shared_cache(line):
    refs, commits = line
    history = refs.history()
    resolve(refs, history, commits[5].id)
    elsewhere = CountingRefs()
    other = History(elsewhere, replace(REPOSITORY, uid=RepositoryUID("uid-2")), history._cache)
    with pytest.raises(NotFoundError):
        resolve(elsewhere, other, commits[5].id)
