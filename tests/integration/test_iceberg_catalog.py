"""Iceberg's REST catalogue: what its clients send, and what they decide by."""

import base64
import json
from collections import defaultdict
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from graveler.access.catalog_needs import NEEDS, CatalogNeed
from graveler.access.policy import Policy
from graveler.access.resources import can_match
from graveler.aws import deadlines
from graveler.errors import ContentionError, CorruptDataError, ThrottledError, UnknownOutcomeError
from graveler_functions.api.all_operations import TEMPLATES
from graveler_functions.http.rest_api import for_both_apis
from graveler_functions.http.route_table import RouteTable
from graveler_functions.iceberg.operations import OPERATIONS
from tests.support.checks.cases import for_each
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, ApiClient
from tests.support.clients.catalog import ALL, OF_MAIN, CatalogClient, fault
from tests.support.fakes.access import EVERYTHING, RestrictedClient, Right, allowing, denying
from tests.support.worlds.iceberg_tables import request
from tests.support.worlds.task_scenarios import IMPATIENT

TABLE = "namespaces/sales/tables/orders"
SYSTEM_TABLE = "namespaces/system/tables/objects"
PROPERTY = {"action": "set-properties", "updates": {"new": "set"}}
COMMIT = {"requirements": [], "updates": [PROPERTY]}


@pytest.fixture
def api() -> ApiClient:
    client = ApiClient()
    client.repository()
    return client


@pytest.fixture
def catalog(api: ApiClient) -> CatalogClient:
    return CatalogClient(api)


def test_a_client_learns_what_the_catalogue_can(catalog: CatalogClient) -> None:
    endpoints = catalog.ask("GET", "config").json["endpoints"]
    assert "POST /v1/{prefix}/transactions/commit" in endpoints
    assert "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}" in endpoints
    assert len(endpoints) == len(OPERATIONS)


def test_a_wrong_address_is_told_at_once(catalog: CatalogClient) -> None:
    for ref in ("repo.none", "none.main"):
        reply = catalog.ask("GET", "config", below=f"/iceberg/relative_to/{ref}/api/v1")
        assert fault(reply) == (404, "NoSuchNamespaceException")
    for below in (f"{ALL}/v1", "/iceberg/relative_to/repo/api/v1", "/iceberg/v1"):
        reply = catalog.ask("POST", "oauth/tokens", b"", below=below, headers={"authorization": ""})
        assert fault(reply) == (406, "UnsupportedOperationException")
        assert "/iceberg/relative_to/<repository>.<ref>/api" in reply.json["error"]["message"]


@pytest.mark.parametrize("below", [OF_MAIN, f"{OF_MAIN}/lakefs", ALL])
def test_the_prefix_of_lakefs_s_clients_may_be_there(catalog: CatalogClient, below: str) -> None:
    assert catalog.ask("GET", "namespaces", below=below).status == 200


# Log-in


def token(catalog: CatalogClient, headers: dict[str, str] | None = None, /, **form: Any) -> Any:
    given = {"authorization": "", **(headers or {})}
    return catalog.ask("POST", "oauth/tokens", urlencode(form).encode(), headers=given)


def test_a_key_pair_gets_a_token_for_an_hour(catalog: CatalogClient) -> None:
    pair = {"client_id": ACCESS_KEY_ID, "client_secret": SECRET}
    reply = token(catalog, grant_type="client_credentials", scope="catalog", **pair)
    assert reply.json["token_type"] == "bearer"
    assert reply.json["expires_in"] == 3600
    bearer = {"authorization": f"Bearer {reply.json['access_token']}"}
    assert catalog.ask("GET", "namespaces", headers=bearer).status == 200
    catalog.api.world.clock.tick(3601)
    assert fault(catalog.ask("GET", "namespaces", headers=bearer)) == (
        401,
        "NotAuthorizedException",
    )


