"""Users, groups, policies and keys; and what the page says to those who may do little."""

import json
import re
from uuid import uuid4

import lakefs
import pytest
import requests
from lakefs.exceptions import NotAuthorizedException
from lakefs_sdk import Policy, Statement
from lakefs_sdk.exceptions import UnauthorizedException
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of, session_of

pytestmark = pytest.mark.browser

LACKS_RIGHT = "Ask an administrator for "


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
    dialog.get_by_label("Statements", exact=True).fill(
        json.dumps({"statement": reading(repository)})
    )
    dialog.get_by_role("button", name="Save policy").click()
    expect(page.get_by_role("region", name="Statement 2")).to_contain_text("Denies")
    create(visit, "groups", "Create group", group)
    add(page, "Policies", "policy", policy)
    create(visit, "users", "Create user", user)
    expect(page.get_by_text("None. Without a group or a policy")).to_be_visible()
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
    folder = "arn:lakefs:fs:::repository/lake/object/*"
    for text, advice in (
        ('{"statement": [', "This is not JSON"),
        ('{"statements": []}', "Write an object with a list named statement"),
        ('{"statement": [null]}', "Each statement has"),
        (json.dumps({"statement": [{"resource": folder}]}), "Each statement has"),
    ):
        dialog.get_by_label("Statements", exact=True).fill(text)
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
    dialog.get_by_label("Statements", exact=True).fill(text)
    dialog.get_by_role("button", name="Save policy").click()
    expect(dialog.get_by_role("alert")).to_contain_text("effect")
    expect(dialog.get_by_label("Statements", exact=True)).to_have_value(text)


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
    dialog.get_by_label("Statements", exact=True).fill(text)
    theirs = Policy(id=name, statement=statements("fs:ReadObject", "fs:ReadBranch"))
    auth.update_policy(name, theirs)
    save = dialog.get_by_role("button", name="Save policy")
    save.click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody has changed the policy")
    expect(dialog.get_by_text("The policy as it is now")).to_be_visible()
    expect(dialog).to_contain_text("fs:ReadBranch")
    expect(dialog.get_by_label("Statements", exact=True)).to_have_value(text)
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
    "/repositories/{lake}/tables?ref=main",
    "/repositories/{lake}/table?ref=main&name=sales.orders",
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
    "/auth/audit",
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


def give(page, **fields):
    """Open the dialog that gives rights, fill its fields, and return it."""
    page.get_by_role("button", name="Give rights…").click()
    dialog = dialog_of(page, re.compile("^Give rights"))
    for label, text in fields.items():
        dialog.get_by_label(label.replace("_", " "), exact=True).fill(text)
    return dialog


