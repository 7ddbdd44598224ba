"""Every operation asks for exactly its rights: no more, no less, and before anything is done."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from graveler.model.tasks import TaskKind
from graveler_functions.api.all_operations import TEMPLATES
from graveler_functions.api.authorization.deferred_checks import TASK_NEEDS
from graveler_functions.api.routing import Operations
from graveler_functions.api.settings import ApiSettings
from graveler_functions.api.unserved import UNSERVED
from graveler_functions.http.answers import empty
from tests.support.checks.cases import for_each
from tests.support.clients.api import SETUP_TOKEN, ApiClient, Reply, event
from tests.support.fakes.access import EVERYTHING, RestrictedClient, allowing, denying
from tests.support.worlds.access_examples import EXAMPLES, Example

NOT_SERVED = {template.name for template in UNSERVED}
NAMES = sorted(EXAMPLES)
WITH_RIGHTS = [name for name in NAMES if EXAMPLES[name].rights]


def is_below_a_prefix(resource: str) -> bool:
    """Whether an example's right is about all resources below a prefix."""
    return resource.endswith("*") and resource != "*"


BELOW_PREFIXES = [
    name
    for name in WITH_RIGHTS
    if any(is_below_a_prefix(resource) for _, resource in EXAMPLES[name].rights)
]

# Rows that leave out what the user may not see, instead of refusing: a deny hides, too.
FILTERS = {"listRepositories"}


@cache
def prepared() -> tuple[ApiClient, dict[str, str]]:
    """A repository with something of everything; the names that examples have in braces."""
    api = ApiClient(ApiSettings(setup_token=SETUP_TOKEN, iam_login_server_id="lake.example.com"))
    api.repository()
    for path in ("a/b", "other"):
        api.upload(path)
    api.commit()
    api.branch("dev")
    api.upload("on dev", branch="dev")
    api.commit(branch="dev")
    assert api.ask("POST", "/repositories/repo/tags", {"id": "v1", "ref": "main"}).status == 201
    branch = "/repositories/repo/branches/main"
    source = {"type": "object", "path": "s3://raw/x", "destination": "x"}
    body = {"paths": [source], "commit": {"message": "m"}}
    started = api.ask("POST", f"{branch}/import", body)
    api.upload("staged")
    upload = api.ask("POST", f"{branch}/staging/pmpu", path="a/b", parts=1).json
    recorded = api.ask("POST", f"{branch}/uploads", {}, path="a/b").json
    commit = api.ask("POST", f"{branch}/commits/async", {"message": "m"}).json["id"]
    merge = api.ask("POST", "/repositories/repo/refs/dev/merge/main/async", {}).json["id"]
    pull = {"title": "t", "source_branch": "dev", "destination_branch": "main"}
    opened = api.ask("POST", "/repositories/repo/pulls", pull)
    pull_id = opened.json["id"] if opened.status == 201 else "x"
    comments = f"/repositories/repo/pulls/{pull_id}/comments"
    comment = api.ask("POST", comments, {"text": "x"})
    head = api.ask("GET", branch).json["commit_id"]
    metarange = api.ask("GET", f"/repositories/repo/commits/{head}").json["meta_range_id"]
    return api, {
        "upload": upload["upload_id"],
        "address": upload["physical_address"],
        "recorded": recorded["upload_id"],
        "commit task": commit,
        "merge task": merge,
        "import task": started.json["id"],
        "pull": pull_id,
        "comment": comment.json["id"] if comment.status == 201 else "x",
        "head": head,
        "metarange": metarange,
    }


def filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text


class Asked:
    """An operation that one user asks for with different policies."""

    def __init__(self, name: str) -> None:
        self.name = name
        admin, names = prepared()
        self.admin = admin.fork()
        self.user = RestrictedClient(self.admin)
        example = EXAMPLES[name]
        body: Any = example.body
        if isinstance(body, dict):
            body = json.loads(filled(json.dumps(body), names))
        self.example = replace(example, target=filled(example.target, names), body=body)

    def ask(self, *policies: Any, **headers: str) -> Reply:
        self.user.may(*policies)
        example = self.example
        return self.user.ask_as(example.method, example.target, example.body, **headers)

    def message_without(self, action: str) -> str:
        """lakeFS's message, which for a filtered list is the same for all actions."""
        if self.name in FILTERS:
            return "insufficient permissions"
        return f"insufficient permissions: not allowed to {action}"

    def refused(self, reply: Reply, message: str) -> bool:
        if self.example.method == "HEAD":
            return (reply.status, reply.content) == (401, b"")
        return reply.status == 401 and reply.json["message"] == message


