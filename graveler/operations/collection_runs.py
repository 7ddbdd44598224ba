"""Runs of garbage collection: list, show and start them."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

import msgspec

from graveler.addresses import newest_first
from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import ConflictError, ForbiddenError, GoneError, NotFoundError
from graveler.messages import Refusal
from graveler.model import Page, Repository
from graveler.open_repository import OpenRepository
from graveler.operations.retention import changeable_repository
from graveler.retention.files import run_folder, runs_folder
from graveler.retention.runs import (
    BEGINNING_FILE,
    LEASE,
    LEASE_S,
    REQUEST_FILE,
    SUMMARY_FILE,
    TEXT_FILE,
    Beginning,
    CollectionRun,
    CollectionSummary,
    decoded,
)
from graveler.times import NS_PER_S, rfc3339

# Each row of a page takes several reads.
RUNS_PER_PAGE_MAX = 100

# The names of runs, also of those of lakeFS's own job.
_RUN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


def list_runs(engine: Engine, name: str, *, after: str, amount: int) -> Page[CollectionRun]:
    """Return a page of the repository's runs, the newest first.

    Raises:
        NotFoundError: the repository does not exist.
    """
    repo = read_repository(engine, name)
    running = _running(repo)
    amount = min(amount, RUNS_PER_PAGE_MAX)
    rest = (run_id for run_id in _run_ids(repo, running) if run_id > after)
    run_ids = list(islice(rest, amount + 1))
    reads = [engine.ahead(partial(_run, repo, run_id, running)) for run_id in run_ids[:amount]]
    runs = tuple(read() for read in reads)
    return Page(runs, runs[-1].run_id if len(run_ids) > amount else "")


def get_run(engine: Engine, name: str, run_id: str) -> tuple[CollectionRun, str]:
    """Return the run, and its report as text, "" as long as there is none.

    Raises:
        NotFoundError: the repository or the run does not exist.
    """
    repo = read_repository(engine, name)
    run = None
    if _RUN_ID.fullmatch(run_id):
        run = _run(repo, run_id, _running(repo))
    if run is None or not (run.is_running or run.request or run.beginning or run.summary):
        raise NotFoundError(f"repository {name!r} has no collection run {run_id!r}")
    text = _read(repo, run_id, TEXT_FILE) if run.summary else None
    return run, (text or b"").decode(errors="replace")


def start_run(
    engine: Engine, name: str, user: str, *, is_dry: bool, deletions_max: int | None = None
) -> str:
    """Start a run, and return its ID.

    This takes the run's lease, so of two requests at once one is refused. The job continues as the
    lease's holder.

    Raises:
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only, or this deployment deletes nothing.
        ConflictError: another run works on the repository.
        UnsupportedError: no job is deployed.
        ThrottledError: too many jobs are running.
    """
    repo = changeable_repository(engine, name)
    if not is_dry and not engine.collections_delete:
        raise ForbiddenError(
            "collections of this deployment only report: start a dry run, or let an administrator "
            "set gc_deletes"
        )
    now_ns = engine.clock.now_ns()
    run_id = newest_first(engine.names.new_uid())
    until_ns = now_ns + LEASE_S * NS_PER_S
    if not engine.jobs.take_lease(repo.record, LEASE, run_id, now_ns=now_ns, until_ns=until_ns):
        raise ConflictError(
            f"run {_running(repo) or 'another'} collects the garbage of repository "
            f"{name!r}: wait for its end, or {LEASE_S // 60} minutes if it died"
        )
    is_started = False
    try:
        is_started = engine.collection_jobs.start_collection(
            name, run_id, is_dry=is_dry, deletions_max=deletions_max
        )
    finally:
        if not is_started:
            engine.jobs.end_lease(repo.record, LEASE, run_id)
    if not is_started:
        raise Refusal.NOT_SERVED.error(
            "no job of garbage collection is deployed; the embedded stack has one after "
            "`make install`"
        )
    beginning = Beginning(is_dry, rfc3339(now_ns), user)
    uri = _uri(repo.record, run_id, REQUEST_FILE)
    engine.objects.put(uri, msgspec.json.encode(beginning), "application/json")
    return run_id


def _running(repo: OpenRepository) -> str:
    """Return the ID of the run in progress on the repository; "" if there is none."""
    return repo.engine.jobs.lease_holder(repo.record, LEASE, repo.engine.clock.now_ns())


def _run_ids(repo: OpenRepository, running: str) -> Iterator[str]:
    """Yield the IDs of all runs in order; one that has just begun may have no folder yet."""
    folder_uri = f"{repo.record.storage_namespace}/{runs_folder()}"
    listed = (
        each.removeprefix(folder_uri).rstrip("/")
        for each in repo.engine.objects.list_folder(folder_uri)
        if isinstance(each, str)
    )
    is_yielded = not running
    for run_id in listed:
        if not is_yielded and running <= run_id:
            is_yielded = True
            if running != run_id:
                yield running
        if _RUN_ID.fullmatch(run_id):
            yield run_id
    if not is_yielded:
        yield running


def _run(repo: OpenRepository, run_id: str, running: str) -> CollectionRun:
    """Return the run as its files describe it.

    Read the lease before: a run ends its lease after it has written its summary.
    """
    request = _read(repo, run_id, REQUEST_FILE)
    summary = _read(repo, run_id, SUMMARY_FILE)
    beginning = None if summary else _read(repo, run_id, BEGINNING_FILE)
    return CollectionRun(
        run_id,
        run_id == running,
        decoded(request, Beginning) if request else None,
        decoded(beginning, Beginning) if beginning else None,
        decoded(summary, CollectionSummary) if summary else None,
    )


def _read(repo: OpenRepository, run_id: str, file: str) -> bytes | None:
    try:
        return repo.engine.objects.get(_uri(repo.record, run_id, file))
    except GoneError:
        return None


def _uri(repository: Repository, run_id: str, file: str) -> str:
    return f"{repository.storage_namespace}/{run_folder(run_id)}{file}"
