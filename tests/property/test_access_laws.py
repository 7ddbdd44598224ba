"""The fast evaluation of policies decides as the slow one, for any policies and needs."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from graveler.access.evaluate import Rights, Verdict
from graveler.access.needs import AllOf, AnyOf, Need, Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.access.wildcards import compiled
from tests.support import slow_access
from tests.support.slow_access import ALLOW, DENY, NEUTRAL

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
statements = st.builds(
    Statement,
    st.sampled_from(Effect),
    st.lists(action_patterns, min_size=1, max_size=3).map(tuple),
    resource_texts,
    st.one_of(st.just({}), conditions),
)
policies = st.lists(
    st.builds(
        Policy,
        st.text("pq", max_size=2),
        st.lists(statements, max_size=4).map(tuple),
        st.just(1_700_000_000),
    ),
    max_size=3,
)
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
    assert compiled(pattern, {"${user}": user})(text) == expected


def test_no_pattern_takes_exponential_time():
    text = "a" * 1000
    # Backtracking would not end.
    assert not compiled("*a" * 500 + "*b")(text)
    assert not compiled("*a?" * 300 + "*b*")(text)
