"""The form of the retention policy: an emptied field is no zero, and nothing wrong is saved."""

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser

PROBLEM = "Write a whole number, 0 or more."


def test_an_emptied_field_of_days_is_an_error_said_at_the_field(visit, client):
    name = lakes.create(client).id
    page = visit.open(f"/repositories/{name}/settings/retention")
    page.get_by_role("button", name="policy").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("tab", name="Form").click()
    rest = dialog.get_by_label("Days on branches without a rule of their own")
    save = dialog.get_by_role("button", name="Save policy")
    expect(save).to_be_enabled()
    for wrong in ("", "1.5", "-1"):
        rest.fill(wrong)
        expect(rest).to_have_attribute("aria-invalid", "true")
        expect(rest).to_have_accessible_description(PROBLEM)
        expect(dialog.get_by_role("alert")).to_have_text(PROBLEM)
        expect(save).to_be_disabled()
    rest.fill("30")
    expect(rest).to_have_attribute("aria-invalid", "false")
    save.click()
    expect(dialog).to_have_count(0)
    assert client.sdk_client.repositories_api.get_gc_rules(name).default_retention_days == 30
