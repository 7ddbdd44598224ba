"""The torture's tasks and branches of one client: what their answers imply, and the verdict."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from bench.torture import collection, life_actions, life_requests, life_verdict, tasks
from bench.torture.client import Client
from bench.torture.history import Record, StartedTask
from bench.torture.http_client import Reply
from bench.torture.journal import MadeCommit
from bench.torture.ledger import Ledger
from bench.torture.life_requests import DoubtError
from bench.torture.lives import Life, LifeTask, Lives


class _World:
    """What clients and the verdict need of a world; there is no stack."""

    def __init__(self) -> None:
        self.stack = SimpleNamespace(port=1)
        self.key_pair = ("AKIA", "secret")
        self.ledger, self.lives = Ledger(), Lives()
        self.journal: Any = SimpleNamespace(commits={}, by_message={})
        self.repository, self.paths, self.round_name = "repo", ("hot/a",), "r0"
        self.tasks: list[StartedTask] = []
        self.first_commit, self.is_collected = "first", False
        self.answers: dict[str, Reply] = {}  # by the end of the URL

    def url(self, path: str) -> str:
        return f"/repositories/{self.repository}{path}"

    def note(self, record: Record, reply: Reply) -> None:
        pass

    def calm(self, _client, _method, path, *_, **__) -> Reply:
        return next((r for end, r in self.answers.items() if path.endswith(end)), Reply(404))

    def head(self, _client, _branch) -> str:
        return "head"

    def made(self, commit_id: str, parent: str, message: str) -> None:
        """Have events tell of a commit."""
        commit = MadeCommit(commit_id, message, parent)
        self.journal.commits[self.repository, commit_id] = commit
        self.journal.by_message.setdefault((self.repository, message), []).append(commit)


@pytest.fixture
def world() -> Any:
    return _World()


def _client(world: Any, *replies: Reply) -> Any:
    client: Any = Client(world, "c", Random(1))
    waiting = list(replies)
    client.http = SimpleNamespace(request=lambda *_: waiting.pop(0))
    return client


def _json(status: int, text: str) -> Reply:
    return Reply(status, text.encode())


def _listing(*rows: str) -> Reply:
    return _json(200, f'{{"results": [{",".join(rows)}], "pagination": {{"has_more": false}}}}')


def _work(kind: str, state: str, commit_id: str = "") -> LifeTask:
    record = Record("7", "c", f"life_{kind}_task", "", "b", ())
    result = {"commit_id": commit_id} if commit_id else {}
    return LifeTask(StartedTask("T", "/start", record, state, result), kind)


@pytest.mark.parametrize(
    ("kind", "row", "outcome"),
    [
        ("commit", {"state": "completed", "result": {"commit_id": "x"}}, "ok"),
        ("commit", {"state": "cancelled"}, "refused"),
        ("commit", {"state": "failed", "status_code": 404}, "no_branch"),
        ("commit", {"state": "failed", "error": {"message": "commit: no changes"}}, "no_changes"),
        ("move", {"state": "failed", "status_code": 404}, "refused"),
    ],
)
def test_the_end_of_a_task_says_what_it_did(kind, row, outcome):
    record = Record("7", "c", "x", kind, "main", ())
    StartedTask("T", "/start", record).ended(row)
    assert (record.outcome, record.commit_id) == (outcome, "x" if outcome == "ok" else "")


def test_a_task_has_no_outcome_until_it_has_ended(world):
    started = _json(202, '{"id": "T"}')
    running = _json(200, '{"completed": false}')
    done = _json(200, '{"completed": true, "result": {"id": "x"}}')
    row = _json(200, '{"state": "completed", "result": {"commit_id": "x"}}')
    client = _client(world, started, running, done, row)
    record = client.record("commit_task", "commit", "main")
    task = tasks.start_commit(client, record)
    assert record.outcome == "unknown"
    assert task is not None
    assert tasks.follow(client, task)
    assert (record.outcome, record.commit_id) == ("ok", "x")
    assert not world.ledger.problems


def test_two_operations_that_tell_of_one_task_must_agree(world):
    done = _json(200, '{"completed": true, "result": {"id": "x"}}')
    row = _json(200, '{"state": "completed", "result": {"commit_id": "y"}}')
    client = _client(world, done, row)
    record = client.record("commit_task", "commit", "main")
    tasks.follow(client, StartedTask("T", "/start", record))
    assert len(world.ledger.problems) == 1


def test_a_lost_answer_leaves_a_branch_in_doubt_and_a_refusal_is_a_problem(world):
    for status, problems in ((503, 0), (404, 1)):
        life = Life("b")
        with pytest.raises(DoubtError):
            life_requests.delete(_client(world, Reply(status, b"{}")), life)
        assert (life.state, len(world.ledger.problems)) == ("in doubt", problems)


def test_a_branch_is_told_from_an_earlier_one_of_its_name_by_its_first_commit(world):
    first, second = Life("b", "birth-1"), Life("b", "birth-2")
    world.lives.births = {"birth-1": first, "birth-2": second}
    world.made("birth-2", "x", "#1")
    world.made("x", "birth-1", "#2")
    world.made("y", "birth-2", "#3")
    assert life_verdict.owner_of(world, "x") is first
    assert life_verdict.owner_of(world, "y") is second
    assert life_verdict.owner_of(world, "strange") is None


@pytest.mark.parametrize(
    ("state", "parent", "told", "problem"),
    [
        ("completed", "birth", "x", ""),
        ("completed", "birth", "y", "events tell of"),
        ("completed", "other", "x", "has changed the branch of birth other"),
        ("completed", "strange", "x", "has changed the branch of birth none"),
        ("cancelled", "birth", "", "made ['x']"),
    ],
)
def test_a_task_changes_its_own_branch_or_none(world, state, parent, told, problem):
    life = Life("b", "birth", "gone", tasks=[_work("commit", state, told)])
    world.lives.of_round = [life]
    world.lives.births = {"birth": life, "other": Life("b", "other")}
    world.made("x", parent, "#7")
    life_verdict.check(world, _client(world))
    assert problem in "".join(world.ledger.problems)
    assert bool(problem) == bool(world.ledger.problems)


@pytest.mark.parametrize("is_reset", [False, True])
def test_what_was_acknowledged_is_in_the_log_until_a_reset(world, is_reset):
    life = Life("b", "birth", is_reset=is_reset, tasks=[_work("commit", "completed", "x")])
    world.lives.of_round, world.lives.births = [life], {"birth": life}
    world.made("x", "birth", "#7")
    world.answers = {"/commits": _listing('{"id": "birth"}'), "/ls": _listing()}
    life_verdict.check(world, _client(world))
    assert bool(world.ledger.problems) is not is_reset


@pytest.mark.parametrize(
    ("kind", "state", "paths", "is_right"),
    [
        ("copy", "completed", ("bulk/1", "P/1"), True),
        ("copy", "completed", ("bulk/1",), False),
        ("copy", "cancelled", ("bulk/1",), True),
        ("move", "completed", ("P/1",), True),
        ("move", "completed", ("bulk/1", "P/1"), False),
        ("move", "cancelled", ("bulk/1",), True),
        ("move", "cancelled", (), False),
        ("move", "failed", ("bulk/1", "P/1"), True),
        ("move", "completed", ("P/1", "copy-else/1"), False),
    ],
)
def test_copied_and_moved_objects_are_where_they_belong(world, kind, state, paths, is_right):
    work = _work(kind, state)
    work.prefix = f"{kind}-7/"
    found = [path.replace("P/", work.prefix) for path in paths]
    rows = [f'{{"path": "{path}", "checksum": "c"}}' for path in found]
    world.lives.bulk = {"1": "c"}
    world.lives.of_round = [Life("b", "birth", tasks=[work])]
    world.answers = {"/commits": _listing(), "/ls": _listing(*rows)}
    life_verdict.check(world, _client(world))
    assert bool(world.ledger.problems) is not is_right


@pytest.mark.parametrize(("status", "is_right"), [(200, True), (410, False)])
def test_an_object_that_lived_beside_a_collection_can_be_read(world, status, is_right):
    world.is_collected = True
    world.lives.of_round = [Life("b", "birth", objects={"own/1": "c"})]
    rows = _listing('{"path": "own/1", "checksum": "c"}')
    world.answers = {"/commits": _listing(), "/ls": rows, "/objects": Reply(status)}
    life_verdict.check(world, _client(world))
    assert bool(world.ledger.problems) is not is_right


def test_an_object_that_is_renamed_beside_a_collection_has_one_name(world):
    life = Life("b", "birth", objects={"own/1": "c"})
    client = _client(world, Reply(201), Reply(204))
    collection.rename(client, life)
    assert [(path[:4], checksum) for path, checksum in life.objects.items()] == [("own/", "c")]
    assert "own/1" not in life.objects


def test_a_deleted_name_that_is_there_again_is_a_problem_in_later_rounds_too(world):
    world.lives.gone = ["/repositories/repo/branches/b", "/repositories/restored-1/tags/t"]
    life_verdict.check(world, _client(world))
    assert not world.ledger.problems
    world.answers = {"/branches/b": _json(200, '{"id": "b"}')}
    life_verdict.check(world, _client(world))
    assert len(world.ledger.problems) == 1
    assert world.lives.gone == ["/repositories/repo/branches/b"]


def test_a_scenario_begins_with_the_first_commit_of_its_branch(world):
    made = _json(201, '{"id": "birth-1"}')
    client = _client(world, Reply(201, b"b"), made, *[Reply(503)] * 9)
    life_actions.life_recreated(client)
    assert list(world.lives.births) == ["birth-1"]
    assert world.lives.of_round[0].state == "in doubt"
