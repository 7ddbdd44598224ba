"""A hook's refusal: one line with the check and its reason, in any command."""

import json
from unittest.mock import Mock

import pytest

from graveler_cli.hook_refusals import in_one_line

COMMIT = ("commit", "lakefs://foo/main", "-m", "x")
OUTPUT = "/api/v1/repositories/foo/actions/runs/4ola2a/hooks/0000_0000/output"
BY_STATUS = "webhook request failed (status code: 403)"
AIRFLOW = "status code (401): airflow hook request failed"


def refusal(event: str, *hooks: tuple[str, str, str], prefix: str = "") -> dict[str, str]:
    """The server's message; a hook is its action, its ID and its error."""
    count = "1 error occurred" if len(hooks) == 1 else f"{len(hooks)} errors occurred"
    errors = "\n\t* ".join(
        f"hook run id '{number:04}_0000' failed on action '{action}' hook '{hook}': "
        f"action failed: {error}"
        for number, (action, hook, error) in enumerate(hooks)
    )
    head = f"{prefix}{event} hook aborted, run id '4ola2a'"
    return {"message": f"{head}: {count}:\n\t* {errors}\n\n"}


def output(status: str, body: str, kind: str = "text/plain", *, end: str = "\n") -> str:
    """The output of a hook whose target answered."""
    answer = f"HTTP/1.1 {status}\nContent-Type: {kind}\n\n{body}"
    request = "Request:\nPOST http://127.0.0.1/\nRequest Body:\n{}\n\n\nRequest duration: 0.002s\n"
    return f"{request}\nResponse:\n{answer}{end}Error: action failed: {BY_STATUS}\n"


@pytest.mark.parametrize(
    ("event", "stopped"),
    [
        ("prepare-commit", "this commit"),
        ("pre-commit", "this commit"),
        ("pre-merge", "this merge"),
        ("pre-revert", "this revert"),
        ("pre-cherry-pick", "this cherry-pick"),
        ("pre-create-branch", "the creation of this branch"),
        ("pre-delete-branch", "the deletion of this branch"),
        ("pre-create-tag", "the creation of this tag"),
        ("pre-delete-tag", "the deletion of this tag"),
        ("pre-paint", "this operation"),
    ],
)
def test_the_line_names_the_check_and_what_it_stopped(graveler, server, event, stopped):
    refused = refusal(event, ("gate", "check_schema", "no answer from 'h'"), prefix="update: ")
    server.will_answer(refused, status=412)
    told = graveler.fails("tag", "create", "lakefs://foo/v1", "lakefs://foo/main")
    assert told == f"the check \"check_schema\" stopped {stopped}: no answer from 'h'"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("no answer in 2 s: context deadline exceeded", "no answer in 2 s"),
        (
            "context deadline exceeded: there is no time left for this hook",
            "there is no time left for this hook",
        ),
        (
            "the function answered: id is missing\nin 2 files",
            "the function answered: id is missing in 2 files",
        ),
        ("airflow hook DAG failed", "airflow hook DAG failed"),
    ],
)
def test_the_reason_is_the_hook_s_error(graveler, server, error, reason):
    server.will_answer(refusal("pre-commit", ("gate", "check", error)), status=412)
    result = graveler.run(*COMMIT)
    assert result.stdout == "Branch: lakefs://foo/main\n"
    assert result.stderr == f'error: the check "check" stopped this commit: {reason}\n'


@pytest.mark.parametrize(
    ("error", "text", "reason"),
    [
        (
            BY_STATUS,
            output("403 Forbidden", "id is missing\nin 2 files"),
            "id is missing in 2 files (403 Forbidden)",
        ),
        # As lakeFS writes it.
        (
            BY_STATUS,
            output("403 Forbidden", "id is missing", end="").replace("\n", "\r\n"),
            "id is missing (403 Forbidden)",
        ),
        (BY_STATUS, output("403 Forbidden", ""), "the answer was 403 Forbidden"),
        (
            BY_STATUS,
            output("403 Forbidden", "<html>", "text/html;charset=utf-8"),
            "the answer was 403 Forbidden",
        ),
        (BY_STATUS, output("403 Forbidden", "<p>", "Text/HTML"), "the answer was 403 Forbidden"),
        (BY_STATUS, output("403 ", "x" * 400), f"{'x' * 300}... (403)"),
        (BY_STATUS, output("403 ", "x" * 300), f"{'x' * 300} (403)"),
        (
            BY_STATUS,
            output("403 ", "Error: action failed: no id"),
            "Error: action failed: no id (403)",
        ),
        (BY_STATUS, output("403 ", "no id: Response:\nHTTP/2"), "no id: Response: HTTP/2 (403)"),
        (BY_STATUS, "no longer stored", "the answer was 403"),
        (AIRFLOW, output("401 Unauthorized", "who?"), "who? (401 Unauthorized)"),
    ],
)
def test_the_reason_is_the_target_s_answer(graveler, server, error, text, reason):
    server.will_answer(refusal("pre-commit", ("gate", "check", error)), status=412)
    server.will_say(200, text, "text/plain")
    told = json.loads(graveler.run(*COMMIT, "--json").stderr)
    assert told["error"] == f'the check "check" stopped this commit: {reason}'
    assert told["status"] == 412
    assert [asked.path for asked in server.asked][1:] == [OUTPUT]


