"""Secrets: compared in constant time, and never in a log or in a text about something else."""

import base64
import hmac
import re
from importlib import import_module
from pathlib import Path

import pytest

from graveler.access.identity_tokens import SignedRequest
from graveler.aws.environment import FromEnvironment
from graveler.http.auth import LoginSession
from graveler.http.schemas.accounts import AuthenticationToken, Login, Setup
from graveler.http.schemas.credentials import AccessKey, CredentialsWithSecret, NewAccessKey
from graveler.http.schemas.principals import ExternalLogin, IdentityRequest
from graveler.operations import branches
from graveler.ports import Credential, Installation, KeyPair, LoginKey
from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.app import SERVICE
from graveler_functions.api.settings import ApiSettings
from tests.support.checks.cases import for_each
from tests.support.checks.lines import Lines, lines_of
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, SETUP_TOKEN, ApiClient, event

ROOT = Path(__file__).parents[2]
SIGNATURE = "X-Amz-Signature=0123456789abcdef"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Lines:
    ApiClient()  # the first one sets the log up
    return lines_of(monkeypatch, SERVICE)


def use_every_secret(api: ApiClient) -> list[str]:
    """Bring each secret to where it belongs and to where it does not; all of them."""
    body = {"access_key_id": "AKIAJTESTTESTTESTTEQ", "secret_access_key": SECRET}
    session = api.ask("POST", "/auth/login", body)
    token = session.json["token"]
    cookies = [f"internal_auth_session={token}"]
    api.send(event("GET", "/api/v1/user", cookies=cookies))
    api.send(event("GET", "/api/v1/user", headers={"authorization": f"Bearer {token}x"}))
    api.ask("POST", "/auth/login", {**body, "secret_access_key": f"{SECRET}x"})
    api.ask("POST", "/setup_lakefs", {"username": "a", "key": body}, headers=setup(SETUP_TOKEN))
    api.ask("POST", "/setup_lakefs", {"username": "a"}, headers=setup(f"{SETUP_TOKEN}-x"))
    api.ask("POST", "/repositories", {**body, "storage_namespace": 7})
    api.ask("GET", "/repositories/repo/refs/main/objects", query=f"path=a&{SIGNATURE}")
    place = api.ask("GET", "/repositories/repo/branches/main/staging/backing", path="a").json
    signed = place["physical_address"]
    link = {"staging": {"physical_address": f"{signed}x"}, "checksum": "c", "size_bytes": 1}
    api.ask("PUT", "/repositories/repo/branches/main/staging/backing", link, path="a")
    basic = base64.b64encode(f"AKIAJTESTTESTTESTTEQ:{SECRET}".encode()).decode()
    return [SECRET, token, SETUP_TOKEN, basic, SIGNATURE, signed.partition(",")[2]]


def setup(token: str) -> dict[str, str]:
    return {"x-graveler-setup-token": token}


def test_no_secret_reaches_the_log(log):
    api = ApiClient(ApiSettings(setup_token=SETUP_TOKEN))
    api.repository()
    secrets = use_every_secret(api)
    assert "getCurrentUser" in log.text  # it is this log
    assert [secret for secret in secrets if secret in log.text] == []


