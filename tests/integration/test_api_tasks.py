"""Tasks over HTTP: asynchronous commits and merges, requests that wait, and the list of tasks."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest

from graveler.http.errors import RETRY_AFTER_S
from graveler.model.tasks import LEASE_S, TaskSettings
from tests.support.clients.api import ApiClient, Reply
from tests.support.fakes.tasks import run
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash

REPO = "/repositories/repo"
COMMITS = f"{REPO}/branches/main/commits"
MERGE = f"{REPO}/refs/dev/merge/main"
# A request leaves everything that takes time to a task, and does not wait for it.
IMPATIENT = TaskSettings(request_work_s=0, request_wait_s=0)


@pytest.fixture
def api() -> ApiClient:
    """A repository with staged changes on `main`, whose branch `dev` has a commit more."""
    return prepared(ApiClient())


def prepared(api: ApiClient) -> ApiClient:
    api.repository()
    api.upload("a")
    api.upload("b")
    api.commit()
    api.branch("dev")
    api.upload("a", b"2", branch="dev")
    api.upload("on-dev", branch="dev")
    api.commit("on dev", branch="dev")
    api.upload("staged")
    return api


@pytest.fixture
def waiting() -> ApiClient:
    """The same, where requests leave their work to tasks."""
    api = prepared(ApiClient())
    api.leave_to_tasks(IMPATIENT)
    return api


def started(api: ApiClient, path: str, body: Any = None) -> str:
    reply = api.ask("POST", f"{path}/async", body)
    assert reply.status == 202
    assert list(reply.json) == ["id"]
    return str(reply.json["id"])


def status(api: ApiClient, path: str, task_id: str) -> dict[str, Any]:
    reply = api.ask("GET", f"{path}/async/{task_id}/status")
    assert reply.status == 200
    assert reply.json["task_id"] == task_id
    assert 0 <= api.engine.now_s() - seconds(reply.json["update_time"]) < 600
    return {name: value for name, value in reply.json.items() if name[-2:] not in ("id", "me")}


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def head(api: ApiClient, ref: str = "main") -> Any:
    return api.ask("GET", f"{REPO}/commits/{ref}").json


def task(api: ApiClient, task_id: str) -> dict[str, Any]:
    reply = api.ask("GET", f"{REPO}/tasks/{task_id}")
    assert reply.status == 200
    found: dict[str, Any] = reply.json
    return found


class TestAsynchronousCommits:
    def test_the_status_has_the_commit_when_it_is_made(self, api):
        body = {"message": "by a task", "metadata": {"k": "v"}, "date": 7}
        task_id = started(api, COMMITS, body)
        assert task_id.startswith("CA")
        assert status(api, COMMITS, task_id) == {"completed": False}
        api.run_tasks()
        made = head(api)
        assert (made["message"], made["metadata"], made["creation_date"], made["committer"]) == (
            "by a task",
            {"k": "v"},
            7,
            "ann",
        )
        ended = {"completed": True, "result": made, "status_code": 201}
        assert status(api, COMMITS, task_id) == ended

    def test_the_status_of_a_failed_commit_has_what_the_commit_would_have_answered(self, api):
        api.commit()
        task_id = started(api, COMMITS, {"message": "m"})
        api.run_tasks()
        refused = api.ask("POST", COMMITS, {"message": "m"})
        ended = {"completed": True, "error": refused.json, "status_code": refused.status}
        assert status(api, COMMITS, task_id) == ended
        assert refused.status == 400

    def test_what_is_known_to_be_wrong_is_refused_at_once(self, api):
        for path, body, expected in (
            (COMMITS, {}, 400),
            (f"{REPO}/branches/none/commits", {"message": "m"}, 404),
            ("/repositories/none/branches/main/commits", {"message": "m"}, 404),
            (COMMITS, {"message": "m" * 400_000}, 400),
        ):
            assert api.ask("POST", f"{path}/async", body).status == expected
        api.ask("PUT", f"{REPO}/settings/branch_protection", [{"pattern": "main"}])
        assert api.ask("POST", f"{COMMITS}/async", {"message": "m"}).status == 403
        assert api.ask("GET", f"{REPO}/tasks").json["results"] == []

    def test_equal_commits_share_a_task_until_something_else_is_staged(self, api):
        first = started(api, COMMITS, {"message": "m"})
        assert started(api, COMMITS, {"message": "m"}) == first
        api.upload("later")
        assert started(api, COMMITS, {"message": "m"}) != first
        assert started(api, COMMITS, {"message": "other"}) != first

    def test_a_commit_of_a_metarange(self, api):
        metarange = head(api, "dev")["meta_range_id"]
        api.ask("PUT", f"{REPO}/branches/main", {"type": "reset"})
        reply = api.ask("POST", f"{COMMITS}/async", {"message": "m"}, source_metarange=metarange)
        api.run_tasks()
        assert status(api, COMMITS, reply.json["id"])["result"]["meta_range_id"] == metarange


class TestAsynchronousMerges:
    @pytest.fixture
    def api(self) -> ApiClient:
        api = prepared(ApiClient())
        api.commit()
        return api

    @pytest.mark.parametrize("body", [None, {}, {"message": "mine", "squash_merge": True}])
    def test_the_status_has_the_reference_when_it_is_merged(self, api, body):
        task_id = started(api, MERGE, body)
        assert task_id.startswith("MA")
        assert status(api, MERGE, task_id) == {"completed": False}
        api.run_tasks()
        made = head(api)
        assert made["message"] == (body or {}).get("message", "Merge 'dev' into 'main'")
        result = {"reference": made["id"]}
        ended = {"completed": True, "result": result, "status_code": 200}
        assert status(api, MERGE, task_id) == ended
        assert api.paths() == ["a", "b", "on-dev", "staged"]

    def test_a_conflict_is_shown_as_409(self, api):
        api.upload("a", b"3")
        api.commit()
        task_id = started(api, MERGE)
        api.run_tasks()
        shown = status(api, MERGE, task_id)
        assert (shown["completed"], shown["status_code"], "result" in shown) == (True, 409, False)
        assert shown["error"]["message"]

    def test_the_source_is_merged_as_it_was_when_the_task_was_started(self, api):
        source = head(api, "dev")["id"]
        started(api, MERGE)
        api.upload("later", branch="dev")
        api.commit("later", branch="dev")
        api.run_tasks()
        assert head(api)["parents"][1] == source
        assert "later" not in api.paths()

    def test_what_is_known_to_be_wrong_is_refused_at_once(self, api):
        for path, body, expected in (
            (f"{REPO}/refs/none/merge/main", None, 404),
            (f"{REPO}/refs/dev/merge/none", None, 404),
            (MERGE, {"strategy": "nobody-wins"}, 400),
        ):
            assert api.ask("POST", f"{path}/async", body).status == expected
        assert api.ask("GET", f"{REPO}/tasks").json["results"] == []


@pytest.mark.parametrize("path", [COMMITS, MERGE])
def test_a_task_of_another_kind_or_repository_has_no_status(api, path):
    other = MERGE if path == COMMITS else COMMITS
    task_id = started(api, other, {"message": "m"})
    api.repository("second")
    for wrong in (
        f"{path}/async/{task_id}/status",
        f"{path}/async/none/status",
        f"{other.replace('repo/', 'second/')}/async/{task_id}/status",
        f"{other.replace('repo/', 'none/')}/async/{task_id}/status",
    ):
        assert api.ask("GET", wrong).status == 404


class TestTasks:
    def test_a_task_shows_what_it_does(self, api):
        task_id = started(api, COMMITS, {"message": "m"})
        shown = task(api, task_id)
        assert seconds(shown.pop("creation_time")) <= seconds(shown.pop("update_time"))
        expected = {
            "id": task_id,
            "kind": "commit",
            "state": "waiting",
            "branch": "main",
            "user": "ann",
            "objects_done": 0,
            "objects_known": 0,
        }
        assert shown == expected
        api.run_tasks()
        shown = task(api, task_id)
        assert (shown["state"], shown["result"]) == ("completed", {"commit_id": head(api)["id"]})
        assert shown["objects_done"] == shown["objects_known"] == 1

    def test_a_failed_task_shows_its_error(self, api):
        api.commit()
        task_id = started(api, COMMITS, {"message": "m"})
        api.run_tasks()
        shown = task(api, task_id)
        assert (shown["state"], shown["status_code"]) == ("failed", 400)
        assert shown["error"]["message"] == "commit: no changes"
        assert "result" not in shown

    def test_tasks_are_listed_newest_first_in_pages(self, api):
        made = [started(api, COMMITS, {"message": f"m{number}"}) for number in range(3)]
        api.world.clock.tick(10)
        made.append(started(api, MERGE))
        found, after = [], ""
        while True:
            page = api.ask("GET", f"{REPO}/tasks", amount=3, after=after).json
            found += [row["id"] for row in page["results"]]
            after = page["pagination"]["next_offset"]
            if not page["pagination"]["has_more"]:
                break
        assert found == made[::-1]
        assert page["results"][-1] == task(api, made[0])

    def test_tasks_are_listed_by_branch_and_state(self, api):
        api.commit()
        failed = started(api, COMMITS, {"message": "m"})
        api.run_tasks()
        waiting, elsewhere = started(api, MERGE), started(api, MERGE.replace("main", "dev"))

        def listed(**wanted):
            return [row["id"] for row in api.ask("GET", f"{REPO}/tasks", **wanted).json["results"]]

        assert set(listed()) == set(listed(state="all")) == {failed, waiting, elsewhere}
        assert set(listed(branch="main")) == {failed, waiting}
        assert set(listed(state="open")) == set(listed(state="waiting")) == {waiting, elsewhere}
        assert listed(state="failed") == listed(branch="main", state="failed") == [failed]
        assert listed(branch="main", state="open") == [waiting]
        assert listed(branch="nothing") == listed(state="completed") == []
        assert api.ask("GET", f"{REPO}/tasks", state="lost").status == 400

    def test_a_waiting_task_is_cancelled_at_once(self, api):
        task_id = started(api, COMMITS, {"message": "m"})
        before = head(api)
        reply = api.ask("DELETE", f"{REPO}/tasks/{task_id}")
        assert (reply.status, reply.json["state"]) == (200, "cancelled")
        api.run_tasks()
        shown = task(api, task_id)
        assert (shown["state"], shown["is_cancelled"], shown["status_code"]) == (
            "cancelled",
            True,
            409,
        )
        assert shown["error"]["message"] == "the task was cancelled"
        assert head(api) == before
        assert status(api, COMMITS, task_id)["status_code"] == 409

    def test_a_running_task_that_was_cancelled_says_so_until_it_stops(self, api, monkeypatch):
        task_id = started(api, COMMITS, {"message": "m"})
        move_branch, shown = api.world.refs.move_branch, []

        def cancel_first(*args: Any, **options: Any) -> None:
            if not shown:
                shown.append(api.ask("DELETE", f"{REPO}/tasks/{task_id}").json)
            move_branch(*args, **options)

        monkeypatch.setattr(api.world.refs, "move_branch", cancel_first)
        before = head(api)
        api.run_tasks()
        assert (shown[0]["state"], shown[0]["is_cancelled"]) == ("running", True)
        assert task(api, task_id)["state"] == "cancelled"
        assert head(api) == before

    def test_an_ended_task_cannot_be_cancelled(self, api):
        task_id = started(api, COMMITS, {"message": "m"})
        api.run_tasks()
        reply = api.ask("DELETE", f"{REPO}/tasks/{task_id}")
        assert (reply.status, "it is completed" in reply.message) == (409, True)
        assert task(api, task_id)["state"] == "completed"

    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    def test_a_task_that_does_not_exist_is_not_found(self, api, method):
        api.repository("second")
        task_id = started(api, COMMITS, {"message": "m"})
        for path in (
            f"{REPO}/tasks/none",
            f"{REPO}/tasks/CA{task_id[2:][::-1]}",
            f"/repositories/second/tasks/{task_id}",
            f"/repositories/none/tasks/{task_id}",
        ):
            assert api.ask(method, path).status == 404
        assert api.ask("GET", "/repositories/none/tasks").status == 404
        assert api.ask("GET", f"{REPO}/tasks", amount="x").status == 400


WAITING_COMMITS = f"/waits/api/v1{COMMITS}"


def redirected(
    api: ApiClient, path: str, body: Any, query: str, *, below: str = "/api/v1"
) -> Reply:
    reply = api.ask("POST", path, body, query=query, below=below)
    assert reply.status == 307
    return reply


def query_of(reply: Reply) -> str:
    return urlsplit(reply.headers["Location"]).query


class TestRequestsThatWait:
    def test_a_redirect_leads_to_a_path_that_takes_no_place_of_other_requests(self, waiting):
        reply = redirected(waiting, COMMITS, {"message": "m"}, "")
        url = urljoin(f"https://host/live/api/v1{COMMITS}", reply.headers["Location"])
        assert url.partition("?")[0] == f"https://host/live{WAITING_COMMITS}"
        waiting.run_tasks()
        made = waiting.ask(
            "POST", WAITING_COMMITS, {"message": "m"}, query=query_of(reply), below=""
        )
        assert (made.status, made.json) == (201, head(waiting))

    def test_a_first_request_waits_for_a_moment_and_the_others_longer(self, waiting, monkeypatch):
        waiting.leave_to_tasks(TaskSettings(request_work_s=0, request_wait_s=1000))
        sleep, slept_s = waiting.world.clock.sleep, []

        def slept(seconds: float) -> None:
            slept_s[-1] += seconds
            sleep(seconds)

        monkeypatch.setattr(waiting.world.clock, "sleep", slept)
        for query in ("", "graveler-task=:1", "graveler-task=:2"):
            slept_s.append(0)
            redirected(waiting, COMMITS, {"message": "m"}, query)
        assert slept_s[0] <= 0.5
        assert min(slept_s[1:]) > 10

    @pytest.mark.parametrize("path", ["/waits/api/v1/auth/login", "/waits/api/v1/user", "/waits"])
    def test_below_waits_only_operations_of_repositories_exist(self, waiting, path):
        reply = waiting.ask("POST", path, {}, query="graveler-task=:1", below="")
        assert reply.status == 404

    def test_a_client_follows_three_redirects_and_then_has_to_ask_again(self, waiting):
        path, body, query = f"/api/v1{COMMITS}", {"message": "m"}, "keep=%C3%A9%26&also"
        locations = []
        for _ in range(3):
            reply = redirected(waiting, path, body, query, below="")
            path = WAITING_COMMITS
            place, _, query = reply.headers["Location"].partition("?")
            locations.append((place, query))
            assert query.startswith("keep=%C3%A9%26&also&graveler-task=CA")
        (only,) = waiting.ask("GET", f"{REPO}/tasks").json["results"]
        name = f"graveler-task={quote(only['id'])}"
        assert locations == [
            (place, f"keep=%C3%A9%26&also&{name}:{number}")
            for number, place in enumerate((f"../../../../../..{WAITING_COMMITS}", "", ""), 1)
        ]
        last = waiting.ask("POST", path, body, query=query, below="")
        assert (last.status, last.headers["Retry-After"]) == (503, str(RETRY_AFTER_S))
        assert only["id"] in last.message
        waiting.run_tasks()
        again = waiting.ask("POST", COMMITS, body)
        assert (again.status, again.json) == (201, head(waiting))
        assert len(waiting.ask("GET", f"{REPO}/tasks").json["results"]) == 1

    def test_a_redirect_is_followed_to_the_outcome(self, waiting):
        body = {"message": "m"}
        reply = redirected(waiting, COMMITS, body, "")
        waiting.run_tasks()
        made = waiting.ask("POST", COMMITS, body, query=query_of(reply))
        assert (made.status, made.json) == (201, head(waiting))

    def test_every_synchronous_operation_waits(self, waiting):
        waiting.ask("PUT", f"{REPO}/branches/main", {"type": "reset"})
        rules = {"default_retention_days": 14, "branches": []}
        waiting.ask("PUT", f"{REPO}/settings/gc_rules", rules)
        dev = f"{REPO}/branches/dev"
        pick = head(waiting, "dev")["id"]
        waiting.leave_to_tasks(TaskSettings())
        waiting.upload("c")
        waiting.commit()
        waiting.upload("d", branch="dev")
        waiting.commit(branch="dev")
        waiting.leave_to_tasks(IMPATIENT)
        for method, path, body, success in (
            ("POST", MERGE, {}, 200),
            ("POST", f"{dev}/revert", {"ref": pick, "parent_number": 0}, 204),
            ("POST", f"{REPO}/branches/main/cherry-pick", {"ref": pick}, 201),
            ("PUT", f"{REPO}/refs/dump", None, 201),
            ("POST", f"{REPO}/gc/prepare_commits", None, 201),
        ):
            reply = waiting.ask(method, path, body)
            assert reply.status == 307, path
            waiting.run_tasks()
            query = query_of(reply)
            assert waiting.ask(method, path, body, query=query).status == success, path

    def test_a_conflict_that_a_task_found_is_answered_as_ever(self, waiting):
        waiting.leave_to_tasks(TaskSettings())
        waiting.upload("a", b"3")
        waiting.upload("0", branch="dev")  # passed before the conflict
        waiting.commit(branch="dev")
        waiting.commit()
        waiting.leave_to_tasks(IMPATIENT)
        reply = waiting.ask("POST", MERGE, {})
        assert reply.status == 307
        waiting.run_tasks()
        reply = waiting.ask("POST", MERGE, {}, query=query_of(reply))
        assert reply.status == 409
        assert reply.json == {"reference": "", "details": "both sides changed 'a' differently"}

    def test_what_needs_no_work_is_refused_at_once(self, waiting):
        waiting.ask("PUT", f"{REPO}/branches/main", {"type": "reset"})
        refused = waiting.ask("POST", COMMITS, {"message": "m"})
        assert (refused.status, refused.message[:18]) == (400, "commit: no changes")
        waiting.ask("PUT", f"{REPO}/settings/branch_protection", [{"pattern": "main"}])
        assert waiting.ask("POST", COMMITS, {"message": "m"}).status == 403
        assert waiting.ask("GET", f"{REPO}/tasks").json["results"] == []

    @pytest.mark.parametrize("name", ["", ":", "none:1", "CA:x", ":4", "a:b:c", "%00:1", "é:1"])
    def test_a_name_that_no_answer_gave_does_no_harm(self, waiting, name):
        reply = waiting.ask("POST", COMMITS, {"message": "m"}, query=f"graveler-task={quote(name)}")
        assert reply.status in (307, 503)
        waiting.run_tasks()
        assert head(waiting)["message"] == "m"

    def test_a_runner_that_died_costs_time_only(self, waiting):
        redirected(waiting, COMMITS, {"message": "m"}, "")
        ((_, message),) = waiting.world.task_queue.waiting
        dying = engine_around(waiting.engine, die_at_the_move)
        with pytest.raises(Crash):
            run(dying, message)
        waiting.world.clock.tick(LEASE_S + 1)
        waiting.run_tasks()
        assert waiting.ask("POST", COMMITS, {"message": "m"}).json == head(waiting)


def die_at_the_move(name: str, call: Callable[[], Any]) -> Any:
    if name == "refs.move_branch":
        raise Crash(name)
    return call()
