"""Users, groups, policies and keys; and what the page says to those who may do little."""

import json
import re
from uuid import uuid4

import pytest
from lakefs_sdk import Policy, Statement
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of, session_of

pytestmark = pytest.mark.browser

LACKS_RIGHT = "ask an administrator for a policy that allows it"


def name_of(kind):
    return f"{kind}-{uuid4().hex[:8]}"


def create(visit, room, button, name):
    """Create something by the dialog that asks for its name."""
    page = visit.open(f"/auth/{room}")
    page.get_by_role("button", name=button).click()
    dialog = dialog_of(page, button)
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name=button).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    return page


def add(page, title, noun, name):
    """Attach what has this name to the user or group that the page shows."""
    part = page.get_by_role("region", name=title, exact=True)
    part.get_by_label(f"Add a {noun}").fill(name)
    part.get_by_role("button", name="Add").click()
    expect(part.get_by_role("link", name=name)).to_be_visible()


def reading(repository):
    """Return statements that allow to read the repository, and deny one folder."""
    arn = f"arn:lakefs:fs:::repository/{repository.id}"
    return [
        {"effect": "allow", "action": ["fs:Read*", "fs:List*"], "resource": f"{arn}*"},
        {"effect": "deny", "action": ["fs:ReadObject"], "resource": f"{arn}/object/secret/*"},
    ]


def test_a_new_user_reads_by_a_group_and_the_explainer_names_the_statement(
    visit, visiting, stack, client
):
    repository = lakes.create(client, files={"a.txt": b"open", "secret/b.txt": b"closed"})
    user, group, policy = name_of("ada"), name_of("readers"), name_of("read")
    page = visit.open("/auth/policies")
    page.get_by_role("button", name="Create policy").click()
    dialog = dialog_of(page, "Create policy")
    dialog.get_by_label("Name", exact=True).fill(policy)
    dialog.get_by_label("Statements").fill(json.dumps({"statement": reading(repository)}))
    dialog.get_by_role("button", name="Save policy").click()
    expect(page.get_by_role("region", name="Statement 2")).to_contain_text("Denies")
    create(visit, "groups", "Create group", group)
    add(page, "Policies", "policy", policy)
    create(visit, "users", "Create user", user)
    expect(page.get_by_text("None: this user may do nothing")).to_be_visible()
    add(page, "Groups", "group", group)
    effective = page.get_by_role("region", name="Policies in effect")
    expect(effective.get_by_role("link", name=policy)).to_be_visible()

    key_id, secret = new_key(page)
    reader = visiting(storage_state=session_of(stack, key_id, secret))
    reader.expect_statuses(401)
    seen = reader.open(f"/repositories/{repository.id}/object?ref=main&path=a.txt")
    expect(seen.get_by_role("region", name="Content")).to_contain_text("open")
    seen = reader.open(f"/repositories/{repository.id}/object?ref=main&path=secret%2Fb.txt")
    expect(seen.get_by_role("alert").first).to_contain_text("A policy denies fs:ReadObject")

    verdict = explain(visit, user, repository, "a.txt")
    expect(verdict).to_contain_text(f"Yes: {user} may fs:ReadObject on")
    expect(verdict.get_by_role("link", name=f"Group {group}")).to_be_visible()
    verdict = explain(visit, user, repository, "secret/b.txt")
    expect(verdict).to_contain_text(f"No: {user} may not fs:ReadObject on")
    verdict.get_by_role("link", name=f"Show statement 2 of {policy}").click()
    chosen = page.get_by_role("region", name="Statement 2")
    expect(chosen).to_contain_text("This one decided")


def new_key(page):
    """Create a key pair on the page of a user; return it. Its secret shows no second time."""
    page.get_by_role("button", name="Create access key").click()
    dialog = dialog_of(page, re.compile("^New access key"))
    codes = dialog.locator("dd code")
    key_id, secret = codes.nth(0).inner_text(), codes.nth(1).inner_text()
    dialog.get_by_role("button", name="I have copied it").click()
    keys = page.get_by_role("list", name="Access keys")
    expect(keys).to_contain_text(key_id)
    page.reload()
    expect(keys).to_contain_text(key_id)
    expect(page.locator("body")).not_to_contain_text(secret)
    return key_id, secret


