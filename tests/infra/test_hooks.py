"""Roles may do for hooks what the settings name, and nothing else."""

import pytest

SIDS = {"CallHooks", "PutHookEvents", "ReadHookSecrets"}


@pytest.mark.parametrize("role", ["api", "hooks"])
def test_without_settings_no_role_reaches_anything_for_hooks(dev, role):
    assert SIDS.isdisjoint(each["Sid"] for each in dev.statements(role))


@pytest.mark.parametrize("role", ["api", "hooks"])
def test_hooks_reach_what_the_settings_name(prod, role):
    found = {
        each["Sid"]: (each["Action"], each["Resource"])
        for each in prod.statements(role)
        if each["Sid"] in SIDS
    }
    actions = {sid: action for sid, (action, _) in found.items()}
    assert actions == {
        "CallHooks": ["lambda:InvokeFunction"],
        "PutHookEvents": ["events:PutEvents"],
        "ReadHookSecrets": ["secretsmanager:GetSecretValue"],
    }
    ours, theirs = found["CallHooks"][1]
    assert ours.endswith(":function:check")
    assert theirs == "arn:aws:lambda:eu-west-1:210987654321:function:theirs"
    assert [each.rpartition(":")[2] for each in found["PutHookEvents"][1]] == [
        "event-bus/lake-events"
    ]
    assert [each.rpartition(":")[2] for each in found["ReadHookSecrets"][1]] == [
        "lake/LAKEFSACTION_*"
    ]


def test_other_roles_reach_nothing_for_hooks(prod):
    for role in ("slices", "cleanup", "events", "export", "tasks"):
        assert SIDS.isdisjoint(each["Sid"] for each in prod.statements(role))