def test_a_key_pair_may_be_in_the_header(catalog: CatalogClient) -> None:
    basic = base64.b64encode(f"{ACCESS_KEY_ID}:{SECRET}".encode()).decode()
    reply = token(catalog, {"authorization": f"Basic {basic}"}, grant_type="client_credentials")
    assert reply.status == 200


def test_a_token_can_be_renewed(catalog: CatalogClient) -> None:
    pair = {"client_id": ACCESS_KEY_ID, "client_secret": SECRET}
    first = token(catalog, grant_type="client_credentials", **pair).json["access_token"]
    exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    renewed = token(catalog, grant_type=exchange, subject_token=first)
    assert renewed.status == 200
    assert token(catalog, grant_type=exchange, subject_token="x").json["error"] == "invalid_client"


@for_each(
    ("form", "status", "error"),
    [
        ({}, 400, "unsupported_grant_type"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, 401, "invalid_client"),
        (
            {"grant_type": "client_credentials", "client_id": ACCESS_KEY_ID, "client_secret": "no"},
            401,
            "invalid_client",
        ),
    ],
)
def test_a_bad_log_in_is_refused_in_oauth_s_words(
    catalog: CatalogClient, form: dict[str, str], status: int, error: str
) -> None:
    reply = token(catalog, **form)
    assert (reply.status, reply.json["error"]) == (status, error)


def test_nobody_is_served_without_a_credential(catalog: CatalogClient) -> None:
    for method, path in [("GET", "config"), ("GET", "namespaces"), ("GET", TABLE)]:
        reply = catalog.ask(method, path, headers={"authorization": ""})
        assert fault(reply) == (401, "NotAuthorizedException")


# Namespaces


def test_repositories_and_refs_are_namespaces(catalog: CatalogClient) -> None:
    catalog.ask("POST", "namespaces", {"namespace": ["sales"]})

    def children(parent: str | None = None) -> list[list[str]]:
        query: dict[str, Any] = {} if parent is None else {"parent": parent}
        found: list[list[str]] = catalog.ask("GET", "namespaces", below=ALL, **query).json[
            "namespaces"
        ]
        return found

    assert children() == [["repo"]]
    assert children("repo") == [["repo", "main"]]
    in_main = [["repo", "main", "sales"], ["repo", "main", "system"]]
    assert children("repo\x1fmain") == in_main
    for namespace in ("repo", "repo%1Fmain", "repo%1Fmain%1Fsales", "repo%1Fmain%1Fsystem"):
        assert catalog.ask("HEAD", f"namespaces/{namespace}", below=ALL).status == 204
    for namespace in ("none", "None", "repo%1Fnone", "repo%1Fno ne", "repo%1Fmain%1Fnone"):
        assert catalog.ask("HEAD", f"namespaces/{namespace}", below=ALL).status == 404


def test_repositories_and_refs_are_not_changed_here(catalog: CatalogClient) -> None:
    def create(*levels: str) -> tuple[int, str]:
        return fault(catalog.ask("POST", "namespaces", {"namespace": levels}, below=ALL))

    assert create("repo") == (409, "AlreadyExistsException")
    assert create("repo", "main") == (409, "AlreadyExistsException")
    assert create("none") == (404, "NoSuchNamespaceException")
    assert create("repo", "none") == (404, "NoSuchNamespaceException")
    for namespace in ("repo", "repo%1Fmain"):
        reply = catalog.ask("DELETE", f"namespaces/{namespace}", below=ALL)
        assert fault(reply) == (400, "BadRequestException")
        assert (
            catalog.ask("GET", f"namespaces/{namespace}/tables", below=ALL).json["identifiers"]
            == []
        )


def test_a_table_of_the_relative_catalogue_is_one_of_the_whole(catalog: CatalogClient) -> None:
    made = catalog.table()
    found = catalog.ask("GET", "namespaces/repo%1Fmain%1Fsales/tables/orders", below=ALL).json
    assert found["metadata"] == made["metadata"]


