"""Forms of browsers: the file that a form's policy allows is stored, and no other."""

import pytest

from tests.support.worlds.gateway_forms import Form
from tests.support.worlds.gateway_stack import REPO, GatewayStack

BUCKET = {"bucket": REPO}


@pytest.fixture
def stack():
    return GatewayStack()


@pytest.mark.parametrize("behind", ["", "submit"])
def test_a_forms_file_is_stored_with_its_fields(stack, behind):
    fields = {"key": "main/a", "x-amz-meta-color": "red", "success_action_status": "201"}
    reply = Form(stack, (BUCKET, fields), behind=behind).send(**fields)
    assert (reply.status, reply.text("Key")) == (201, "main/a")
    assert stack.get("main/a") == b"new"
    assert stack.ask("HEAD", "/repo/main/a").headers["x-amz-meta-color"] == "red"


@pytest.mark.parametrize("behind", ["", "submit"])
@pytest.mark.parametrize(
    ("size_bytes", "code"),
    [(2, "EntityTooSmall"), (3, ""), (5, ""), (6, "EntityTooLarge"), (2**19, "EntityTooLarge")],
)
def test_a_file_has_a_size_that_the_policy_allows(stack, size_bytes, code, behind):
    conditions = (BUCKET, {"key": "main/a"}, ["content-length-range", 3, 5])
    reply = Form(stack, conditions, content=b"x" * size_bytes, behind=behind).send()
    assert (reply.status, reply.code) == (400 if code else 204, code)
    assert stack.keys({"prefix": "main/"}) == ([] if code else ["main/a"])


def test_a_form_may_require_that_there_is_no_object(stack):
    stack.put("main/a", b"old")
    fields = {"key": "main/a", "if-none-match": "*"}
    assert Form(stack, (BUCKET, fields)).send(**fields).code == "PreconditionFailed"
    assert stack.get("main/a") == b"old"
