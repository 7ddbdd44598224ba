"""Explanations of what users may do, and the list of actions, as clients see them."""

import pytest

from graveler.access.actions import Action
from graveler.limits import POLICY_BYTES_MAX
from tests.support.clients.api import ApiClient
from tests.support.fakes.access import RestrictedClient

DATA = "arn:lakefs:fs:::repository/lake/object/x"
WRITE = {"effect": "allow", "action": ["fs:*"], "resource": "arn:lakefs:fs:::repository/lake/*"}
GUARD = {
    "effect": "deny",
    "action": ["fs:Delete*"],
    "resource": "arn:lakefs:fs:::repository/lake/object/secret/*",
}
OFFICE = {
    "effect": "deny",
    "action": ["fs:ReadObject"],
    "resource": "*",
    "condition": {"NotIpAddress": {"SourceIp": ["203.0.113.0/24"]}},
}


@pytest.fixture
def api():
    """Bob has a guard himself, and may write as a member of two groups of three."""
    api = ApiClient()
    assert api.ask("POST", "/auth/users", {"id": "bob"}).status == 201
    for name, statements in {
        "write": [OFFICE, WRITE],
        "guard": [GUARD],
        "guarded": [GUARD],
    }.items():
        body = {"id": name, "statement": statements}
        assert api.ask("POST", "/auth/policies", body).status == 201
    for group in ("A", "B", "C"):
        assert api.ask("POST", "/auth/groups", {"id": group}).status == 201
        assert api.ask("PUT", f"/auth/groups/{group}/members/bob").status == 201
    for group in ("A", "C"):
        assert api.ask("PUT", f"/auth/groups/{group}/policies/write").status == 201
    assert api.ask("PUT", "/auth/users/bob/policies/guard").status == 201
    assert api.ask("PUT", "/auth/groups/B/policies/guarded").status == 201
    return api


def explain(api, action, resource, user="bob", **query):
    reply = api.ask("GET", f"/auth/users/{user}/access", action=action, resource=resource, **query)
    assert reply.status == 200, reply
    return reply.json


def test_an_explanation_names_the_statement_and_the_groups_that_have_its_policy(api):
    assert explain(api, "fs:DeleteObject", DATA) == {
        "user": "bob",
        "action": "fs:DeleteObject",
        "resource": DATA,
        "allowed": True,
        "verdict": "allowed",
        "reason": "statement 2 of policy 'write' allows it; it is a policy of the groups 'A', 'C'",
        "attached_to_user": False,
        "groups": ["A", "C"],
        "policy": "write",
        "statement_number": 2,
        "statement": WRITE,
    }


def test_an_explanation_names_the_statement_that_denies(api):
    denied = explain(api, "fs:DeleteObject", DATA.replace("x", "secret/x"))
    assert (denied["allowed"], denied["verdict"], denied["policy"]) == (False, "denied", "guard")
    assert (denied["attached_to_user"], denied["groups"]) == (True, [])
    assert denied["reason"] == (
        "statement 1 of policy 'guard' denies it; it is a policy of the user"
    )


def test_an_explanation_of_everything_below_a_prefix_sees_what_is_denied_there(api):
    assert explain(api, "fs:DeleteObject", DATA.replace("x", "open/*"))["allowed"]
    assert explain(api, "fs:DeleteObject", DATA.replace("x", "*"))["verdict"] == "denied"


def test_an_explanation_says_that_nothing_allows_it(api):
    elsewhere = explain(
        api, "fs:ReadObject", DATA.replace("/lake/", "/sea/"), source_ip="203.0.113.9"
    )
    assert elsewhere["verdict"] == "not_allowed"
    assert "only elsewhere" in elsewhere["reason"]
    assert "policy" not in elsewhere
    assert "statement" not in elsewhere
    nowhere = explain(api, "auth:CreateUser", "arn:lakefs:auth:::user/eve")
    assert nowhere["reason"] == "no statement allows auth:CreateUser on any resource"


def test_an_explanation_is_for_the_address_that_is_asked_about(api):
    assert explain(api, "fs:ReadObject", DATA, source_ip="203.0.113.9")["allowed"]
    outside = explain(api, "fs:ReadObject", DATA, source_ip="198.51.100.1")
    assert (outside["verdict"], outside["statement"]) == ("denied", OFFICE)