def test_a_rest_api_leads_to_the_same_namespaces(catalog: CatalogClient) -> None:
    catalog.ask("POST", "namespaces", {"namespace": ["a", "b"]})
    asked = {
        "httpMethod": "GET",
        "path": f"{OF_MAIN}/namespaces/a%1Fb",
        "multiValueHeaders": {"Authorization": [catalog.api.authorization]},
        "multiValueQueryStringParameters": None,
        "requestContext": {"identity": {"sourceIp": "127.0.0.1"}, "requestId": "r"},
        "body": None,
        "isBase64Encoded": False,
    }
    assert for_both_apis(catalog.app)(asked, None)["statusCode"] == 200


def test_a_namespace_s_life(catalog: CatalogClient) -> None:
    body = {"namespace": ["sales"], "properties": {"a": "1", "b": "2"}}
    assert catalog.ask("POST", "namespaces", body).json == body
    assert fault(catalog.ask("POST", "namespaces", body)) == (409, "AlreadyExistsException")
    changes = {"updates": {"a": "3"}, "removals": ["b", "c"]}
    reply = catalog.ask("POST", "namespaces/sales/properties", changes)
    assert reply.json == {"updated": ["a"], "removed": ["b"], "missing": ["c"]}
    found = catalog.ask("GET", "namespaces/sales").json
    assert found == {"namespace": ["sales"], "properties": {"a": "3"}}
    catalog.table()
    dropped = catalog.ask("DELETE", "namespaces/sales")
    assert fault(dropped) == (409, "NamespaceNotEmptyException")
    catalog.ask("DELETE", TABLE)
    assert catalog.ask("DELETE", "namespaces/sales").status == 204
    assert fault(catalog.ask("GET", "namespaces/sales")) == (404, "NoSuchNamespaceException")


def test_clients_that_know_pages_get_pages_and_others_everything(catalog: CatalogClient) -> None:
    for number in range(5):
        catalog.ask("POST", "namespaces", {"namespace": [f"n{number}"]})
        catalog.table(f"t{number}")
    for path, key in (("namespaces", "namespaces"), ("namespaces/sales/tables", "identifiers")):
        everything = catalog.ask("GET", path).json
        assert everything["next-page-token"] is None
        found: list[Any] = []
        after: str | None = ""
        while after is not None:
            page = catalog.ask("GET", path, pageToken=after, pageSize=2).json
            assert len(page[key]) <= 2
            found += page[key]
            after = page["next-page-token"]
        assert found == everything[key]
        assert len(found) >= 5
        bad = catalog.ask("GET", path, pageToken="", pageSize="-1")
        assert fault(bad) == (400, "BadRequestException")


# Tables


def test_a_table_s_life(catalog: CatalogClient) -> None:
    made = catalog.table()
    assert made["metadata-location"].startswith(made["metadata"]["location"])
    assert catalog.ask("HEAD", TABLE).status == 204
    assert catalog.ask("GET", TABLE).json == made
    done = catalog.ask("POST", TABLE, COMMIT).json
    assert done["metadata"]["properties"]["new"] == "set"
    assert done["metadata-location"] != made["metadata-location"]
    assert catalog.ask("POST", f"{TABLE}/metrics", {}).status == 204
    names = {
        "source": {"namespace": ["sales"], "name": "orders"},
        "destination": {"namespace": ["sales"], "name": "old"},
    }
    assert catalog.ask("POST", "tables/rename", names).status == 204
    assert catalog.ask("HEAD", TABLE).status == 404
    assert catalog.ask("DELETE", "namespaces/sales/tables/old", purgeRequested="true").status == 204
    registration = {"name": "orders", "metadata-location": done["metadata-location"]}
    again = catalog.ask("POST", "namespaces/sales/register", registration).json
    assert again["metadata"] == done["metadata"]


