"""Clients of Iceberg's catalogue get credentials for one table, as far as its user's rights go."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from graveler.access.actions import Action
from graveler.http.auth import AuthenticatedUser
from graveler.operations.tables import metadata
from graveler_functions.iceberg.app import build_app
from graveler_functions.iceberg.settings import IcebergSettings
from tests.support.clients.api import ApiClient, event
from tests.support.fakes.access import USER, RestrictedClient, allowing

TABLE = "/namespaces/repo%1Fmain%1Fdb/tables"
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}]}
ARN = "arn:lakefs:catalog:::table/repo/db/t"
EVERYWHERE = tuple(
    (str(action), "*") for action in Action if action.startswith(("catalog:", "fs:"))
)
READ = (str(Action.READ_TABLE), "*")


class Catalog:
    """A client of the catalogue, over the stores of a client of the API."""

    def __init__(self, client: RestrictedClient) -> None:
        self._client = client
        self.vended: list[tuple[str, str, bool]] = []
        self.expiring: Mapping[str, str] = {}
        settings = IcebergSettings("eu-west-1")
        self._app = build_app(client.engine, client.accounts, settings, vend=self._vend)

    def _vend(self, location: str, who: AuthenticatedUser, *, can_write: bool) -> Mapping[str, str]:
        self.vended.append((location, who.user, can_write))
        return {"s3.session-token": f"of {who.user}", **self.expiring}

    def ask(self, method: str, path: str, body: Any = None, *, asks: bool = True) -> Any:
        headers = {"authorization": self._client.authorization}
        if asks:
            headers["x-iceberg-access-delegation"] = "vended-credentials, remote-signing"
        sent = None if body is None else json.dumps(body).encode()
        made = event(method, f"/iceberg/api/v1/lakefs{path}", headers=headers, body=sent)
        answer = self._app(made, None)
        assert answer["statusCode"] == 200, answer
        content = answer["body"]
        return json.loads(base64.b64decode(content) if answer["isBase64Encoded"] else content)


@pytest.fixture
def client() -> RestrictedClient:
    admin = ApiClient()
    admin.repository()
    return RestrictedClient(admin)


@pytest.fixture
def catalog(client: RestrictedClient) -> Catalog:
    """A catalogue with the table t, made by a user who may do everything to tables."""
    made = Catalog(client)
    client.may(allowing(*EVERYWHERE))
    made.ask("POST", "/namespaces", {"namespace": ["repo", "main", "db"]})
    made.ask("POST", TABLE, {"name": "t", "schema": SCHEMA}, asks=False)
    assert made.vended == []
    return made


def test_credentials_are_for_the_place_of_the_table(catalog: Catalog) -> None:
    loaded = catalog.ask("GET", f"{TABLE}/t")
    location = loaded["metadata"]["location"]
    given = {"s3.session-token": f"of {USER}"}
    assert loaded["storage-credentials"] == [{"prefix": location, "config": given}]
    assert loaded["config"].items() >= given.items()
    alone = catalog.ask("GET", f"{TABLE}/t/credentials")
    assert alone["storage-credentials"] == loaded["storage-credentials"]
    assert catalog.vended == [(location, USER, True)] * 2


def test_those_that_expire_are_renewed_by_a_library_that_sends_no_header(catalog: Catalog) -> None:
    """Of those that do not, Iceberg's Java library would ask for others at once."""
    endpoint = "client.refresh-credentials-endpoint"
    assert endpoint not in catalog.ask("GET", f"{TABLE}/t")["config"]
    catalog.expiring = {"s3.session-token-expires-at-ms": "1"}
    named = catalog.ask("GET", f"{TABLE}/t")["config"][endpoint]
    assert named == f"v1{TABLE}/t/credentials"
    (renewed,) = catalog.ask("GET", f"{TABLE}/t/credentials", asks=False)["storage-credentials"]
    assert renewed["config"].items() >= catalog.expiring.items()


def test_a_user_who_may_not_update_the_table_may_only_read_its_files(
    client: RestrictedClient, catalog: Catalog
) -> None:
    client.may(allowing(READ))
    for path in (f"{TABLE}/t", f"{TABLE}/t/credentials"):
        catalog.ask("GET", path)
    client.may(allowing(READ, (str(Action.UPDATE_TABLE), ARN)))
    catalog.ask("GET", f"{TABLE}/t")
    assert [can_write for _, _, can_write in catalog.vended] == [False, False, True]


@pytest.mark.parametrize("is_staged", [True, False])
def test_whoever_creates_a_table_writes_its_first_files(
    client: RestrictedClient, catalog: Catalog, is_staged: bool
) -> None:
    writes = tuple(right for right in EVERYWHERE if right[0] != Action.UPDATE_TABLE)
    client.may(allowing(*writes))
    made = catalog.ask("POST", TABLE, {"name": "u", "schema": SCHEMA, "stage-create": is_staged})
    assert catalog.vended == [(made["metadata"]["location"], USER, True)]


def test_a_client_that_does_not_ask_gets_none(catalog: Catalog) -> None:
    loaded = catalog.ask("GET", f"{TABLE}/t", asks=False)
    assert "storage-credentials" not in loaded
    assert catalog.vended == []


def test_metadata_that_name_another_place_reach_no_other_place(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write the files of a table may replace its metadata file."""
    place = catalog.ask("GET", f"{TABLE}/t", asks=False)["metadata"]["location"]
    read, forged = metadata.decoded, {"location": place.replace("repo", "other")}
    monkeypatch.setattr(metadata, "decoded", lambda content: {**read(content), **forged})
    loaded = catalog.ask("GET", f"{TABLE}/t")
    assert [each["prefix"] for each in loaded["storage-credentials"]] == [place]
    assert [location for location, _, _ in catalog.vended] == [place]


def test_files_of_what_describes_a_ref_are_read_only(
    client: RestrictedClient, catalog: Catalog
) -> None:
    client.may(allowing(*EVERYWHERE))
    loaded = catalog.ask("GET", "/namespaces/repo%1Fmain%1Fsystem/tables/objects")
    ((location, _, can_write),) = catalog.vended
    assert loaded["metadata"]["location"].startswith(f"{location}/")
    assert location.endswith("/_iceberg/system")
    assert not can_write
