"""A protected branch changes by merges only, whatever operation is asked."""

import re
from functools import cache
from pathlib import Path

import pytest

from graveler.model import ProtectionRule
from graveler.operations import repositories
from tests.support.worlds.prepared_lake import prepared
from tests.support.worlds.valid_requests import METHODS, send, valid_requests

RULES = "/repositories/repo/settings/branch_protection"
MERGES = {"mergeIntoBranch", "mergeIntoBranchAsync", "mergePullRequest"}

_SECTION = re.compile(r"^## Protected branches\n(.*?)^## ", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| ([\w, ]+) \| 403 `(.+?)` \|", re.MULTILINE)


def state(api):
    """Return each branch's commit, and the objects that it shows with its uncommitted changes."""
    branches = api.ask("GET", "/repositories/repo/branches").json["results"]
    return {
        branch["id"]: (
            branch["commit_id"],
            api.ask("GET", f"/repositories/repo/refs/{branch['id']}/objects/ls").json["results"],
        )
        for branch in branches
    }


@cache
def outcomes(approvals=0):
    """Return the answer to each operation where all branches are protected, and whether one moved."""
    lake = prepared().api.fork()
    lake.ask("PUT", RULES, [{"pattern": "*", "required_approvals": approvals}])
    lake.run_tasks()
    before = state(lake)
    found = {}
    for name, method in METHODS.items():
        if method != "GET":
            api = lake.fork()
            reply = send(api, valid_requests()[name])
            api.run_tasks()
            after = state(api)
            found[name] = (reply, any(after.get(branch) != then for branch, then in before.items()))
    return found


def test_merges_alone_change_a_protected_branch():
    assert {name for name, (_, moved) in outcomes().items() if moved} == MERGES


def test_where_approvals_are_required_no_single_request_changes_a_branch():
    assert [name for name, (_, moved) in outcomes(approvals=1).items() if moved] == []
    assert {outcomes(approvals=1)[name][0].status for name in MERGES} == {403}


def test_the_document_lists_what_a_protected_branch_refuses():
    refused = {
        name: match[1].decode()
        for name, (reply, _) in outcomes().items()
        if (match := re.search(rb'"message":"([a-z ]*protected branch)"', reply.content))
    }
    (section,) = _SECTION.findall(Path("docs/api.md").read_text(encoding="utf-8"))
    listed = {name: message for row, message in _ROW.findall(section) for name in row.split(", ")}
    assert listed == refused


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_change_of_one_rule_keeps_the_rule_that_another_client_adds_meanwhile(
    monkeypatch, method
):
    lake = prepared().api.fork()
    assert lake.ask("PUT", RULES, [{"pattern": "a"}]).status == 204
    read = repositories.protection_rules

    def read_before(engine, name):
        rules = read(engine, name)
        repositories.set_protection_rules(engine, name, [*rules[0], ProtectionRule("other")])
        return rules

    monkeypatch.setattr(repositories, "protection_rules", read_before)
    pattern = "b" if method == "POST" else "a"
    reply = lake.ask(method, "/repositories/repo/branch_protection", {"pattern": pattern})
    assert reply.status == 412
    monkeypatch.undo()
    assert [rule["pattern"] for rule in lake.ask("GET", RULES).json] == ["a", "other"]