def test_a_table_that_did_not_change_is_not_sent_again(catalog: CatalogClient) -> None:
    catalog.table()
    tag = catalog.ask("GET", TABLE).headers["ETag"]
    assert catalog.ask("GET", TABLE, headers={"if-none-match": tag}).status == 304
    of_refs = catalog.ask("GET", TABLE, headers={"if-none-match": tag}, snapshots="refs")
    assert of_refs.status == 200
    catalog.ask("POST", TABLE, COMMIT)
    assert catalog.ask("GET", TABLE, headers={"if-none-match": tag}).status == 200
    assert fault(catalog.ask("GET", TABLE, snapshots="some")) == (400, "BadRequestException")


def test_a_table_of_a_file_with_an_odd_name_has_a_tag(catalog: CatalogClient) -> None:
    """A line break in a header would begin another header."""
    metadata = catalog.table()["metadata"]
    uri = f'{metadata["location"]}/metadata/"\né.metadata.json'
    catalog.api.engine.objects.put(uri, json.dumps(metadata).encode(), "application/json")
    body = {"name": "odd", "metadata-location": uri}
    assert catalog.ask("POST", "namespaces/sales/register", body).status == 200
    tag = catalog.ask("GET", "namespaces/sales/tables/odd").headers["ETag"]
    assert tag == '"%22%0A%C3%A9.metadata.json-all"'


def test_credentials_are_given_to_those_who_ask(catalog: CatalogClient) -> None:
    location = catalog.table()["metadata"]["location"]
    assert "storage-credentials" not in catalog.ask("GET", TABLE).json
    asking = {"x-iceberg-access-delegation": "remote-signing, vended-credentials"}
    found = catalog.ask("GET", TABLE, headers=asking).json
    expected = {"s3.access-key-id": f"key for {location}"}
    assert found["storage-credentials"] == [{"prefix": location, "config": expected}]
    assert found["config"] == {
        "client.region": "us-east-1",
        "s3.endpoint": "http://store",
        "s3.path-style-access": "true",
        "s3.region": "us-east-1",
        **expected,
    }
    tag = catalog.ask("GET", TABLE).headers["ETag"]
    # They expire while the table stays as it is.
    assert catalog.ask("GET", TABLE, headers={**asking, "if-none-match": tag}).status == 200
    again = catalog.ask("GET", f"{TABLE}/credentials", headers=asking).json
    assert again == {"storage-credentials": found["storage-credentials"]}


def test_credentials_are_not_given_to_holders_of_other_keys(catalog: CatalogClient) -> None:
    """The embedded stack's own key pair may do all."""
    catalog.table()
    pair = catalog.api.ask("POST", "/auth/users/ann/credentials").json
    headers = {"x-iceberg-access-delegation": "vended-credentials"}
    for form in ({}, {"grant_type": "client_credentials"}):
        key_id, secret = pair["access_key_id"], pair["secret_access_key"]
        if form:
            found = token(catalog, **form, client_id=key_id, client_secret=secret).json
            headers["authorization"] = f"Bearer {found['access_token']}"
        else:
            basic = base64.b64encode(f"{key_id}:{secret}".encode()).decode()
            headers["authorization"] = f"Basic {basic}"
        answer = catalog.ask("GET", TABLE, headers=headers).json
        assert "storage-credentials" not in answer
        assert "s3.access-key-id" not in answer["config"]
        found = catalog.ask("GET", f"{TABLE}/credentials", headers=headers).json
        assert found == {"storage-credentials": []}


def test_a_staged_creation_is_seen_after_its_commit(catalog: CatalogClient) -> None:
    catalog.table("other")
    body = {**request(), "name": "orders", "stage-create": True}
    staged = catalog.ask("POST", "namespaces/sales/tables", body).json
    assert "metadata-location" not in staged
    assert catalog.ask("HEAD", TABLE).status == 404


def changes(*tables: str, **more: Any) -> Any:
    return {
        "table-changes": [
            {"identifier": {"namespace": ["sales"], "name": name}, **COMMIT, **more}
            for name in tables
        ]
    }


