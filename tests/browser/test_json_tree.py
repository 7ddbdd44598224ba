"""JSON is a tree that opens step by step, and its text on demand."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser import lakes

pytestmark = pytest.mark.browser


def test_a_large_document_is_drawn_as_it_is_opened(visit, client):
    rows = [{"id": number, "tags": ["a", None, True]} for number in range(20_000)]
    text = json.dumps({"name": "orders", "rows": rows}).encode()
    repository = lakes.create(client, files={"orders.json": text})
    page = visit.open(f"/repositories/{repository.id}/object?ref=main&path=orders.json")
    expect(page.get_by_text("20,000 items")).to_be_visible()
    assert page.locator(".json-tree details").count() == 2
    page.get_by_text("rows:").click()
    expect(page.get_by_text("199:")).to_be_attached()
    expect(page.get_by_text("200:")).to_have_count(0)
    page.get_by_role("button", name="Show more of 20,000").click()
    expect(page.get_by_text("200:")).to_be_attached()
    page.get_by_role("button", name="Text").click()
    expect(page.get_by_label("Content")).to_contain_text('{"name": "orders"')
    assert visit.serious_barriers() == []