def test_a_user_who_was_given_a_prefix_works_in_it_and_nowhere_else(visit, visiting, stack, client):
    files = {"raw/a.txt": b"mine", "secret/b.txt": b"closed"}
    lake, other = lakes.create(client, files=files), lakes.create(client, files=files)
    lake.branch("dev").create("main")
    user = name_of("alice")
    page = create(visit, "users", "Create user", user)
    dialog = give(page, Repository=lake.id)
    dialog.get_by_label("May", exact=True).select_option("write")
    dialog.get_by_label("Paths that begin with").fill("raw/")
    commits = dialog.get_by_label("Commits to the branch")
    commits.fill("*")
    expect(dialog.get_by_role("alert")).to_contain_text("Leave this empty for every branch")
    commits.fill("dev")
    dialog.get_by_label("May manage their own access keys").check()
    allows = dialog.get_by_role("region", name="What this allows")
    expect(allows).to_contain_text("Read, write and delete objects below raw/, on every branch")
    expect(allows).to_contain_text("Commit to, merge into and create the branch dev")
    dialog.get_by_text("The policy as JSON").click()
    expect(allows).to_contain_text(f"arn:lakefs:fs:::repository/{lake.id}/object/raw/*")
    policy = f"Write-{lake.id}-raw-on-dev"
    expect(dialog.get_by_label("Name of the policy")).to_have_value(policy)
    dialog.get_by_role("button", name="Give rights").click()
    expect(dialog).to_have_count(0)
    attached = page.get_by_role("region", name="Policies attached directly")
    expect(attached.get_by_role("link", name=policy)).to_be_visible()

    key = client.sdk_client.auth_api.create_credentials(user)
    pair = (key.access_key_id, key.secret_access_key)
    alice = visiting(storage_state=session_of(stack, *pair))
    at = f"/repositories/{lake.id}"
    seen = alice.open("/repositories")
    expect(seen.get_by_role("link", name=lake.id, exact=True)).to_be_visible()
    expect(seen.get_by_text(other.id)).to_have_count(0)
    # Nothing that the way to an object shows is refused: a visit fails on it.
    for path in (
        "objects?ref=dev",
        "branches",
        "tags",
        "commits?ref=dev",
        "pulls",
        "changes?ref=dev",
    ):
        alice.open(f"{at}/{path}")
    seen = alice.open(f"{at}/object?ref=dev&path=raw%2Fa.txt")
    expect(seen.get_by_role("region", name="Content")).to_contain_text("mine")

    own = lakefs.Client(host=stack.endpoint, username=pair[0], password=pair[1])
    assert own.sdk_client.auth_api.create_credentials(user).access_key_id
    works_in_raw_and_nowhere_else(own, lake, other)
    page = visit.open(f"/auth/access?user={user}")
    rights = page.get_by_role("region", name=lake.id, exact=True)
    expect(rights.get_by_role("listitem").filter(has_text="read, write, delete")).to_contain_text(
        "raw/*"
    )
    rights.get_by_role("link", name=policy).first.click()
    page.get_by_role("button", name="Edit policy").click()
    dialog = dialog_of(page, f"Edit policy {policy}")
    expect(dialog.get_by_label("Paths that begin with")).to_have_value("raw/")
    expect(dialog.get_by_label("Commits to the branch")).to_have_value("dev")
    dialog.get_by_label("May", exact=True).select_option("read")
    dialog.get_by_role("button", name="Save policy").click()
    expect(dialog).to_have_count(0)
    [*_, objects, _] = client.sdk_client.auth_api.get_policy(policy).statement
    assert objects.action == ["fs:ReadObject"]


def works_in_raw_and_nowhere_else(client, lake, other):
    """Write below raw/, commit to dev, and be refused all else."""
    mine = lakefs.Repository(lake.id, client)
    dev, main = mine.branch("dev"), mine.branch("main")
    dev.object("raw/c.txt").upload(b"new", pre_sign=False)
    dev.commit("Add c")
    main.object("raw/c.txt").upload(b"new", pre_sign=False)
    for refused in (
        lambda: main.commit("Not here"),
        lambda: dev.object("secret/b.txt").reader(pre_sign=False).read(),
        lambda: dev.object("secret/c.txt").upload(b"", pre_sign=False),
        lambda: dev.object("secret/b.txt").delete(),
        dev.reset_changes,
        lambda: mine.branch("mine").create("dev"),
        mine.delete,
        lambda: lakefs.Repository(other.id, client).branch("main").get_commit(),
    ):
        with pytest.raises((NotAuthorizedException, UnauthorizedException)):
            refused()


def test_rights_for_somebody_who_does_not_exist_leave_no_policy_behind(visit, client):
    visit.expect_statuses(404)
    lake = lakes.create(client)
    page = visit.open("/auth/policies")
    dialog = give(page, User="nobody-at-all", Repository=lake.id)
    dialog.get_by_role("button", name="Give rights").click()
    expect(dialog.get_by_role("alert")).to_contain_text("nobody-at-all")
    found = client.sdk_client.auth_api.list_policies(prefix=f"Read-{lake.id}")
    assert found.results == []
    for room in ("users", "groups", "policies"):
        page = visit.open(f"/auth/{room}/nobody-at-all")
        expect(page.get_by_role("alert")).to_contain_text("not found")
        expect(page.get_by_role("button", name=re.compile("^(Delete|Edit|Give)"))).to_have_count(0)