def test_several_tables_are_committed_at_one_moment(catalog: CatalogClient) -> None:
    catalog.table("a")
    catalog.table("b")
    assert catalog.ask("POST", "transactions/commit", changes("a", "b")).status == 204
    for name in "ab":
        found = catalog.ask("GET", f"namespaces/sales/tables/{name}").json
        assert found["metadata"]["properties"]["new"] == "set"
    missing = catalog.ask("POST", "transactions/commit", changes("a", "none"))
    assert fault(missing) == (404, "NoSuchTableException")
    empty: list[Any] = [{"table-changes": []}, {"table-changes": [COMMIT]}, {}]
    for bad in empty:
        reply = catalog.ask("POST", "transactions/commit", bad)
        assert fault(reply) == (400, "BadRequestException")


def test_one_request_changes_one_ref(catalog: CatalogClient) -> None:
    catalog.table()
    catalog.api.branch("dev")

    def of(ref: str) -> Any:
        return {"namespace": ["repo", ref, "sales"], "name": "orders"}

    names = {"source": of("main"), "destination": of("dev")}
    renamed = catalog.ask("POST", "tables/rename", names, below=ALL)
    assert fault(renamed) == (400, "BadRequestException")
    both = {"table-changes": [{"identifier": of(ref), **COMMIT} for ref in ("main", "dev")]}
    committed = catalog.ask("POST", "transactions/commit", both, below=ALL)
    assert fault(committed) == (400, "BadRequestException")


# Errors


@for_each(
    ("method", "path", "body", "expected"),
    [
        ("GET", "namespaces/none/tables", None, (404, "NoSuchNamespaceException")),
        ("GET", "namespaces/sales/tables/none", None, (404, "NoSuchTableException")),
        ("GET", "namespaces/none/tables/none", None, (404, "NoSuchTableException")),
        ("POST", "namespaces/sales/tables/none", COMMIT, (404, "NoSuchTableException")),
        ("POST", "namespaces/none/tables", request(), (404, "NoSuchNamespaceException")),
        ("POST", "namespaces/sales/tables", {"name": "t"}, (400, "BadRequestException")),
        ("POST", "namespaces/sales/tables", b"{", (400, "BadRequestException")),
        ("POST", TABLE, {"updates": []}, (400, "BadRequestException")),
        (
            "POST",
            TABLE,
            {"requirements": [{"type": "assert-create"}], "updates": []},
            (409, "CommitFailedException"),
        ),
        (
            "POST",
            TABLE,
            {"requirements": [], "updates": [{"action": "unknown"}]},
            (400, "BadRequestException"),
        ),
        ("POST", "namespaces", {"namespace": ["a/b"]}, (400, "BadRequestException")),
        ("POST", "namespaces", {"namespace": []}, (400, "BadRequestException")),
        ("GET", "namespaces/%1F", None, (400, "BadRequestException")),
        ("GET", "namespaces/%2E%2E", None, (404, "NoSuchNamespaceException")),
        (
            "POST",
            "namespaces/sales/tables",
            {**request(), "name": "t", "stage-create": "yes"},
            (400, "BadRequestException"),
        ),
        ("GET", "views", None, (406, "UnsupportedOperationException")),
        ("PATCH", TABLE, None, (406, "UnsupportedOperationException")),
    ],
)
def test_errors_have_the_types_that_clients_know(
    catalog: CatalogClient, method: str, path: str, body: Any, expected: tuple[int, str]
) -> None:
    catalog.table()
    assert fault(catalog.ask(method, path, body)) == expected


def test_a_refusal_tells_what_is_wrong_with_the_request(catalog: CatalogClient) -> None:
    catalog.table()

    def told(method: str, path: str, body: Any = None) -> str:
        message: str = catalog.ask(method, path, body).json["error"]["message"]
        return message

    assert told("GET", "views").endswith("is not served: GET config names the operations")
    nowhere = {"table-changes": [{"identifier": {"namespace": [], "name": "t"}, **COMMIT}]}
    assert told("POST", "transactions/commit", nowhere).endswith(": name a namespace")


