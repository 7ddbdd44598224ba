"""`branches:` match as in lakeFS: Go's path.Match."""

import pytest

from graveler.actions.branch_patterns import matches
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each


@for_each(
    ("pattern", "matched", "others"),
    [
        ("main", ["main"], ["main2", "Main", ""]),
        ("*", ["main", "a-b_c", ""], ["a/b"]),
        ("release-*", ["release-", "release-1.2"], ["release", "x-release-1"]),
        ("v?", ["v1"], ["v", "v12", "v/"]),
        ("v[0-9]", ["v0", "v9"], ["va", "v"]),
        ("v[^0-9]", ["va"], ["v0", "v"]),
        ("v[!0]", ["v!", "v0"], ["v1"]),
        ("[ab-dx]", ["a", "c", "x"], ["e"]),
        ("[z-a]", [], ["z", "a", "m"]),
        ("[^z-a]", ["m", "z"], [""]),
        ("[[]", ["["], ["]"]),
        (r"[\]\-]", ["]", "-"], ["\\"]),
        (r"\*", ["*"], ["x", r"\*"]),
        ("{a,b}", ["{a,b}"], ["a", "b"]),
        ("a.b", ["a.b"], ["axb"]),
        ("]", ["]"], [""]),
    ],
)
def test_a_pattern_matches_whole_names(pattern, matched, others):
    assert [name for name in (*matched, *others) if matches(pattern, name)] == matched


@for_each("pattern", ["[", "[]", "[]a]", "[^]", "[-a]", "[a-]", "a\\", "[a"])
def test_a_malformed_pattern_is_refused(pattern):
    with pytest.raises(InvalidInputError, match="malformed"):
        matches(pattern, "main")


@for_each("part", ["?", "*", "[^a]", "[!-\U0010ffff]", "[^é-ü]"])
def test_a_pattern_is_compiled_or_too_long(part):
    assert not matches(part * (4096 // len(part)), "/")
    with pytest.raises(InvalidInputError, match="5000 characters"):
        matches("?" * 5000, "main")
