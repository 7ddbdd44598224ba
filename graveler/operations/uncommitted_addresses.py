"""The addresses of staged objects, listed for garbage collection, one file for each call.

The list includes the sealed tokens of each branch, and each value in them. A value that a newer
token covers may be committed later: by a commit that sealed only the older tokens. (lakeFS lists
the differences from the head. But a value that equals the head may point to other data, and readers
of the branch get the staged data.) Tombstones point to no data. The first file begins with the
addresses of recorded uploads, because a completion moves them to staged entries. The last file ends
with the claimed addresses (`graveler.retention.claims`).

A file has a maximum size; the continuation names the branch and path where the next one starts. A
commit may meanwhile move unlisted changes into the branch's head. So a collection lists staged
objects before it reads heads, and sees each object in one of the two.
"""

import base64
from collections.abc import Iterator
from heapq import merge
from operator import itemgetter

import msgspec

from graveler.addresses import decode_xid, newest_first
from graveler.branches.complete_listings import every_branch
from graveler.engine import Engine
from graveler.entries import value_entry
from graveler.errors import InvalidInputError
from graveler.model import Branch, Change, Entry
from graveler.names import check_branch_name, check_path
from graveler.open_repository import OpenRepository
from graveler.operations.retention import changeable_repository
from graveler.parquet import ParquetWriter, int64_column, text_column
from graveler.retention.files import uncommitted_folder
from graveler.retention.liveness import address_in_namespace
from graveler.times import NS_PER_S

# lakeFS's limit of a file; and a time that leaves a request of 30 seconds enough to store it.
FILE_BYTES_MAX = 20 * 1024 * 1024
LISTING_S_MAX = 10

_ROWS_PER_GROUP = 16_384
# How many staged entries are listed between two reads of the clock.
_ENTRIES_PER_LOOK = 1_000

# Before every path of a branch; no path is empty.
_BEGINNING = b""


class _Mark(msgspec.Struct, frozen=True):
    """Where a listing resumes: at this path of this branch."""

    run_id: str
    branch: str = ""
    path: bytes = _BEGINNING  # base64 in JSON


class UncommittedAddresses(msgspec.Struct, frozen=True):
    """The result of one call; folder_uri is "" if it listed nothing, continuation "" at the end."""

    run_id: str
    folder_uri: str
    continuation: str


def prepare_uncommitted(engine: Engine, name: str, continuation: str = "") -> UncommittedAddresses:
    """Write a Parquet file of the addresses that staged entries have in the namespace.

    Columns: physical_address, relative to the namespace; creation_date, in Unix seconds. The
    continuation of the previous call continues its run with the next file.

    Raises:
        InvalidInputError: the name or the continuation is malformed.
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only.
    """
    repo = changeable_repository(engine, name)
    mark = _decode(continuation) if continuation else _Mark(newest_first(engine.names.new_uid()))
    file = _AddressFile(repo.record.storage_namespace)
    if not continuation:
        for upload in engine.refs.uploads(repo.record, b"", None):
            file.add_address(upload.address, upload.created_ns // NS_PER_S)
    next_mark: _Mark | None = None
    deadline_ns = engine.clock.now_ns() + LISTING_S_MAX * NS_PER_S
    for count, (branch, (path, value)) in enumerate(_staged(repo, mark)):
        # Not at the first entry, so that each call makes progress.
        looks = count > 0 and (path == _BEGINNING or count % _ENTRIES_PER_LOOK == 0)
        late = looks and engine.clock.now_ns() > deadline_ns
        if late or file.size_bytes > FILE_BYTES_MAX:
            next_mark = _Mark(mark.run_id, branch, path)
            break
        if value is not None:
            file.add(value_entry(value))
    if next_mark is None:
        # Last, so that a copy after this still had its source listed above.
        for address in engine.refs.claimed_addresses(repo.record):
            file.add_address(address, engine.now_s())
    content = file.finish()
    folder = ""
    if content:
        folder = f"{repo.record.storage_namespace}/{uncommitted_folder(mark.run_id)}"
        uri = f"{folder}{engine.names.new_uid()}"
        engine.objects.put(uri, content, "application/octet-stream")
    return UncommittedAddresses(mark.run_id, folder, _encode(next_mark))


def _staged(repo: OpenRepository, mark: _Mark) -> Iterator[tuple[str, Change]]:
    """Yield the changes of all tokens, by branch and path, from the mark on.

    Each branch begins with a tombstone at _BEGINNING, so that the caller also checks the time at
    branches without changes.
    """
    for branch in _branches(repo, mark.branch):
        yield branch.name, (_BEGINNING, None)
        start = mark.path if branch.name == mark.branch else _BEGINNING
        scans = [repo.engine.staging.scan(token, start, None) for token in branch.tokens]
        for change in merge(*scans, key=itemgetter(0)):
            yield branch.name, change


def _branches(repo: OpenRepository, first: str) -> Iterator[Branch]:
    """Yield the branches by name, hidden ones too, from first on."""
    begun = repo.engine.refs.branch(repo.record, first) if first else None
    if begun is not None:
        yield begun
    yield from every_branch(repo, after=first)


class _AddressFile:
    """A growing Parquet file of addresses in a namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._writer = ParquetWriter()
        self._addresses: list[str] = []
        self._dates: list[int] = []
        self._has_rows = False

    @property
    def size_bytes(self) -> int:
        """Return the current size without the last group of rows."""
        return self._writer.size_bytes

    def add(self, entry: Entry) -> None:
        """Append the entry's address if it is in the namespace."""
        address = address_in_namespace(self._namespace, entry)
        if address is not None:
            self.add_address(address, entry.last_modified_ns // NS_PER_S)

    def add_address(self, address: str, date_s: int) -> None:
        """Append the address."""
        self._addresses.append(address)
        self._dates.append(date_s)
        if len(self._addresses) == _ROWS_PER_GROUP:
            self._write_rows()

    def _write_rows(self) -> None:
        self._writer.add_rows(
            [
                text_column("physical_address", self._addresses),
                int64_column("creation_date", self._dates),
            ]
        )
        self._addresses.clear()
        self._dates.clear()
        self._has_rows = True

    def finish(self) -> bytes:
        """Return the file; b"" if it has no rows."""
        if self._addresses:
            self._write_rows()
        return self._writer.finish() if self._has_rows else b""


def _encode(mark: _Mark | None) -> str:
    return "" if mark is None else base64.b64encode(msgspec.json.encode(mark)).decode()


def _decode(continuation: str) -> _Mark:
    """Return the mark of a continuation; check each part, because clients send it.

    Raises:
        InvalidInputError: the continuation is malformed.
    """
    try:
        mark = msgspec.json.decode(base64.b64decode(continuation, validate=True), type=_Mark)
        decode_xid(mark.run_id)
        check_branch_name(mark.branch)
        if mark.path != _BEGINNING:
            check_path(mark.path)
    except (ValueError, msgspec.DecodeError, InvalidInputError) as error:
        raise InvalidInputError("invalid continuation token: begin without one") from error
    return mark