@pytest.mark.parametrize(
    ("query", "message", "remedy"),
    [
        ({"action": "fs:ReadObjekt"}, "unknown action 'fs:ReadObjekt'", "fs:ReadObject?"),
        ({"action": "fs:Read*"}, "unknown action 'fs:Read*'", "fs:Read"),
        ({"resource": "lake"}, "invalid resource 'lake'", "use `*`, or an ARN"),
        ({"resource": f"{DATA}".replace("object", "objekt")}, "invalid resource", "object/"),
        ({"source_ip": "here"}, "invalid address 'here'", "IPv4 or IPv6"),
    ],
)
def test_a_question_that_cannot_be_answered_says_what_to_write(api, query, message, remedy):
    asked = {"action": "fs:ReadObject", "resource": DATA, **query}
    reply = api.ask("GET", "/auth/users/bob/access", **asked)
    assert reply.status == 400
    assert message in reply.json["message"]
    assert remedy in reply.json["details"]


def test_an_unknown_user_has_no_explanation(api):
    reply = api.ask("GET", "/auth/users/eve/access", action="fs:ReadObject", resource=DATA)
    assert (reply.status, reply.json["message"]) == (404, "user not found")


def test_a_user_without_rights_may_ask_about_themself_only():
    bob = RestrictedClient(ApiClient())
    query = f"?action=fs:ReadObject&resource={DATA}"
    own = bob.ask_as("GET", f"/auth/users/bob/access{query}")
    assert (own.status, own.json["verdict"]) == (200, "not_allowed")
    assert bob.ask_as("GET", f"/auth/users/ann/access{query}").status == 401


def list_access(api, resource, user="bob", **query):
    reply = api.ask("GET", f"/auth/users/{user}/access/actions", resource=resource, **query)
    assert reply.status == 200, reply
    assert (reply.json["user"], reply.json["resource"]) == (user, resource)
    return {row.pop("action"): row for row in reply.json["results"]}


def test_a_list_says_what_a_user_may_do_to_one_resource(api):
    outside = list_access(api, DATA.replace("x", "secret/x"), source_ip="198.51.100.1")
    assert outside == {
        "fs:ReadObject": {
            "verdict": "denied",
            "reason": "statement 1 of policy 'write' denies it",
            "policy": "write",
            "statement_number": 1,
        },
        "fs:WriteObject": {
            "verdict": "allowed",
            "reason": "statement 2 of policy 'write' allows it",
            "policy": "write",
            "statement_number": 2,
        },
        "fs:DeleteObject": {
            "verdict": "denied",
            "reason": "statement 1 of policy 'guard' denies it",
            "policy": "guard",
            "statement_number": 1,
        },
    }
    below = list_access(api, DATA.replace("x", "*"), source_ip="203.0.113.9")
    assert [row["verdict"] for row in below.values()] == ["allowed", "allowed", "denied"]


def test_a_list_has_the_actions_about_the_kind_of_its_resource(api):
    lake = "arn:lakefs:fs:::repository/lake"
    assert {"fs:ReadRepository", "pr:ReadPullRequest"} <= list_access(api, lake).keys()
    assert "fs:ReadObject" not in list_access(api, lake)
    assert "fs:ReadTag" in list_access(api, f"{lake}/tag/v1")
    assert list(list_access(api, "*")) == [
        "fs:ReadConfig",
        "auth:ListUsers",
        "auth:ListGroups",
        "auth:ListPolicies",
    ]
    assert list_access(api, "arn:lakefs:auth:::user/bob")["auth:ReadUser"] == {
        "verdict": "not_allowed",
        "reason": "no statement allows auth:ReadUser on any resource",
    }
    catalog = "arn:lakefs:catalog:::"
    assert list_access(api, f"{catalog}table/x") == {}
    assert list(list_access(api, f"{catalog}table/lake/sales/orders")) == [
        "catalog:ReadTable",
        "catalog:CreateTable",
        "catalog:UpdateTable",
        "catalog:DeleteTable",
    ]
    root, below = (list_access(api, f"{catalog}namespace/lake{each}") for each in ("", "/sales"))
    assert list(root) == ["catalog:ListNamespaces", "catalog:GetNamespace"]
    assert root.keys() < below.keys()


