from graveler.access.actions import Action
from graveler.access.evaluate import Rights, StatementSource, Verdict
from graveler.access.explain import explain
from graveler.access.needs import AllOf, AnyOf, Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.access.resources import Below, branch_arn, object_arn, repository_arn, user_arn
from graveler.access.standard import GROUPS, policies_of
from tests.support.checks.cases import for_each

READ = Permission("fs:ReadObject", object_arn("lake", "in/a"))
WRITE = Permission("fs:WriteObject", object_arn("lake", "in/a"))
OFFICE = {"IpAddress": {"SourceIp": ["10.0.0.0/8", "2001:db8::/32"]}}


def policy(name, *statements):
    return Policy(name, statements, 1)


def allow(actions, resource="*", conditions=None):
    return Statement(Effect.ALLOW, tuple(actions.split()), resource, conditions or {})


def deny(actions, resource="*", conditions=None):
    return Statement(Effect.DENY, tuple(actions.split()), resource, conditions or {})


def decide(need, *statements, facts=None, user="ann"):
    return Rights(user, [policy("p", *statements)]).decide(need, facts or {})


def test_nobody_may_do_what_no_policy_allows():
    decision = decide(READ)
    assert (decision.verdict, decision.missing) == (Verdict.NOT_ALLOWED, (READ,))


def test_a_deny_goes_over_every_allow_whatever_the_order():
    for statements in ([allow("fs:*"), deny("fs:Read*")], [deny("fs:Read*"), allow("fs:*")]):
        decision = decide(READ, *statements)
        assert (decision.verdict, decision.pattern) == (Verdict.DENIED, "fs:Read*")
    assert decide(WRITE, allow("fs:*"), deny("fs:Read*")).is_allowed


def test_all_of_needs_each_and_any_of_one():
    rights = [allow("fs:ReadObject")]
    assert not decide(AllOf((READ, WRITE)), *rights).is_allowed
    assert decide(AnyOf((WRITE, READ)), *rights).is_allowed
    assert decide(AllOf(()), *rights).is_allowed
    assert not decide(AnyOf(()), *rights).is_allowed
    assert decide(AnyOf((READ, WRITE)), *rights, deny("fs:WriteObject")).verdict is Verdict.DENIED


@for_each(
    ("address", "is_inside"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("2001:db8::5", True),
        ("11.1.2.3", False),
        ("2001:db9::5", False),
    ],
)
def test_addresses_of_both_families_are_compared_with_blocks(address, is_inside):
    facts = {"SourceIp": address}
    assert decide(READ, allow("fs:*", "*", OFFICE), facts=facts).is_allowed is is_inside
    outside = deny("fs:*", "*", {"NotIpAddress": OFFICE["IpAddress"]})
    assert decide(READ, allow("fs:*"), outside, facts=facts).is_allowed is is_inside


def test_every_address_of_a_family_is_none_of_the_other():
    for block, address in (("0.0.0.0/0", "2001:db8::5"), ("::/0", "10.1.2.3")):
        condition = {"IpAddress": {"SourceIp": [block]}}
        facts = {"SourceIp": address}
        assert not decide(READ, allow("fs:*", "*", condition), facts=facts).is_allowed


def test_blocks_of_mapped_addresses_are_blocks_of_ipv4_addresses():
    condition = {"IpAddress": {"SourceIp": ["::ffff:10.0.0.0/104"]}}
    assert decide(READ, allow("fs:*", "*", condition), facts={"SourceIp": "10.9.9.9"}).is_allowed


@for_each(
    ("operator", "values", "is_true"),
    [
        ("StringLike", ["10.1.*"], True),
        ("StringLike", ["10.2.*", "10.?.2.3"], True),
        ("StringLike", ["10.2.*"], False),
        ("StringNotLike", ["10.2.*"], True),
        ("StringNotLike", ["10.2.*", "10.1.*"], False),
    ],
)
def test_texts_are_compared_with_patterns(operator, values, is_true):
    condition = {operator: {"SourceIp": values}}
    facts = {"SourceIp": "10.1.2.3"}
    assert decide(READ, allow("fs:*", "*", condition), facts=facts).is_allowed is is_true


@for_each(
    ("conditions", "address"),
    [
        (OFFICE, "nowhere"),
        ({"IpAddress": {"SourceIp": ["nowhere"]}}, "10.1.2.3"),
        ({"Unknown": {"SourceIp": ["x"]}}, "10.1.2.3"),
    ],
)
def test_a_condition_that_cannot_be_decided_gives_no_right(conditions, address):
    facts = {"SourceIp": address}
    assert not decide(READ, allow("fs:*", "*", conditions), facts=facts).is_allowed
    assert not decide(READ, allow("fs:*"), deny("fs:*", "*", conditions), facts=facts).is_allowed


def test_a_resource_that_cannot_be_read_gives_no_right():
    for resource in ("", "lake", "[", '["*", 1]', "[]"):
        assert not decide(READ, allow("fs:*", resource)).is_allowed
        assert not decide(READ, allow("fs:*"), deny("fs:*", resource)).is_allowed


