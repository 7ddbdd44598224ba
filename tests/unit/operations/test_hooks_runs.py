"""What hooks are told, in which order they run, and what their runs leave behind."""

import json
from dataclasses import replace
from threading import Event

import pytest

from graveler.engine import Engine
from graveler.errors import HookFailedError, NotFoundError, PreconditionFailedError
from graveler.limits import HOOK_TIMEOUT_S_MAX, HOOKS_MAX, TASK_HOOKS_S_MAX
from graveler.model.events import SOURCE
from graveler.model.hooks import HookSettings, HookStatus, Run
from graveler.model.tasks import TaskKind, TaskMessage, TaskState
from graveler.operations import branches, merges, replays, tags, writes
from graveler.operations.commits import CommitRequest, start_commit
from graveler.operations.hooks import requests as hooks
from graveler.operations.hooks.calls import TOO_LATE
from graveler.operations.tasks.requests import list_page as list_tasks
from tests.support.fakes.hooks import answered
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import NAMESPACE, REPO, commit, merge, upload

URL = "https://hooks.example.com"


def webhook(name: str = "check", condition: str = "", **properties: str) -> str:
    shown = "".join(f", {key}: {value}" for key, value in properties.items())
    when = f", if: '{condition}'" if condition else ""
    return f"{{id: {name}, type: webhook{when}, properties: {{url: '{URL}/{name}'{shown}}}}}"


def hook(kind: str, **properties: str) -> str:
    shown = ", ".join(f"{key}: {value}" for key, value in properties.items())
    return f"{{id: check, type: {kind}, properties: {{{shown}}}}}"


def install(engine: Engine, *made: str, on: str = "pre-commit", name: str = "quality") -> None:
    events = "".join(f"  {event}:\n" for event in on.split())
    text = f"name: {name}\non:\n{events}hooks:\n" + "".join(f"- {each}\n" for each in made)
    upload(engine, f"_lakefs_actions/{name}.yaml".encode(), text.encode())


def runs(engine: Engine, **of: str) -> list[Run]:
    where = {"branch": "", "commit_id": ""} | of
    return list(hooks.list_page(engine, REPO, "", 100, **where).results)


def output(engine: Engine, run: Run, number: int = 0) -> str:
    return (hooks.output(engine, REPO, run.id, run.hooks[number].id) or b"").decode()


def refused(engine: Engine) -> str:
    with pytest.raises(HookFailedError) as failed:
        commit(engine)
    return failed.value.message


def asked_paths(world) -> list[str]:
    return [request.url.removeprefix(URL) for request in world.targets.requests]


def test_a_webhook_before_a_commit_gets_lakefs_s_event(world, engine):
    install(engine, webhook(), on="prepare-commit pre-commit")
    commit(engine, message="first", metadata={"key": "value"})
    prepared, told = world.targets.told
    assert prepared == told | {"event_type": "prepare-commit", "event_time": prepared["event_time"]}
    assert told.pop("event_time").endswith("Z")
    assert told == {
        "event_type": "pre-commit",
        "action_name": "quality",
        "hook_id": "check",
        "repository_id": REPO,
        "branch_id": "main",
        "source_ref": "main",
        "commit_message": "first",
        "committer": "somebody",
        "commit_metadata": {"key": "value"},
    }
    assert dict(world.targets.requests[0].headers)["Content-Type"] == "application/json"
    assert world.targets.timeouts_s[0] <= 60


def test_a_webhook_after_a_commit_is_told_of_the_commit(world, engine):
    install(engine, webhook(), on="post-commit")
    made = commit(engine)
    assert world.targets.told == []
    run_all(world.task_queue, engine)
    (told,) = world.targets.told
    assert (told["commit_id"], told["source_ref"], told["commit_message"]) == (
        made.id,
        made.id,
        "message",
    )
    (run,) = runs(engine, commit_id=made.id)
    assert (run.event, run.branch, run.status) == ("post-commit", "main", HookStatus.COMPLETED)


