"""Bytes and patterns made to take all the memory or all the time."""

import pytest

from graveler.errors import InvalidInputError
from graveler.limits import PROTECTION_RULES_MAX
from graveler.model import ProtectionRule
from graveler.operations import repositories, staged
from graveler.sstable.format import VARINT, _checksum, open_block, seal_block
from tests.support.engines import memory_world


def compressed(payload: bytes) -> bytes:
    """A block that says it is Snappy, with a checksum that is right."""
    return payload + b"\x01" + _checksum(payload + b"\x01")


@pytest.mark.parametrize("claimed", [2**20, 2**31, 2**32 - 1])
def test_a_block_that_claims_gigabytes_is_refused_before_they_are_taken(claimed):
    # The decoder would end the process, which no except clause stops.
    with pytest.raises(ValueError, match="cannot become"):
        open_block(compressed(VARINT[claimed] + b"\x00a"))


def test_the_tightest_block_is_no_bomb():
    raw = bytes(1_000_000)
    assert len(seal_block(raw, compress=True)) < len(raw) // 20
    assert open_block(seal_block(raw, compress=True)) == raw


@pytest.mark.parametrize("pattern", ["{*,*}" * 190 + "b", "*a" * 490 + "b", "{" * 1000])
def test_no_protection_pattern_makes_writers_wait(pattern):
    """Python's own engine would take centuries for the first."""
    engine = memory_world().engine()
    repositories.create(engine, name="repo", storage_namespace="s3://bucket/repo")
    repositories.set_protection_rules(engine, "repo", [ProtectionRule(pattern)])
    staged.branch_for_staging(engine, "repo", "main", b"a", force=False)


def test_patterns_are_counted_and_measured():
    engine = memory_world().engine()
    repositories.create(engine, name="repo", storage_namespace="s3://bucket/repo")
    many = [ProtectionRule(f"b{number}") for number in range(PROTECTION_RULES_MAX + 1)]
    for rules in (many, [ProtectionRule("a" * 1001)]):
        with pytest.raises(InvalidInputError, match="there may be"):
            repositories.set_protection_rules(engine, "repo", rules)
    repositories.set_protection_rules(engine, "repo", many[1:])
