"""Garbage collection's rules, and the list of active commits, as clients see them."""

import csv
import io
import re
from datetime import datetime
from typing import Any

import pytest
from lakefs_sdk import models

from graveler.operations import repositories
from graveler.retention.files import RULES_FILE
from tests.support.clients.api import ApiClient

RULES = "/repositories/repo/settings/gc_rules"
OLD_RULES = "/repositories/repo/gc/rules"
PREPARE = "/repositories/repo/gc/prepare_commits"
NAMESPACE = "s3://bucket/repo"

SEED_RULES: dict[str, Any] = {
    "default_retention_days": 14,
    "branches": [
        {"branch_id": "main", "retention_days": 21},
        {"branch_id": "dev", "retention_days": 7},
    ],
}
DAY_S = 24 * 60 * 60


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


def rows_of_commits(api: ApiClient, prepared: dict[str, Any]) -> list[list[str]]:
    text = api.engine.objects.get(prepared["gc_commits_location"]).decode()
    return list(csv.reader(io.StringIO(text)))


class TestRules:
    @pytest.mark.parametrize(("method", "path"), [("PUT", RULES), ("POST", OLD_RULES)])
    def test_rules_are_set_read_and_deleted(self, api, method, path):
        assert api.ask(method, path, SEED_RULES).status == 204
        for read in (RULES, OLD_RULES):
            reply = api.ask("GET", read)
            assert reply.status == 200
            models.GarbageCollectionRules.from_dict(reply.json)
            assert reply.json == SEED_RULES  # in this order
        assert api.ask("DELETE", path).status == 204
        assert api.ask("GET", path).status == 404
        assert api.ask("DELETE", path).status == 204

    @pytest.mark.parametrize("change", ["PUT", "DELETE"])
    @pytest.mark.parametrize("state", ["never set", "set", "deleted"])
    def test_rules_are_changed_if_they_are_those_that_were_read(self, api, change, state):
        other = {"default_retention_days": 3, "branches": []}
        if state != "never set":
            api.ask("PUT", RULES, SEED_RULES)
        if state == "deleted":
            api.ask("DELETE", RULES)
        read = {"if-match": api.ask("GET", RULES).headers["ETag"]}
        body = SEED_RULES if change == "PUT" else None
        assert api.ask("PUT", RULES, other, headers=read).status == 204
        reply = api.ask(change, RULES, body, headers=read)
        assert (reply.status, reply.json["message"]) == (412, "Precondition failed")
        assert api.ask("GET", RULES).json == other
        assert api.ask(change, RULES, body).status == 204

    def test_two_users_who_set_the_first_rules_do_not_overwrite_each_other(self, api):
        read = {"if-match": api.ask("GET", RULES).headers["ETag"]}
        assert api.ask("DELETE", RULES, headers=read).status == 204
        assert api.ask("PUT", RULES, SEED_RULES, headers=read).status == 412
        assert api.ask("PUT", RULES, SEED_RULES, headers={"if-match": "*"}).status == 400
        assert api.ask("GET", RULES).status == 404

    @pytest.mark.parametrize("path", [RULES, OLD_RULES])
    def test_a_repository_without_rules_has_none(self, api, path):
        reply = api.ask("GET", path)
        assert reply.status == 404
        assert "not found" in reply.message
        assert "'repo'" in reply.message

    def test_the_file_is_lakefss(self, api):
        api.ask("PUT", RULES, {"default_retention_days": 14, "branches": []})
        uri = f"{NAMESPACE}/_lakefs/retention/gc/rules/config.json"
        assert api.engine.objects.get(uri) == b"\x08\x0e"
        api.engine.objects.put(uri, b"\x12\x08\x0a\x04main\x10\x15", "")
        assert api.ask("GET", RULES).json == {
            "default_retention_days": 0,
            "branches": [{"branch_id": "main", "retention_days": 21}],
        }
        api.engine.objects.put(uri, b"", "")
        assert api.ask("GET", RULES).status == 404

    def test_setting_replaces_all_rules(self, api):
        api.ask("PUT", RULES, SEED_RULES)
        body = {"default_retention_days": 3, "branches": []}
        assert api.ask("PUT", RULES, body).status == 204
        assert api.ask("GET", RULES).json == body

    @pytest.mark.parametrize(
        ("body", "told"),
        [
            ({"branches": []}, "default_retention_days"),
            ({"default_retention_days": 0}, "branches"),
            # What lakectl sends of a file that misspells both fields.
            ({"default_retention_days": 0, "branches": None}, "branches"),
            ({"default_retention_days": -1, "branches": []}, "default_retention_days"),
            ({"default_retention_days": 2**31, "branches": []}, "default_retention_days"),
            ({"default_retention_days": 1.5, "branches": []}, "default_retention_days"),
            ({"default_retention_days": "1", "branches": []}, "default_retention_days"),
            ({"default_retention_days": 1, "branches": [{"branch_id": "a"}]}, "retention_days"),
            ({"default_retention_days": 1, "branches": ["a"]}, "branches"),
            (
                {
                    "default_retention_days": 1,
                    "branches": [{"branch_id": "a", "retention_days": -1}],
                },
                "retention_days",
            ),
            (
                {
                    "default_retention_days": 1,
                    "branches": [{"branch_id": "twice", "retention_days": day} for day in (1, 2)],
                },
                "'twice' has more than one",
            ),
            (
                {
                    "default_retention_days": 1,
                    "branches": [{"branch_id": "a/b", "retention_days": 1}],
                },
                "branch id: invalid value: validation error: 'a/b'",
            ),
        ],
    )
    def test_bad_rules_are_400_and_change_nothing(self, api, body, told):
        api.ask("PUT", RULES, SEED_RULES)
        for method, path in (("PUT", RULES), ("POST", OLD_RULES)):
            reply = api.ask(method, path, body)
            assert reply.status == 400
            assert told in reply.message
        assert api.ask("GET", RULES).json["default_retention_days"] == 14

    def test_a_file_that_is_no_rules_is_500_and_never_none(self, api):
        api.engine.objects.put(f"{NAMESPACE}/{RULES_FILE}", b'{"a": 1}', "")
        for method, path in (("GET", RULES), ("POST", PREPARE), ("POST", f"{PREPARE}/async")):
            reply = api.ask(method, path)
            assert reply.status == 500
            assert RULES_FILE in reply.message

    def test_the_preflight_shows_whether_the_user_may_set_rules(self, api):
        assert api.ask("GET", f"{OLD_RULES}/set_allowed").status == 204
        assert api.ask("GET", "/repositories/absent/gc/rules/set_allowed").status == 404
        api.repository("fixed", read_only=True)
        assert api.ask("GET", "/repositories/fixed/gc/rules/set_allowed").status == 403

    def test_a_repository_that_does_not_exist_has_no_rules(self, api):
        path = "/repositories/absent/settings/gc_rules"
        for method, body in (("GET", None), ("PUT", SEED_RULES), ("DELETE", None)):
            reply = api.ask(method, path, body)
            assert (reply.status, "repository not found" in reply.message) == (404, True)

    def test_a_read_only_repository_is_not_written_to(self, api):
        api.repository("fixed", read_only=True)
        asked = [
            ("PUT", "settings/gc_rules", SEED_RULES),
            ("DELETE", "settings/gc_rules", None),
            ("POST", "gc/prepare_commits", None),
            ("POST", "gc/prepare_commits/async", None),
            ("POST", "gc/prepare_uncommited", {}),
        ]
        for method, path, body in asked:
            assert api.ask(method, f"/repositories/fixed/{path}", body).status == 403

    def test_the_grace_period_is_the_life_of_an_address(self, api):
        assert api.ask("GET", "/config/garbage-collection").json == {"grace_period": DAY_S}