@pytest.mark.parametrize("ref", ["none", "v1"])
def test_an_unknown_ref_is_an_unknown_namespace(catalog: CatalogClient, ref: str) -> None:
    below = f"/iceberg/relative_to/repo.{ref}/api/v1"
    reply = catalog.ask("GET", TABLE, below=below)
    assert fault(reply) == (404, "NoSuchNamespaceException")


def test_tables_of_a_tag_are_only_read(catalog: CatalogClient) -> None:
    catalog.table()
    catalog.api.commit()
    tag = {"id": "v1.0", "ref": "main"}
    assert catalog.api.ask("POST", "/repositories/repo/tags", tag).status == 201
    below = "/iceberg/relative_to/repo.v1.0/api/v1"
    assert catalog.ask("GET", TABLE, below=below).status == 200
    assert fault(catalog.ask("POST", TABLE, COMMIT, below=below)) == (403, "ForbiddenException")


@for_each(
    ("error", "expected"),
    [
        # Safe to repeat, after loading the table again.
        (ContentionError("lost"), (409, "CommitFailedException")),
        # Clients take 503 for unknown.
        (ThrottledError("slow"), (429, "TooManyRequestsException")),
        (UnknownOutcomeError("lost"), (504, "CommitStateUnknownException")),
        (CorruptDataError("bad"), (500, "CorruptDataException")),
        (ZeroDivisionError("bug"), (500, "InternalServerError")),
    ],
)
def test_a_commit_s_failure_says_whether_it_may_have_taken_effect(
    catalog: CatalogClient,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    expected: tuple[int, str],
) -> None:
    catalog.table()

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(type(catalog.api.engine.staging), "stage_if", fail)
    assert fault(catalog.ask("POST", TABLE, COMMIT)) == expected


