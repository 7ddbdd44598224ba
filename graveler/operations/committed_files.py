"""The files of committed data: clients may name them, or read them from the object store."""

from msgspec import Struct

from graveler.branches.lookup import in_repository
from graveler.engine import Engine
from graveler.errors import CorruptDataError, NotFoundError
from graveler.identity import ID_LENGTH, is_id
from graveler.layout import committed_key
from graveler.messages import Refusal
from graveler.model import MetaRangeID
from graveler.open_repository import OpenRepository


class CommittedFile(Struct, frozen=True):
    """A range's or metarange's file: its key under the storage namespace, its URI, its size."""

    key: str
    uri: str
    size_bytes: int


def find(engine: Engine, repository: str, file_id: str) -> CommittedFile:
    """Return the file of the range or metarange with that ID.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository or the file does not exist.
    """

    def read(repo: OpenRepository) -> CommittedFile:
        if is_id(file_id):
            key = committed_key(file_id)
            uri = f"{repo.record.storage_namespace}/{key}"
            info = engine.objects.head(uri)
            if info is not None:
                return CommittedFile(key, uri, info.size_bytes)
        raise Refusal.NOT_FOUND.error(f"no range or metarange {file_id!r} in {repository!r}")

    return in_repository(engine, repository, read)


def require_metarange(repo: OpenRepository, metarange_id: MetaRangeID) -> None:
    """Check that the namespace has the metarange and all of its ranges; "" is the empty one.

    A metarange may lack ranges: a commit that failed has stored it beside them.

    Raises:
        NotFoundError: it does not exist, or cannot be read; it belongs to a dump of refs; or a
            range of it does not exist.
    """
    if not metarange_id:
        return
    not_found = NotFoundError(f"metarange not found: {metarange_id[:ID_LENGTH]!r}")
    # The ID becomes part of a file's name.
    if not is_id(metarange_id):
        raise not_found
    committed, record = repo.engine.committed, repo.record
    try:
        files = [metarange_id, *(each.id for each in repo.metarange(metarange_id).headers())]
        is_of_dump = committed.headers(record.storage_namespace, metarange_id).is_of_dump
    except CorruptDataError as error:
        raise not_found from error
    if is_of_dump:
        raise NotFoundError(
            f"metarange {metarange_id!r} has refs of a dump, not objects: name that of a commit"
        )
    missing = committed.missing_file(record.uid, record.storage_namespace, files)
    if missing == metarange_id:  # a process may have it in a cache
        raise not_found
    if missing is not None:
        raise NotFoundError(
            f"metarange {metarange_id!r} lacks the range {missing!r}: copy its file, and repeat"
        )
