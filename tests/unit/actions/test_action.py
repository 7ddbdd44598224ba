"""Action files are what lakeFS takes for action files."""

import pytest

from graveler.actions.action import EVENTS, parse_action
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each

HOOK = """
  - id: check_format
    type: webhook
    properties: {url: "http://localhost/"}
"""
ACTION = f"""
name: Data quality
description: Nothing bad on main
on:
  pre-merge:
    branches: [main, release-*]
  pre-commit:
hooks:{HOOK}
"""


def test_an_action_runs_at_its_events_on_its_branches():
    action = parse_action(ACTION.encode())
    assert (action.name, [hook.id for hook in action.hooks]) == ("Data quality", ["check_format"])
    assert action.runs_at("pre-merge", "main")
    assert action.runs_at("pre-merge", "release-1")
    assert not action.runs_at("pre-merge", "dev")
    assert action.runs_at("pre-commit", "dev")
    assert not action.runs_at("pre-create-branch", "main")


def test_an_action_without_hooks_runs_at_nothing():
    action = parse_action(b"name: empty\non: {pre-commit: }")
    assert not action.runs_at("pre-commit", "main")


def test_nulls_in_lists_count_as_nothing():
    everywhere = b"name: any\non: {pre-commit: {branches: [~]}}\nhooks:" + HOOK.encode()
    assert parse_action(everywhere).runs_at("pre-commit", "dev")
    assert parse_action(b"name: any\non: {pre-commit: }\nhooks: [~]").hooks == ()


def test_texts_that_yaml_takes_for_something_else_are_texts():
    assert parse_action(b"name: 2024\non: {pre-commit: {branches: [1, on]}}").name == "2024"


@for_each("event", sorted(EVENTS))
def test_every_event_of_lakefs_can_be_named(event):
    assert parse_action(f"name: any\non: {{{event}: }}".encode()).events == {event: ()}


@for_each(
    ("kind", "properties"),
    [
        ("lua", "{script: x}"),
        ("lua", "{script_path: x}"),
        ("airflow", "{url: x, dag_id: x, username: x, password: x}"),
        ("lambda", "{function: x}"),
        ("eventbridge", "{bus: x}"),
    ],
)
def test_every_type_of_hook_is_known(kind, properties):
    text = f"name: any\non: {{pre-commit: }}\nhooks: [{{id: hook, type: {kind}, properties: {properties}}}]"
    (hook,) = parse_action(text.encode()).hooks
    assert (hook.id, hook.kind) == ("hook", kind)


@for_each(
    ("timeout", "expected_s"),
    [("1m30s", 90), ("'250ms'", 0.25), ("30", 60), ("true", 60), ("[1s]", 60), ("", 60)],
)
def test_a_time_out_is_a_duration_with_a_unit(timeout, expected_s):
    assert parse_action(with_timeout(timeout)).hooks[0].timeout_s() == expected_s


@for_each("timeout", ["soon", "'30'", "-1s", "0s", "30 s"])
def test_a_time_out_must_be_positive(timeout):
    (hook,) = parse_action(with_timeout(timeout)).hooks
    with pytest.raises(InvalidInputError, match="time: invalid duration"):
        hook.timeout_s()


def with_timeout(text):
    properties = f"{{url: x, timeout: {text}}}"
    hook = f"{{id: hook, type: webhook, properties: {properties}}}"
    return f"name: any\non: {{pre-commit: }}\nhooks: [{hook}]".encode()


def test_all_faults_are_found_if_none_is_raised():
    faults = []
    text = "name: x\non: {now: }\nhooks: [text, {id: 1, if: [x]}]\ndescription: []"
    action = parse_action(text.encode(), faults.append)
    assert [fault.partition(":")[0] for fault in faults] == [
        "'description' is not a text",
        "'name' is 'x'",
        f"event 'now' is not one of {', '.join(sorted(EVENTS))}",
        "hook[0] is not a mapping",
        "'if' is not a text",
        "hook[1]",
        "hook[1]",
    ]
    assert [hook.id for hook in action.hooks] == ["", "1"]


MALFORMED = {
    "": "'name' is required: it must have 2 to 256",
    "just text": "the document is not a mapping",
    "on: {pre-commit: }": "'name' is",
    "name: x\non: {pre-commit: }": "'name' is 'x'",
    "name: a/b\non: {pre-commit: }": "'name' is 'a/b'",
    f"name: {'a' * 257}\non: {{pre-commit: }}": "2 to 256 letters",
    "name: [ab]\non: {pre-commit: }": "'name' is not a text",
    "name: any": "'on' is required",
    "name: any\non: pre-commit": "'on' is not a mapping",
    "name: any\non: [pre-commit]": "'on' is not a mapping",
    "name: any\non: {before-commit: }": "event 'before-commit' is not one of",
    "name: any\non: {pre-commit: main}": "'pre-commit' is not a mapping",
    "name: any\non: {pre-commit: {branches: main}}": "'branches' is not a list",
    "name: any\non: {pre-commit: {branches: [[main]]}}": "a pattern of 'branches' is not a text",
    "name: any\non: {pre-create-tag: {branches: [main]}}": "not supported for event 'pre-create-tag'",
    "name: any\non: {pre-commit: }\nhooks: {a: b}": "'hooks' is not a list",
    "name: any\non: {pre-commit: }\nhooks: [text]": "hook[0] is not a mapping",
    "name: any\non: {pre-commit: }\nhooks: [{type: lua}]": "hook[0]: 'id' is missing",
    "name: any\non: {pre-commit: }\nhooks: [{id: a, type: lua}]": "hook[0]: 'id' is missing",
    "name: any\non: {pre-commit: }\nhooks: [{id: ab, type: shell}]": "'type' 'shell' is not one of",
    "name: any\non: {pre-commit: }\nhooks: [{id: ab, type: lua}]": "'script' or 'script_path'",
    "name: any\non: {pre-commit: }\nhooks: [{id: ab, type: lua, if: [x]}]": "'if' is not a text",
    f"name: any\non: {{pre-commit: }}\nhooks:{HOOK}{HOOK}": "'check_format' is already used",
}


@for_each(("text", "reason"), MALFORMED.items())
def test_a_malformed_action_is_refused_with_its_reason(text, reason):
    with pytest.raises(InvalidInputError) as refused:
        parse_action(text.encode())
    assert reason in refused.value.message


def test_a_malformed_pattern_counts_when_its_event_comes():
    action = parse_action(b"name: any\non: {pre-commit: {branches: ['[']}}")
    assert not action.runs_at("pre-merge", "main")
    with pytest.raises(InvalidInputError, match="malformed"):
        action.runs_at("pre-commit", "main")