def test_a_merge_is_told_with_its_source_before_and_after(world, engine):
    upload(engine, b"data", b"1")
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    upload(
        engine,
        b"_lakefs_actions/a",
        f"name: any\non: {{pre-merge: , post-merge: }}\nhooks: [{webhook()}]".encode(),
        "source",
    )
    source = commit(engine, "source")
    made = merge(engine)
    run_all(world.task_queue, engine)
    before, after = world.targets.told
    assert (before["source_ref"], after["source_ref"]) == (source.id, made.id)
    for told in (before, after):
        assert told["commit_id"] == made.id
        assert (told["merge_source"], told["branch_id"]) == ("source", "main")
    assert [run.event for run in runs(engine, branch="main")] == ["post-merge", "pre-merge"]


def test_branches_tags_and_replays_are_told(world, engine):
    events = " ".join(
        f"{when}-{subject}"
        for when in ("pre", "post")
        for subject in (
            "create-branch",
            "delete-branch",
            "create-tag",
            "delete-tag",
            "revert",
            "cherry-pick",
        )
    )
    install(engine, webhook(), on=events)
    first = commit(engine)

    def told_of(do) -> list[dict[str, object]]:
        world.targets.requests.clear()
        do()
        run_all(world.task_queue, engine)
        subject = {str(each["event_type"]).partition("-")[2] for each in world.targets.told}
        assert len(subject) == 1
        before, after = world.targets.told
        assert str(before["event_type"]).startswith("pre-")
        assert str(after["event_type"]).startswith("post-")
        return world.targets.told

    before, after = told_of(lambda: branches.create(engine, REPO, name="dev", source="main"))
    for each in (before, after):
        assert (each["branch_id"], each["source_ref"], each["commit_id"]) == (
            "dev",
            "main",
            first.id,
        )
    upload(engine, b"x", b"1", "dev")
    picked = commit(engine, "dev")
    before, after = told_of(
        lambda: replays.cherry_pick(
            engine, REPO, "main", replays.CherryPickRequest(picked.id, "somebody")
        )
    )
    assert "commit_id" not in before
    assert after["source_ref"] == after["commit_id"]
    told_of(lambda: replays.revert(engine, REPO, "main", replays.RevertRequest("main", "somebody")))
    before, after = told_of(lambda: branches.delete(engine, REPO, "dev"))
    assert (after["branch_id"], after["source_ref"]) == ("dev", picked.id)
    assert "commit_id" not in after
    for do in (
        lambda: tags.create(engine, REPO, name="v1", ref=first.id),
        lambda: tags.delete(engine, REPO, "v1"),
    ):
        before, after = told_of(do)
        assert (after["tag_id"], after["commit_id"], after["source_ref"]) == (
            "v1",
            first.id,
            first.id,
        )
        assert "branch_id" not in after


def test_hooks_of_an_action_run_in_order_and_later_ones_are_skipped_after_a_failure(world):
    world.hook_settings = HookSettings(request_hooks_s=600)
    engine = world.engine()
    install(
        engine,
        webhook("good"),
        webhook("bad"),
        webhook("later"),
        webhook("rescue", "failure()"),
        webhook("never", "success()"),
        webhook("always", "success() || failure()"),
    )
    world.targets.answer = lambda request: answered(500 if "bad" in request.url else 204)
    message = refused(engine)
    assert "hook run id '0000_0001' failed on action 'quality' hook 'bad'" in message
    assert asked_paths(world) == ["/good", "/bad", "/rescue", "/always"]
    (run,) = runs(engine)
    assert f"run id '{run.id}'" in message
    assert [hook.status for hook in run.hooks] == [
        HookStatus.COMPLETED,
        HookStatus.FAILED,
        HookStatus.SKIPPED,
        HookStatus.COMPLETED,
        HookStatus.SKIPPED,
        HookStatus.COMPLETED,
    ]
    assert hooks.output(engine, REPO, run.id, "0000_0002") is None


def test_a_failed_action_does_not_skip_the_hooks_of_another(world, engine):
    install(engine, webhook("bad"), name="first")
    install(engine, webhook("good"), name="second")
    world.targets.answer = lambda request: answered(500 if "bad" in request.url else 200)
    refused(engine)
    (run,) = runs(engine)
    assert [(each.id, each.status) for each in run.hooks] == [
        ("0000_0000", HookStatus.FAILED),
        ("0001_0000", HookStatus.COMPLETED),
    ]


