import json

import pytest

from graveler.access.actions import Action
from graveler.access.policy import Effect, Statement
from graveler.access.standard import GROUPS, POLICIES
from graveler.access.validation import check_statements, effect_of, problems_of
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each

REPO = "arn:lakefs:fs:::repository/lake"


def statement(actions=("fs:ReadObject",), resource="*", conditions=None, effect=Effect.ALLOW):
    return Statement(effect, tuple(actions), resource, conditions or {})


def problem_of(*statements):
    with pytest.raises(InvalidInputError) as raised:
        check_statements(statements)
    return raised.value


@for_each("action", [*Action, "fs:*", "fs:Read*", "*", "auth:?ead*", "*:List*"])
def test_an_action_and_a_pattern_that_matches_one_are_valid(action):
    check_statements([statement([action])])


@for_each(
    "resource",
    [
        "*",
        REPO,
        f"{REPO}/object/a:b c/ü",
        f"{REPO}/branch/*",
        "arn:lakefs:fs:::*",
        "arn:lakefs:fs:::namespace/s3://bucket/*",
        "arn:lakefs:fs:::repository/*/objects/a",
        "arn:lakefs:fs:::repository/lake/obj*",
        "arn:lakefs:fs:::repository/lake/object/a:b/*",
        "arn:lakefs:fs:::repository/${user}/branch/*",
        "arn:lakefs:auth:::user/${user}",
        "arn:lakefs:auth:::externalPrincipal/arn:aws:iam::1:role/x",
        "arn:lakefs:catalog:::table/lake/ns/t",
        json.dumps([REPO, "*"]),
    ],
)
def test_a_resource_or_a_list_of_them_is_valid(resource):
    check_statements([statement(resource=resource)])


@for_each(
    ("wrong", "message", "remedy"),
    [
        ({"actions": ["fs:Read"]}, "fs:Read: invalid action", "docs/access.md"),
        ({"actions": ["fs:readobject"]}, "fs:readobject: invalid action", "`action`"),
        ({"actions": ["fs:Nothing*"]}, "fs:Nothing*: invalid action", "`fs:Read*`"),
        ({"actions": ["ReadObject"]}, "ReadObject: invalid action", "`action`"),
        ({"actions": ["s3:GetObject"]}, "s3:GetObject: invalid service name", "fs, auth, ci"),
        ({"actions": [""]}, ": invalid action", "`action`"),
        ({"actions": []}, "0 actions", "1 to 100"),
        ({"actions": ["fs:*"] * 101}, "101 actions", "1 to 100"),
        ({"resource": ""}, "ARN ''", "`resource`"),
        ({"resource": "lake"}, "ARN 'lake'", "arn:lakefs:fs:::repository/<name>"),
        ({"resource": "arn:aws:s3:::b"}, "ARN 'arn:aws:s3:::b'", "arn:lakefs"),
        ({"resource": "arn:lakefs:fs:::"}, "ARN 'arn:lakefs:fs:::'", "arn:lakefs"),
        ({"resource": "arn:lakefs:*:::x"}, "ARN 'arn:lakefs:*:::x'", "without wildcards"),
        ({"resource": "arn:lakefs:fs:eu::*"}, "ARN 'arn:lakefs:fs:eu::*'", "leave region"),
        ({"resource": "arn:lakefs:fs::1:*"}, "ARN 'arn:lakefs:fs::1:*'", "leave region"),
        ({"resource": "arn:lakefs:fs:::repo/x"}, "ARN 'arn:lakefs:fs:::repo/x'", "repository"),
        ({"resource": f"{REPO}/objects/a/*"}, f"ARN '{REPO}/objects/a/*'", "object/, branch/"),
        ({"resource": f"{REPO}/main"}, f"ARN '{REPO}/main'", "object/, branch/, tag/"),
        ({"resource": f"{REPO}/object"}, f"ARN '{REPO}/object'", "object/, branch/, tag/"),
        ({"resource": "arn:lakefs:auth:::lake"}, "ARN 'arn:lakefs:auth:::lake'", "user, group"),
        ({"resource": "[]"}, "ARN '[]'", "1 to 100"),
        ({"resource": "[1]"}, "ARN '[1]'", "JSON"),
        ({"resource": '["*"'}, "ARN '[\"*\"'", "arn:lakefs"),
        ({"resource": '["lake", "*"]'}, "ARN 'lake'", "arn:lakefs"),
        ({"resource": f"{REPO}/{'x' * 3000}"}, "ARN 'arn:lakefs", "2048 bytes"),
        ({"conditions": {"Bool": {}}}, "unsupported condition operator: Bool", "IpAddress"),
        ({"conditions": {"IpAddress": {"VpcId": ["1.2.3.4"]}}}, "unknown condition", "SourceIp"),
        ({"conditions": {"IpAddress": {"SourceIp": []}}}, "no values", "one value or more"),
        (
            {"conditions": {"NotIpAddress": {"SourceIp": ["10.0.0.0/33"]}}},
            "invalid IP/CIDR format in NotIpAddress for 'SourceIp': 10.0.0.0/33",
            "2001:db8::/32",
        ),
        ({"conditions": {"StringLike": {"SourceIp": ["1"] * 101}}}, "101 values", "100"),
        ({"conditions": {"StringLike": {"SourceIp": ["1" * 3000]}}}, "too long", "2048"),
    ],
)
def test_what_is_wrong_is_named_with_its_statement_and_the_remedy(wrong, message, remedy):
    error = problem_of(statement(), statement(**wrong))
    assert error.message.startswith("validation error: ")
    assert message in error.message
    assert "statement 2" in error.details
    assert remedy in error.details
    assert len(error.message) < 200


def test_a_policy_has_statements_but_not_too_many():
    assert "0 statements" in problem_of().message
    assert "101 statements" in problem_of(*[statement()] * 101).message
    check_statements([statement()] * 100)


def test_all_problems_are_found_in_the_order_of_the_statements():
    wrong = statement(
        ["fs:Reed", "fs:ReadObject", "s3:Get"],
        json.dumps(["lake", "*", "arn:lakefs:fs:::repo/x"]),
        {"Bool": {}, "IpAddress": {"SourceIp": ["nowhere"], "VpcId": []}},
    )
    found = [(each.number, each.field) for each in problems_of([wrong, statement(), wrong])]
    fields = ["action"] * 2 + ["resource"] * 2 + ["condition"] * 4
    assert found == [(number, field) for number in (1, 3) for field in fields]
    assert list(problems_of([statement()])) == []


def test_a_policy_that_is_too_large_is_one_problem():
    [problem] = problems_of([statement(["fs:Reed"], f"{REPO}/object/{'a' * 2000}")] * 40)
    assert (problem.number, problem.field) == (0, "")
    assert "65536 bytes" in problem.error.details


def test_an_effect_is_allow_or_deny():
    assert effect_of("deny", 1) is Effect.DENY
    for text in ("Allow", "DENY", "", "maybe"):
        with pytest.raises(InvalidInputError, match=f"^validation error: effect '{text}'"):
            effect_of(text, 3)


@for_each("name", POLICIES)
def test_a_standard_policy_could_be_written_by_a_user(name):
    check_statements(POLICIES[name])


def test_the_standard_groups_have_standard_policies():
    assert list(GROUPS) == ["Admins", "SuperUsers", "Developers", "Viewers"]
    assert {policy for policies in GROUPS.values() for policy in policies} <= POLICIES.keys()
