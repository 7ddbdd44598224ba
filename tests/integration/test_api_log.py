"""The log of the API: a line for each request, and nothing in it that others must not read.

Everything that a client, a store or a bug could have brought into the log is marked here, with
words that are looked for in all that was written.
"""

import base64
import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from bench.prices import DIRECTIVE_BYTES, LINE_BYTES
from graveler.aws import wiring
from graveler.errors import ThrottledError
from graveler_functions.api.all_operations import TEMPLATES
from graveler_functions.api.app import SERVICE, build_app
from graveler_functions.api.settings import ApiSettings
from graveler_functions.api.unserved import UNSERVED
from graveler_functions.export.handler import handler as export
from graveler_functions.telemetry import Metrics, Telemetry
from tests.support.checks.cases import for_each
from tests.support.checks.lines import Lines, lines_of
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, SETUP_TOKEN, ApiClient, event
from tests.support.fakes.invocation import Context
from tests.unit.aws.scripted_s3 import Answer, ScriptedS3

REPO = "/repositories/repo"
MAIN = f"{REPO}/branches/main"
READ = f"{REPO}/refs/main/objects"

# Whatever begins with this is marked: contents, keys of objects, metadata, headers, messages.
MARK = "qzx"
SIGNED = "X-Amz-Signature"


class PresigningStore:
    """The memory store, with URLs as S3's."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._s3 = ScriptedS3(Answer(200)).objects

    def __getattr__(self, name: str) -> Any:
        return getattr(self._s3 if name.startswith("presign") else self._store, name)


@pytest.fixture
def api() -> ApiClient:
    """An API that is not set up, with metrics and real presigned URLs."""
    api = ApiClient(set_up=False)
    api.engine = replace(api.engine, objects=PresigningStore(api.engine.objects))
    told = Telemetry(SERVICE, Metrics.OPERATIONS)
    api.app = build_app(api.engine, api.accounts, ApiSettings(setup_token=SETUP_TOKEN), told)
    return api


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, api: ApiClient) -> Lines:
    return lines_of(monkeypatch, SERVICE)


def set_up(api: ApiClient) -> None:
    body = {"username": "ann", "key": {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}}
    asked = event(
        "POST",
        "/api/v1/setup_lakefs",
        headers={"x-graveler-setup-token": SETUP_TOKEN},
        body=json.dumps(body).encode(),
    )
    assert api.send(asked).status == 200


def log_in(api: ApiClient) -> list[str]:
    """The token, and the cookie with it."""
    body = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}
    reply = api.ask("POST", "/auth/login", body)
    assert reply.status == 200
    (cookie,) = reply.cookies
    bearer = {"authorization": f"Bearer {reply.json['token']}"}
    assert api.ask("GET", "/user", headers=bearer).status == 200
    return [reply.json["token"], cookie.partition("=")[2].partition(";")[0]]


def work(api: ApiClient) -> None:
    """What people do with a repository, each piece of it marked."""
    path, content, metadata = f"{MARK}/key", f"{MARK} content".encode(), {MARK: f"{MARK}-value"}
    api.repository()
    api.upload(path, content, headers={f"x-lakefs-meta-{MARK}": f"{MARK}-value"})
    api.commit(f"{MARK} message", metadata=metadata)
    assert api.ask("GET", READ, path=path).content == content
    assert api.ask("HEAD", READ, path=path).status == 200
    assert SIGNED in api.ask("GET", READ, path=path, presign="true").headers["Location"]
    assert SIGNED in api.ask("GET", f"{READ}/stat", path=path, presign="true").content.decode()
    assert SIGNED in api.ask("GET", f"{READ}/ls", prefix=MARK, presign="true").content.decode()
    copied = {"src_path": path, "src_ref": "main"}
    assert api.ask("POST", f"{MAIN}/objects/copy", copied, dest_path=f"{MARK}/copy").status == 201
    address = api.ask("GET", f"{MAIN}/staging/backing", path=path, presign="true")
    assert SIGNED in address.content.decode()
    link = {"staging": address.json, "checksum": MARK, "size_bytes": 1, "user_metadata": metadata}
    api.ask("PUT", f"{MAIN}/staging/backing", link, path=path)
    upload = api.ask("POST", f"{MAIN}/staging/pmpu", path=f"{MARK}/parts", parts=2)
    assert SIGNED in upload.content.decode()
    api.ask("POST", f"{MAIN}/objects/delete", {"paths": [f"{MARK}/copy", f"{MARK}/none"]})
    assert api.ask("DELETE", f"{MAIN}/objects", path=path).status == 204
    api.branch("other")
    diff = api.ask("GET", f"{REPO}/refs/main/diff/other", prefix=MARK)
    assert diff.status == 200
    body = {"exportPath": f"s3://company/{MARK}", "lastKeysInPrefixRegexp": [MARK]}
    assert api.ask("PUT", f"{MAIN}/continuous-export", body).status == 201


def fail(api: ApiClient) -> None:
    """Requests that clients get wrong."""
    wrong = base64.b64encode(f"{ACCESS_KEY_ID}:{MARK}".encode()).decode()
    assert api.ask("GET", "/user", headers={"authorization": f"Basic {wrong}"}).status == 401
    assert api.ask("GET", "/user", headers={"authorization": f"Bearer {MARK}"}).status == 401
    assert api.ask("GET", READ, path=f"{MARK}/none").status == 404
    assert api.ask("POST", f"{MAIN}/commits", f'{{"{MARK}'.encode()).status == 400
    assert api.ask("POST", f"{MAIN}/commits", {"message": [MARK]}).status == 400
    assert api.ask("GET", f"/{MARK}", token=MARK).status == 404
    assert api.ask("PATCH", f"{MAIN}/commits", token=MARK).status == 405
    assert api.ask("GET", "/auth/groups/Admins/acl", prefix=MARK).status == 501
    large = f"{MARK}".encode() * 3_000_000
    assert api.ask("POST", f"{MAIN}/objects", large, path=f"{MARK}/large").status == 413


def break_down(api: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures of ours, whose errors hold what must not be told."""
    url = f"https://bucket.s3.amazonaws.com/{MARK}?{SIGNED}={MARK}"

    def bug(*_: object) -> None:
        raise KeyError(f"{MARK} of a body, and {url}")

    def no_store(*_: object) -> None:
        cause = EndpointConnectionError(endpoint_url=url)
        raise ThrottledError(f"S3 cannot serve this now: {cause}") from cause

    for failure, status in ((bug, 500), (no_store, 503)):
        with monkeypatch.context() as patched:
            patched.setattr(api.world.refs, "repository", failure)
            reply = api.ask("GET", "/repositories/fresh", token=MARK, headers={"x-secret": MARK})
            assert reply.status == status


