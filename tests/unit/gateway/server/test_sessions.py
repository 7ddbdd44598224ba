"""Reads by a browser's session: lakeFS's page signs with a key that means it, and no real secret."""

import pytest
from botocore.credentials import Credentials

from graveler.http.auth import SESSION_COOKIE, Authenticator
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.fakes.access import allowing
from tests.support.worlds.gateway_stack import REPO, GatewayStack

PATH = f"/{REPO}/main/lakes.parquet"


@pytest.fixture
def page() -> GatewayStack:
    """A gateway beside the API, whose client signs as lakeFS's page does."""
    stack = GatewayStack(has_sessions=True)
    stack.put("main/lakes.parquet", b"PAR1")
    stack.credentials = Credentials("use_swagger_credentials", "meaningless")
    return stack


def cookie_of(stack: GatewayStack) -> dict[str, str]:
    token = Authenticator(stack.accounts, stack.world.clock).log_in(ACCESS_KEY_ID, SECRET).token
    return {"cookie": f"other=1; {SESSION_COOKIE}={token}"}


def test_the_page_reads_as_the_user_of_the_session(page):
    headers = cookie_of(page)
    whole = page.ask("GET", PATH, query="r=0.5", headers=headers)
    assert (whole.status, whole.content) == (200, b"PAR1")
    assert whole.headers["cache-control"] == "no-store"
    part = page.ask("GET", PATH, query="r=0.5", headers={**headers, "range": "bytes=1-2"})
    assert (part.status, part.content) == (206, b"AR")
    own = {**headers, "sec-fetch-site": "same-origin"}
    assert page.ask("HEAD", PATH, headers=own).length_bytes == 4
    page.may(allowing(("fs:ReadObject", "arn:lakefs:fs:::repository/other/object/*")))
    assert page.ask("GET", PATH, headers=headers).status == 403


def test_the_session_counts_for_nothing_else(page):
    headers = cookie_of(page)
    assert page.ask("GET", PATH).code == "InvalidAccessKeyId"
    assert page.ask("GET", PATH, headers={"cookie": f"{SESSION_COOKIE}=x"}).status == 403
    for method in ("PUT", "POST", "DELETE"):
        assert page.ask(method, PATH, b"x", headers=headers).code == "InvalidAccessKeyId"
    assert page.presigned("GET", PATH, headers=headers).code == "InvalidAccessKeyId"
    for site in ("cross-site", "same-site"):
        elsewhere = {**headers, "sec-fetch-site": site}
        assert page.ask("GET", PATH, headers=elsewhere).code == "AccessDenied"
    page.credentials = Credentials(ACCESS_KEY_ID, "wrong")
    assert page.ask("GET", PATH, headers=headers).code == "SignatureDoesNotMatch"


def test_a_gateway_of_its_own_origin_knows_no_sessions():
    stack = GatewayStack()
    stack.put("main/lakes.parquet", b"PAR1")
    headers = cookie_of(stack)
    stack.credentials = Credentials("use_swagger_credentials", "meaningless")
    assert stack.ask("GET", PATH, headers=headers).code == "InvalidAccessKeyId"
