import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from graveler.addresses import decode_xid
from graveler.aws.system import SystemClock, SystemNames
from graveler.model import Repository, RepositoryUID
from tests.support.fakes.memory import FixedClock

REPOSITORY = Repository("repo", RepositoryUID("uid"), "s3://bucket/path", "main", 0)


def test_a_uid_begins_with_the_time() -> None:
    names = SystemNames(FixedClock(now_ns=1_700_000_000_999_999_999))
    assert decode_xid(names.new_uid())[:4] == (1_700_000_000).to_bytes(4, "big")


def test_uids_of_one_process_differ_by_their_count_alone() -> None:
    names = SystemNames(FixedClock())
    raws = [decode_xid(names.new_uid()) for _ in range(100)]
    assert len({raw[:9] for raw in raws}) == 1
    counts = [int.from_bytes(raw[9:], "big") for raw in raws]
    assert [(b - a) % 2**24 for a, b in pairwise(counts)] == [1] * 99


def test_uids_of_many_threads_and_processes_differ() -> None:
    made = [SystemNames(FixedClock()) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        uids = list(pool.map(lambda n: made[n % 4].new_uid(), range(4_000)))
    assert len(set(uids)) == 4_000


def test_a_forked_process_makes_names_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    names = SystemNames(FixedClock())
    parents = decode_xid(names.new_uid())
    monkeypatch.setattr(os, "getpid", lambda: 2**22 - 1)
    childs = decode_xid(names.new_uid())
    assert childs[4:9] != parents[4:9]
    assert childs[7:9] == b"\xff\xff"


def test_a_staging_token_names_its_branch_and_nothing_else_twice() -> None:
    names = SystemNames(SystemClock())
    tokens = {names.new_staging_token(REPOSITORY, "dev") for _ in range(100)}
    assert len(tokens) == 100
    assert all(token.startswith("repo-dev:") and len(token) == 45 for token in tokens)