def test_the_right_to_do_something_somewhere_ignores_resources_and_conditions():
    rights = Rights("ann", [policy("p", allow("fs:List*", "arn:lakefs:fs:::x", OFFICE))])
    assert rights.allows_somewhere("fs:ListRepositories")
    assert not rights.allows_somewhere("fs:ReadRepository")
    assert not Rights("ann", [policy("p", deny("*"))]).allows_somewhere("fs:ListRepositories")


def explained_one(user, policies, permission, facts):
    [found] = explain(user, policies, [permission], facts)
    return found


def test_an_explanation_names_the_deciding_statements():
    policies = [
        policy("base", allow("fs:Read*"), allow("fs:*", repository_arn("x"))),
        policy("guard", deny("fs:Write*", object_arn("lake", "in/*"))),
    ]
    explained = explained_one("ann", policies, WRITE, {})
    assert (explained.decision.verdict, explained.decision.source) == (
        Verdict.DENIED,
        StatementSource("guard", 1),
    )
    assert explained.statement == policies[1].statements[0]
    assert str(explained) == "statement 1 of policy 'guard' denies it"
    assert str(explained_one("ann", policies, READ, {})) == "statement 1 of policy 'base' allows it"
    undecidable = [policy("q", deny("*", "*", OFFICE))]
    explained = explained_one("ann", undecidable, READ, {"SourceIp": "nowhere"})
    assert "a condition is undecidable" in str(explained)


def test_an_explanation_says_whether_the_action_is_allowed_elsewhere():
    policies = [policy("base", allow("fs:*", repository_arn("x")))]
    explained = explained_one("ann", policies, READ, {})
    assert (explained.decision.verdict, explained.statement) == (Verdict.NOT_ALLOWED, None)
    assert str(explained) == (
        "no statement allows it on this resource, only elsewhere or conditionally"
    )
    nothing = explained_one("ann", [], READ, {})
    assert str(nothing) == f"no statement allows {READ.action} on any resource"


def test_an_explanation_of_all_below_a_prefix_needs_all_of_it():
    need = Permission("fs:WriteObject", Below(object_arn("lake", "in/")))
    assert explained_one("ann", [policy("base", allow("fs:*"))], need, {}).decision.is_allowed
    guard = policy("guard", deny("fs:*", object_arn("lake", "in/deep/?")))
    denied = explained_one("ann", [policy("base", allow("fs:*")), guard], need, {})
    assert (denied.decision.verdict, denied.decision.missing) == (Verdict.DENIED, (need,))
    assert str(denied) == "statement 1 of policy 'guard' denies it"


def test_rights_to_parts_of_a_prefix_do_not_add_up_to_all_below_it():
    need = Permission("fs:ReadObject", Below(object_arn("lake", "in/")))
    parts = [object_arn("lake", "in/"), object_arn("lake", "in/?*")]
    assert not decide(need, *(allow("fs:*", part) for part in parts)).is_allowed
    assert decide(need, allow("fs:*", object_arn("lake", "i*"))).is_allowed


# Which of the standard groups may do what, as people know them from lakeFS.
@for_each(
    ("action", "resource", "groups"),
    [
        (Action.READ_OBJECT, object_arn("lake", "a"), "Admins SuperUsers Developers Viewers"),
        (Action.WRITE_OBJECT, object_arn("lake", "a"), "Admins SuperUsers Developers"),
        (Action.CREATE_COMMIT, branch_arn("lake", "b"), "Admins SuperUsers Developers"),
        (Action.IMPORT_FROM_STORAGE, "arn:lakefs:fs:::namespace/s3://b", "Admins SuperUsers"),
        (Action.CREATE_REPOSITORY, repository_arn("lake"), "Admins SuperUsers"),
        (Action.DELETE_REPOSITORY, repository_arn("lake"), "Admins SuperUsers"),
        (Action.EXPORT_CONFIG, branch_arn("lake", "b"), "Admins SuperUsers"),
        (Action.SET_PROTECTION_RULES, repository_arn("lake"), "Admins"),
        (Action.GET_PROTECTION_RULES, repository_arn("lake"), "Admins SuperUsers Developers"),
        (Action.WRITE_PULL_REQUEST, repository_arn("lake"), "Admins Developers"),
        (Action.CREATE_CREDENTIALS, user_arn("ann"), "Admins SuperUsers Developers Viewers"),
        (Action.CREATE_CREDENTIALS, user_arn("bob"), "Admins"),
        (Action.CREATE_USER, user_arn("bob"), "Admins"),
        (Action.LIST_USERS, "*", "Admins"),
    ],
)
def test_the_standard_groups_may_do_what_they_may_in_lakefs(action, resource, groups):
    need = Permission(action, resource)
    allowed = [
        group
        for group in GROUPS
        if Rights("ann", policies_of(group, 1)).decide(need, {}).is_allowed
    ]
    assert " ".join(allowed) == groups
