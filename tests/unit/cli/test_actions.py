"""`graveler actions` and `cat-hook-output`: runs of hooks, and the syntax of action files."""

import json
import subprocess
import sys

import pytest

from graveler.limits import ACTION_FILE_BYTES_MAX
from graveler_cli.action_files import check

URI = "lakefs://example"
RUNS = "/api/v1/repositories/example/actions/runs"
LAST = {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}
RUN = {
    "run_id": "r1",
    "branch": "main",
    "start_time": "2026-01-02T03:04:05.500Z",
    "end_time": "2026-01-02T03:04:06Z",
    "event_type": "pre-commit",
    "status": "failed",
    "commit_id": "",
}
HOOK = {
    "hook_run_id": "0000_0000",
    "action": "gate",
    "hook_id": "check",
    "start_time": "2026-01-02T03:04:05Z",
    "status": "failed",
}
ROW = (
    "r1\tpre-commit\tmain\t2026-01-02 03:04:05.5 +0000 UTC\t2026-01-02 03:04:06 +0000 UTC\t\tfailed"
)

GOOD = """
name: gate
on: {pre-commit: {branches: ["main", "re*/[a-z]?"]}, post-create-tag: }
hooks:
  - {id: check, type: webhook, properties: {url: "https://x", timeout: 1m30s}}
  - {id: tell, type: eventbridge, if: "not success() or (failure() && true)", properties: {bus: b}}
"""


def test_runs_are_listed(graveler, server):
    server.will_answer({"pagination": LAST, "results": [RUN]})
    shown = graveler.prints("actions", "runs", "list", URI, "--branch", "main")
    times = "2026-01-02 03:04:05.5 +0000 UTC\t2026-01-02 03:04:06 +0000 UTC"
    assert shown == f"r1\tpre-commit\t{times}\tmain\t\tfailed\n\n"
    assert server.asked[0].path == f"{RUNS}?after=&amount=100&branch=main"
    shown = graveler.prints("actions", "runs", "list", URI, "--json")
    assert json.loads(shown) == RUN


def test_a_skipped_hook_has_no_times_on_a_terminal(graveler, server):
    hook = {**HOOK, "status": "skipped", "start_time": "0001-01-01T00:00:00Z", "end_time": None}
    server.will_answer(RUN, {"pagination": LAST, "results": [hook]}, "")
    shown = graveler.prints("actions", "runs", "describe", URI, "r1", LAKECTL_INTERACTIVE="true")
    assert "| check   | -          | -        | gate   |" in shown


def test_branch_and_commit_exclude_each_other(graveler, server):
    told = graveler.fails("actions", "runs", "list", URI, "--branch", "a", "--commit", "b")
    assert told == "--branch and --commit exclude each other: choose one"
    assert server.asked == []


def test_a_run_is_described_with_the_output_of_its_hooks(graveler, server):
    server.will_answer(RUN, {"pagination": LAST, "results": [HOOK]})
    server.will_say(200, "it said no\n", "application/octet-stream")
    result = graveler.run("actions", "runs", "describe", URI, "r1")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Repository: lakefs://example",
        ROW,
        "0000_0000\tcheck\t2026-01-02 03:04:05 +0000 UTC\t<nil>\tgate\tfailed",
        "it said no",
        "",
    ]
    assert server.asked[1].path == f"{RUNS}/r1/hooks?after=&amount=1000"
    assert server.asked[2].path == f"{RUNS}/r1/hooks/0000_0000/output"


def test_all_hooks_are_described_page_by_page(graveler, server):
    more = {**LAST, "has_more": True, "next_offset": "0000_0000"}
    server.will_answer(RUN, {"pagination": more, "results": [HOOK]})
    server.will_say(200, "one")
    server.will_answer({"pagination": LAST, "results": [HOOK]})
    server.will_say(200, "two")
    shown = graveler.prints("actions", "runs", "describe", URI, "r1", "--json")
    assert [hook["output"] for hook in json.loads(shown)["hooks"]] == ["one", "two"]
    assert server.asked[3].path.endswith("hooks?after=0000_0000&amount=1000")


