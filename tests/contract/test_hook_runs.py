"""The contract of every HookRunStore, and of changes that start a task."""

from uuid import uuid4

import pytest
from msgspec.structs import replace

from graveler.errors import AlreadyExistsError
from graveler.model import Branch, CommitID, Repository, Tag
from graveler.model.hooks import HookRun, HookStatus, Run, run_id
from graveler.model.tasks import Task, TaskKind, TaskStart
from graveler.times import NS_PER_S
from tests.contract.conftest import Stores, main_of, new_event, new_token

NOW_NS = 1_900_000_000 * NS_PER_S


def new_run(second: int, branch: str = "main", commit_id: str = "") -> Run:
    start_ns = NOW_NS + second * NS_PER_S
    hook = HookRun(
        "0000_0000", "check", "quality", HookStatus.FAILED, start_ns, start_ns + 1, "why"
    )
    return Run(
        run_id(start_ns, uuid4().hex),
        "pre-commit",
        branch,
        branch,
        commit_id,
        start_ns,
        start_ns + 1,
        (hook,),
    )


def listed(stores: Stores, repository: Repository, **of: str) -> list[Run]:
    where = {"branch": "", "commit_id": ""} | of
    return list(stores.refs.hook_runs(repository, "", 100, **where).results)


def test_a_run_is_stored_and_replaced(stores, repository):
    run = new_run(1)
    assert stores.refs.hook_run(repository, run.id) is None
    stores.refs.put_hook_run(repository, run)
    assert stores.refs.hook_run(repository, run.id) == run
    changed = replace(run, commit_id="c" * 64)
    stores.refs.put_hook_run(repository, changed)
    assert stores.refs.hook_run(repository, run.id) == changed


def test_runs_are_listed_newest_first_by_branch_and_commit(stores, repository):
    runs = [new_run(n, "main" if n % 2 else "dev", f"{n % 3}" * 64) for n in range(6)]
    for run in runs:
        stores.refs.put_hook_run(repository, run)
    assert listed(stores, repository) == runs[::-1]
    assert listed(stores, repository, branch="dev") == runs[4::-2]
    assert listed(stores, repository, branch="d") == []
    assert listed(stores, repository, commit_id="1" * 64) == [runs[4], runs[1]]


def test_runs_are_paged(stores, repository):
    runs = [new_run(n) for n in range(5)]
    for run in runs:
        stores.refs.put_hook_run(repository, run)
    for branch in ("", "main"):
        found: list[Run] = []
        after, pages = "", 0
        while pages == 0 or after:
            page = stores.refs.hook_runs(repository, after, 2, branch=branch, commit_id="")
            found += page.results
            after, pages = page.next_after, pages + 1
        assert (found, pages) == (runs[::-1], 3)


def starts() -> TaskStart:
    task = Task(f"HK{uuid4().hex[:20]}", TaskKind.HOOKS, "ann", NOW_NS, NOW_NS)
    return TaskStart(task, new_event())


def changes(stores: Stores, repository: Repository, started: list[TaskStart]) -> None:
    """Make every change that may start a task, with one task each."""
    refs = stores.refs
    head = main_of(stores, repository).commit_id

    def one() -> TaskStart:
        started.append(starts())
        return started[-1]

    refs.create_branch(repository, Branch("dev", head, new_token()), new_event(), one())
    refs.create_tag(repository, Tag("v1", head), new_event(), one())
    refs.delete_tag(repository, Tag("v1", head), new_event(), one())
    refs.move_branch(
        repository,
        main_of(stores, repository),
        commit=None,
        commit_id=head,
        applied_tokens=(),
        new_staging_token=None,
        event=new_event(),
        drop_after_ns=NOW_NS,
        starts=one(),
    )
    dev = refs.branch(repository, "dev")
    assert dev is not None
    stores.exports.delete_branch(repository, dev, new_event(), NOW_NS, starts=one())


def test_every_change_that_starts_a_task_stores_it_with_its_event(stores, repository):
    started: list[TaskStart] = []
    changes(stores, repository, started)
    assert len(started) == 5
    for each in started:
        assert stores.refs.task(repository, each.task.id) == each.task
        assert each.event.id in stores.event_ids(repository)


def test_a_change_that_is_not_made_starts_nothing(stores, repository):
    head = main_of(stores, repository).commit_id
    start = starts()
    with pytest.raises(AlreadyExistsError):
        stores.refs.create_tag(repository, Tag("main", CommitID(head)), new_event(), start)
    assert stores.refs.task(repository, start.task.id) is None
