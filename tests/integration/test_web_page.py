"""The web page reaches a browser whole, fast and as it was built."""

import pytest

from graveler_embedded.api_gateway import ApiRoutes
from graveler_embedded.lambda_runtime import LocalFunction
from graveler_functions.web.app import build_app
from graveler_functions.web.handler import PAGE
from graveler_functions.web.paths import routes
from tests.integration.test_api_behind_a_rest_api import of_rest
from tests.support.clients.api import event
from tests.support.worlds.page import (
    FONT,
    FONT_PATH,
    ICON,
    SCRIPT,
    SCRIPT_PATH,
    SHELL,
    show,
    shown,
    write_page,
)


@pytest.fixture
def app(tmp_path):
    return build_app(write_page(tmp_path / "page"), ["https://lake.s3.eu-west-1.amazonaws.com"])


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/repositories",
        "/repositories/lake/objects",
        "/repositories/lake/object.js",
        "/auth/login",
        "/auth/users/ann%20lee",
        "/setup",
    ],
)
def test_every_page_is_the_shell_and_is_asked_for_each_time(app, path):
    answer = show(app, path)
    assert (answer.status, answer.content) == (200, SHELL)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


def test_a_shell_that_the_browser_holds_is_not_sent_again(app):
    etag = show(app, "/").headers["etag"]
    for held in (etag, etag.removeprefix("W/"), f'"other", {etag}'):
        answer = show(app, "/repositories", if_none_match=held)
        assert (answer.status, answer.content) == (304, b"")
        assert answer.headers["etag"] == etag
        assert "content-type" not in answer.headers
    assert show(app, "/", if_none_match='"other"').status == 200


def test_a_new_build_has_another_tag(app, tmp_path):
    folder = write_page(tmp_path / "next")
    (folder / "index.html").write_bytes(SHELL + b"\n")
    assert show(build_app(folder, ()), "/").headers["etag"] != show(app, "/").headers["etag"]


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        (SCRIPT_PATH, SCRIPT, "text/javascript; charset=utf-8"),
        (FONT_PATH, FONT, "font/woff2"),
    ],
)
def test_an_asset_is_kept_for_a_year(app, path, content, kind):
    answer = show(app, path)
    assert (answer.status, answer.content) == (200, content)
    assert answer.headers["content-type"] == kind
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_the_icon_and_the_word_to_robots_are_asked_for_each_time(app):
    icon, robots = show(app, "/favicon.svg"), show(app, "/robots.txt")
    assert (icon.content, icon.headers["content-type"]) == (ICON, "image/svg+xml")
    assert robots.content == b"User-agent: *\nDisallow: /api/\n"
    assert icon.headers["cache-control"] == robots.headers["cache-control"] == "no-cache"


def test_who_takes_gzip_gets_gzip(app):
    for accepted in ("gzip, deflate, br", "br;q=1, gzip;q=0.5"):
        for path, content in (("/", SHELL), (SCRIPT_PATH, SCRIPT)):
            answer = show(app, path, accept_encoding=accepted)
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.decoded == content
            assert len(answer.content) < len(content)
            assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "identity, gzip; q=0"])
def test_who_does_not_take_gzip_gets_it_plain(app, accepted):
    answer = show(app, SCRIPT_PATH, accept_encoding=accepted)
    assert "content-encoding" not in answer.headers
    assert answer.content == SCRIPT
    assert answer.headers["vary"] == "Accept-Encoding"


def test_what_is_compressed_already_is_sent_as_it_is(app):
    answer = show(app, FONT_PATH, accept_encoding="gzip")
    assert "content-encoding" not in answer.headers
    assert answer.content == FONT


def test_a_head_has_the_headers_of_the_get_and_no_body(app):
    for path in ("/", SCRIPT_PATH, "/assets/gone-0.js"):
        got, head = show(app, path), show(app, path, "HEAD")
        assert (head.status, head.headers, head.content) == (got.status, got.headers, b"")


def test_a_missing_asset_is_not_the_shell(app):
    """A browser would keep it, or run it, for a year."""
    answer = show(app, "/assets/index-OLD.js")
    assert (answer.status, answer.headers["cache-control"]) == (404, "no-store")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert b"reload the page" in answer.content


def test_the_page_is_only_read(app):
    answer = show(app, "/", "POST")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_an_s3_client_is_told_that_this_is_no_bucket(app):
    """It would report a page as a broken document."""
    signed = "AWS4-HMAC-SHA256 Credential=AKIA"
    for query, headers in (("", {"authorization": signed}), ("X-Amz-Signature=ab", {})):
        answer = show(app, "/", query=query, **headers)
        assert answer.status == 501
        assert b"<Code>NotImplemented</Code>" in answer.content
        assert answer.headers["content-type"] == "application/xml"


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("GET", "/", ""),
        ("GET", "/repositories/lake/objects", "ref=main&path=a%2Fb"),
        ("HEAD", SCRIPT_PATH, ""),
        ("GET", "/", "X-Amz-Signature=ab"),
        ("GET", "/assets/none.js", ""),
    ],
)
def test_a_rest_api_gets_the_same_answer(app, method, path, query):
    http = event(method, path, query=query, headers={"Accept-Encoding": "gzip"})
    assert shown(app(of_rest(http, path), None)) == shown(app(http, None))


def test_the_routes_are_the_pages_and_all_others_the_apis():
    api, web = (
        LocalFunction(name, lambda _event, _context: {}, timeout_s=1) for name in ("api", "web")
    )
    found = ApiRoutes(api, {" ".join(route): web for route in routes()})
    for method, path, expected in (
        ("GET", "/", web),
        ("HEAD", "/", web),
        ("GET", "/repositories/lake", web),
        ("GET", "/auth/login", web),
        ("GET", "/assets/a.js", web),
        ("GET", "/favicon.svg", web),
        ("POST", "/", api),
        ("POST", "/repositories", api),
        ("GET", "/api/v1/repositories", api),
        ("GET", "/api/v1/auth/login", api),
        ("GET", "/openapi.json", api),
        ("GET", "/_health", api),
        ("GET", "/logout", api),
        ("GET", "/repositories-of-others", api),
        ("GET", "//repositories", api),
    ):
        assert found.find(method, path) is expected, (method, path)


def test_every_file_of_the_built_page_has_a_type_that_browsers_accept():
    """With `nosniff`, a script of another type does not run."""
    app = build_app(PAGE, ())
    names = [path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*") if path.is_file()]
    assert "index.html" in names
    for name in names:
        answer = show(app, "/" if name == "index.html" else f"/{name}")
        assert answer.status == 200, name
        assert answer.headers["content-type"] != "application/octet-stream", name
