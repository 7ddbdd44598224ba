"""Scheduled dumps: a task dumps each repository, and copies the dump to the deployment's place.

The place is meant to be a bucket of another region. A copy is a folder: all files of the dump are
below `_lakefs/`, and the manifest is beside it. No copy needs another one, so a rule of the bucket
may delete copies by age. The manifest is stored last: a folder with one is whole.
"""

from collections.abc import Mapping
from json import dumps as to_json

from graveler.branches.complete_listings import every_repository
from graveler.dump.files import RefsDump, file_ids
from graveler.engine import Engine
from graveler.errors import GravelerError, NotFoundError
from graveler.layout import committed_uri
from graveler.model import MetaRangeID
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations import dumps
from graveler.operations.tasks.hold import Hold
from graveler.operations.tasks.requests import start
from graveler.times import rfc3339

# The message that the schedule sends to the queue of tasks.
SCHEDULED: Mapping[str, str] = {"schedule": "dumps"}

MANIFEST = "refs_manifest.json"

_KEEP: Mapping[str, object] = {"is_kept": True}

# The user of the tasks: no user has this name.
SCHEDULER = ""


def start_all(engine: Engine) -> int:
    """Start a task for each repository that is not bare; return their number.

    A repetition joins the tasks that are still open. Without a place, nothing is dumped.

    Raises:
        GravelerError: the first failure, after all other repositories.
    """
    if not engine.dump_place:
        return 0
    started = 0
    failures: list[GravelerError] = []
    for repository in every_repository(engine):
        if repository.is_bare:
            continue
        try:
            start(OpenRepository(engine, repository), TaskKind.DUMP, _KEEP, user=SCHEDULER)
            started += 1
        except NotFoundError:
            continue  # deleted meanwhile
        except GravelerError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return started


def run_dump(hold: Hold) -> Mapping[str, str]:
    """Do the work of a dump's task, and copy the dump if a schedule asked for it.

    Returns:
        The IDs of the dump, and where the copy is, if there is one.

    Raises:
        GravelerError: as dumps.dump, or the place cannot be written to.
        StoppedError: this runner must not continue.
    """
    result = dumps.run_dump(hold)
    if not (hold.task.request.get("is_kept") and hold.repo.engine.dump_place):
        return result
    return {**result, dumps.KEPT_AT: _keep(hold, result)}


def _keep(hold: Hold, result: Mapping[str, str]) -> str:
    """Copy the dump; return the URI of the copy's folder."""
    engine, repository = hold.repo.engine, hold.repo.record
    source, target = repository.storage_namespace, _folder(hold.repo, hold.task)
    dumped = RefsDump(**{name: MetaRangeID(text) for name, text in result.items()})
    for file_id in hold.watched(file_ids(engine.committed, source, dumped)):
        content = engine.committed.read_once(source, file_id)
        # Past the cache of files: a restore of the copy must read the stored bytes.
        engine.objects.put(committed_uri(target, file_id), content, "application/octet-stream")
    about = {
        "repository": repository.name,
        "storage_namespace": repository.storage_namespace,
        "default_branch": repository.default_branch,
        "creation_time": rfc3339(hold.task.create_time_ns),
    }
    manifest = to_json({**dumped.manifest, **about}, indent=2).encode()
    engine.objects.put(f"{target}/{MANIFEST}", manifest, "application/json")
    return target


def _folder(repo: OpenRepository, task: Task) -> str:
    """Return the folder of the task's copy: another runner of the task has the same one."""
    time = rfc3339(task.create_time_ns).replace(":", "-")
    return f"{repo.engine.dump_place.rstrip('/')}/{repo.record.name}/{time}-{task.id}"
