"""The settings of a repository: for how long objects stay, what is protected, what is exported."""

import json
import re
from typing import Any

import pytest
from lakefs_sdk import BranchProtectionRule
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import commit, dialog_of, told
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.browser

# The example of lakeFS's own manual.
POLICY: dict[str, Any] = {
    "default_retention_days": 14,
    "branches": [
        {"branch_id": "main", "retention_days": 21},
        {"branch_id": "dev", "retention_days": 7},
    ],
}


@pytest.fixture
def repository(client):
    return lakes.create(client, files={"a.txt": b"a", "b.txt": b"b"})


def settings(repository, room):
    return f"/repositories/{repository.id}/settings/{room}"


def rules_of(client, repository):
    rules = client.sdk_client.repositories_api.get_gc_rules(repository.id).to_dict()
    return rules | {"branches": sorted(rules["branches"], key=lambda rule: -rule["retention_days"])}


def test_a_policy_is_pasted_explained_and_still_there_after_a_reload(visit, client, repository):
    page = visit.open(settings(repository, "retention"))
    expect(page.get_by_role("heading", name="Everything is kept forever")).to_be_visible()
    page.get_by_role("button", name="Edit policy").click()
    dialog = dialog_of(page, "Edit policy")
    dialog.get_by_label("Policy", exact=True).fill(json.dumps(POLICY))
    expect(dialog).to_contain_text("main: forever → 21 days; data may become unreadable sooner")
    expect(dialog).to_contain_text("All other branches: forever → 14 days")
    expect(dialog.get_by_text("dev").last).to_be_visible()
    dialog.get_by_role("button", name="Save policy").click()
    expect(dialog).to_have_count(0)
    assert rules_of(client, repository) == POLICY
    for _ in range(2):
        shown = page.get_by_role("region", name="The policy in force")
        expect(shown).to_contain_text("Objects that are deleted stay readable for 14 days")
        expect(shown).to_contain_text("; on main for 21 days")
        expect(shown).to_contain_text("; on dev for 7 days")
        main, others, dev = (width(shown, name) for name in ("main", "All other branches", "dev"))
        assert main > others > dev > 0
        page.reload()
        visit.wait()


def width(shown, branch):
    """Return how long the branch's bar of the time line is."""
    line = shown.get_by_role("figure").get_by_role("listitem").filter(has_text=branch)
    return line.locator("[aria-hidden] > *").bounding_box()["width"]


DAYS = "Write a whole number, 0 or more."


def test_a_wrong_policy_is_refused_with_advice_before_it_is_sent(visit, client, repository):
    page = visit.open(settings(repository, "retention"))
    page.get_by_role("button", name="Edit policy").click()
    dialog = dialog_of(page, "Edit policy")
    save = dialog.get_by_role("button", name="Save policy")
    dialog.get_by_label("Policy", exact=True).fill("[]")
    expect(dialog.get_by_role("alert")).to_contain_text("Write an object with")
    expect(save).to_be_disabled()
    # Right, but for a branch that the repository has not.
    dialog.get_by_label("Policy", exact=True).fill(json.dumps(POLICY))
    expect(dialog.locator(".notice.warning").filter(has_text="dev").last).to_be_visible()
    expect(save).to_be_enabled()
    dialog.get_by_role("tab", name="Form").click()
    rest = dialog.get_by_label("Days on branches without a rule of their own")
    rest.fill("")
    expect(rest).to_have_accessible_description(DAYS)
    expect(dialog.get_by_role("alert")).to_have_text(DAYS)
    expect(save).to_be_disabled()
    rest.fill("30")
    save.click()
    expect(dialog).to_have_count(0)
    assert rules_of(client, repository) == POLICY | {"default_retention_days": 30}


def test_a_deleted_policy_keeps_everything_again(visit, client, repository):
    rules = {"default_retention_days": 3, "branches": []}
    client.sdk_client.repositories_api.set_gc_rules(repository.id, rules)
    page = visit.open(settings(repository, "retention"))
    page.get_by_role("button", name="Delete policy").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete policy").click()
    expect(page.get_by_role("heading", name="Everything is kept forever")).to_be_visible()


def test_a_collection_is_followed_to_its_end_and_its_report_is_read(visit, client, repository):
    """The collections are the test's, since Spark would start for a real one."""
    rules = {"default_retention_days": 1, "branches": []}
    client.sdk_client.repositories_api.set_gc_rules(repository.id, rules)
    run = {"run_id": "R1", "dry_run": True, "state": "running", "error": "", "requested_by": "ada"}
    runs, asked = [], []

    def answer(route):
        if route.request.method == "POST":
            asked.append(route.request.post_data_json)
            runs.append(run)
            return route.fulfill(status=202, json={"run_id": "R1"})
        if route.request.url.endswith("/R1"):
            return route.fulfill(json=run)
        page = {"has_more": False, "next_offset": "", "results": len(runs), "max_per_page": 1000}
        return route.fulfill(json={"results": runs, "pagination": page})

    visit.page.route(re.compile("/gc/runs"), answer)
    visit.page.clock.install()
    page = visit.open(settings(repository, "retention"))
    page.get_by_role("button", name="Start a dry run").click()
    page.get_by_role("dialog").get_by_role("button", name="Start a dry run").click()
    row = page.get_by_role("list", name="Clean-ups").get_by_role("listitem")
    expect(row).to_contain_text("running")
    assert [each["dry_run"] for each in asked] == [True]
    run.update(state="succeeded", marked_objects=2, marked_bytes=30, text="nothing was deleted")
    page.clock.fast_forward(60_000)
    expect(row).to_contain_text("Would delete 2 objects (30 B)")
    row.get_by_role("button", name="Report of clean-up").click()
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("nothing was deleted")