def test_a_commit_whose_answer_is_too_large_may_have_taken_effect(
    catalog: CatalogClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that takes no gzip must not believe that the commit failed."""
    catalog.table()
    stage_if = type(catalog.api.engine.staging).stage_if

    def stage(*args: Any) -> None:
        stage_if(*args)
        deadlines.write_landed()  # as the adapter for DynamoDB says

    monkeypatch.setattr(type(catalog.api.engine.staging), "stage_if", stage)
    statuses = []
    for name in "ab":
        update = {"action": "set-properties", "updates": {name: "x" * 3_200_000}}
        body = {"requirements": [], "updates": [update]}
        statuses.append(catalog.ask("POST", TABLE, body).status)
    assert statuses == [200, 504]
    reply = catalog.ask("GET", TABLE)
    assert fault(reply) == (413, "TooLargeException")
    assert "expire snapshots" in reply.json["error"]["message"]
    assert catalog.ask("GET", TABLE, headers={"accept-encoding": "gzip"}).status == 200


# Rights

_NAMESPACE = "arn:lakefs:catalog:::namespace/repo/sales"
_TABLE = "arn:lakefs:catalog:::table/repo/sales/orders"
_REPOSITORY = "arn:lakefs:fs:::repository/repo"
_OTHER = "arn:lakefs:catalog:::table/repo/sales/other"


class Case(NamedTuple):
    """A request, and the rights that it needs; `<location>` stands for the file of the table."""

    method: str
    path: str
    body: Any
    needs: tuple[Right, ...]
    below: str = OF_MAIN
    parent: str = ""


def _cases() -> list[Case]:
    names = {
        "source": {"namespace": ["sales"], "name": "orders"},
        "destination": {"namespace": ["sales"], "name": "other"},
    }
    creation = {"requirements": [{"type": "assert-create"}], "updates": []}
    root = "arn:lakefs:catalog:::namespace/repo"
    new = {"namespace": ["new"]}
    first = {"table-changes": [{"identifier": names["destination"], **creation}]}
    file = {"name": "other", "metadata-location": "<location>"}
    imports = ("fs:ImportFromStorage", "arn:lakefs:fs:::namespace/<location>")
    system = (
        ("catalog:ReadTable", "arn:lakefs:catalog:::table/repo/system/objects"),
        ("fs:ListObjects", _REPOSITORY),
    )
    return [
        Case("GET", "namespaces", None, (("catalog:ListNamespaces", root),)),
        Case(
            "GET", "namespaces", None, (("catalog:ListNamespaces", _NAMESPACE),), OF_MAIN, "sales"
        ),
        Case("GET", "namespaces", None, (("fs:ListBranches", _REPOSITORY),), ALL, "repo"),
        Case("GET", "namespaces", None, (("fs:ListRepositories", "*"),), ALL),
        Case("POST", "namespaces", new, (("catalog:CreateNamespace", f"{root}/new"),)),
        Case("GET", "namespaces/sales", None, (("catalog:GetNamespace", _NAMESPACE),)),
        Case("HEAD", "namespaces/sales", None, (("catalog:GetNamespace", _NAMESPACE),)),
        Case("GET", "namespaces/repo", None, (("catalog:GetNamespace", root),), ALL),
        Case("HEAD", "namespaces/repo%1Fmain", None, (("catalog:GetNamespace", root),), ALL),
        Case(
            "POST",
            "namespaces/sales/properties",
            {"updates": {"a": "b"}},
            (("catalog:UpdateNamespace", _NAMESPACE),),
        ),
        Case("DELETE", "namespaces/sales", None, (("catalog:DeleteNamespace", _NAMESPACE),)),
        Case("GET", "namespaces/sales/tables", None, (("catalog:ListTables", _NAMESPACE),)),
        Case(
            "POST",
            "namespaces/sales/tables",
            {**request(), "name": "other"},
            (("catalog:CreateTable", _OTHER),),
        ),
        Case("GET", TABLE, None, (("catalog:ReadTable", _TABLE),)),
        Case("HEAD", TABLE, None, (("catalog:ReadTable", _TABLE),)),
        Case("GET", f"{TABLE}/credentials", None, (("catalog:ReadTable", _TABLE),)),
        Case("GET", SYSTEM_TABLE, None, system),
        Case("HEAD", SYSTEM_TABLE, None, system),
        Case("GET", f"{SYSTEM_TABLE}/credentials", None, system),
        Case("POST", f"{TABLE}/metrics", {}, (("catalog:ReadTable", _TABLE),)),
        Case("POST", TABLE, COMMIT, (("catalog:UpdateTable", _TABLE),)),
        Case("POST", TABLE, creation, (("catalog:CreateTable", _TABLE),)),
        Case("DELETE", TABLE, None, (("catalog:DeleteTable", _TABLE),)),
        Case(
            "POST",
            "tables/rename",
            names,
            (
                ("catalog:DeleteTable", _TABLE),
                ("catalog:ReadTable", _TABLE),
                ("catalog:CreateTable", _OTHER),
            ),
        ),
        Case("POST", "transactions/commit", changes("orders"), (("catalog:UpdateTable", _TABLE),)),
        Case("POST", "transactions/commit", first, (("catalog:CreateTable", _OTHER),)),
        Case("POST", "namespaces/sales/register", file, (("catalog:CreateTable", _OTHER), imports)),
        Case(
            "POST",
            "namespaces/sales/register",
            {**file, "name": "orders", "overwrite": True},
            (("catalog:CreateTable", _TABLE), ("catalog:UpdateTable", _TABLE), imports),
        ),
    ]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: f"{case.method} {case.path}")
def test_each_operation_needs_its_rights_and_no_other(catalog: CatalogClient, case: Case) -> None:
    location = catalog.table()["metadata-location"]
    body = case.body and json.loads(json.dumps(case.body).replace("<location>", location))
    needs = [(action, arn.replace("<location>", location)) for action, arn in case.needs]
    restricted = RestrictedClient(catalog.api)
    limited = CatalogClient(restricted)

    def is_refused(*policies: Policy) -> bool:
        restricted.may(*policies)
        reply = limited.ask(case.method, case.path, body, below=case.below, parent=case.parent)
        assert reply.status != 401
        return reply.status == 403

    for right in needs:
        assert is_refused(allowing(*(each for each in needs if each != right)))
        # A listing of repositories leaves out those that are denied.
        assert right[0] == "fs:ListRepositories" or is_refused(*EVERYTHING, denying(right))
    assert not is_refused(allowing(*needs))


def test_every_operation_lists_the_rights_that_it_needs() -> None:
    """docs/access.md and the API tell the listed ones, and the cases above the required ones."""
    routes = RouteTable[str]()
    for operation in OPERATIONS:
        routes.add(operation.method, operation.path, operation.name)
    required: dict[str, set[CatalogNeed]] = defaultdict(set)
    for case in _cases():
        found = routes.find(case.method, case.path)
        assert found is not None
        for action, arn in case.needs:
            needs = {
                each
                for each in NEEDS[found[0]]
                if each.action == action and can_match(arn, each.form)
            }
            assert needs, f"{found[0]} does not list {action} on {arn}"
            required[found[0]] |= needs
    assert required == {name: set(needs) for name, needs in NEEDS.items()}
    assert required.keys() == {operation.name for operation in OPERATIONS}
    assert required.keys().isdisjoint(template.name for template in TEMPLATES)


# What describes a ref


def test_the_objects_of_a_ref_are_a_table_for_whoever_may_list_them(catalog: CatalogClient) -> None:
    read = ("catalog:ReadTable", "arn:lakefs:catalog:::table/repo/system/objects")
    listing = ("fs:ListObjects", "arn:lakefs:fs:::repository/repo")
    restricted = RestrictedClient(catalog.api)
    limited = CatalogClient(restricted)
    for right in (read, listing):
        restricted.may(*EVERYTHING, denying(right))
        assert fault(limited.ask("GET", SYSTEM_TABLE)) == (403, "ForbiddenException")
        assert limited.ask("HEAD", SYSTEM_TABLE).status == 403
    restricted.may(allowing(read, listing))
    (snapshot,) = limited.ask("GET", SYSTEM_TABLE).json["metadata"]["snapshots"]
    assert snapshot["summary"]["total-records"] == "0"
    assert limited.ask("HEAD", SYSTEM_TABLE).status == 204


def test_a_table_that_a_task_still_makes_is_asked_for_again(api: ApiClient) -> None:
    api.upload("a", b"1")
    api.commit()
    api.leave_to_tasks(IMPATIENT)
    catalog = CatalogClient(api)
    reply = catalog.ask("GET", SYSTEM_TABLE)
    assert fault(reply) == (429, "TooManyRequestsException")
    assert "retry-after" in {name.lower() for name in reply.headers}
    assert catalog.ask("HEAD", SYSTEM_TABLE).status == 204
    api.run_tasks()
    assert catalog.ask("GET", SYSTEM_TABLE).status == 200


def test_what_describes_a_ref_cannot_be_written(catalog: CatalogClient) -> None:
    catalog.table()
    body = {**request(), "name": "other"}
    for method, path, sent in [
        ("POST", "namespaces", {"namespace": ["system"]}),
        ("POST", "namespaces/system/tables", body),
        ("POST", SYSTEM_TABLE, COMMIT),
        ("DELETE", SYSTEM_TABLE, None),
        ("DELETE", "namespaces/system", None),
    ]:
        assert fault(catalog.ask(method, path, sent)) == (403, "ForbiddenException")
    assert catalog.ask("GET", "namespaces/system/tables").json["identifiers"] == [
        {"namespace": ["system"], "name": "objects"}
    ]
    none = catalog.ask("GET", "namespaces/system/tables/none")
    assert fault(none) == (404, "NoSuchTableException")
