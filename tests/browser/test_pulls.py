"""Pull requests: opened, discussed, reviewed, merged, closed; what is missing for the merge is said."""

import re

import pytest
from lakefs_sdk import UserCreation
from playwright.sync_api import expect

from tests.browser import lakes
from tests.browser.visits import dialog_of, session_of, told

pytestmark = pytest.mark.browser


@pytest.fixture
def repository(client):
    """A repository whose branch work has changed the price."""
    made = lakes.create(client, files={"price.txt": b"1\n", "other.txt": b"1\n"})
    work = made.branch("work").create("main")
    lakes.change(work, "Raise the price", {"price.txt": b"2\n", "new.txt": b"new\n"})
    return made


def open_pull(visit, repository, title, description="", reviewer=""):
    """Open a pull request of work into main, on the page; return the page."""
    page = visit.open(f"/repositories/{repository.id}/pulls")
    page.get_by_role("link", name="Create pull request").first.click()
    page.get_by_role("button", name="Source branch").click()
    page.get_by_role("combobox", name="Source branch").fill("work")
    page.get_by_role("option", name="work").click()
    expect(page.get_by_text("objects would change")).to_be_visible()
    page.get_by_label("Title").fill(title)
    page.get_by_label("Description").fill(description)
    # A name that is typed is asked, also without a press of "Ask".
    page.get_by_label("Ask a user for a review").fill(reviewer)
    page.get_by_role("button", name="Create pull request").click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    return page


def see_changes(page):
    page.get_by_role("navigation", name="Pull request").get_by_role("link", name="Changes").click()
    return page.get_by_role("region", name="Changes")


def merge_into_main(page):
    """Merge as the dialog proposes it; return the dialog."""
    page.get_by_role("button", name="Merge…").click()
    dialog = dialog_of(page, "Merge work into main")
    dialog.get_by_role("button", name="Merge into main").click()
    return dialog


def expect_merged(page):
    expect(page.get_by_role("region", name="Merged")).to_contain_text("By commit")


def content(repository, path):
    return repository.branch("main").object(path).reader(mode="rb").read()


def test_a_pull_request_is_described_in_markdown_read_and_merged(visit, repository):
    text = (
        "A **bold** step:\n\n- one\n- two\n\n<img src=x onerror=alert(1)>\n\n[more](https://a.b/)"
    )
    visit.allow_errors("Executing inline event handler")  # by the policy, as it is parsed
    page = open_pull(visit, repository, "Raise the price", text)
    description = page.get_by_role("article").first
    expect(description.locator("strong").last).to_have_text("bold")
    expect(description.get_by_role("listitem")).to_have_text(["one", "two"])
    expect(description.get_by_role("link", name="more")).to_have_attribute(
        "rel", re.compile("noopener")
    )
    changes = see_changes(page)
    expect(changes).to_contain_text("2 changed objects")
    changes.get_by_role("button", name="price.txt").click()
    expect(page.get_by_text("2", exact=True).first).to_be_visible()
    expect(page).to_have_url(re.compile("tab=changes.*object=price.txt"))
    tabs = page.get_by_role("navigation", name="Pull request")
    tabs.get_by_role("link", name="Commits").click()
    expect(page.get_by_role("list", name="Commits").get_by_role("listitem")).to_have_count(1)
    tabs.get_by_role("link", name="Conversation").click()
    expect(page.get_by_role("region", name="Merge")).to_contain_text("No conflicts with main")
    merge_into_main(page)
    expect_merged(page)
    assert content(repository, "price.txt") == b"2\n"
    expect(see_changes(page)).to_contain_text("2 changed objects")
    tabs.get_by_role("link", name="Commits").click()
    expect(page.get_by_role("list", name="Commits")).to_contain_text("Raise the price")
    visit.open(f"/repositories/{repository.id}/pulls?status=merged")
    expect(page.get_by_role("list", name="Merged pull requests")).to_contain_text("Raise the price")


@pytest.fixture
def ada(visiting, client, stack, repository):
    """The visit of another user, who is named like the repository."""
    auth, name = client.sdk_client.auth_api, repository.id
    auth.create_user(UserCreation(id=name))
    auth.add_group_membership("Developers", name)
    key = auth.create_credentials(name)
    return visiting(storage_state=session_of(stack, key.access_key_id, key.secret_access_key))