def test_nothing_private_is_in_the_log(
    api: ApiClient,
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    set_up(api)
    tokens = log_in(api)
    work(api)
    fail(api)
    break_down(api, monkeypatch)
    assert len(lines.all) > 25
    printed = capfd.readouterr()
    written = lines.text + printed.out + printed.err
    secrets = [SECRET, ACCESS_KEY_ID, SETUP_TOKEN, api.authorization.split()[1], *tokens]
    for secret in (*secrets, SIGNED, "X-Amz-", MARK):
        assert secret not in written, secret
    statuses = {line["status"] for line in lines.all}
    assert statuses >= {200, 201, 204, 302, 400, 401, 404, 405, 413, 500, 501, 503}


def test_lines_are_no_longer_than_their_price_assumes(
    api: ApiClient, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(api)
    work(api)
    longer = {
        "service": "graveler-prod-api",
        "request_id": "OurJRhV5oAMEPCg=",
        "gateway_request_id": "OurJRhV5oAMEPCg=",
        "lambda_request_id": "6bc28136-8365-4365-b021-0ce6b2e64ab0",
        "repository": "research-lake",
        "ip": "2001:db8:85a3:8d3:1319:8a2e:370:7348",
        "user_agent": "lakefs-python-sdk/1.84.0 python-urllib3/2.6.1 Linux/6.1",
    }
    found = [line | longer for line in lines.all]
    directives = [len(json.dumps(line.pop("_aws"), separators=(",", ":"))) for line in found]
    sizes = [len(json.dumps(line, separators=(",", ":"))) for line in found]
    assert sum(sizes) / len(sizes) <= LINE_BYTES
    assert sum(directives) / len(directives) <= DIRECTIVE_BYTES


def test_server_errors_are_logged_with_their_cause(
    api: ApiClient, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(api)
    break_down(api, monkeypatch)
    bug, no_store = lines.all[-2:]
    assert (bug["level"], bug["error"], bug["operation"]) == ("ERROR", "KeyError", "getRepository")
    assert "in bug\n" in bug["exception"]
    assert no_store["error"] == "ThrottledError"
    assert "S3 cannot serve this now" in no_store["exception"]
    assert "https://bucket.s3.amazonaws.com/…" in no_store["exception"]
    assert (no_store["ServerErrors"], no_store["Throttled"]) == (1, 1)


@pytest.fixture
def ready(api: ApiClient) -> ApiClient:
    set_up(api)
    return api


@for_each("template", TEMPLATES, ids=lambda each: each.name)
def test_every_operation_is_logged_by_its_name_repository_and_refs_only(
    ready: ApiClient, lines: Lines, template: Any
) -> None:
    before = len(lines.all)
    path = re.sub(r"<(\w+)>", lambda found: f"{MARK}-{found[1]}", template.path)
    query = {"path": MARK, "prefix": MARK, "token": MARK, "amount": MARK}
    headers = {"x-secret": MARK, "if-none-match": MARK, "cookie": MARK}
    ready.ask(template.method, path, {MARK: MARK}, headers=headers, **query)
    (line,) = lines.all[before:]
    assert line["operation"] == template.name
    told = {name: value for name, value in line.items() if MARK in json.dumps(value)}
    assert told.keys() <= {"repository", "ref", "other_ref"}
    expected = {"repository"} if "<repository>" in template.path else set()
    assert expected - told.keys() == set() or template in UNSERVED


def test_a_log_line_shows_the_user_and_the_operation(api: ApiClient, lines: Lines) -> None:
    set_up(api)
    api.repository()
    asked = event(
        "GET",
        "/api/v1/repositories/repo/refs/f%C3%AAte/objects/ls",
        headers={
            "authorization": api.authorization,
            "x-request-id": "mine",
            "user-agent": "lakectl/1.0",
        },
    )
    answer = api.app(asked, Context("lambda-1"))
    line = lines.last
    assert answer["statusCode"] == line["status"] == 404
    facts = {
        "message": "request",
        "service": SERVICE,
        "request_id": "mine",
        "gateway_request_id": "gateway-request",
        "lambda_request_id": "lambda-1",
        "method": "GET",
        "ip": "127.0.0.1",
        "operation": "listObjects",
        "repository": "repo",
        "ref": "fête",
        "user": "ann",
        "user_agent": "lakectl/1.0",
        "error": "NotFoundError",
        "ClientErrors": 1,
    }
    assert {name: line[name] for name in facts} == facts


def test_changes_of_refs_and_deletions_are_logged_with_their_user(
    api: ApiClient, lines: Lines
) -> None:
    set_up(api)
    api.repository()
    api.branch("dev")
    changes = [
        ("PUT", f"{REPO}/branches/dev", "resetBranch", "dev"),
        ("DELETE", f"{REPO}/branches/dev", "deleteBranch", "dev"),
        ("POST", f"{REPO}/tags", "createTag", None),
        ("DELETE", f"{REPO}/tags/v1", "deleteTag", "v1"),
        ("DELETE", REPO, "deleteRepository", None),
    ]
    bodies = {"resetBranch": {"type": "reset"}, "createTag": {"id": "v1", "ref": "main"}}
    for method, path, operation, ref in changes:
        assert api.ask(method, path, bodies.get(operation)).status < 300
        told = lines.last
        assert (told["user"], told["operation"]) == ("ann", operation)
        assert (told["repository"], told.get("ref")) == ("repo", ref)


def test_an_unserved_path_is_logged_without_an_operation(api: ApiClient, lines: Lines) -> None:
    assert api.send(event("GET", "/qzx")).status == 404
    assert "operation" not in lines.last
    (directive,) = lines.last["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service"]]
    assert MARK not in lines.text


def test_an_answer_that_is_too_large_is_the_client_s_error(api: ApiClient, lines: Lines) -> None:
    set_up(api)
    api.repository()
    for number in range(60):
        api.upload(f"{number}", headers={"x-lakefs-meta-k": "v" * 120_000})
    assert api.ask("GET", f"{READ}/ls").status == 413
    assert (lines.last["error"], lines.last["status"]) == ("TooLargeError", 413)


def test_a_failed_export_logs_no_keys(
    api: ApiClient, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(api)
    work(api)
    told = lines_of(monkeypatch, "graveler-export")
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(engine=api.engine))

    def refuse(*_: object, **__: object) -> None:
        raise ThrottledError(f"https://bucket/{MARK}/key?{SIGNED}=1 does not answer")

    monkeypatch.setattr(api.world.objects, "copy", refuse)
    body = json.dumps({"repository": "repo", "branch": "main"})
    for _ in range(2):
        export({"Records": [{"messageId": "m", "body": body}]}, Context("lambda-1"))
    assert (told.last["repository"], told.last["ref"]) == ("repo", "main")
    assert told.last["state"] in {"export-failed", "in-progress"}
    assert MARK not in told.text
    assert SIGNED not in told.text