def test_an_amount_of_hooks_is_one_page(graveler, server):
    more = {**LAST, "has_more": True, "next_offset": "0000_0000"}
    server.will_answer(RUN, {"pagination": more, "results": [HOOK]})
    server.will_say(200, "")
    graveler.prints("actions", "runs", "describe", URI, "r1", "--amount", "1")
    assert len(server.asked) == 3


def test_the_output_of_a_hook_is_shown(graveler, server):
    server.will_say(200, "it said no\n", "application/octet-stream")
    shown = graveler.prints("cat-hook-output", URI, "r1", "0000_0000")
    assert shown == "Repository: lakefs://example\nit said no\n\n"
    shown = graveler.prints("cat-hook-output", URI, "r1", "0000_0000", "--json")
    assert json.loads(shown) == {"output": "it said no\n"}


COMMANDS = [
    ("actions", "runs", "list", URI),
    ("actions", "runs", "describe", URI, "r1"),
    ("cat-hook-output", URI, "r1", "0000_0000"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_refusal_is_the_servers_message(graveler, server, command):
    server.will_answer({"message": "not found: not found"}, status=404)
    result = graveler.run(*command)
    assert (result.exit_code, result.stderr) == (1, "error: not found: not found\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_or_wrong_argument_is_refused(graveler, server, command):
    assert "missing argument" in graveler.fails(*command[:-1])
    wrong = ["lakefs://a/b" if word == URI else word for word in command]
    assert "does not name a repository" in graveler.fails(*wrong)
    assert server.asked == []


# validate


def test_a_valid_file_is_validated(graveler, server, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(GOOD)
    shown = graveler.prints("actions", "validate", str(file))
    assert shown == f"File validated successfully: '{file}'\n"
    shown = json.loads(graveler.prints("actions", "validate", str(file), "--json"))
    assert shown == {"file": str(file), "is_valid": True, "faults": [], "warnings": []}
    assert server.asked == []


def test_hooks_that_are_not_served_are_warned_of(graveler):
    text = "name: gate\non: {pre-commit: }\nhooks: [{id: ab, type: lua, properties: {script: x}}]"
    result = graveler.run("actions", "validate", "-", stdin=text)
    assert (result.exit_code, result.stdout) == (0, "File validated successfully: '-'\n")
    assert result.stderr.startswith("warning: -: hook[0]: hooks of type 'lua' are not served")


def test_a_time_out_that_the_server_ignores_is_warned_of(graveler):
    hook = "{id: ab, type: webhook, properties: {url: x, timeout: 30}}"
    text = f"name: gate\non: {{pre-commit: }}\nhooks: [{hook}]"
    result = graveler.run("actions", "validate", "-", stdin=text)
    assert (result.exit_code, result.stdout) == (0, "File validated successfully: '-'\n")
    told = "warning: -: hook[0]: 'timeout' 30 is ignored: write it as 30s or 5m\n"
    assert result.stderr == told


HOOK_FAULTS = [
    ("{id: 1x, type: webhook, properties: {url: u}}", "'id' is missing or malformed"),
    ("{id: ab, type: web, properties: {url: u}}", "'type' 'web' is not one of"),
    ("{id: ab, type: webhook}", "'properties' must have 'url'"),
    ("{id: ab, type: lua}", "'properties' must have 'script' or 'script_path'"),
    ("{id: ab, type: webhook, properties: [u]}", "'properties' is not a mapping"),
    ("{id: ab, type: webhook, properties: {url: }}", "hook[0]: 'url' is empty"),
    ("{id: ab, type: webhook, properties: {url: [u]}}", "hook[0]: 'url' is not a text"),
    ("{id: ab, type: webhook, if: nonsense, properties: {url: u}}", "expression 'nonsense' is not"),
    ("{id: ab, type: webhook, if: 'true true', properties: {url: u}}", "expression 'true true'"),
    ("{id: ab, type: webhook, if: '(true', properties: {url: u}}", "expression '(true'"),
    ("{id: ab, type: webhook, if: 'true and', properties: {url: u}}", "expression 'true and'"),
    (
        "{id: ab, type: webhook, properties: {url: u, timeout: soon}}",
        "hook[0]: 'timeout': time: invalid duration 'soon': write it as 30s",
    ),
    ("{id: ab, type: webhook, description: [], properties: {url: u}}", "'description' is not"),
    ("text", "hook[0] is not a mapping"),
]

FAULTS = [
    ("", "'name' is required"),
    ("- a", "not a mapping"),
    ("a: [", "is not YAML"),
    ("a: 1\na: 2", "line 2: key 'a' is already defined"),
    ("[" * 101, "nested deeper than 100 levels"),
    ("a: &a [*a]", "contains itself"),
    ("? [a]\n: b", "the key is not a text"),
    ("on: {pre-commit: }", "'name' is required"),
    ("name: a\non: {pre-commit: }", "it must have 2 to 256"),
    ("name: gate", "'on' is required"),
    ("name: gate\non: [pre-commit]", "'on' is not a mapping"),
    ("name: gate\non: {pre-push: }", "event 'pre-push' is not one of"),
    ("name: gate\non: {pre-commit: x}", "'pre-commit' is not a mapping"),
    ("name: gate\non: {pre-commit: {branches: main}}", "is not a list"),
    ("name: gate\non: {pre-commit: {branches: ['[a']}}", "branch pattern '[a'"),
    ("name: gate\non: {pre-create-tag: {branches: [a]}}", "not supported for event"),
    ("name: gate\non: {pre-commit: }\nhooks: x", "'hooks' is not a list"),
    *((f"name: gate\non: {{pre-commit: }}\nhooks: [{hook}]", fault) for hook, fault in HOOK_FAULTS),
    (
        "name: gate\non: {pre-commit: }\nhooks: [&a {id: ab, type: lua, properties: {script: f}}, *a]",
        "hook[1]: 'id' 'ab' is already used",
    ),
    (
        "name: gate\non: {pre-commit: }\nhooks: [text, {type: webhook, if: 'foo(', properties: {url: u}}]",
        "hook[1]: hook 'if' expression 'foo('",
    ),
]


@pytest.mark.parametrize(("text", "fault"), FAULTS)
def test_a_fault_is_named(graveler, tmp_path, text, fault):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    told = graveler.fails("actions", "validate", str(file))
    assert told.startswith(f"{file}: ")
    assert fault in told


def test_documents_after_the_first_are_ignored_as_by_the_server():
    assert check(f"{GOOD}---\n[".encode()).faults == []


def test_the_check_needs_no_package_of_a_server(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(GOOD)
    program = (
        "import sys\n"
        "for name in ('re2', 'boto3', 'google', 'cramjam', 'httptools'): sys.modules[name] = None\n"
        "import yaml; del yaml.CSafeLoader\n"
        f"sys.argv[1:] = ['actions', 'validate', {str(file)!r}]\n"
        "from graveler_cli.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stderr, done.stdout) == ("", f"File validated successfully: '{file}'\n")


def test_all_faults_are_shown_at_once(graveler):
    result = graveler.run("actions", "validate", "-", "--json", stdin="hooks: [{}]")
    assert result.exit_code == 1
    assert len(json.loads(result.stdout)["faults"]) == 4


def test_a_file_that_is_too_large_or_missing_is_refused(graveler, tmp_path):
    assert check(b" " * (ACTION_FILE_BYTES_MAX + 1)).faults
    told = graveler.fails("actions", "validate", str(tmp_path / "none"))
    assert told == f"cannot read {tmp_path}/none: no such file or directory"
    assert "missing argument" in graveler.fails("actions", "validate")
