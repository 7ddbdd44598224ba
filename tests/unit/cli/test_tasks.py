"""`graveler tasks`."""

import pytest

TASKS = "/api/v1/repositories/foo/tasks"
TASK_ID = "CAd8qj3tkbtms0fh2ok8ng"
SHOW = ("tasks", "show", "lakefs://foo", TASK_ID)
WAIT = ("tasks", "wait", "lakefs://foo", TASK_ID)

RUNNING = {
    "id": TASK_ID,
    "kind": "commit",
    "state": "running",
    "branch": "main",
    "user": "ada",
    "creation_time": "2024-08-02T14:13:33Z",
    "update_time": "2024-08-02T14:13:40Z",
    "objects_done": 3,
    "objects_known": 40,
}
DONE = {**RUNNING, "state": "completed", "objects_done": 40, "result": {"commit_id": "1a2b"}}
REFUSED = {
    **RUNNING,
    "state": "failed",
    "status_code": 400,
    "error": {"message": "commit: no changes", "details": "nothing is staged on branch 'main'"},
}
BROKEN = {
    **RUNNING,
    "state": "failed",
    "status_code": 503,
    "error": {"message": "S3 does not answer: retry later"},
}
CANCELLED = {
    **RUNNING,
    "state": "cancelled",
    "is_cancelled": True,
    "status_code": 409,
    "error": {"message": "the task was cancelled"},
}


def page(*tasks, next_offset=""):
    pagination = {
        "has_more": next_offset != "",
        "next_offset": next_offset,
        "results": len(tasks),
        "max_per_page": 1000,
    }
    return {"pagination": pagination, "results": tasks}


@pytest.fixture(autouse=True)
def _in_new_york_and_in_a_hurry(time_zone, monkeypatch):
    time_zone("America/New_York")
    monkeypatch.setattr("graveler_cli.tasks._POLL_INTERVAL_S", 0.01)


# list


def test_list_shows_a_line_for_each_task(graveler, server):
    dump = {**DONE, "id": "DRx", "kind": "dump"}
    del dump["branch"]
    server.will_answer(page(RUNNING, dump))
    assert graveler.prints("tasks", "ls", "lakefs://foo") == (
        "CAd8qj3tkbtms0fh2ok8ng\tcommit\trunning\t3\t40\tmain\t2024-08-02 10:13:40 -0400 EDT\n"
        "DRx\tdump\tcompleted\t40\t40\t-\t2024-08-02 10:13:40 -0400 EDT\n"
    )
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", f"{TASKS}?after=&amount=100")


def test_list_of_no_tasks_shows_nothing(graveler, server):
    server.will_answer(page())
    assert graveler.prints("tasks", "list", "lakefs://foo") == ""


def test_list_asks_for_the_page_that_is_wanted(graveler, server):
    server.will_answer(page(RUNNING, next_offset=TASK_ID))
    graveler.prints("tasks", "list", "lakefs://foo", "--amount", "1", "--after", "CAx")
    assert server.asked[0].path == f"{TASKS}?after=CAx&amount=1"


# show and cancel


def test_show_tells_how_far_a_task_is(graveler, server):
    server.will_answer(RUNNING)
    assert graveler.prints(*SHOW) == (
        "Task-ID: CAd8qj3tkbtms0fh2ok8ng\n"
        "Kind: commit\n"
        "State: running\n"
        "Branch: main\n"
        "User: ada\n"
        "Started: 2024-08-02 10:13:33 -0400 EDT\n"
        "Updated: 2024-08-02 10:13:40 -0400 EDT\n"
        "Progress: 3 of 40 objects\n"
    )
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", f"{TASKS}/{TASK_ID}")


def test_show_tells_what_a_task_did(graveler, server):
    server.will_answer(DONE)
    assert graveler.prints(*SHOW).endswith("Progress: 40 of 40 objects\nCommit: 1a2b\n")


def test_show_tells_why_a_task_failed(graveler, server):
    server.will_answer(REFUSED)
    assert graveler.prints(*SHOW).endswith(
        "Error: commit: no changes\n\tnothing is staged on branch 'main'\n"
    )


def test_cancel_shows_a_task_that_had_not_begun_as_cancelled(graveler, server):
    server.will_answer(CANCELLED)
    shown = graveler.prints("tasks", "cancel", "lakefs://foo", TASK_ID)
    assert "State: cancelled\n" in shown
    assert "Error" not in shown
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("DELETE", f"{TASKS}/{TASK_ID}")


def test_cancel_shows_that_a_running_task_is_about_to_stop(graveler, server):
    server.will_answer({**RUNNING, "is_cancelled": True})
    shown = graveler.prints("tasks", "cancel", "lakefs://foo", TASK_ID)
    assert "State: running, cancelled: it stops soon\n" in shown


def test_cancel_of_a_task_that_has_ended_fails(graveler, server):
    server.will_answer({"message": "task CAx has ended: it is completed"}, status=409)
    told = graveler.fails("tasks", "cancel", "lakefs://foo", "CAx")
    assert told == "task CAx has ended: it is completed"


@pytest.mark.parametrize("task_id", ["", "..", "a/b", "a?b"])
@pytest.mark.parametrize("command", ["show", "cancel", "wait"])
def test_an_id_that_would_name_something_else_is_refused(graveler, server, command, task_id):
    told = graveler.fails("tasks", command, "lakefs://foo", task_id)
    assert told == (f"{task_id!r} is not a task's ID: write one that `graveler tasks list` shows")
    assert server.asked == []


# wait


def test_wait_shows_the_task_when_it_has_ended(graveler, server):
    server.will_answer({**RUNNING, "state": "waiting"}, RUNNING, RUNNING, DONE)
    shown = graveler.prints(*WAIT)
    assert "State: completed\n" in shown
    assert shown.endswith("Commit: 1a2b\n")
    assert len(server.asked) == 4


def test_wait_for_a_task_that_has_ended_asks_once(graveler, server):
    server.will_answer(DONE)
    graveler.prints(*WAIT)
    assert len(server.asked) == 1


def test_wait_for_a_task_that_a_user_can_mend_says_so(graveler, server):
    server.will_answer(RUNNING, REFUSED)
    assert graveler.fails(*WAIT) == (
        f"task {TASK_ID} failed: commit: no changes: nothing is staged on branch 'main'; "
        "correct that, then send the request that started it again"
    )


def test_wait_for_a_task_that_failed_by_the_servers_fault_says_so(graveler, server):
    server.will_answer(RUNNING, BROKEN)
    assert graveler.fails(*WAIT) == (
        f"task {TASK_ID} failed: S3 does not answer: retry later; send the request that started "
        "it again; if that fails too, tell the server's operator"
    )


def test_wait_for_a_task_that_is_cancelled_meanwhile_fails(graveler, server):
    server.will_answer(RUNNING, CANCELLED)
    told = graveler.fails(*WAIT)
    assert told.startswith(f"task {TASK_ID} was cancelled and has no effect: ")


def test_wait_draws_a_bar_on_a_terminal(graveler, server):
    server.will_answer(RUNNING, RUNNING, DONE)
    result = graveler.run(*WAIT, TERM="xterm", TTY_COMPATIBLE="1")
    assert " 3/40" in result.stderr
    assert result.exit_code == 0
