"""Repositories for the journeys; a large one costs seconds, since its files are made beside the stack.

The files of a commit and of a refs dump are written by the engine into memory, then put where a
restore finds them.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import uuid4

import lakefs
from lakefs_sdk import RefsRestore, RepositoryCreation

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Committed
from graveler.dump.files import write
from graveler.dump.records import BRANCHES, COMMITS, TAGS, NamedCommit
from graveler.entries import entry_value
from graveler.identity import make_commit
from graveler.model import EMPTY_METARANGE, AddressType, Commit, CommitID, Entry, MetaRangeID
from tests.support.fakes.memory_objects import MemoryCommittedFiles
from tests.support.servers.stack import BUCKET, Stack

NOW_S = 1_760_000_000


@dataclass(frozen=True)
class Size:
    """So many objects in `big/`, commits of `main`, and branches beside it."""

    objects: int
    commits: int
    branches: int


def objects_of(count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the records of so many objects in one directory."""
    for number in range(count):
        entry = Entry(
            address=f"data/{number}",
            address_type=AddressType.RELATIVE,
            size_bytes=1_000 + number,
            checksum=f"{number:032x}",
            last_modified_ns=NOW_S * 10**9,
        )
        yield f"big/object-{number:06}".encode(), entry_value(entry)


def history(count: int, metarange_id: MetaRangeID) -> Iterator[Commit]:
    """Yield so many commits in a row, the first one first."""
    parents: tuple[CommitID, ...] = ()
    for number in range(count):
        commit = make_commit(
            committer="nightly",
            message=f"Load of day {number}",
            metarange_id=metarange_id,
            creation_date=NOW_S + 60 * number,
            metadata={"job": "nightly"},
            parents=parents,
            generation=number + 1,
        )
        parents = (commit.id,)
        yield commit


def restore_large(client: lakefs.Client, stack: Stack, name: str, size: Size) -> None:
    """Create a repository of this size, with a tag `v1` at the head of `main`."""
    namespace = f"s3://{BUCKET}/{name}"
    files = MemoryCommittedFiles()
    committed = Committed(files)
    nothing = MetaRange(committed, namespace, EMPTY_METARANGE)
    content = apply_changes(committed, nothing, objects_of(size.objects)).metarange_id
    commits = list(history(size.commits, content))
    head = commits[-1].id
    names = ["main", *(f"work-{number:04}" for number in range(size.branches))]
    restore = RefsRestore(
        commits_meta_range_id=write(committed, namespace, COMMITS, by_id(commits)),
        branches_meta_range_id=write(
            committed, namespace, BRANCHES, [NamedCommit(each, head) for each in names]
        ),
        tags_meta_range_id=write(committed, namespace, TAGS, [NamedCommit("v1", head)]),
    )
    body = RepositoryCreation(name=name, storage_namespace=namespace)
    client.sdk_client.repositories_api.create_repository(body, bare=True)
    s3 = stack.s3
    for (_, file_id), stored in files.files.items():
        s3.put_object(Bucket=BUCKET, Key=f"{name}/_lakefs/{file_id}", Body=stored)
    client.sdk_client.internal_api.restore_refs(name, restore)


def by_id(commits: Iterable[Commit]) -> list[Commit]:
    return sorted(commits, key=lambda commit: commit.id)


def create(
    client: lakefs.Client, *, files: dict[str, bytes] | None = None, name: str = ""
) -> lakefs.Repository:
    """Create a repository, of a new name if none is given, with the files committed to `main`."""
    name = name or f"lake-{uuid4().hex[:8]}"
    repository = lakefs.Repository(name, client).create(f"s3://{BUCKET}/{name}")
    if files:
        change(repository.branch("main"), "Add files", files)
    return repository


def change(branch: lakefs.Branch, message: str, files: dict[str, bytes]) -> None:
    """Upload the files to the branch and commit them."""
    with ThreadPoolExecutor(4) as threads:
        list(
            threads.map(lambda path: branch.object(path).upload(files[path], pre_sign=False), files)
        )
    branch.commit(message)