@pytest.mark.long  # Spark starts in it
@pytest.mark.timeout(600)
def test_a_dry_run_is_followed_to_its_report_and_deletes_nothing(visit, client, repository):
    rules = {"default_retention_days": 1, "branches": []}
    client.sdk_client.repositories_api.set_gc_rules(repository.id, rules)
    page = visit.open(settings(repository, "retention"))
    page.get_by_role("button", name="Start a dry run").click()
    page.get_by_role("dialog").get_by_role("button", name="Start a dry run").click()
    row = page.get_by_role("list", name="Clean-ups").get_by_role("listitem")
    expect(row).to_contain_text("running")
    expect(row).to_contain_text("succeeded", timeout=300_000)
    # Nothing here is old enough to be garbage.
    expect(row).to_contain_text("Would delete 0 objects (0 B)")
    row.get_by_role("button", name="Report of clean-up").click()
    report = page.get_by_role("dialog").locator("pre")
    expect(report).to_contain_text("nothing was deleted")
    assert repository.branch("main").object("a.txt").exists()


def test_a_protected_branch_refuses_commits_with_a_remedy_until_the_rule_is_deleted(
    visit, repository
):
    visit.expect_statuses(403)
    repository.branch("main").object("c.txt").upload(b"c")
    page = visit.open(settings(repository, "branches"))
    page.get_by_label("Protect branches that match").fill("ma*")
    expect(page.get_by_text("1 branch: main")).to_be_visible()
    page.get_by_role("button", name="Protect", exact=True).click()
    rule = page.get_by_role("list", name="Rules").get_by_role("listitem")
    expect(rule).to_contain_text("ma*")
    page = visit.open(f"/repositories/{repository.id}/changes?ref=main")
    expect(page.get_by_text("main is protected: while its rule stands")).to_be_visible()
    page.get_by_role("button", name="Commit…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message").fill("Add c")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("protected")
    expect(dialog.get_by_role("alert")).to_contain_text("merge")
    visit.open(settings(repository, "branches"))
    page.get_by_role("button", name="Delete the rule ma*").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete rule").click()
    expect(page.get_by_role("heading", name="No branch is protected")).to_be_visible()
    commit(visit.open(f"/repositories/{repository.id}/changes?ref=main"), "Add c")


def test_two_administrators_do_not_overwrite_each_others_rules(visit, client, repository):
    visit.expect_statuses(412)
    page = visit.open(settings(repository, "branches"))
    theirs = [BranchProtectionRule(pattern="release-*")]
    client.sdk_client.repositories_api.set_branch_protection_rules(repository.id, theirs)
    page.get_by_label("Protect branches that match").fill("main")
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody has changed the rules meanwhile")
    expect(page.get_by_label("Protect branches that match")).to_have_value("main")
    expect(page.get_by_role("list", name="Rules").get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_role("list", name="Rules")).to_contain_text("release-*")


def set_up_export(page, repository):
    """Export main to a folder of its own; return the folder."""
    to = f"exports/{repository.id}"
    page.get_by_role("button", name="Set up an export").click()
    dialog = dialog_of(page, "Export of main")
    dialog.get_by_label("Export path").fill("no-scheme")
    expect(dialog.get_by_role("alert")).to_contain_text("Begin with s3://")
    dialog.get_by_label("Export path").fill(f"s3://{BUCKET}/{to}")
    dialog.get_by_label("Patterns of success files").fill("(")
    expect(dialog.get_by_role("button", name="Save and export")).to_be_disabled()
    dialog.get_by_label("Patterns of success files").fill("")
    return to


def exported(stack, folder, path):
    return stack.s3.get_object(Bucket=BUCKET, Key=f"{folder}/{path}")["Body"].read()


def test_a_branch_is_exported_now_and_after_every_commit(visit, stack, repository):
    page = visit.open(settings(repository, "export"))
    folder = set_up_export(page, repository)
    page.get_by_role("button", name="Save and export").click()
    state = page.get_by_role("region", name="State of the export")
    expect(state.get_by_text("exported", exact=True)).to_be_visible(timeout=60_000)
    expect(state).to_contain_text("2 objects of 2 done. The path holds commit")
    runs = page.get_by_role("list", name="Last runs").get_by_role("listitem")
    expect(runs).to_have_count(1)
    assert exported(stack, folder, "a.txt") == b"a"
    lakes.change(repository.branch("main"), "Change a", {"a.txt": b"changed"})
    for _ in range(100):
        page.get_by_role("button", name="Load the runs again").click()
        page.wait_for_timeout(300)
        if runs.count() == 2:
            break
    expect(runs).to_have_count(2)
    assert exported(stack, folder, "a.txt") == b"changed"


def test_an_export_by_hand_waits_for_its_user_and_ends_when_it_is_deleted(visit, stack, repository):
    page = visit.open(settings(repository, "export"))
    folder = set_up_export(page, repository)
    page.get_by_label("Export every later commit").uncheck()
    page.get_by_role("button", name="Save and export").click()
    state = page.get_by_role("region", name="State of the export")
    expect(state.get_by_text("exported", exact=True)).to_be_visible(timeout=60_000)
    lakes.change(repository.branch("main"), "Change a", {"a.txt": b"changed"})
    state.get_by_role("button", name="Run now").click()
    expect(told(page)).to_contain_text("The export has started")
    runs = page.get_by_role("list", name="Last runs").get_by_role("listitem")
    expect(runs).to_have_count(2, timeout=60_000)
    assert exported(stack, folder, "a.txt") == b"changed"
    page.get_by_role("button", name="Delete configuration").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete configuration").click()
    expect(page.get_by_role("heading", name="Branch main is not exported")).to_be_visible()
    assert exported(stack, folder, "a.txt") == b"changed"