def test_an_answer_that_is_not_utf_8_is_shown_as_far_as_it_is():
    answered = output("403 ", "\xfcber").encode("latin-1")
    message = refusal("pre-commit", ("gate", "check", BY_STATUS))["message"]
    told = in_one_line(message, lambda *_: Mock(content=answered), "foo")
    assert told == 'the check "check" stopped this commit: \ufffdber (403)'


def test_without_the_right_to_read_the_output_the_status_is_the_reason(graveler, server):
    server.will_answer(refusal("pre-commit", ("gate", "check", BY_STATUS)), status=412)
    server.will_answer({"message": "insufficient permissions"}, status=401)
    told = graveler.run(*COMMIT).stderr
    assert told == 'error: the check "check" stopped this commit: the answer was 403\n'


def test_the_line_names_all_checks_that_failed(graveler, server):
    hooks = ("gate", "check", "no answer in 2 s"), ("sizes", "check", BY_STATUS)
    server.will_answer(refusal("pre-merge", *hooks), status=412)
    server.will_say(200, output("403 Forbidden", "too small"), "text/plain")
    assert graveler.run("merge", "lakefs://foo/dev", "lakefs://foo/main").stderr == (
        'error: 2 checks stopped this merge: "check" of "gate": no answer in 2 s; '
        '"check" of "sizes": too small (403 Forbidden)\n'
    )
    assert server.asked[1].path.endswith("/hooks/0001_0000/output")


@pytest.mark.parametrize(
    "message",
    ["pre-commit: action file 'a.yaml': no name", "pre-commit hook aborted, run id '4ola2a': why"],
)
def test_a_message_of_another_form_stays_as_it_is(graveler, server, message):
    server.will_answer({"message": message}, status=412)
    assert graveler.run(*COMMIT).stderr == f"error: {message}\n"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "pre-commit hook aborted, run id 'a': " + "* hook run id 'a' failed on action '" * 20_000,
        "pre-commit hook aborted, run id 'a': \n\t* hook run id 'a' failed on action 'a' hook 'a': "
        "action failed: a" + " " * 200_000 + "a",
        "pre-commit hook aborted, run id 'a': \n\t* hook run id 'a' failed on action 'a"
        + "' hook 'a" * 20_000,
    ],
)
def test_a_long_message_is_understood_at_once(graveler, server, text):
    """These took minutes each: a test that hangs has failed."""
    server.will_answer({"message": text}, status=412)
    assert graveler.run(*COMMIT).exit_code == 1


def test_debug_shows_the_words_of_the_server(graveler, server):
    server.will_answer(refusal("pre-commit", ("gate", "check", "no answer")), status=412)
    assert "pre-commit hook aborted, run id '4ola2a'" in graveler.run(*COMMIT, "--debug").stderr


def test_a_failed_task_names_the_check(graveler, server):
    error = refusal("pre-commit", ("gate", "check", "no answer"))
    times = {"creation_time": "2026-11-27T21:53:43Z", "update_time": "2026-11-27T21:53:43Z"}
    task = {"id": "CA1", "kind": "commit", "state": "failed", "user": "ada", **times}
    server.will_answer({**task, "error": error, "status_code": 412})
    assert graveler.fails("tasks", "wait", "lakefs://foo", "CA1") == (
        'task CA1 failed: the check "check" stopped this commit: no answer; '
        "correct that, then send the request that started it again"
    )


def test_a_failed_import_names_the_check(graveler, server):
    error = refusal("pre-commit", ("gate", "check", "no answer"))
    server.will_answer({}, {"id": "main", "commit_id": "1"}, {"id": "I1"})
    server.will_answer({"completed": True, "update_time": "2026-11-27T21:53:43Z", "error": error})
    told = graveler.fails("import", "--from", "s3://b/p/", "--to", "lakefs://foo/main/p/")
    assert told == 'import failed: the check "check" stopped this commit: no answer'