class TestPreparedCommits:
    def history(self, api: ApiClient) -> dict[str, str]:
        """Commits on main, and on dev from 20 days ago; IDs by branch and age in days."""
        ids = {"root": api.ask("GET", "/repositories/repo/branches/main").json["commit_id"]}
        now_s = api.engine.now_s()
        for age in (40, 30, 20, 10, 5, 1):
            commit = api.commit(allow_empty=True, date=now_s - age * DAY_S)
            ids[f"main {age}"] = commit["id"]
        api.branch("dev", ids["main 20"])
        for age in (15, 8, 2):
            commit = api.commit(branch="dev", allow_empty=True, date=now_s - age * DAY_S)
            ids[f"dev {age}"] = commit["id"]
        return ids

    def test_the_list_has_the_active_commits(self, api):
        ids = self.history(api)
        api.upload("a")
        ids["main now"] = api.commit()["id"]
        api.ask("PUT", RULES, SEED_RULES)
        reply = api.ask("POST", PREPARE)
        assert reply.status == 201
        prepared = reply.json
        models.GarbageCollectionPrepareResponse.from_dict(prepared)
        run_id = prepared["run_id"]
        assert re.fullmatch("[0-9a-v]{20}", run_id)
        assert prepared["gc_commits_location"] == (
            f"{NAMESPACE}/_lakefs/retention/gc/commits/run_id={run_id}/commits.csv"
        )
        assert prepared["gc_addresses_location"] == f"{NAMESPACE}/_lakefs/retention/gc/addresses/"
        header, *rows = rows_of_commits(api, prepared)
        assert header == ["commit_id", "expired", "metarange_id"]
        names = {commit_id: name for name, commit_id in ids.items()}
        # The first commit is dated now, as the repository is.
        assert {names[row[0]] for row in rows} == {
            "root", "main 30", "main 20", "main 10", "main 5", "main 1", "main now",
            "dev 8", "dev 2",
        }  # fmt: skip
        by_id = {row[0]: row for row in rows}
        commit = api.ask("GET", f"/repositories/repo/commits/{ids['main now']}").json
        assert by_id[ids["main now"]] == [ids["main now"], "false", commit["meta_range_id"]]
        content = api.engine.objects.get(prepared["gc_commits_location"])
        assert api.world.objects.request_presigned(prepared["gc_commits_presigned_url"]) == content

    def test_days_are_counted_from_now(self, api):
        first = api.commit(allow_empty=True)["id"]
        api.world.clock.tick(3 * DAY_S)
        second = api.commit(allow_empty=True)["id"]
        api.world.clock.tick(6 * DAY_S)
        third = api.commit(allow_empty=True)["id"]
        api.ask("PUT", RULES, {"default_retention_days": 7, "branches": []})
        active = []
        for days in (0, 2, 7):
            api.world.clock.tick(days * DAY_S)
            rows = rows_of_commits(api, api.ask("POST", PREPARE).json)
            active.append({row[0] for row in rows[1:]})
        # 7 days ago the head was: first; second; third.
        assert active == [{first, second, third}, {second, third}, {third}]

    def test_hidden_branches_retain_too(self, api):
        commit_id = api.commit(allow_empty=True)["id"]
        body = {"name": "hidden", "source": commit_id, "hidden": True}
        assert api.ask("POST", "/repositories/repo/branches", body).status == 201
        api.world.clock.tick(100 * DAY_S)
        latest = api.commit(allow_empty=True)["id"]
        api.world.clock.tick(10 * DAY_S)
        api.ask("PUT", RULES, {"default_retention_days": 1, "branches": []})
        rows = rows_of_commits(api, api.ask("POST", PREPARE).json)
        assert {row[0] for row in rows[1:]} == {commit_id, latest}

    def test_newer_runs_sort_first(self, api):
        api.ask("PUT", RULES, SEED_RULES)
        runs = []
        for _ in range(3):
            runs.append(api.ask("POST", PREPARE).json["run_id"])
            api.world.clock.tick(10)
        assert runs == sorted(runs, reverse=True)

    @pytest.mark.parametrize("path", [PREPARE, f"{PREPARE}/async"])
    def test_without_rules_there_is_nothing_to_prepare(self, api, path):
        reply = api.ask("POST", path)
        assert reply.status == 404
        assert "no garbage collection rules" in reply.message

    def test_a_missing_commit_is_an_error_and_no_list(self, api):
        api.ask("PUT", RULES, SEED_RULES)
        first = api.commit(allow_empty=True)["id"]
        api.commit(allow_empty=True)
        del api.world.refs.records_of(repositories.get(api.engine, "repo")).commits[first]
        reply = api.ask("POST", PREPARE)
        assert reply.status == 500
        assert first in reply.message


