"""Direct writes of many objects in one request."""

import json
from typing import Any

import pytest
from lakefs_sdk import models

from graveler.errors import ThrottledError, UnknownOutcomeError
from graveler.limits import LINKS_BODY_BYTES_MAX
from graveler.ports import StageOutcome
from tests.support.clients.api import ApiClient, event

BRANCH = "/repositories/repo/branches/main"
READ = "/repositories/repo/refs/main/objects"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


def stored(api: ApiClient, *paths: str) -> list[dict[str, Any]]:
    """Store data at new addresses of the paths; return the bodies of their links."""
    reply = api.ask("POST", f"{BRANCH}/staging/addresses", {"paths": paths}, presign="true")
    assert (reply.status, reply.json["errors"]) == (200, [])
    return [
        {
            "path": each["path"],
            "staging": {"physical_address": each["physical_address"]},
            "checksum": api.world.objects.request_presigned(
                each["presigned_url"], each["path"].encode()
            ).decode(),
            "size_bytes": len(each["path"]),
        }
        for each in reply.json["addresses"]
    ]


def link(api: ApiClient, objects: list[dict[str, Any]], **query: Any) -> Any:
    return api.ask("POST", f"{BRANCH}/staging/links", {"objects": objects}, **query)


def statuses(reply: Any) -> dict[str, int]:
    assert reply.status == 200, reply.message
    linked = {each["path"]: 200 for each in reply.json["objects"]}
    return linked | {each["path"]: each["status_code"] for each in reply.json["errors"]}


def test_a_thousand_objects_are_linked_by_one_request(api: ApiClient) -> None:
    paths = [f"a/{number:04d}" for number in range(1000)]
    details = {"user_metadata": {"k": "v"}, "content_type": "text/csv", "mtime": 1_700_000_000}
    reply = link(api, [{**each, **details} for each in stored(api, *paths)])
    assert statuses(reply) == dict.fromkeys(paths, 200)
    models.ObjectStats.from_dict(reply.json["objects"][0])
    assert api.ask("GET", READ, path="a/0999").content == b"a/0999"
    found = api.ask("GET", f"{READ}/stat", path="a/0007").json
    assert (found["metadata"], found["content_type"]) == ({"k": "v"}, "text/csv")
    assert found["mtime"] == 1_700_000_000


def test_without_urls_addresses_are_those_of_the_single_operation(api: ApiClient) -> None:
    reply = api.ask("POST", f"{BRANCH}/staging/addresses", {"paths": ["a", "b"]})
    one, two = reply.json["addresses"]
    assert (one["path"], one["presigned_url"]) == ("a", None)
    assert one["physical_address"] != two["physical_address"]
    body = {"staging": one, "checksum": "c", "size_bytes": 1}
    assert api.ask("PUT", f"{BRANCH}/staging/backing", body, path="a").status == 200


def test_each_occurrence_of_a_path_gets_an_address_that_can_be_linked(api: ApiClient) -> None:
    one, two = stored(api, "a", "a")
    assert one["staging"] != two["staging"]
    for body in one, two:
        assert statuses(link(api, [body])) == {"a": 200}


def test_what_is_wrong_with_one_object_is_told_of_it_alone(api: ApiClient) -> None:
    good, other, wrong, empty = stored(api, "good", "other", "wrong", "empty")
    other["staging"] = wrong["staging"]  # issued for another path
    wrong["checksum"] = "no checksum"
    empty["path"] = ""
    large = {**good, "path": "large", "content_type": "t" * 200_000}
    reply = link(api, [good, other, wrong, empty, large])
    refused = {"other": 400, "wrong": 400, "": 400, "large": 400}
    assert statuses(reply) == {"good": 200, **refused}
    assert api.paths() == ["good"]


def test_a_path_that_occurs_twice_refuses_the_request_and_links_nothing(api: ApiClient) -> None:
    one, two = stored(api, "a", "b")
    reply = link(api, [one, two, one])
    assert (reply.status, "a occurs 2 times" in reply.message.replace("'", "")) == (400, True)
    assert api.paths() == []


def test_conditions_refuse_the_request_and_name_the_operation_that_takes_them(
    api: ApiClient,
) -> None:
    body = {"objects": stored(api, "a")}
    for header, value in ("if-match", '"tag"'), ("if-none-match", "*"), ("if-none-match", '"tag"'):
        reply = api.ask("POST", f"{BRANCH}/staging/links", body, headers={header: value})
        assert (reply.status, "linkPhysicalAddress" in reply.message) == (400, True)
    assert api.paths() == []