def explain(visit, user, repository, path):
    """Ask whether the user may read the object; return the answer."""
    page = visit.open(f"/auth/access?user={user}")
    page.get_by_label("Action").select_option("fs:ReadObject")
    page.get_by_label("Resource").fill(f"arn:lakefs:fs:::repository/{repository.id}/object/{path}")
    page.get_by_role("button", name="Explain").click()
    return page.get_by_role("region", name="Answer")


def test_a_policy_that_is_no_policy_is_refused_before_it_is_sent(visit):
    page = visit.open("/auth/policies")
    page.get_by_role("button", name="Create policy").click()
    dialog = dialog_of(page, "Create policy")
    for text, advice in (
        ('{"statement": [', "This is not JSON"),
        ('{"statements": []}', "Write an object with a list named statement"),
    ):
        dialog.get_by_label("Statements").fill(text)
        expect(dialog.get_by_role("alert")).to_contain_text(advice)
        expect(dialog.get_by_role("button", name="Save policy")).to_be_disabled()


def test_a_policy_of_an_action_that_does_not_exist_is_refused_and_stays_as_it_was_typed(visit):
    visit.expect_statuses(400)
    page = visit.open("/auth/policies")
    page.get_by_role("button", name="Create policy").click()
    dialog = dialog_of(page, "Create policy")
    dialog.get_by_label("Name", exact=True).fill(name_of("wrong"))
    statement = [{"effect": "maybe", "action": ["fs:ReadObject"], "resource": "*"}]
    text = json.dumps({"statement": statement})
    dialog.get_by_label("Statements").fill(text)
    dialog.get_by_role("button", name="Save policy").click()
    expect(dialog.get_by_role("alert")).to_contain_text("effect")
    expect(dialog.get_by_label("Statements")).to_have_value(text)


def test_a_policy_that_somebody_else_has_changed_is_shown_before_it_is_replaced(visit, client):
    visit.expect_statuses(412)
    name, auth = name_of("shared"), client.sdk_client.auth_api

    def statements(*actions):
        return [Statement(effect="allow", action=[each], resource="*") for each in actions]

    auth.create_policy(Policy(id=name, statement=statements("fs:ReadObject")))
    page = visit.open(f"/auth/policies/{name}")
    page.get_by_role("button", name="Edit policy").click()
    dialog = dialog_of(page, f"Edit policy {name}")
    mine = [{"effect": "allow", "action": ["fs:ListObjects"], "resource": "*"}]
    text = json.dumps({"statement": mine})
    dialog.get_by_label("Statements").fill(text)
    theirs = Policy(id=name, statement=statements("fs:ReadObject", "fs:ReadBranch"))
    auth.update_policy(name, theirs)
    save = dialog.get_by_role("button", name="Save policy")
    save.click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody has changed the policy")
    expect(dialog.get_by_text("The policy as it is now")).to_be_visible()
    expect(dialog).to_contain_text("fs:ReadBranch")
    expect(dialog.get_by_label("Statements")).to_have_value(text)
    assert len(auth.get_policy(name).statement) == 2
    save.click()
    expect(dialog).to_have_count(0)
    assert [each.action for each in auth.get_policy(name).statement] == [["fs:ListObjects"]]


# Everything but a user's own keys, and the explainer's form.
REFUSING = (
    "/repositories",
    "/repositories/{lake}/objects?ref=main",
    "/repositories/{lake}/changes?ref=main",
    "/repositories/{lake}/commits?ref=main",
    "/repositories/{lake}/branches",
    "/repositories/{lake}/tags",
    "/repositories/{lake}/pulls",
    "/repositories/{lake}/actions",
    "/repositories/{lake}/tasks",
    "/repositories/{lake}/settings/general",
    "/repositories/{lake}/settings/retention",
    "/repositories/{lake}/settings/branches",
    "/repositories/{lake}/settings/export",
    "/auth/users",
    "/auth/groups",
    "/auth/policies",
)


