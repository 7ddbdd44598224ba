"""What a user does is about what was seen: not about another branch, later commits, or another user."""

import re

import lakefs
import pytest
from lakefs_sdk import GarbageCollectionRule, GarbageCollectionRules
from playwright.sync_api import FilePayload, expect

from tests.browser import lakes
from tests.browser.visits import choose, dialog_of, session_of, told

pytestmark = pytest.mark.browser


@pytest.fixture
def repository(client):
    repository = lakes.create(client, files={"a.txt": b"1"})
    repository.branch("work").create("main")
    return repository


def content(repository, ref, path):
    return repository.ref(ref).object(path).reader(mode="rb").read()


def exists(repository, ref, path):
    return repository.ref(ref).object(path).exists()


def test_a_dialog_closes_when_the_user_goes_back_to_another_branch(visit, repository):
    for branch in ("main", "work"):
        repository.branch(branch).object("a.txt").upload(branch.encode())
    at = f"/repositories/{repository.id}/changes?ref="
    page = visit.open(f"{at}main")
    page.get_by_role("button", name="Branch: main").click()
    page.get_by_role("combobox", name="Branch").fill("work")
    page.get_by_role("option", name="work").click()
    expect(page).to_have_url(re.compile("ref=work"))
    page.get_by_role("button", name="Undo all…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("work")
    page.go_back()
    expect(page).to_have_url(re.compile("ref=main"))
    expect(dialog).to_have_count(0)
    assert content(repository, "main", "a.txt") == b"main"


def test_an_upload_that_was_being_chosen_does_not_follow_to_another_branch(visit, repository):
    visit.expect_statuses(404)  # no object is at the path that an upload writes
    at = f"/repositories/{repository.id}/objects?ref="
    page = visit.open(f"{at}work")
    page.get_by_role("link", name="Commits", exact=True).click()
    expect(page).to_have_url(re.compile("/commits"))
    page.go_back()
    dialog = choose(page, {"new.txt": b"new"})
    expect(dialog.get_by_label("Target path of new.txt")).to_be_visible()
    page.go_forward()
    expect(dialog).to_have_count(0)
    assert not exists(repository, "work", "new.txt")


def test_a_merge_waits_until_it_is_known_which_commit_was_shown(visit, repository):
    visit.expect_statuses(500)
    work = repository.branch("work")
    lakes.change(work, "Seen", {"a.txt": b"2"})
    asked = re.compile(r"/refs/work/merge/main$")
    page = visit.page
    page.route(asked, lambda route: route.fulfill(status=500, json={"message": "broken"}))
    visit.open(f"/repositories/{repository.id}/compare?ref=main&compare=work")
    expect(page.get_by_text("a.txt").first).to_be_visible()
    page.unroute_all()
    lakes.change(work, "Unseen", {"b.txt": b"unseen"})
    page.get_by_role("button", name="Merge…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Merge into main").click()
    expect(dialog.get_by_role("alert")).to_contain_text("It is unknown which commits were shown")
    assert not exists(repository, "main", "b.txt")


def test_a_policy_that_somebody_else_has_changed_is_shown_before_it_is_replaced(visit, client):
    repository = lakes.create(client).id
    api = client.sdk_client.repositories_api

    def put(days, **branches):
        rules = [
            GarbageCollectionRule(branch_id=name, retention_days=each)
            for name, each in branches.items()
        ]
        api.set_gc_rules(
            repository, GarbageCollectionRules(default_retention_days=days, branches=rules)
        )

    put(30)
    visit.expect_statuses(412)
    page = visit.open(f"/repositories/{repository}/settings/retention")
    put(30, main=3650)
    page.get_by_role("button", name="Edit policy").click()
    dialog = dialog_of(page, "Edit policy")
    dialog.get_by_label("Policy", exact=True).fill('{"default_retention_days": 31, "branches": []}')
    save = dialog.get_by_role("button", name="Save policy")
    save.click()
    expect(dialog.get_by_text("Somebody has changed the policy meanwhile")).to_be_visible()
    assert api.get_gc_rules(repository).branches[0].retention_days == 3650
    expect(dialog.get_by_text(re.compile("main"))).not_to_have_count(0)
    save.click()
    expect(dialog).to_have_count(0)
    assert api.get_gc_rules(repository).branches == []


def test_a_branch_that_has_new_commits_is_not_moved_away_from_them(visit, repository):
    work = repository.branch("work")
    first = work.get_commit().id
    page = visit.open(f"/repositories/{repository.id}/commits/{first}?ref=work")
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("button", name="Move a branch here").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Move a branch to"))
    expect(dialog).to_contain_text("loses no commit")
    branch = dialog.inner_text().split(" loses no commit")[0].split()[-1]
    moved = repository.branch(branch)
    lakes.change(moved, "By somebody else", {"b.txt": b"late"})
    visit.expect_statuses(412)
    dialog.get_by_label("to confirm").fill(branch)
    confirm = dialog.get_by_role("button", name="Move branch")
    confirm.click()
    expect(dialog).to_contain_text("1 commit of")
    assert exists(repository, branch, "b.txt")
    confirm.click()
    expect(dialog).to_have_count(0)
    assert not exists(repository, branch, "b.txt")


def test_cancel_stops_the_deletion_of_the_other_branches(visit, client):
    repository = lakes.create(client)
    names = [f"old-{number}" for number in range(4)]
    for name in names:
        repository.branch(name).create("main")
    page = visit.open(f"/repositories/{repository.id}/branches")
    for name in names:
        page.get_by_role("checkbox", name=re.compile(f"{name}$")).check()
    page.get_by_role("button", name=re.compile("^Delete")).first.click()
    dialog = page.get_by_role("dialog")
    held = []
    page.route("**/branches/old-*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    dialog.get_by_role("button", name="Delete", exact=True).click()
    while not held:
        page.wait_for_timeout(50)
    dialog.get_by_role("button", name="Cancel").click()
    held[0].continue_()
    expect(told(page)).to_contain_text("The rest stays")
    assert len(held) == 1
    left = {branch.id for branch in repository.branches()}
    assert len(left & set(names)) == len(names) - 1


def test_a_log_out_ends_the_uploads_and_forgets_what_they_were(visiting, stack, client):
    repository = lakes.create(client)
    visit = visiting(storage_state=session_of(stack, stack.access_key_id, stack.secret_access_key))
    visit.expect_statuses(401, 404)
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    held = []
    page.route(f"{stack.s3_endpoint}/**", lambda route: held.append(route))  # noqa: PLW0108
    dialog = choose(page, {f"secret-{number}.txt": b"mine" for number in range(6)})
    dialog.get_by_role("button", name=re.compile("^Upload 6")).click()
    while not held:
        page.wait_for_timeout(50)
    page.keyboard.press("Escape")
    page.on("dialog", lambda question: question.accept())  # uploads are running: leave all the same
    page.get_by_role("button", name=re.compile("^Account of")).click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Access key ID")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage)") == []
    page.unroute_all(behavior="ignoreErrors")
    page.get_by_label("Access key ID").fill(stack.access_key_id)
    page.get_by_label("Secret access key").fill(stack.secret_access_key)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(re.compile("/repositories$"))
    page.wait_for_timeout(1_000)
    assert list(repository.branch("main").objects()) == []


def test_other_tabs_follow_when_another_user_logs_in(visiting, stack, client):
    auth = client.sdk_client.auth_api
    user = auth.get_current_user().user.id
    visit = visiting(storage_state=session_of(stack, stack.access_key_id, stack.secret_access_key))
    visit.expect_statuses(401)
    page = visit.open("/repositories")
    other = visit.context.new_page()
    other.goto("/repositories")
    expect(other.get_by_role("button", name=re.compile(f"^Account of {user}"))).to_be_visible()
    page.get_by_role("button", name=re.compile("^Account of")).click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/auth/login"))
    expect(dialog_of(other, "Your session has ended")).to_be_visible()


def test_two_files_never_go_to_one_path(visit, client):
    repository = lakes.create(client)
    page = visit.open(f"/repositories/{repository.id}/objects?ref=main")
    visit.expect_statuses(404)
    dialog = choose(page, {"same.txt": b"one"})
    second: FilePayload = {"name": "same.txt", "mimeType": "text/plain", "buffer": b"two"}
    dialog.locator("input[type=file]").first.set_input_files([second])
    start = dialog.get_by_role("button", name=re.compile("^Upload 2 files"))
    expect(start).to_be_disabled()
    expect(dialog.get_by_text("Several files go to same.txt")).to_be_visible()
    dialog.get_by_label("Target path of same.txt").last.fill("other.txt")
    start.click()
    expect(dialog.get_by_text("2 of 2 files")).to_be_visible()
    assert content(repository, "main", "same.txt") == b"one"
    assert content(repository, "main", "other.txt") == b"two"


def test_metadata_that_was_not_touched_stays_as_it_is(visit, client):
    repository = lakes.create(client).id
    odd = {"a=b": "c", "k": "line1\nx = y", "sp": "  two  "}
    objects = client.sdk_client.objects_api
    lakefs.Repository(repository, client).branch("main").object("a.txt").upload(b"1", metadata=odd)
    page = visit.open(f"/repositories/{repository}/object?ref=main&path=a.txt")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Edit metadata").click()
    dialog = dialog_of(page, "Edit metadata")
    dialog.get_by_role("button", name="Add metadata").click()
    dialog.get_by_label("Key 4").fill("new")
    dialog.get_by_label("Value 4").fill("value")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    stats = objects.stat_object(repository, "main", "a.txt", user_metadata=True)
    assert stats.metadata == {**odd, "new": "value"}