def test_a_route_that_does_not_say_what_it_needs_cannot_be_declared():
    declare: Any = Operations().add("GET", "/new", "newOperation", answers={})
    with pytest.raises(AttributeError, match="needs"):
        declare(lambda _: empty())


def test_these_operations_alone_need_no_credential():
    assert {template.name for template in TEMPLATES if template.public} == {
        *("getCurrentUser", "getAuthCapabilities", "getSetupState", "setup", "setupCommPrefs"),
        *("login", "externalPrincipalLogin", "stsLogin", "oauthCallback", "healthCheck"),
    }


def test_every_other_operation_has_an_example():
    assert EXAMPLES.keys() == {template.name for template in TEMPLATES if not template.public}


def test_every_kind_of_task_has_its_needs():
    assert TASK_NEEDS.keys() == set(TaskKind)


@for_each("name", NAMES)
def test_an_example_is_of_its_operation(name):
    template = next(template for template in TEMPLATES if template.name == name)
    path = EXAMPLES[name].target.partition("?")[0]
    assert EXAMPLES[name].method == template.method
    assert template.matches(path.split("/"))


@for_each("name", NAMES)
def test_without_a_key_nobody_may(name):
    asked = Asked(name)
    example: Example = asked.example
    path, _, query = example.target.partition("?")
    reply = asked.user.send(event(example.method, f"/api/v1{path}", query=query))
    assert asked.refused(reply, "error authenticating request")


@for_each("name", WITH_RIGHTS)
def test_without_a_right_a_user_may_not(name):
    asked = Asked(name)
    reply = asked.ask()
    messages = [asked.message_without(action) for action, _ in asked.example.rights]
    assert any(asked.refused(reply, message) for message in messages)


@for_each("name", WITH_RIGHTS)
def test_without_one_of_the_rights_a_user_may_not(name):
    asked = Asked(name)
    rights = asked.example.rights
    for missing in rights:
        others = [each for each in rights if each != missing]
        reply = asked.ask(allowing(*others, ("fs:ReadTag", "arn:lakefs:fs:::repository/x/tag/x")))
        assert asked.refused(reply, asked.message_without(missing[0]))


@for_each("name", [name for name in WITH_RIGHTS if name not in FILTERS])
def test_a_deny_of_one_right_goes_over_all_that_is_allowed(name):
    asked = Asked(name)
    for action, resource in asked.example.rights:
        reply = asked.ask(*EVERYTHING, denying((action, resource)))
        assert asked.refused(reply, f"insufficient permissions: denied permission to {action}")


@for_each("name", WITH_RIGHTS)
def test_the_rights_on_other_resources_are_not_enough(name):
    asked = Asked(name)
    for action, resource in asked.example.rights:
        elsewhere = "arn:lakefs:fs:::repository/*" if resource == "*" else f"{resource}x"
        others = [each for each in asked.example.rights if each != (action, resource)]
        reply = asked.ask(allowing(*others, (action, elsewhere)))
        if asked.name in FILTERS:
            assert reply.json["results"] == []
        else:
            assert asked.refused(reply, asked.message_without(action))


@for_each("name", BELOW_PREFIXES)
def test_a_deny_of_anything_below_a_prefix_goes_over_all_that_is_allowed(name):
    asked = Asked(name)
    for action, resource in asked.example.rights:
        if is_below_a_prefix(resource):
            prefix = resource.removesuffix("*")
            for below in (f"{prefix}deep/secret/*", f"{prefix}?", prefix, "arn:lakefs:*x/y"):
                reply = asked.ask(*EVERYTHING, denying((action, below)))
                message = f"insufficient permissions: denied permission to {action}"
                assert asked.refused(reply, message), below


@for_each("name", BELOW_PREFIXES)
def test_the_rights_to_some_below_a_prefix_are_not_enough(name):
    asked = Asked(name)
    for action, resource in asked.example.rights:
        if is_below_a_prefix(resource):
            prefix = resource.removesuffix("*")
            others = [each for each in asked.example.rights if each != (action, resource)]
            for some in (prefix, f"{prefix}?", f"{prefix}?*", f"{prefix}a*", f"{prefix}*.csv"):
                reply = asked.ask(allowing(*others, (action, some)))
                assert asked.refused(reply, asked.message_without(action)), some


@for_each("name", NAMES)
def test_with_exactly_its_rights_a_user_may(name):
    asked = Asked(name)
    reply = asked.ask(allowing(*asked.example.rights))
    assert reply.status != 401, reply
    assert reply.status < 500 or (reply.status == 501 and asked.name in NOT_SERVED), reply