def test_an_expression_that_cannot_be_read_fails_its_hook(world, engine):
    install(engine, webhook(condition="1 < 2"))
    assert "hook 'if' expression '1 < 2' is not supported" in refused(engine)
    assert world.targets.requests == []


def test_a_run_leaves_a_log_and_a_manifest_where_lakefs_puts_them(world, engine):
    install(engine, webhook())
    world.targets.answer = lambda _request: answered(200, b"all is well")
    commit(engine)
    (run,) = runs(engine)
    folder = f"{NAMESPACE}/_lakefs/actions/log/{run.id}"
    log = engine.objects.get(f"{folder}/0000_0000.log").decode()
    assert log == output(engine, run)
    assert f"POST {URL}/check" in log
    assert "all is well" in log
    manifest = json.loads(engine.objects.get(f"{folder}/run.manifest"))
    assert manifest["run"]["run_id"] == run.id
    assert (manifest["run"]["passed"], manifest["run"]["branch_id"]) == (True, "main")
    (hook,) = manifest["hooks"]
    assert (hook["hook_run_id"], hook["action_name"]) == ("0000_0000", "quality")


def test_a_run_that_can_be_found_has_its_manifest(world, engine):
    install(engine, webhook())
    stored = []

    def around(name, call):
        if name == "refs.put_hook_run":
            stored.extend(uri for uri in world.objects.uris() if uri.endswith("/run.manifest"))
        return call()

    commit(engine_around(world.engine(), around))
    assert len(stored) == 1


def test_the_run_before_a_commit_gets_the_commit_s_id(world, engine):
    install(engine, webhook())
    made = commit(engine)
    assert [run.commit_id for run in runs(engine)] == [""]
    run_all(world.task_queue, engine)
    (run,) = runs(engine, commit_id=made.id)
    assert run.event == "pre-commit"
    manifest = engine.objects.get(f"{NAMESPACE}/_lakefs/actions/log/{run.id}/run.manifest")
    assert json.loads(manifest)["run"]["commit_id"] == made.id


def test_secrets_reach_the_target_and_no_log(world, engine):
    install(
        engine,
        webhook(
            headers="{Authorization: 'Bearer {{ ENV.LAKEFSACTION_TOKEN }}', Plain: x}",
            query_params="{key: '{{ENV.LAKEFSACTION_TOKEN}}', many: [a, b], none: '{{ ENV.PATH }}'}",
        ),
    )
    world.targets.secrets["LAKEFSACTION_TOKEN"] = "s3cret"
    world.targets.secrets["PATH"] = "/bin"
    world.targets.answer = lambda _request: answered(500, b"who sends s3cret?")
    assert "s3cret" not in refused(engine)
    (request,) = world.targets.requests
    assert dict(request.headers)["Authorization"] == "Bearer s3cret"
    assert request.url == f"{URL}/check?key=s3cret&many=a&many=b&none="
    log = output(engine, runs(engine)[0])
    assert "s3cret" not in log
    assert "Authorization: *******" in log
    assert "who sends *******?" in log
    assert "Plain: x" in log
    assert all(b"s3cret" not in content for content in world.objects.contents().values())


@pytest.mark.parametrize(
    "shown", ["a%2Fb%2Bc%3D+%22", "a/b%2Bc%3D%20%22", 'a/b+c= \\"', 'a/b+c= "']
)
def test_a_secret_that_a_target_repeats_in_another_spelling_reaches_no_log(world, engine, shown):
    install(engine, webhook(query_params="{key: '{{ ENV.LAKEFSACTION_KEY }}'}"))
    world.targets.secrets["LAKEFSACTION_KEY"] = 'a/b+c= "'
    world.targets.answer = lambda _request: answered(404, f"no page at <{shown}>".encode())
    refused(engine)
    assert "no page at <*******>" in output(engine, runs(engine)[0])


def test_a_secret_that_a_target_repeats_when_it_allows_reaches_no_log(world, engine):
    world.targets.secrets["LAKEFSACTION_KEY"] = "hidden-key"
    install(engine, webhook(headers="{X-Key: '{{ ENV.LAKEFSACTION_KEY }}'}"))
    world.targets.answer = lambda _request: answered(200, b"you sent hidden-key")
    commit(engine)
    log = output(engine, runs(engine)[0])
    assert "you sent" in log
    assert "hidden-key" not in log


