"""The namespace `system`: tables that describe the commit of a ref, made when first asked for.

Theory of operation. The table `objects` is made from the ranges of the commit: a Parquet file for
each range that has none yet, then a manifest, its list, and last the metadata file. Their names
follow from what they describe. So a table whose metadata file is there is complete, and whoever
makes it again writes the same. Much work is left to a task, and a runner that takes it over goes on
with the next range. Like ranges, the files stay: other commits have the same ranges.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

import msgspec

from graveler.branches.lookup import in_repository
from graveler.branches.watching import Watching
from graveler.engine import Engine
from graveler.errors import GoneError, NoTableError
from graveler.iceberg.manifests import DataFile, manifest, manifest_list
from graveler.iceberg.object_table import ObjectTable
from graveler.iceberg.places import OBJECTS
from graveler.model import Commit, MetaRangeID
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.tables.metadata import (
    CONTENT_TYPE,
    KEPT_FILES,
    IcebergTable,
    table_of_file,
)
from graveler.operations.tasks.hold import Hold
from graveler.operations.tasks.requested_work import RequestedWork, WorkLimit
from graveler.operations.tasks.waiting import FIRST_REQUEST, result_in_time
from graveler.refs.resolve import resolve_commit

# The files of so many ranges are looked for at a time.
_LOOKS_AT_ONCE = 16

_AVRO = "avro/binary"
_PARQUET = "application/vnd.apache.parquet"


def check_exists(engine: Engine, repository: str, ref: str, table: str) -> None:
    """Check that the ref names a commit, and that commits have a table of the name.

    Raises:
        InvalidInputError: a name or the ref is malformed, or it names staged changes only.
        NotFoundError: the repository or the ref does not exist.
        NoTableError: there is no such table.
    """
    _found(engine, repository, ref, table)


def load(engine: Engine, repository: str, ref: str, table: str, user: str) -> IcebergTable:
    """Return the table of the commit that the ref names: of a branch, its head.

    Raises:
        StillRunningError: a task makes the table, and has not ended in time.
        GravelerError: the others of `check_exists`.
    """
    repo, commit = _found(engine, repository, ref, table)
    # DuckDB does not see a snapshot that is younger than its transaction.
    asked = _Content(commit.metarange_id, max(0, min(commit.creation_date, engine.now_s())))
    try:
        return _stored(repo, asked)
    except GoneError:
        request = msgspec.to_builtins(asked)
        # A commit of the future has another time at each request.
        identity = {"metarange_id": asked.metarange_id}
        work = _Describing(repo=repo, user=user, request=request, identity=identity, content=asked)
        return result_in_time(work, FIRST_REQUEST)


class _Content(msgspec.Struct, frozen=True):
    """The input of a task: a commit's content, and its time."""

    metarange_id: MetaRangeID
    time_s: int


def _found(engine: Engine, repository: str, ref: str, table: str) -> tuple[OpenRepository, Commit]:
    def read(repo: OpenRepository) -> tuple[OpenRepository, Commit]:
        return repo, resolve_commit(engine.refs, repo.history(), ref)

    found = in_repository(engine, repository, read)
    if table != OBJECTS:
        raise NoTableError(f"Table does not exist: system.{table}")
    return found


def _stored(repo: OpenRepository, content: _Content) -> IcebergTable:
    uri = ObjectTable(repo.record.storage_namespace, content.metarange_id).metadata_uri
    # A cache would outlast the files, which users may delete.
    return table_of_file(uri, repo.engine.objects.get(uri))


@dataclass(kw_only=True)
class _Describing(RequestedWork[IcebergTable]):
    kind: TaskKind = TaskKind.DESCRIBE_OBJECTS
    content: _Content

    def at_once(self, limit: WorkLimit) -> IcebergTable:
        return _made(self.repo, self.content, limit.over)

    def result_of(self, _task: Task) -> IcebergTable:
        return _stored(self.repo, self.content)


def run_describe(hold: Hold) -> Mapping[str, str]:
    """Do the work of a task that makes the table `objects` of a commit; return its result.

    Raises:
        CorruptDataError: a file of the commit is missing or damaged.
        NotFoundError: the repository was deleted.
        StoppedError: this runner must not continue.
    """
    content = msgspec.convert(hold.task.request, _Content)
    made = _made(hold.current_repository(), content, hold.watched)
    return {"metadata_location": str(made.metadata_location)}


def _made(repo: OpenRepository, content: _Content, watching: Watching) -> IcebergTable:
    """Store the table's files, and return the table. Each range is watched."""
    objects = repo.engine.objects
    table = ObjectTable(repo.record.storage_namespace, content.metarange_id)
    files = list(_data_files(repo, table, content.metarange_id, watching))
    metadata = table.metadata(files, KEPT_FILES, content.time_s * 1000)
    listed = manifest(files, table.snapshot_id, metadata["schemas"][0])
    objects.put(table.manifest_uri, listed, _AVRO)
    named = manifest_list(table.manifest_uri, len(listed), files, table.snapshot_id)
    objects.put(table.list_uri, named, _AVRO)
    objects.put(table.metadata_uri, msgspec.json.encode(metadata), CONTENT_TYPE)
    return IcebergTable(table.metadata_uri, metadata)


def _data_files(
    repo: OpenRepository, table: ObjectTable, metarange_id: MetaRangeID, watching: Watching
) -> Iterator[DataFile]:
    """Yield the Parquet file of each range, and store those that are missing."""
    objects, content = repo.engine.objects, repo.metarange(metarange_id)
    headers = iter(content.headers())
    while some := list(islice(headers, _LOOKS_AT_ONCE)):
        uris = [table.data_uri(header.id) for header in some]
        looks = [repo.engine.ahead(partial(objects.head, uri)) for uri in uris]
        for header, uri, look in watching(zip(some, uris, looks, strict=True)):
            info = look()
            if info is None:
                made = table.data(content.records(header.min_key, header.max_key + b"\0"))
                info = objects.put(uri, made, _PARQUET)
            yield table.data_file(header, info.size_bytes)
