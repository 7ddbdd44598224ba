"""The files of committed data, for clients that read them from the object store."""

from dataclasses import dataclass

from graveler.identity import is_id
from graveler.layout import committed_key
from graveler.messages import Refusal
from graveler.model import Repository
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import in_repository


@dataclass(frozen=True, slots=True)
class CommittedFile:
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

    def read(found: Repository) -> CommittedFile:
        if is_id(file_id):
            key = committed_key(file_id)
            uri = f"{found.storage_namespace}/{key}"
            info = engine.objects.head(uri)
            if info is not None:
                return CommittedFile(key, uri, info.size_bytes)
        raise Refusal.NOT_FOUND.error(f"no range or metarange {file_id!r} in {repository!r}")

    return in_repository(engine, repository, read)