def test_the_login_at_airflow_reaches_no_log(world, engine):
    about = {"url": "https://air", "dag_id": "d", "username": "ann"}
    install(engine, hook("airflow", **about, password="'{{ ENV.LAKEFSACTION_PASSWORD }}'"))
    world.targets.secrets["LAKEFSACTION_PASSWORD"] = "hidden"
    world.targets.answer = lambda request: answered(401, str(request.headers).encode())
    refused(engine)
    assert "Basic *******" in output(engine, runs(engine)[0])


def test_a_missing_secret_fails_the_hook(world, engine):
    install(engine, webhook(headers="{A: '{{ ENV.LAKEFSACTION_NONE }}'}"))
    assert "LAKEFSACTION_NONE not found: missing env var" in refused(engine)
    assert world.targets.requests == []


def test_a_time_out_is_bounded_by_the_request(world, engine):
    install(engine, webhook(timeout="1h"))
    commit(engine)
    assert world.targets.timeouts_s[0] <= HookSettings().request_hooks_s
    assert f"The timeout is longer than {HOOK_TIMEOUT_S_MAX} s" in output(engine, runs(engine)[0])


def test_a_hook_whose_target_never_answers_has_failed(world, engine, monkeypatch):
    monkeypatch.setattr("graveler.operations.hooks.run._TICK_S", 0.001)
    install(engine, webhook())
    answers = Event()
    world.targets.answer = lambda _request: answered(200 if answers.wait(10) else 500)
    try:
        assert TOO_LATE in refused(engine)
    finally:
        answers.set()


def test_a_malformed_time_out_fails_the_hook(world, engine):
    install(engine, webhook(timeout="soon"))
    assert "time: invalid duration 'soon'" in refused(engine)
    assert world.targets.requests == []


@pytest.mark.parametrize("ignored", ["30", "1.5", "true", "[30s]"])
def test_a_time_out_that_is_not_a_text_is_ignored_as_in_lakefs(engine, ignored):
    install(engine, webhook(timeout=ignored))
    assert commit(engine)
    assert runs(engine)[0].status is HookStatus.COMPLETED


@pytest.mark.parametrize("quoted", ["'30'", "30 s"])
def test_a_time_out_without_a_unit_fails_the_hook_if_it_is_a_text(engine, quoted):
    install(engine, webhook(timeout=quoted))
    assert "time: invalid duration" in refused(engine)


def test_airflow_gets_a_dag_run_with_the_event(world, engine):
    made = hook(
        "airflow",
        url="https://air.example.com/base/",
        dag_id="my dag",
        username="ann",
        password="'{{ ENV.LAKEFSACTION_PASSWORD }}'",
        dag_conf="{number: 7, flag: true, text: '7', real: 1.5, list: [1, ~]}",
    )
    install(engine, made)
    world.targets.secrets["LAKEFSACTION_PASSWORD"] = "hidden"
    commit(engine)
    (request,) = world.targets.requests
    assert request.url == "https://air.example.com/base/api/v1/dags/my%20dag/dagRuns"
    assert dict(request.headers)["Authorization"] == "Basic YW5uOmhpZGRlbg=="
    body = json.loads(request.body)
    (run,) = runs(engine)
    assert body["dag_run_id"] == f"lakeFS_hook_check_{run.id}"
    event = body["conf"].pop("lakeFS_event")
    assert event["event_type"] == "pre-commit"
    assert body["conf"] == {
        "number": 7,
        "flag": True,
        "text": "7",
        "real": 1.5,
        "list": [1, None],
    }
    assert "hidden" not in output(engine, run)


def test_the_query_of_airflows_url_stays_behind_its_path(world, engine):
    about = {"dag_id": "d", "username": "u", "password": "p"}
    install(engine, hook("airflow", url="https://air/base/?team=7", **about))
    commit(engine)
    (request,) = world.targets.requests
    assert request.url == "https://air/base/api/v1/dags/d/dagRuns?team=7"


