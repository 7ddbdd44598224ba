"""What an attacker would try on the web page: to run script in it, to frame it, to leave its folder."""

import pytest

from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.contract import RawContent
from graveler_functions.web.app import build_app
from tests.support.worlds.page import SCRIPT_PATH, show, write_page
from tests.support.worlds.prepared_lake import prepared
from tests.support.worlds.valid_requests import send, valid_requests

LAKE = "https://lake.s3.eu-west-1.amazonaws.com"
DOTTED = "https://s3.eu-west-1.amazonaws.com/dotted.bucket/"


@pytest.fixture
def app(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    return build_app(write_page(tmp_path / "page"), [LAKE, DOTTED])


def policy_of(answer):
    """The directives of the answer's policy, by name."""
    directives = answer.headers["content-security-policy"].split("; ")
    return {name: sources for name, _, sources in (each.partition(" ") for each in directives)}


ANSWERS = [
    ("GET", "/", 200),
    ("HEAD", "/", 200),
    ("GET", SCRIPT_PATH, 200),
    ("GET", "/assets/none.js", 404),
    ("POST", "/", 405),
]


@pytest.mark.parametrize(("method", "path", "status"), ANSWERS)
def test_every_answer_allows_the_page_its_own_files_and_the_buckets_only(app, method, path, status):
    answer = show(app, path, method)
    assert answer.status == status
    assert policy_of(answer) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "font-src": "'self'",
        "connect-src": f"'self' {LAKE} {DOTTED}",
        "img-src": f"'self' blob: data: {LAKE} {DOTTED}",
        "media-src": f"'self' blob: {LAKE} {DOTTED}",
        "worker-src": "'self'",
        "manifest-src": "'self'",
        "frame-src": "blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "dompurify graveler",
    }


@pytest.mark.parametrize(("method", "path", "status"), ANSWERS)
def test_every_answer_keeps_the_page_apart_from_others(app, method, path, status):
    headers = show(app, path, method).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-frame-options"] == "DENY"
    assert "camera=()" in headers["permissions-policy"]


def test_over_tls_browsers_are_told_to_stay_there(app):
    name = "strict-transport-security"
    assert show(app, "/", x_forwarded_proto="https").headers[name] == "max-age=31536000"
    assert name not in show(app, "/").headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets//etc/passwd",
        "/assets/..",
        "/assets/",
        "/assets/index.html",
        "/secret.txt",
        "/index.html",
        "/assets/\x00",
        "assets",
        "",
    ],
)
def test_no_path_leads_out_of_the_assets(app, path):
    answer = show(app, path)
    assert answer.status == 404
    assert b"secret" not in answer.content


@pytest.mark.parametrize(
    "origin",
    ["*", "https:", "https://a;script-src *", "https://*.amazonaws.com", "https://a b", "a.com"],
)
def test_an_origin_cannot_widen_the_policy(tmp_path, origin):
    with pytest.raises(ValueError, match="GRAVELER_BUCKET_ORIGINS"):
        build_app(write_page(tmp_path / "page"), [origin])


def answers_bytes(operation):
    shapes = operation.contract.answers.values()
    return any(isinstance(shape, RawContent) and shape.is_binary for shape in shapes)


@pytest.mark.parametrize("name", [each.template.name for each in OPERATIONS if answers_bytes(each)])
def test_bytes_that_users_stored_are_of_no_origin(name):
    """A link to them opens them beside the page, in the browser of whoever follows it."""
    reply = send(prepared().api.fork(), valid_requests()[name])
    assert reply.status in (200, 206)
    assert reply.headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert reply.headers["Content-Security-Policy"].endswith("; sandbox")
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