def test_a_required_approval_comes_from_another_user_after_a_discussion(visit, ada, repository):
    require_an_approval(visit, repository)
    author = open_pull(visit, repository, "Raise the price", reviewer=repository.id)
    merge = author.get_by_role("region", name="Merge")
    expect(merge).to_contain_text("0 of 1 approval")
    expect(merge.get_by_role("button", name="Merge…")).to_be_disabled()
    expect(author.get_by_role("button", name="Review…")).to_have_count(0)
    expect(author.get_by_role("region", name="Reviewers")).to_contain_text("No review yet")

    reviewer = find_own_review(ada, repository)
    comment_on_price(reviewer)
    assert ada.serious_barriers() == []
    review(reviewer, "Request changes", "It is too much.")

    author.reload()
    expect(merge).to_contain_text(f"Changes requested by {repository.id}")
    said = author.get_by_role("region", name="Conversation").locator("article, p.bar")
    expect(said.nth(1)).to_contain_text("commented on price.txt")
    expect(said.nth(2)).to_contain_text("Changes requested")
    expect(said.nth(3)).to_contain_text("It is too much.")
    author.get_by_label("Comment", exact=True).fill("It is 1.5 now.")
    author.get_by_role("button", name="Comment", exact=True).click()
    expect(said.nth(4)).to_contain_text("It is 1.5 now.")
    assert visit.serious_barriers() == []
    lakes.change(repository.branch("work"), "A smaller step", {"price.txt": b"1.5\n"})

    ada.expect_statuses(412)
    review_unseen(reviewer)
    review(reviewer, "Approve")

    author.reload()
    expect(merge).to_contain_text("1 of 1 approval")
    merge_into_main(author)
    expect_merged(author)
    expect(said.last).to_contain_text("Merged by commit")
    assert content(repository, "price.txt") == b"1.5\n"
    visit.open(f"/repositories/{repository.id}/pulls?status=closed")
    expect(author.get_by_role("list", name="Closed pull requests")).to_contain_text("1 approval")


def require_an_approval(visit, repository):
    page = visit.open(f"/repositories/{repository.id}/settings/branches")
    page.get_by_label("Protect branches that match").fill("main")
    page.get_by_label("Required approvals").fill("1")
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_role("list", name="Rules")).to_contain_text("1 approval required")


def find_own_review(visit, repository):
    """Open the pull request that asks the visitor for a review; return the page."""
    page = visit.open(f"/repositories/{repository.id}/pulls")
    page.get_by_label("Asked for my review").check()
    expect(page).to_have_url(re.compile("reviewer="))
    page.get_by_role("link", name="Raise the price").click()
    return page


def comment_on_price(page):
    changes = see_changes(page)
    changes.get_by_role("button", name="price.txt").click()
    page.get_by_label("Comment on this object").fill("Why **2**?")
    page.get_by_role("button", name="Comment", exact=True).click()
    on_object = page.get_by_role("region", name="Comments on this object")
    expect(on_object.locator("strong").last).to_have_text("2")
    changes.get_by_role("button", name="All changes").click()
    expect(changes.get_by_role("link", name="1 comment")).to_be_visible()


def review_unseen(page):
    """Approve of a commit after which there is another one."""
    page.get_by_role("button", name="Review…").click()
    dialog = dialog_of(page, "Review work")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_role("alert")).to_contain_text("work has new commits")
    dialog.get_by_role("button", name="Look again").click()


def review(page, verdict, text=""):
    page.get_by_role("button", name="Review…").click()
    dialog = dialog_of(page, "Review work")
    dialog.get_by_label("Comment").fill(text)
    dialog.get_by_role("button", name=verdict).click()
    expect(dialog).to_have_count(0)


def test_a_pull_request_is_edited_closed_and_opened_again(visit, repository):
    page = open_pull(visit, repository, "Frist try")
    page.get_by_role("button", name="Edit").click()
    dialog = dialog_of(page, "Edit pull request")
    dialog.get_by_label("Title").fill("First try")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="First try")).to_be_visible()
    page.get_by_role("button", name="Close without merging").click()
    expect(told(page)).to_contain_text("The pull request was closed")
    expect(page.get_by_role("button", name="Merge…")).to_have_count(0)
    at = page.url
    visit.open(f"/repositories/{repository.id}/pulls")
    expect(page.get_by_role("heading", name="No open pull request")).to_be_visible()
    page.get_by_role("navigation", name="State").get_by_role("link", name="Closed").click()
    page.get_by_role("link", name="First try").click()
    expect(page).to_have_url(at)
    page.get_by_role("button", name="Open again").click()
    expect(page.get_by_role("button", name="Merge…")).to_be_visible()


