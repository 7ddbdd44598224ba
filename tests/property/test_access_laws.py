"""The fast evaluation of policies decides as the slow one, for any policies and needs."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from graveler.access.evaluate import Rights, Verdict
from graveler.access.needs import AllOf, AnyOf, Need, Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.access.resources import Below, can_match, covering, parsed
from graveler.access.wildcards import Pattern, compiled
from tests.support.worlds import slow_access
from tests.support.worlds.slow_access import ALLOW, DENY, NEUTRAL

VERDICTS = {Verdict.ALLOWED: ALLOW, Verdict.NOT_ALLOWED: NEUTRAL, Verdict.DENIED: DENY}

few = st.text("ab", max_size=4)
patterns = st.text("ab*?", max_size=8)
users = st.sampled_from(["ann", "*", "?", "a*", "${user}", "", "a:b", "ann/x", "Ü"])
names = st.sampled_from(["a", "ab", "*", "?", "ann", "${user}", "a/b", "a:b", "", "Ü", "ann/x"])
actions = st.sampled_from(["fs:ReadObject", "fs:ReadBranch", "fs:WriteObject", "auth:ReadUser"])
action_patterns = st.sampled_from(
    ["fs:*", "*", "fs:Read*", "fs:ReadObject", "fs:?eadObject", "auth:*", "FS:*", "fs:", "?*User"]
)
resources = st.one_of(
    st.just("*"),
    st.builds("arn:lakefs:fs:::repository/{}/object/{}".format, names, names),
    st.builds("arn:lakefs:auth:::user/{}".format, names),
)
resource_patterns = st.one_of(
    resources,
    st.builds("arn:lakefs:fs:::repository/{}".format, st.text("ab*?/:", max_size=6)),
    st.sampled_from(
        [
            "arn:lakefs:auth:::user/${user}",
            "arn:lakefs:auth:::user/${user}*",
            "arn:lakefs:auth:::*${user}",
            "arn:lakefs:fs:eu:acc:repository/*",
            "arn:lakefs:fs:eu::repository/*",
            "arn:aws:fs:::repository/*",
            "arn:lakefs:*:::repository/*",
            "arn:lakefs:fs:::",
            "arn:lakefs",
            "",
            "repository/*",
        ]
    ),
)
resource_texts = st.one_of(
    resource_patterns,
    st.lists(resource_patterns, max_size=3).map(json.dumps),
    st.sampled_from(["[", "[]", "[1]", '["*"', "[x]", '[["*"]]']),
)
addresses = st.sampled_from(["10.1.2.3", "192.168.0.1", "2001:db8::1", "", "nowhere"])
blocks = st.sampled_from(["10.0.0.0/8", "10.1.2.3", "2001:db8::/32", "0.0.0.0/0", "bad"])
conditions = st.dictionaries(
    st.sampled_from(["IpAddress", "NotIpAddress", "StringLike", "StringNotLike", "Other"]),
    st.dictionaries(
        st.sampled_from(["SourceIp", "VpcId"]), st.lists(blocks, max_size=2), max_size=2
    ),
    max_size=2,
)


def policies_with(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[Policy]]:
    """Return policies whose statements have such resources."""
    statements = st.builds(
        Statement,
        st.sampled_from(Effect),
        st.lists(action_patterns, min_size=1, max_size=3).map(tuple),
        texts,
        st.one_of(st.just({}), conditions),
    )
    named = st.builds(
        Policy,
        st.text("pq", max_size=2),
        st.lists(statements, max_size=4).map(tuple),
        st.just(1_700_000_000),
    )
    return st.lists(named, max_size=3)


policies = policies_with(resource_texts)
permissions = st.builds(Permission, actions, resources)
needs: st.SearchStrategy[Need] = st.recursive(
    permissions,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple).map(AllOf),
        st.lists(inner, max_size=3).map(tuple).map(AnyOf),
    ),
    max_leaves=4,
)
all_facts = st.one_of(st.builds(lambda address: {"SourceIp": address}, addresses), st.just({}))

# Few letters, so that all texts below a prefix can be enumerated as far as they matter.
short_users = st.sampled_from(["", "a", "*"])
short_patterns = st.lists(
    st.sampled_from(["a", "b", "*", "?", "${user}"]), max_size=slow_access.LETTERS_MAX
).map("".join)
short_resources = st.one_of(
    st.just("*"),
    st.builds("arn:lakefs:fs:::{}".format, short_patterns),
    st.sampled_from(["arn:lakefs:auth:::*", "arn:lakefs:fs::x:*", "a*", ""]),
)
short_policies = policies_with(
    st.one_of(short_resources, st.lists(short_resources, max_size=2).map(json.dumps))
)
prefixes = st.text("ab*", min_size=1, max_size=3)
permissions_below = st.builds(
    Permission, actions, prefixes.map(lambda text: Below(f"arn:lakefs:fs:::{text}"))
)


@given(users, policies, needs, all_facts)
def test_the_verdict_is_that_of_the_rules(user, policies, need, facts):
    decision = Rights(user, policies).decide(need, facts)
    assert VERDICTS[decision.verdict] == slow_access.decide(user, policies, need, facts)


@given(users, policies, permissions, all_facts)
def test_the_statement_that_decided_is_about_the_permission(user, policies, permission, facts):
    decision = Rights(user, policies).decide(permission, facts)
    if decision.source is None:
        assert decision.verdict is Verdict.NOT_ALLOWED
        return
    named = [
        policy.statements[decision.source.number - 1]
        for policy in policies
        if policy.name == decision.source.policy
        and len(policy.statements) >= decision.source.number
    ]
    effect = Effect.ALLOW if decision.is_allowed else Effect.DENY
    assert any(
        statement.effect is effect and slow_access.is_about(statement, user, permission)
        for statement in named
    )


@given(patterns, few)
@example("*a*b", "aab")
@example("a?*", "ab")
@example("?*?", "a")
@example("*?a*", "ba")
def test_a_pattern_matches_what_its_wildcards_stand_for(pattern, text):
    assert compiled(pattern)(text) == slow_access.matches(slow_access.pattern_of(pattern), text)


@given(patterns, few, st.sampled_from(["*", "?", "ab", "", "${user}"]), few)
def test_a_user_s_name_in_a_pattern_matches_only_itself(before, after, user, text):
    pattern = f"{before}${{user}}{after}"
    expected = slow_access.matches(slow_access.pattern_of(pattern, user), text)
    assert Pattern(pattern, {"${user}": user}).matches(text) == expected


@given(short_patterns, short_users, st.text("ab*", max_size=4))
@example("a?*", "", "ab")
@example("a*?", "", "ab")
@example("a*b", "", "ab")
@example("ab", "", "a")
@example("a", "", "ab")
@example("*", "", "")
def test_a_pattern_matches_all_or_some_texts_below_a_beginning(pattern, user, beginning):
    parts = slow_access.pattern_of(pattern, user)
    found = [slow_access.matches(parts, text) for text in slow_access.below(beginning)]
    fast = Pattern(pattern, {"${user}": user})
    assert fast.matches_all_below(beginning) == all(found)
    assert fast.matches_some_below(beginning) == any(found)


@given(
    short_users, st.sampled_from(Effect), st.lists(short_patterns, min_size=1, max_size=2), prefixes
)
@example("", Effect.ALLOW, ["a?"], "a")
@example("", Effect.ALLOW, ["b", "a*"], "a")
@example("", Effect.DENY, ["b", "ab?"], "a")
def test_a_statement_about_all_below_a_prefix_is_read_as_the_rules_say(
    user, effect, found, beginning
):
    resource = json.dumps([f"arn:lakefs:fs:::{pattern}" for pattern in found])
    statement = Statement(effect, ("fs:*",), resource)
    others = [Statement(Effect.ALLOW, ("fs:Read*",), "*")] if effect is Effect.DENY else []
    given_policies = [Policy("p", (statement, *others), 1)]
    permission = Permission("fs:ReadObject", Below(f"arn:lakefs:fs:::{beginning}"))
    decision = Rights(user, given_policies).decide(permission, {})
    assert VERDICTS[decision.verdict] == slow_access.decide(user, given_policies, permission, {})


@given(short_users, short_policies, permissions_below, all_facts)
def test_the_verdict_about_all_below_a_prefix_is_that_of_the_rules(user, given, permission, facts):
    decision = Rights(user, given).decide(permission, facts)
    assert VERDICTS[decision.verdict] == slow_access.decide(user, given, permission, facts)


@given(short_users, short_policies, permissions_below, st.text("ab*z", max_size=3), all_facts)
def test_a_right_to_all_below_a_prefix_is_a_right_to_each(user, given, permission, rest, facts):
    rights = Rights(user, given)
    if rights.decide(permission, facts).is_allowed:
        one = Permission(permission.action, permission.resource.beginning + rest)
        assert rights.decide(one, facts).is_allowed


def test_no_pattern_takes_exponential_time():
    text = "a" * 1000
    # Backtracking would not end.
    assert not compiled("*a" * 500 + "*b")(text)
    assert not compiled("*a?" * 300 + "*b*")(text)


FORMS = ("repository/{repository}", "repository/{repository}/object/{path}", "user/{name}")
segments = st.text("ab", min_size=1, max_size=3)


@given(st.sampled_from(FORMS), segments, segments, st.text("*?=", max_size=40))
def test_a_pattern_that_matches_a_resource_can_match_its_form(
    form: str, repository: str, name: str, marks: str
) -> None:
    filled = form.replace("{repository}", repository).partition("{")
    resource = filled[0] + (f"{name}/{name}" if filled[1] else "")
    # `=` keeps a character, `?` stands for it, and `*` for it and the next one.
    pattern, rest = "", resource
    for mark in marks:
        pattern, rest = (
            pattern + (rest[:1] if mark == "=" else mark),
            rest[2 if mark == "*" else 1 :],
        )
    prefix = "arn:lakefs:fs:::"
    found = covering(prefix + pattern + rest, "ann")
    if found is not None and found.one(parsed(prefix + resource)):
        assert can_match(prefix + pattern + rest, prefix + form)
