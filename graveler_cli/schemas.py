"""Schemas of the API's answers, under the API's names; unknown fields are ignored."""

from typing import Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class Pagination(Struct, frozen=True):
    """Whether a listing continues, and where."""

    has_more: bool = False
    next_offset: str = ""
    results: int = 0
    max_per_page: int = 0


class ResultPage(Struct, Generic[T], frozen=True):
    """A page of a listing."""

    pagination: Pagination
    results: list[T]


class Repository(Struct, frozen=True):
    """A repository."""

    id: str
    creation_date: int
    default_branch: str
    storage_namespace: str
    storage_id: str = ""
    read_only: bool = False


class Ref(Struct, frozen=True):
    """A branch or a tag, and its commit."""

    id: str
    commit_id: str


class Commit(Struct, frozen=True):
    """A commit."""

    id: str
    parents: list[str]
    committer: str
    message: str
    creation_date: int
    meta_range_id: str
    metadata: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    version: int = 0


class MergeBase(Struct, frozen=True):
    """The source, the destination and the base of a merge."""

    source_commit_id: str
    destination_commit_id: str
    base_commit_id: str


class BranchOfList(Struct, frozen=True, omit_defaults=True):
    """A branch, and with --commits its last commit."""

    id: str
    commit_id: str
    commit: Commit | None = None


class TaskCreation(Struct, frozen=True):
    """The ID of the task or import that a request has started."""

    id: str


class ObjectStats(Struct, frozen=True):
    """An object, or with path_type "common_prefix" a folder of a listing."""

    path: str
    path_type: str
    physical_address: str = ""
    checksum: str = ""
    mtime: int = 0
    physical_address_expiry: int | None = None
    size_bytes: int | None = None
    metadata: dict[str, str] | None = None
    content_type: str | None = None


class Diff(Struct, frozen=True):
    """A difference: added, removed, changed, conflict or prefix_changed."""

    type: str
    path: str
    path_type: str
    size_bytes: int | None = None


class VersionConfig(Struct, frozen=True):
    """The version of the server's API; Graveler's server has a version of its own as well."""

    version: str = ""
    version_context: str = ""
    graveler_version: str = ""


class StorageConfig(Struct, frozen=True):
    """The abilities of the server's object store."""

    blockstore_type: str = ""
    blockstore_namespace_example: str = ""
    blockstore_namespace_ValidityRegex: str = ""  # noqa: N815 - the API's spelling
    default_namespace_prefix: str = ""
    pre_sign_support: bool = False
    pre_sign_multipart_upload: bool = False
    import_support: bool = False
    import_validity_regex: str = ""


class Config(Struct, frozen=True):
    """The server's configuration."""

    version_config: VersionConfig = VersionConfig()
    storage_config: StorageConfig = StorageConfig()


class User(Struct, frozen=True):
    """A user."""

    id: str = ""
    creation_date: int = 0
    friendly_name: str | None = None
    email: str | None = None


class CurrentUser(Struct, frozen=True):
    """The user of the request."""

    user: User
