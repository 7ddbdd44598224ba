"""The answers of lakeFS's API, for all operations that are served, made from engine records.

A field with a default is optional: it is left out while it holds the default. Fields without one
are always present, because the official clients refuse an answer that lacks them. Only this module
decodes object paths from bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Branch, Commit, Entry, Repository, Tag
from graveler.model.recorded_uploads import Upload
from graveler.operations.two_step_writes import DEFAULT_CONTENT_TYPE
from graveler.ports import PartInfo
from graveler.times import NS_PER_S

T = TypeVar("T")

# Sorts metadata by key, like lakeFS.
_encoder = msgspec.json.Encoder(order="deterministic")


def encode(answer: object) -> str:
    """Return the answer as JSON text."""
    return _encoder.encode(answer).decode()


# Pages


class Pagination(Struct, frozen=True):
    has_more: bool
    next_offset: str
    results: int
    max_per_page: int = PAGE_AMOUNT_MAX


class Listing(Struct, Generic[T], frozen=True):
    pagination: Pagination
    results: list[T]


def listing(rows: list[T], next_after: str) -> Listing[T]:
    """Return a page of rows; next_after is "" on the last page."""
    return Listing(Pagination(next_after != "", next_after, len(rows)), rows)


# Setup, login, user


class LoginConfig(Struct, frozen=True):
    rbac: str = msgspec.field(name="RBAC")
    username_ui_placeholder: str
    password_ui_placeholder: str
    login_url: str
    login_url_method: str
    login_failed_message: str
    login_cookie_names: list[str]
    logout_url: str


class SetupState(Struct, frozen=True):
    state: str
    comm_prefs_missing: bool
    login_config: LoginConfig


class UsageReport(Struct, frozen=True):
    year: int
    month: int
    count: int


class InstallationUsageReport(Struct, frozen=True):
    installation_id: str
    reports: Sequence[UsageReport]


class CredentialsWithSecret(Struct, frozen=True):
    access_key_id: str
    secret_access_key: str
    creation_date: int

    __repr__ = object.__repr__  # shows no secret


class AuthenticationToken(Struct, frozen=True):
    token: str
    token_expiration: int

    __repr__ = object.__repr__  # shows no secret


class UserRow(Struct, frozen=True, omit_defaults=True):
    id: str
    creation_date: int
    friendly_name: str | None = None


class CurrentUser(Struct, frozen=True, omit_defaults=True):
    """The user, and the access key of the request or of the log-in that began its session.

    lakeFS has no such field; its clients pass over it.
    """

    user: UserRow
    access_key_id: str | None = None


class AuthCapabilities(Struct, frozen=True):
    invite_user: bool = False
    forgot_password: bool = False


# Configuration


class VersionConfig(Struct, frozen=True):
    version: str
    version_context: str


class StorageConfig(Struct, frozen=True):
    blockstore_type: str
    blockstore_namespace_example: str
    namespace_validity_regex: str = msgspec.field(name="blockstore_namespace_ValidityRegex")
    default_namespace_prefix: str
    pre_sign_support: bool
    pre_sign_support_ui: bool
    import_support: bool
    import_validity_regex: str
    pre_sign_multipart_upload: bool


class UiConfig(Struct, frozen=True):
    custom_viewers: list[str] = []


class CapabilitiesConfig(Struct, frozen=True):
    # lakectl 1.75 to 1.80 then commits and merges by tasks.
    async_ops: bool = True


class Config(Struct, frozen=True):
    version_config: VersionConfig
    storage_config: StorageConfig
    storage_config_list: list[StorageConfig]
    ui_config: UiConfig
    capabilities_config: CapabilitiesConfig


class GarbageCollectionConfig(Struct, frozen=True):
    grace_period: int


# Repositories


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


class ProtectionRuleRow(Struct, frozen=True):
    pattern: str


# Branches, tags, commits


class Ref(Struct, frozen=True):
    id: str
    commit_id: str


def ref_row(named: Branch | Tag) -> Ref:
    return Ref(named.name, named.commit_id)


class CommitRow(Struct, frozen=True):
    id: str
    parents: Sequence[str]
    committer: str
    message: str
    creation_date: int
    meta_range_id: str
    metadata: Mapping[str, str]
    generation: int
    version: int


def commit_row(commit: Commit) -> CommitRow:
    return CommitRow(
        commit.id,
        commit.parents,
        commit.committer,
        commit.message,
        commit.creation_date,
        commit.metarange_id,
        commit.metadata,
        commit.generation,
        commit.version,
    )


class MergeResult(Struct, frozen=True):
    reference: str


class MergeBase(Struct, frozen=True):
    source_commit_id: str
    destination_commit_id: str
    base_commit_id: str


# Differences


class RightStats(Struct, frozen=True):
    checksum: str
    mtime: int
    content_type: str
    metadata: Mapping[str, str]


class DiffRow(Struct, frozen=True, omit_defaults=True):
    type: str
    path: str
    path_type: str
    size_bytes: int | None = None
    right: RightStats | None = None


def right_stats(entry: Entry) -> RightStats:
    return RightStats(
        entry.checksum, entry.last_modified_ns // NS_PER_S, _content_type(entry), entry.metadata
    )


def _content_type(entry: Entry) -> str:
    """Return the content type; the store does not list the types of imported objects."""
    return entry.content_type or DEFAULT_CONTENT_TYPE


# Objects


class ObjectStats(Struct, frozen=True, gc=False, omit_defaults=True):
    path: str
    path_type: str
    physical_address: str
    checksum: str
    size_bytes: int
    mtime: int
    metadata: Mapping[str, str] | None = None
    content_type: str | None = None
    physical_address_expiry: int | None = None


def text_of(path: bytes) -> str:
    """Return a stored path as text. U+FFFD replaces invalid UTF-8, which only imports can bring."""
    return path.decode("utf-8", "replace")


def object_stats(
    path: bytes,
    entry: Entry,
    physical_address: str,
    *,
    user_metadata: bool = True,
    expiry: int | None = None,
) -> ObjectStats:
    return ObjectStats(
        text_of(path),
        "object",
        physical_address,
        entry.checksum,
        entry.size_bytes,
        entry.last_modified_ns // NS_PER_S,
        entry.metadata if user_metadata else {},
        _content_type(entry),
        expiry,
    )


def common_prefix(path: bytes) -> ObjectStats:
    """Return a folder of a listing; clients require all its fields, although they are empty."""
    return ObjectStats(text_of(path), "common_prefix", "", "", 0, 0)


class ObjectError(Struct, frozen=True):
    status_code: int
    message: str
    path: str


class ObjectErrorList(Struct, frozen=True):
    errors: list[ObjectError]


class StorageLocation(Struct, frozen=True, omit_defaults=True):
    physical_address: str
    presigned_url: str | None  # null unless requested
    presigned_url_expiry: int | None = None


class StorageUri(Struct, frozen=True):
    location: str


class UnderlyingProperties(Struct, frozen=True, omit_defaults=True):
    storage_class: str | None = None
    headers: Mapping[str, str] = {}  # ours: those that the object store keeps with the data


class MultipartUploadRow(Struct, frozen=True, omit_defaults=True):
    upload_id: str
    physical_address: str
    presigned_urls: Sequence[str] | None = None


class UploadTo(Struct, frozen=True):
    presigned_url: str


class PartLocation(Struct, frozen=True):
    presigned_url: str
    presigned_url_expiry: int


class RecordedUploadRow(Struct, frozen=True, omit_defaults=True):
    path_type: str
    key: str  # the branch, a slash and the path, or the beginning of several keys
    upload_id: str | None = None
    branch: str | None = None
    path: str | None = None
    creation_date: int | None = None


def recorded_upload(upload: Upload) -> RecordedUploadRow:
    return RecordedUploadRow(
        "upload",
        text_of(upload.key),
        upload.id,
        upload.branch,
        text_of(upload.path),
        upload.created_ns // NS_PER_S,
    )


def prefix_of_uploads(key: bytes) -> RecordedUploadRow:
    """Return the common prefix of several uploads' keys."""
    return RecordedUploadRow("common_prefix", text_of(key))


class RecordedPartRow(Struct, frozen=True):
    part_number: int
    etag: str
    size_bytes: int
    mtime: int


def recorded_part(part: PartInfo) -> RecordedPartRow:
    return RecordedPartRow(
        part.number, part.checksum, part.size_bytes, part.last_modified_ns // NS_PER_S
    )