def test_what_a_form_cannot_say_is_refused_there_and_shown_as_json(visit):
    page = visit.open("/auth/policies")
    dialog = give(page, User="somebody", Repository="no-such-lake", Paths_that_begin_with="a*")
    expect(dialog.get_by_text("No repository has this name yet.")).to_be_visible()
    expect(dialog.get_by_role("alert")).to_contain_text("write the policy as JSON")
    expect(dialog.get_by_role("button", name="Give rights")).to_be_disabled()
    dialog.get_by_label("Paths that begin with").fill("a/")
    dialog.get_by_role("button", name="Write as JSON").click()
    text = dialog.get_by_label("Statements", exact=True)
    expect(text).to_have_value(re.compile("no-such-lake/object/a/"))
    statement = [
        {"effect": "alow", "action": ["fs:ReadObject"], "resource": "*"},
        {
            "effect": "allow",
            "action": ["fs:ReadObject"],
            "resource": "arn:lakefs:fs:::repository/lake",
        },
    ]
    text.fill(json.dumps({"statement": statement}))
    found = dialog.get_by_role("list", name="What the check found")
    expect(found).to_contain_text("Statement 1, effect: effect 'alow'; use `allow` or `deny`")
    expect(found).to_contain_text("fs:ReadObject has no effect on these resources")
    expect(dialog.get_by_role("button", name="Show as a form")).to_be_disabled()
    assert list(visit.serious_barriers()) == []


def test_every_action_on_a_resource_is_decided_with_the_statement_that_decides(visit, client):
    auth, user, policy = client.sdk_client.auth_api, name_of("bo"), name_of("guard")
    lake = lakes.create(client)
    auth.create_user(user_creation={"id": user})
    auth.create_policy({"id": policy, "statement": reading(lake)})
    auth.attach_policy_to_user(user, policy)
    page = visit.open(f"/auth/access?user={user}")
    page.get_by_label("Action").select_option("")
    resource = f"arn:lakefs:fs:::repository/{lake.id}/object/secret/x"
    page.get_by_label("Resource").fill(resource)
    page.get_by_role("button", name="Explain").click()
    answer = page.get_by_role("region", name="Answer")
    read = answer.get_by_role("listitem").filter(has_text="fs:ReadObject")
    expect(read).to_contain_text("Denied")
    expect(read.get_by_role("link")).to_have_attribute(
        "href", f"/auth/policies/{policy}?statement=2"
    )
    expect(answer.get_by_role("listitem").filter(has_text="fs:WriteObject")).to_contain_text(
        "Not allowed"
    )


def test_the_audit_shows_who_changed_what_and_the_address_keeps_its_filters(
    visit, visiting, stack, client
):
    user = name_of("cy")
    client.sdk_client.auth_api.create_user(user_creation={"id": user})
    key = client.sdk_client.auth_api.create_credentials(user)
    wrong = {"access_key_id": key.access_key_id, "secret_access_key": "wrong"}
    assert (
        requests.post(f"{stack.endpoint}/api/v1/auth/login", json=wrong, timeout=30).status_code
        == 401
    )
    page = visit.open("/auth/audit")
    records = page.get_by_role("list", name="Audit records")
    made = records.get_by_role("listitem").filter(has_text=f"user/{user}").last
    expect(made).to_contain_text("Create user")
    made.locator("summary").click()
    expect(made).to_contain_text("Succeeded: status 201")
    expect(made).to_contain_text(f"arn:lakefs:auth:::user/{user}")
    assert list(visit.serious_barriers()) == []

    page.get_by_label("Outcome").select_option("failed")
    page.get_by_label("Operation").fill("login")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?outcome=failed&operation=login$"))
    failed = records.get_by_role("listitem").filter(has_text=key.access_key_id)
    expect(failed).to_contain_text("Failed log-in")
    page.reload()
    expect(page.get_by_label("Operation")).to_have_value("login")
    expect(failed).to_have_count(1)
    expect(records.get_by_text("Succeeded")).to_have_count(0)

    page.get_by_label("Since").fill("2200-01-01")
    page.get_by_role("button", name="Show all records").click()
    expect(page.get_by_label("Since")).to_have_value("")
    visit.expect_statuses(400)
    page.get_by_label("Operation").fill("loggin")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Did you mean login")

    session = session_of(stack, key.access_key_id, key.secret_access_key)
    stranger = visiting(storage_state=session)
    stranger.expect_statuses(401)
    refused = stranger.open("/auth/audit")
    expect(refused.get_by_text("you need auth:ListUsers and auth:ListPolicies")).to_be_visible()
