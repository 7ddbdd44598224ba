"""Repositories, and their metadata."""

from msgspec import Struct

from graveler.model import Repository


class RepositoryCreation(Struct, frozen=True):
    name: str
    storage_namespace: str
    storage_id: str = ""
    default_branch: str = "main"
    sample_data: bool = False
    read_only: bool = False


class RepositoryRow(Struct, frozen=True):
    id: str
    creation_date: int
    default_branch: str
    storage_namespace: str
    read_only: bool
    # There is one storage. The Python wrapper would look up any other ID, and fail.
    storage_id: str = ""


def repository_row(repository: Repository) -> RepositoryRow:
    return RepositoryRow(
        repository.name,
        repository.creation_date,
        repository.default_branch,
        repository.storage_namespace,
        repository.read_only,
    )


class RepositoryMetadataSet(Struct, frozen=True):
    metadata: dict[str, str]


class RepositoryMetadataKeys(Struct, frozen=True):
    keys: list[str]