def test_a_list_is_what_the_explanations_of_its_actions_say(api):
    for resource in (DATA, DATA.replace("x", "*"), "arn:lakefs:fs:::repository/lake/branch/b"):
        for action, row in list_access(api, resource).items():
            explained = explain(api, action, resource)
            assert row == {
                name: explained[name] if name != "reason" else explained[name].partition(";")[0]
                for name in row
            }


def test_a_list_that_cannot_be_made_says_why(api):
    path = "/auth/users/bob/access/actions"
    bad = [("lake", ""), (DATA.replace("object", "objekt"), ""), (DATA, "here")]
    for resource, address in bad:
        assert api.ask("GET", path, resource=resource, source_ip=address).status == 400
    assert api.ask("GET", path).status == 400
    assert api.ask("GET", path.replace("bob", "eve"), resource=DATA).status == 404


def test_a_list_reads_the_policies_of_the_user_once(api, monkeypatch):
    read, reads = api.accounts.effective_policies, []

    def counted(user):
        reads.append(user)
        return read(user)

    monkeypatch.setattr(api.accounts, "effective_policies", counted)
    assert list_access(api, "arn:lakefs:fs:::repository/lake")
    assert reads.count("bob") == 1


def test_a_check_of_a_policy_stores_nothing_and_finds_what_its_creation_refuses(api):
    wrong = {"effect": "alow", "action": ["fs:Reed", "x:y"], "resource": '["lake", "*"]'}
    reply = api.ask("POST", "/auth/check_policy", {"id": "new", "statement": [GUARD, wrong]})
    assert (reply.status, reply.json["warnings"]) == (200, [])
    problems = reply.json["problems"]
    assert [(each["statement_number"], each["field"]) for each in problems] == [
        (2, "effect"),
        (2, "action"),
        (2, "action"),
        (2, "resource"),
    ]
    assert problems[0]["problem"] == "effect 'alow'"
    assert problems[0]["remedy"] == "use `allow` or `deny`"
    refused = api.ask("POST", "/auth/policies", {"id": "new", "statement": [GUARD, wrong]})
    assert problems[0]["problem"] in refused.json["message"]
    assert api.ask("GET", "/auth/policies/new").status == 404


def test_a_check_warns_of_what_never_applies(api):
    lost = {
        "effect": "allow",
        "action": ["fs:ReadObject"],
        "resource": "arn:lakefs:fs:::repository/lake",
    }
    reply = api.ask("POST", "/auth/check_policy", {"statement": [WRITE, lost]})
    assert reply.json == {
        "problems": [],
        "warnings": [
            {
                "problem": "fs:ReadObject has no effect on these resources",
                "remedy": "it is about arn:lakefs:fs:::repository/{repository}/object/{path}",
                "statement_number": 2,
                "field": "resource",
            }
        ],
    }
    too_many = api.ask("POST", "/auth/check_policy", {"statement": [lost] * 101}).json
    assert too_many == {
        "problems": [{"problem": "101 statements", "remedy": "a policy has 1 to 100 statements"}],
        "warnings": [],
    }


def test_a_check_warns_of_no_right_to_the_tables_of_the_catalog(api):
    statements = [
        {"effect": "allow", "action": actions, "resource": f"arn:lakefs:catalog:::{resource}"}
        for actions, resource in [
            (["catalog:ListNamespaces", "catalog:GetNamespace"], "namespace/lake"),
            (["catalog:ListTables"], "namespace/lake/sales"),
            (["catalog:ReadTable", "catalog:UpdateTable"], "table/lake/sales/*"),
        ]
    ]
    found = api.ask("POST", "/auth/check_policy", {"id": "tables", "statement": statements}).json
    assert found == {"problems": [], "warnings": []}