@pytest.fixture
def stranger(client, stack, visiting):
    """A visit of a user without any right."""
    user = name_of("nobody")
    auth = client.sdk_client.auth_api
    auth.create_user(user_creation={"id": user})
    key = auth.create_credentials(user)
    session = session_of(stack, key.access_key_id, key.secret_access_key)
    visit = visiting(storage_state=session)
    visit.expect_statuses(401, 403)
    return visit


def test_a_user_without_rights_is_told_so_on_every_page(stranger, client):
    lake = lakes.create(client, files={"a.txt": b"a"}).id
    silent = {}
    for path in REFUSING:
        page = stranger.open(path.format(lake=lake))
        text = page.locator("body").inner_text()
        if LACKS_RIGHT not in text or "Log in to Graveler" in text:
            silent[path] = text[-300:]
    assert silent == {}


def test_a_reader_is_refused_each_change_with_a_reason_and_nothing_breaks(visiting, client, stack):
    repository = lakes.create(client, files={"a.txt": b"a"})
    repository.branch("main").object("b.txt").upload(b"b")
    user = name_of("reader")
    auth = client.sdk_client.auth_api
    auth.create_user(user_creation={"id": user})
    policy = {"id": name_of("read-all"), "statement": reading(repository)[:1]}
    auth.create_policy(policy)
    auth.attach_policy_to_user(user, policy["id"])
    key = auth.create_credentials(user)
    visit = visiting(storage_state=session_of(stack, key.access_key_id, key.secret_access_key))
    visit.expect_statuses(401)
    at = f"/repositories/{repository.id}"
    page = visit.open(f"{at}/changes?ref=main")
    page.get_by_role("button", name="Commit…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message").fill("Not mine to make")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text(LACKS_RIGHT)
    page = visit.open(f"{at}/objects?ref=main")
    page.get_by_role("button", name="Actions for a.txt").click()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete 1 object").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    page = visit.open(f"{at}/branches")
    page.get_by_role("button", name="Create branch").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("mine")
    dialog.get_by_role("button", name="Create branch").click()
    expect(dialog.get_by_role("alert")).to_contain_text(LACKS_RIGHT)
    page = visit.open(f"{at}/settings/general")
    page.get_by_role("button", name="Delete repository").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type").fill(repository.id)
    dialog.get_by_role("button", name="Delete repository").click()
    expect(dialog.get_by_role("alert")).to_contain_text(LACKS_RIGHT)
    assert repository.branch("main").object("a.txt").exists()


def test_logging_out_everywhere_ends_the_session_of_a_second_browser(visiting, client, stack):
    user = name_of("twice")
    auth = client.sdk_client.auth_api
    auth.create_user(user_creation={"id": user})
    key = auth.create_credentials(user)
    pair = (key.access_key_id, key.secret_access_key)
    one, other = (visiting(storage_state=session_of(stack, *pair)) for _ in range(2))
    one.expect_statuses(401)
    other.expect_statuses(401)
    other.open("/auth/access")
    page = one.open("/auth/credentials")
    page.get_by_role("button", name="Log out everywhere").click()
    dialog_of(page, "Log out everywhere?").get_by_role("button", name="Log out everywhere").click()
    expect(page.get_by_role("heading", name="Log in to Graveler")).to_be_visible()
    for _ in range(20):  # a check of a session may be seconds old
        other.page.goto("/auth/access")
        other.wait()
        if other.page.get_by_role("heading", name="Log in to Graveler").count():
            break
        other.page.wait_for_timeout(500)
    expect(other.page.get_by_role("heading", name="Log in to Graveler")).to_be_visible()
