"""The requests of users about runs of hooks: list and show them, and read their output."""

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import GoneError, InvalidInputError, NotFoundError
from graveler.messages import Refusal
from graveler.model import Page
from graveler.model.hooks import HookRun, HookStatus, Run, is_run_id, log_uri
from graveler.open_repository import OpenRepository


def list_page(
    engine: Engine, repository: str, after: str, amount: int, *, branch: str, commit_id: str
) -> Page[Run]:
    """Return a page of runs, newest first: of a branch, of a commit, or of the repository.

    Raises:
        InvalidInputError: both a branch and a commit are given, or the name is malformed.
        NotFoundError: the repository does not exist.
    """
    if branch and commit_id:
        raise InvalidInputError("can't use both branchID and MergedCommitID: parameters conflict")
    repo = read_repository(engine, repository)
    return engine.refs.hook_runs(repo.record, after, amount, branch=branch, commit_id=commit_id)


def get(engine: Engine, repository: str, run_id: str) -> Run:
    """Return the run.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository or the run does not exist.
    """
    repo = read_repository(engine, repository)
    return _run(repo, run_id, Refusal.RUN_NOT_FOUND)


def _run(repo: OpenRepository, run_id: str, refusal: Refusal) -> Run:
    run = _find(repo, run_id)
    if run is None:
        raise refusal.error(f"no run {run_id!r} in repository {repo.record.name!r}")
    return run


def _find(repo: OpenRepository, run_id: str) -> Run | None:
    # A store refuses keys that are empty or too long.
    return repo.engine.refs.hook_run(repo.record, run_id) if is_run_id(run_id) else None


def hooks(engine: Engine, repository: str, run_id: str, after: str, amount: int) -> Page[HookRun]:
    """Return a page of a run's hooks, in order; none if there is no such run, as in lakeFS.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    repo = read_repository(engine, repository)
    run = _find(repo, run_id)
    ordered = [hook for hook in run.hooks if hook.id > after] if run is not None else []
    page = tuple(ordered[:amount])
    return Page(page, page[-1].id if page and len(ordered) > amount else "")


def output(engine: Engine, repository: str, run_id: str, hook_run_id: str) -> bytes | None:
    """Return the output of a hook's run; None if the hook was skipped.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository, the run or its hook does not exist, or the file is deleted.
    """
    repo = read_repository(engine, repository)
    run = _run(repo, run_id, Refusal.NOT_FOUND)
    hook = next((each for each in run.hooks if each.id == hook_run_id), None)
    if hook is None:
        raise Refusal.NOT_FOUND.error(f"run {run_id} has no hook run {hook_run_id!r}")
    if hook.status is HookStatus.SKIPPED:
        return None
    try:
        return engine.objects.get(log_uri(repo.record.storage_namespace, run.id, hook.id))
    except GoneError as error:
        raise NotFoundError("not found", f"the output of run {run_id} was deleted") from error
