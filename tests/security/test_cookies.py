"""What a page of another site can make a visitor's browser do with our session cookie: nothing."""

import json

import pytest

from graveler_functions.api.all_operations import OPERATIONS
from tests.support.checks.cases import for_each
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, ApiClient, event

# What a browser may say of the page that sends a request; None is what old browsers say.
ELSEWHERE = ["cross-site", "same-site"]
NOT_OURS = [*ELSEWHERE, "none", "same-origin, cross-site", "", None]

LOGIN = json.dumps({"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}).encode()
# A form can send it without asking first (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
FORM = {"content-type": "multipart/form-data; boundary=b"}
UPLOAD = (
    b'--b\r\nContent-Disposition: form-data; name="content"; filename="a"\r\n\r\nx\r\n--b--\r\n'
)


def said(site):
    return {} if site is None else {"sec-fetch-site": site}


def log_in(api, site=None):
    return api.send(event("POST", "/api/v1/auth/login", body=LOGIN, headers=said(site)))


@pytest.fixture
def api():
    made = ApiClient()
    made.repository()
    made.upload("kept")
    return made


@pytest.fixture
def cookie(api):
    (cookie,) = log_in(api).cookies
    return cookie.partition(";")[0]


def upload(api, cookie, site, **headers):
    path = "/api/v1/repositories/repo/branches/main/objects"
    headers = {**FORM, **said(site), **headers}
    cookies = ["other=1", cookie]
    return api.send(
        event("POST", path, query="path=b", headers=headers, body=UPLOAD, cookies=cookies)
    )


@pytest.mark.parametrize("site", NOT_OURS)
def test_a_change_by_cookie_is_for_our_own_page_only(api, cookie, site):
    reply = upload(api, cookie, site)
    assert reply.status == 403
    assert "send an Authorization header" in reply.message
    assert api.paths() == ["kept"]
    assert upload(api, cookie, "same-origin").status == 201
    assert api.paths() == ["b", "kept"]


@for_each(
    "operation",
    [
        each
        for each in OPERATIONS
        if each.template.method not in ("GET", "HEAD") and not each.template.public
    ],
    ids=lambda each: each.template.name,
)
def test_every_change_by_cookie_is_refused_before_anything_else(api, cookie, operation):
    """Before the rights of the user, and before the names in the path."""
    path = operation.template.path.replace("<", "").replace(">", "")
    reply = api.send(event(operation.template.method, f"/api/v1{path}", cookies=[cookie]))
    assert reply.status == 403
    assert "session cookie" in reply.message


@for_each("site", NOT_OURS)
def test_reading_by_cookie_is_refused_to_nobody(api, cookie, site):
    """A browser hides the answer from pages of other sites, and opens links to it."""
    path = "/api/v1/repositories/repo/refs/main/objects/stat"
    reply = api.send(event("GET", path, query="path=kept", headers=said(site), cookies=[cookie]))
    assert reply.json["path"] == "kept"


@pytest.mark.parametrize("site", NOT_OURS)
def test_an_authorization_header_needs_no_page(api, cookie, site):
    """No page of another site knows one."""
    assert upload(api, cookie, site, authorization=api.authorization).status == 201


def test_a_bad_cookie_is_no_way_around(api):
    assert upload(api, "internal_auth_session=x", "same-origin").status == 401
    assert upload(api, "internal_auth_session=x", "cross-site").status == 403
    assert upload(api, "another=x", "cross-site").status == 401


@pytest.mark.parametrize("site", ELSEWHERE)
def test_no_other_site_logs_a_visitor_in(api, site):
    """As somebody else: what the visitor writes would be that person's."""
    reply = log_in(api, site)
    assert (reply.status, reply.cookies) == (403, [])
    for ours in ("same-origin", "none", None):
        assert len(log_in(api, ours).cookies) == 1


@pytest.mark.parametrize("site", ELSEWHERE)
def test_no_other_site_logs_a_visitor_out(api, site):
    reply = api.send(event("GET", "/logout", headers=said(site)))
    assert (reply.status, reply.cookies) == (403, [])
    for ours in ("same-origin", "none", None):
        assert api.send(event("GET", "/logout", headers=said(ours))).status == 307


@pytest.mark.parametrize("use", ["image", "video", "audio", "track", "iframe", "style", "script"])
def test_no_text_in_a_lake_logs_its_readers_out(api, use):
    headers = {**said("same-origin"), "sec-fetch-dest": use}
    reply = api.send(event("GET", "/logout", headers=headers))
    assert (reply.status, reply.cookies) == (403, [])
    for ours in ("document", "empty"):
        headers = {**said("same-origin"), "sec-fetch-dest": ours}
        assert api.send(event("GET", "/logout", headers=headers)).status == 307


def test_nobody_works_in_the_session_that_another_server_of_the_host_planted(api, cookie):
    name, _, _ = cookie.partition("=")
    path = "/api/v1/repositories"
    for cookies in ([f"{name}=planted", cookie], [cookie, f"{name}=planted"]):
        reply = api.send(event("GET", path, cookies=cookies))
        assert (reply.status, "two different session cookies" in reply.message) == (400, True)
    assert api.send(event("GET", path, cookies=[cookie, cookie])).status == 200