def test_no_secret_reaches_the_log_when_something_breaks(log, monkeypatch):
    api = ApiClient(ApiSettings(setup_token=SETUP_TOKEN))
    api.repository()
    broken = ApiClient(ApiSettings(setup_token=SETUP_TOKEN))
    for store in (broken.world.refs, broken.world.objects):
        for name in ("repository", "repository_and_branch", "get", "head"):
            if hasattr(store, name):
                monkeypatch.setattr(store, name, lambda *_: 1 // 0)
    secrets = use_every_secret_but_links(broken)
    assert "ZeroDivisionError" in log.text
    assert [secret for secret in secrets if secret in log.text] == []


def use_every_secret_but_links(api: ApiClient) -> list[str]:
    body = {"access_key_id": "AKIAJTESTTESTTESTTEQ", "secret_access_key": SECRET}
    token = api.ask("POST", "/auth/login", body).json["token"]
    for _ in range(2):
        api.ask("GET", "/repositories/repo/refs/main/objects", query=f"path=a&{SIGNATURE}")
    api.send(event("GET", "/api/v1/repositories/repo", cookies=[f"internal_auth_session={token}"]))
    return [SECRET, token, api.authorization, SIGNATURE]


@for_each(
    "holder",
    [
        Credential("AKIA", "secret-text", "ann", 1),
        KeyPair("AKIA", "secret-text", "ann", "uid"),
        Installation("id", b"secret-text"),
        LoginSession("secret-text", 1, "ann"),
        ApiSettings(setup_token="secret-text"),
        AccessKey("AKIA", "secret-text"),
        Setup("ann", NewAccessKey("AKIA", "secret-text")),
        Login("AKIA", "secret-text"),
        CredentialsWithSecret("AKIA", "secret-text", 1),
        AuthenticationToken("secret-text", 1),
        LoginKey("AKIA", "ann", "uid", b"secret-text"),
        SignedRequest("sts.amazonaws.com", {"X-Amz-Signature": "secret-text"}, {}),
        ExternalLogin(IdentityRequest("secret-text")),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_what_holds_a_secret_does_not_print_it(holder):
    assert "secret-text" not in f"{holder} {holder!r}"


def settings_classes() -> list[type[FromEnvironment]]:
    """Return every class that reads settings from the environment, wherever it is defined."""
    definition = re.compile(r"^class (\w+)\(FromEnvironment\)", re.MULTILINE)
    return [
        getattr(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)), name)
        for package in ("graveler_functions", "graveler", "graveler_embedded")
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in definition.findall(path.read_text())
    ]


@pytest.mark.parametrize("kind", settings_classes(), ids=lambda kind: kind.__module__)
def test_no_settings_print_a_secret_of_the_environment(kind):
    environment = {
        "AWS_REGION": "eu-west-1",
        "GRAVELER_REFS_TABLE": "refs",
        "GRAVELER_STAGING_TABLE": "staging",
        "GRAVELER_CIPHER_KEY_FILE": "cipher.key",
    }
    secrets = (
        "GRAVELER_SETUP_TOKEN",
        "GRAVELER_SECRET_ACCESS_KEY",
        "AWS_SECRET_ACCESS_KEY",
    )
    settings = kind.from_environment(environment | dict.fromkeys(secrets, "secret-text"))
    assert "secret-text" not in f"{settings} {settings!r}"


def test_every_settings_class_is_looked_at():
    modules = {kind.__module__ for kind in settings_classes()}
    assert {"graveler_functions.api.settings", "graveler.aws.settings"} <= modules


def test_the_engine_does_not_print_its_key():
    assert "signing_key" not in repr(ApiClient().engine)


def test_secrets_are_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append({one, other})
        return compare_digest(one, other)

    compare_digest = hmac.compare_digest
    monkeypatch.setattr("graveler.http.auth.hmac.compare_digest", compare)
    monkeypatch.setattr("graveler.addresses.compare_digest", compare)
    api = ApiClient(ApiSettings(setup_token=SETUP_TOKEN))
    api.repository()
    digest = api.accounts.look_up(ACCESS_KEY_ID).key.digest
    assert {digest} in compared
    empty = ApiClient(set_up=False)
    empty.ask("POST", "/setup_lakefs", {"username": "a"}, headers=setup("guess"))
    assert {SETUP_TOKEN.encode(), b"guess"} in compared
    address = "s3://bucket/repo/data/x/y,guess"
    link = {"staging": {"physical_address": address}, "checksum": "c", "size_bytes": 1}
    api.ask("PUT", "/repositories/repo/branches/main/staging/backing", link, path="a")
    assert any(b"guess" in pair and pair != {SETUP_TOKEN.encode(), b"guess"} for pair in compared)


@pytest.fixture
def lake() -> ApiClient:
    api = ApiClient()
    api.repository()
    api.upload("a")
    api.commit()
    return api


@for_each(
    "template",
    [each.template for each in OPERATIONS if each.template.method in ("GET", "HEAD")],
    ids=lambda template: template.name,
)
def test_a_get_request_changes_nothing(lake, template):
    """A change by cookie takes our own page; reading by cookie does not (graveler/http/cross_site.py)."""
    before = snapshot(lake)
    path = template.path.replace("<repository>", "repo").replace("<branch>", "main")
    path = path.replace("<ref>", "main")
    lake.ask(template.method, path.replace("<", "").replace(">", ""), path="a", presign="true")
    assert snapshot(lake) == before


def snapshot(api: ApiClient) -> object:
    world = api.world
    main = branches.get(api.engine, "repo", "main")
    uris = world.objects.uris("s3://bucket")
    return list(world.refs.events), main, {uri: world.objects.get(uri) for uri in uris}