def test_a_comment_and_a_request_for_a_review_are_taken_back(visit, ada, repository):
    name = repository.id  # of ada
    page = open_pull(visit, repository, "Raise the price")
    reviewers = page.get_by_role("region", name="Reviewers")
    reviewers.get_by_label("Ask a user for a review").fill("nobody")
    page.keyboard.press("Enter")
    expect(reviewers.get_by_role("alert")).to_contain_text("There is no user nobody")
    reviewers.get_by_label("Ask a user for a review").fill(name)
    page.keyboard.press("Enter")
    expect(reviewers.get_by_role("listitem")).to_contain_text(name)
    reviewers.get_by_role("button", name=f"Do not ask {name}").click()
    expect(reviewers.get_by_role("listitem")).to_have_count(0)
    page.get_by_label("Comment", exact=True).fill("Wrong place")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.get_by_role("button", name=re.compile("^Delete the comment of")).click()
    dialog_of(page, "Delete the comment?").get_by_role("button", name="Delete comment").click()
    expect(page.get_by_text("Wrong place")).to_have_count(0)


def test_a_conflict_is_announced_at_once_and_settled_in_the_merge(visit, repository):
    lakes.change(repository.branch("main"), "Lower the price", {"price.txt": b"0\n"})
    page = open_pull(visit, repository, "Raise the price")
    merge = page.get_by_role("region", name="Merge")
    expect(merge).to_contain_text("1 conflict with main")
    expect(merge.get_by_role("link", name="main into work")).to_have_attribute(
        "href", re.compile("ref=work&compare=main")
    )
    merge.get_by_role("button", name="Merge…").click()
    dialog = dialog_of(page, "Merge work into main")
    expect(dialog.get_by_role("button", name="Merge into main")).to_be_disabled()
    dialog.get_by_label("Object to take at price.txt").select_option("source-wins")
    dialog.get_by_role("button", name="Merge into main").click()
    expect_merged(page)
    assert content(repository, "price.txt") == b"2\n"


def test_a_destination_with_uncommitted_changes_is_told_with_a_way_on(visit, repository):
    repository.branch("main").object("later.txt").upload(b"x")
    page = open_pull(visit, repository, "Raise the price")
    merge = page.get_by_role("region", name="Merge")
    expect(merge).to_contain_text("main has uncommitted changes")
    merge.get_by_role("link", name="Commit or reset them").click()
    expect(page).to_have_url(re.compile(r"/changes\?ref=main"))
    expect(page.get_by_text("later.txt").first).to_be_visible()


def test_what_was_committed_after_the_changes_were_shown_is_not_merged_unseen(visit, repository):
    visit.expect_statuses(412)
    page = open_pull(visit, repository, "Raise the price")
    expect(page.get_by_role("region", name="Merge")).to_contain_text("No conflicts with main")
    lakes.change(repository.branch("work"), "Unseen", {"late.txt": b"late"})
    dialog = merge_into_main(page)
    expect(dialog.get_by_role("alert")).to_contain_text("work has new commits")
    assert not repository.branch("main").object("new.txt").exists()
    dialog.get_by_role("button", name="Look again").click()
    expect(see_changes(page)).to_contain_text("late.txt")
    page.get_by_role("link", name="Conversation").click()
    merge_into_main(page)
    expect_merged(page)
    assert content(repository, "late.txt") == b"late"


def test_one_that_was_merged_elsewhere_says_so_and_is_closed(visit, repository):
    page = open_pull(visit, repository, "Raise the price")
    repository.branch("work").merge_into(repository.branch("main"))
    page.reload()
    expect(page.get_by_text("Merged elsewhere")).to_be_visible()
    merge = page.get_by_role("region", name="Merge")
    expect(merge).to_contain_text("main already has every commit of work")
    expect(merge.get_by_role("button", name="Merge…")).to_have_count(0)
    merge.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Open again")).to_be_visible()