@pytest.mark.parametrize(("state", "passes"), [("success", True), ("failed", False)])
def test_airflow_may_be_waited_for(world, engine, state, passes):
    states = iter(["queued", "running", state])

    def answer(request):
        content = {} if request.method == "POST" else {"state": next(states)}
        return answered(200, json.dumps(content).encode())

    world.targets.answer = answer
    world.hook_settings = HookSettings(request_hooks_s=600)
    world.clock.sleep = world.clock.tick
    patient = world.engine()
    about = {"url": "https://air", "dag_id": "d", "username": "u", "password": "p"}
    install(patient, hook("airflow", **about, wait_for_dag="true", timeout="10m"))
    if passes:
        commit(patient)
    else:
        assert "airflow hook DAG failed" in refused(patient)
    assert [request.method for request in world.targets.requests] == ["POST", "GET", "GET", "GET"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"null", None),
        (b"", None),
        (b'{"passed": true}', None),
        (b"false", "the function answered: not passed"),
        (b'{"passed": false, "message": "bad rows"}', "the function answered: bad rows"),
        (b"{", "the function's answer is not JSON"),
        (b"[" * 60_000, "the function's answer is not JSON"),
    ],
)
def test_a_function_s_answer_decides(world, answer, reason):
    world.hook_settings = HookSettings(functions=("check",))
    engine = world.engine()
    world.targets.function = lambda _payload: answer
    install(engine, hook("lambda", function="check"))
    if reason is None:
        commit(engine)
    else:
        assert reason in refused(engine)
    ((name, payload),) = world.targets.invoked
    assert (name, json.loads(payload)["event_type"]) == ("check", "pre-commit")


def test_only_functions_and_buses_that_the_deployment_names_are_reached(world):
    world.hook_settings = HookSettings(functions=("check",), buses=("check",))
    engine = world.engine()
    install(engine, hook("lambda", function="other"))
    assert "the setting hook_functions does not name it" in refused(engine)
    install(engine, hook("eventbridge", bus="other"))
    assert "the setting hook_buses does not name it" in refused(engine)
    assert (world.targets.invoked, world.targets.events) == ([], [])


def test_a_bus_gets_the_event(world):
    world.hook_settings = HookSettings(buses=("lake",))
    engine = world.engine()
    install(engine, hook("eventbridge", bus="lake"))
    commit(engine)
    ((bus, source, detail_type, detail),) = world.targets.events
    assert (bus, source, detail_type) == ("lake", "lakefs", "pre-commit")
    assert json.loads(detail)["branch_id"] == "main"


def test_a_hook_cannot_pass_its_event_off_as_one_of_graveler(world):
    world.hook_settings = HookSettings(buses=("lake",))
    engine = world.engine()
    install(engine, hook("eventbridge", bus="lake", source=SOURCE, detail_type="Commit Completed"))
    assert "source 'graveler' is reserved" in refused(engine)
    assert world.targets.events == []


def test_a_file_with_lua_is_refused_when_it_is_committed(world, engine):
    install(engine, hook("lua", script="x"), on="post-create-tag")
    with pytest.raises(PreconditionFailedError, match="hooks of type 'lua' are not served") as no:
        commit(engine)
    assert "_lakefs_actions/quality.yaml" in no.value.message
    writes.delete(engine, REPO, "main", b"_lakefs_actions/quality.yaml")
    upload(engine, b"data", b"1")
    commit(engine)


def test_a_committed_lua_hook_stops_what_it_guards_and_fails_after_the_rest(world, engine):
    install(engine, hook("lua", script="x"), on="pre-create-tag post-create-branch")
    made = commit(replace(engine, ignores_actions=True))
    with pytest.raises(PreconditionFailedError, match="'lua' are not served"):
        tags.create(engine, REPO, name="v1", ref=made.id)
    branches.create(engine, REPO, name="dev", source="main")
    run_all(world.task_queue, engine)
    (run,) = runs(engine)
    assert (run.event, run.status) == ("post-create-branch", HookStatus.FAILED)
    assert "no safe sandbox" in output(engine, run)


def test_too_many_hooks_are_refused(engine):
    install(engine, *[webhook(f"hook{number}") for number in range(HOOKS_MAX + 1)])
    with pytest.raises(PreconditionFailedError, match=f"more than {HOOKS_MAX}"):
        commit(engine)


