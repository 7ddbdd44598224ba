"""One's own access keys: the page marks the key of its session, and warns of deleting that one alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.visits import session_of, told

pytestmark = pytest.mark.browser


@pytest.fixture
def keys(client):
    """Two further key pairs of a user who may do everything."""
    auth = client.sdk_client.auth_api
    user = auth.get_current_user().user.id
    made = [auth.create_credentials(user) for _ in range(2)]
    yield made
    left = {key.access_key_id for key in auth.list_user_credentials(user, amount=1000).results}
    for key in made:
        if key.access_key_id in left:
            auth.delete_credentials(user, key.access_key_id)


def test_the_key_of_the_session_is_marked_and_its_deletion_warned_of(visiting, stack, keys):
    own, other = keys
    session = session_of(stack, own.access_key_id, own.secret_access_key)
    visit = visiting(storage_state=session)
    page = visit.open("/auth/credentials")
    rows = page.get_by_role("list", name="Access keys").get_by_role("listitem")
    expect(rows.filter(has_text="This session")).to_have_count(1)
    expect(rows.filter(has_text="This session")).to_contain_text(own.access_key_id)

    page.get_by_role("button", name=f"Delete {own.access_key_id}").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("this session ends with it")
    dialog.get_by_role("button", name="Cancel").click()

    page.get_by_role("button", name=f"Delete {other.access_key_id}").click()
    expect(dialog).to_contain_text("can no longer log in")
    expect(dialog).not_to_contain_text("session")
    dialog.get_by_role("button", name="Delete key").click()
    expect(rows.filter(has_text=other.access_key_id)).to_have_count(0)
    expect(told(page)).to_contain_text("was deleted")