@pytest.mark.parametrize("name", ["", "a/b", "50%", "..", "a\nb", "n" * 2000])
def test_a_check_refuses_the_names_that_creation_refuses(api, name):
    found = api.ask("POST", "/auth/check_policy", {"id": name, "statement": [GUARD]}).json
    [problem] = found["problems"]
    assert (problem["field"], problem["problem"]) == ("id", "the policy's name")
    assert "statement_number" not in problem
    refused = api.ask("POST", "/auth/policies", {"id": name, "statement": [GUARD]})
    assert refused.status == 400
    assert problem["remedy"].startswith(refused.message)


def test_a_check_still_warns_about_the_statements_of_a_policy_with_a_wrong_name(api):
    lost = {**GUARD, "action": ["catalog:ReadView"], "resource": "*"}
    found = api.ask("POST", "/auth/check_policy", {"id": "a/b", "statement": [lost]}).json
    assert (len(found["problems"]), len(found["warnings"])) == (1, 1)


def test_a_check_counts_the_bytes_that_creation_counts(api):
    path = "arn:lakefs:fs:::repository/lake/object/" + "x" * 1960
    full = {**WRITE, "resource": path}

    def asked(operation, cut):
        body = {"id": "large", "statement": [full] * 31 + [{**full, "resource": path[:-cut]}]}
        return api.ask("POST", f"/auth/{operation}", body)

    [found] = asked("check_policy", 1).json["problems"]
    over = int(found["problem"].removesuffix(" bytes")) - POLICY_BYTES_MAX
    [problem] = asked("check_policy", over).json["problems"]
    assert problem["problem"] == f"{POLICY_BYTES_MAX + 1} bytes"
    assert asked("policies", over).status == 400
    assert asked("check_policy", over + 1).json == {"problems": [], "warnings": []}
    assert asked("policies", over + 1).status == 201


@pytest.mark.parametrize("statement", [[], [{**GUARD, "Condition": {}}], [{}], None])
def test_a_check_of_no_statements_is_refused(api, statement):
    assert api.ask("POST", "/auth/check_policy", {"statement": statement}).status == 400


def test_a_policy_may_be_named_as_a_check(api):
    body = {"id": "check_policy", "statement": [GUARD]}
    assert api.ask("POST", "/auth/policies", body).status == 201
    assert api.ask("GET", "/auth/policies/check_policy").json["id"] == "check_policy"


def test_the_attachments_of_a_policy_are_listed(api):
    path = "/auth/policies/write/attachments"
    rows = [{"kind": "group", "id": "A"}, {"kind": "group", "id": "C"}]
    assert api.ask("GET", path).json["results"] == rows
    page = api.ask("GET", path, amount=1).json
    assert (page["results"], page["pagination"]["next_offset"]) == (rows[:1], "group/A")
    assert api.ask("GET", path, after="group/A").json["results"] == rows[1:]
    own = api.ask("GET", "/auth/policies/guard/attachments").json
    assert own["results"] == [{"kind": "user", "id": "bob"}]
    missing = api.ask("GET", "/auth/policies/x/attachments")
    assert (missing.status, missing.json["message"]) == (404, "policy not found")
    assert api.ask("GET", path, after="A").status == 400


def test_all_actions_are_listed_with_their_resources_and_operations(api):
    rows = {row["action"]: row for row in api.ask("GET", "/auth/actions").json["results"]}
    assert list(rows) == list(Action)
    assert rows["fs:DeleteObject"] == {
        "action": "fs:DeleteObject",
        "resources": ["arn:lakefs:fs:::repository/{repository}/object/{path}"],
        "operations": [
            "deleteObject",
            "deleteObjects",
            "deletePrefix",
            "movePrefix",
            "restorePrefix",
        ],
    }
    assert rows["auth:ReadPolicy"]["resources"] == ["arn:lakefs:auth:::policy/{name}"]
    assert rows["auth:ListUsers"]["resources"] == ["*"]
    assert rows["catalog:ReadTable"] == {
        "action": "catalog:ReadTable",
        "resources": ["arn:lakefs:catalog:::table/{repository}/{namespace}/{table}"],
        "operations": [
            "loadCredentials",
            "loadTable",
            "renameTable",
            "reportMetrics",
            "tableExists",
        ],
    }
    unneeded = [name for name, row in rows.items() if not (row["resources"] and row["operations"])]
    assert all(name.removesuffix("s").endswith("View") for name in unneeded), unneeded