def test_hooks_after_an_operation_that_fail_change_nothing(world, engine):
    install(engine, webhook(), on="post-commit")
    world.targets.answer = lambda _request: answered(500)
    made = commit(engine)
    run_all(world.task_queue, engine)
    (run,) = runs(engine, commit_id=made.id)
    assert run.status is HookStatus.FAILED


def test_action_files_that_a_merge_makes_malformed_are_reported_after_it(world, engine):
    """Each side may have an action of the name, and the merge has both."""
    install(engine, webhook(), on="post-merge", name="quality")
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    text = f"name: quality\non: {{post-merge: }}\nhooks: [{webhook()}]"
    upload(engine, b"data", b"1", "source")
    commit(engine, "source")
    upload(engine, b"_lakefs_actions/again.yaml", text.encode())
    commit(replace(engine, ignores_actions=True))
    merge(engine)
    run_all(world.task_queue, engine)
    (task,) = list_tasks(engine, REPO, "", 10).results
    assert (task.kind, task.state) == (TaskKind.HOOKS, TaskState.FAILED)
    assert "quality" in str(task.failure)


def test_a_hook_before_a_merge_is_asked_before_anything_changes(world, engine):
    upload(engine, b"data", b"1")
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    text = f"name: any\non: {{pre-merge: }}\nhooks: [{webhook()}]"
    upload(engine, b"_lakefs_actions/a", text.encode(), "source")
    commit(engine, "source")
    world.targets.answer = lambda _request: answered(403)
    events = len(world.refs.events)
    with pytest.raises(HookFailedError, match="pre-merge hook aborted"):
        merges.merge(engine, REPO, "source", "main", merges.MergeRequest("somebody"))
    assert len(world.refs.events) == events


def test_the_hooks_of_a_task_share_half_an_hour(world, engine):
    """Those of both events, although a runner stops in between."""
    slow = [webhook(name, timeout="10m") for name in ("one", "two", "three")]
    install(engine, *slow, on="prepare-commit pre-commit")

    def answer(_request):
        world.clock.tick(400)
        return answered()

    world.targets.answer = answer
    task = start_commit(engine, REPO, "main", CommitRequest("message", "somebody"))
    message = TaskMessage(REPO, task.id)
    run(engine, message, time_left_s=lambda: 900 if len(world.targets.requests) < 4 else 100)
    assert len(world.targets.requests) == 4
    ended = run(engine, message, runner="next")
    assert ended.state is TaskState.FAILED
    assert TOO_LATE in str(ended.failure)
    *others, last = world.targets.timeouts_s
    assert len(others) == 4
    assert last <= TASK_HOOKS_S_MAX - 4 * 400


def test_a_refused_preparation_seals_nothing(world, engine):
    install(engine, webhook(), on="prepare-commit")
    world.targets.answer = lambda _request: answered(403)
    before = branches.get(engine, REPO, "main")
    for _ in range(3):
        refused(engine)
    assert branches.get(engine, REPO, "main") == before


def test_runs_are_listed_newest_first_and_paged(world, engine):
    install(engine, webhook(), on="prepare-commit pre-commit post-commit")
    for number in range(3):
        upload(engine, b"data", str(number).encode())
        commit(engine)
        run_all(world.task_queue, engine)
    everything = [run.event for run in runs(engine)]
    assert everything == ["post-commit", "pre-commit", "prepare-commit"] * 3
    page = hooks.list_page(engine, REPO, "", 4, branch="main", commit_id="")
    rest = hooks.list_page(engine, REPO, page.next_after, 100, branch="main", commit_id="")
    assert [run.event for run in (*page.results, *rest.results)] == everything


@pytest.mark.parametrize("run_id", ["", "0" * 2000, "0000000000000000000#", "é" * 20])
def test_a_text_that_is_no_run_s_id_is_asked_of_no_store(world, engine, monkeypatch, run_id):
    monkeypatch.setattr(type(world.refs), "hook_run", None, raising=False)
    with pytest.raises(NotFoundError):
        hooks.get(engine, REPO, run_id)
    with pytest.raises(NotFoundError):
        hooks.output(engine, REPO, run_id, "0000_0000")
    assert hooks.hooks(engine, REPO, run_id, "", 100).results == ()