class TestTask:
    def start(self, api: ApiClient) -> str:
        reply = api.ask("POST", f"{PREPARE}/async")
        assert reply.status == 202
        assert set(reply.json) == {"id"}
        return str(reply.json["id"])

    def status(self, api: ApiClient, task_id: str) -> Any:
        reply = api.ask("GET", f"{PREPARE}/status", id=task_id)
        assert reply.status == 200
        return reply.json

    def test_a_finished_task_returns_what_was_prepared(self, api):
        api.ask("PUT", RULES, SEED_RULES)
        task_id = self.start(api)
        assert self.status(api, task_id)["completed"] is False
        api.run_tasks()
        status = self.status(api, task_id)
        models.PrepareGarbageCollectionCommitsStatus.from_dict(status)
        assert set(status) == {"task_id", "completed", "update_time", "result"}
        assert (status["task_id"], status["completed"]) == (task_id, True)
        updated = datetime.fromisoformat(status["update_time"]).timestamp()
        assert 0 <= api.engine.now_s() - updated < 60
        [_, row] = rows_of_commits(api, status["result"])
        assert row[1:] == ["false", ""]
        assert set(status["result"]) == {
            "run_id", "gc_commits_location", "gc_addresses_location", "gc_commits_presigned_url",
        }  # fmt: skip

    def test_a_task_can_end_with_an_error(self, api):
        api.ask("PUT", RULES, SEED_RULES)
        task_id = self.start(api)
        api.ask("DELETE", RULES)
        api.run_tasks()
        status = self.status(api, task_id)
        assert status["completed"] is True
        assert "no garbage collection rules" in status["error"]["details"]
        assert "result" not in status

    def test_a_task_that_does_not_exist_is_404(self, api):
        assert api.ask("GET", f"{PREPARE}/status", id="GCPCnone").status == 404
        assert api.ask("GET", f"{PREPARE}/status", id="none").status == 404
        assert api.ask("GET", f"{PREPARE}/status").status == 400