@pytest.mark.parametrize("operation", ["addresses", "links"])
def test_more_than_a_thousand_objects_are_refused(api: ApiClient, operation: str) -> None:
    paths = [str(number) for number in range(1001)]
    described = {"staging": {"physical_address": "s3://b/k"}, "checksum": "c", "size_bytes": 1}
    objects = [{"path": path, **described} for path in paths]
    reply = api.ask("POST", f"{BRANCH}/staging/{operation}", {"paths": paths, "objects": objects})
    assert (reply.status, "1000" in reply.message) == (400, True)


def test_a_protected_branch_takes_no_links(api: ApiClient) -> None:
    objects = stored(api, "a")
    rules = [{"pattern": "main"}]
    assert api.ask("PUT", "/repositories/repo/settings/branch_protection", rules).status == 204
    assert link(api, objects, force="true").status == 403


def test_a_read_only_repository_takes_links_with_force_only(api: ApiClient) -> None:
    api.repository("kept", read_only=True)
    links = "/repositories/kept/branches/main/staging/links"
    elsewhere = {"physical_address": "s3://elsewhere/a"}
    described = {"path": "a", "staging": elsewhere, "checksum": "c", "size_bytes": 1}
    assert api.ask("POST", links, {"objects": [described]}).status == 403
    assert statuses(api.ask("POST", links, {"objects": [described]}, force="true")) == {"a": 200}


def test_links_to_a_branch_that_does_not_exist_are_refused(api: ApiClient) -> None:
    body = {"objects": stored(api, "a")}
    assert api.ask("POST", "/repositories/repo/branches/no/staging/links", body).status == 404


def test_an_unknown_outcome_differs_from_a_link_without_effect(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = stored(api, "a", "b", "c")
    store = type(api.world.staging).stage

    def staged(self: Any, token: Any, changes: Any) -> StageOutcome:
        store(self, token, [each for each in changes if each[0] != b"c"])
        lost: dict[bytes, Any] = {b"b": UnknownOutcomeError("lost"), b"c": ThrottledError("busy")}
        return StageOutcome(failed=lost)

    monkeypatch.setattr(type(api.world.staging), "stage", staged)
    assert statuses(link(api, objects)) == {"a": 200, "b": 500, "c": 503}
    assert api.paths() == ["a", "b"]


def test_links_whose_answer_would_be_too_large_are_refused_before_any(api: ApiClient) -> None:
    objects = [{**each, "user_metadata": {"k": "é" * 8_000}} for each in stored(api, *"abcdefgh")]
    assert statuses(link(api, objects)) == dict.fromkeys("abcdefgh", 200)
    objects = [{**each, "path": f"{n}{each['path']}"} for n in range(6) for each in objects]
    reply = link(api, objects)
    assert (reply.status, "link fewer" in reply.message) == (413, True)
    assert api.paths() == [*"abcdefgh"]


@pytest.mark.parametrize("character", ["é", "表", "😀"])
def test_a_body_of_text_counts_in_bytes(api: ApiClient, character: str) -> None:
    """In the answer, Lambda escapes each of these characters with 6 or 12 bytes."""
    details = {"user_metadata": {"k": character * 30_000}}
    objects = [{**each, **details} for each in stored(api, *(f"p{n}" for n in range(45)))]
    body = json.dumps({"objects": objects}, ensure_ascii=False)
    assert len(body) < LINKS_BODY_BYTES_MAX < len(body.encode())
    headers = {"authorization": api.authorization, "content-type": "application/json"}
    path = f"/api/v1{BRANCH}/staging/links"
    reply = api.send(event("POST", path, headers=headers, body=body.encode(), raw_text=True))
    assert (reply.status, "link fewer" in reply.message) == (413, True)
    assert api.paths() == []


@pytest.mark.parametrize("branch", ["main", "none"])
def test_a_branch_that_takes_no_links_issues_no_addresses(api: ApiClient, branch: str) -> None:
    rules = [{"pattern": "main"}]
    assert api.ask("PUT", "/repositories/repo/settings/branch_protection", rules).status == 204
    path = f"/repositories/repo/branches/{branch}/staging/addresses"
    reply = api.ask("POST", path, {"paths": ["a"]})
    assert reply.status == {"main": 403, "none": 404}[branch]
