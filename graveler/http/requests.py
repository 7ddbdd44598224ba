"""The request bodies of lakeFS's API, for all operations that are served.

Decoding does what lakeFS does: a field that is missing or has a wrong type is a 400 that names it,
and an unknown field is ignored.
"""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from graveler.limits import INT64_MAX, UPLOAD_PARTS_MAX
from graveler.messages import Refusal
from graveler.model import CommitID, MetaRangeID
from graveler.model.pulls import PullRequestStatus
from graveler.times import NS_PER_S

T = TypeVar("T")

# An int64: Go clients send it, and DynamoDB and protobuf can hold it.
Count = Annotated[int, Meta(ge=0, le=INT64_MAX)]
# Unix seconds whose nanoseconds are an int64.
UnixTime = Annotated[int, Meta(ge=0, le=INT64_MAX // NS_PER_S)]
PartNumber = Annotated[int, Meta(ge=1, le=UPLOAD_PARTS_MAX)]
NonEmpty = Annotated[str, Meta(min_length=1)]


_decoders: dict[object, msgspec.json.Decoder[Any]] = {}


def decode(body: bytes, shape: type[T]) -> T:
    """Return the JSON body as an instance of the shape.

    Raises:
        InvalidInputError: the body is not JSON, or a field is missing or has a wrong type.
    """
    if not body:
        raise Refusal.BAD_BODY.error("send JSON", problem="value is required but missing")
    decoder: msgspec.json.Decoder[T] | None = _decoders.get(shape)
    if decoder is None:
        decoder = _decoders[shape] = msgspec.json.Decoder(shape)
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal.BAD_BODY.error(problem=error) from error


# Setup, login and statistics


class AccessKey(Struct, frozen=True):
    access_key_id: Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[!-9;-~]+\Z")]
    secret_access_key: Annotated[str, Meta(min_length=1, max_length=1024)]

    __repr__ = object.__repr__  # shows no secret


class NewAccessKey(AccessKey, frozen=True):
    # Addresses name the key pair, so it has no `/`, no `%`, and not dots alone.
    access_key_id: Annotated[
        str, Meta(min_length=1, max_length=128, pattern=r"^(?!\.{1,2}\Z)[!-$&-.0-9;-~]+\Z")
    ]


class Setup(Struct, frozen=True):
    username: Annotated[str, Meta(min_length=1, max_length=256)]
    key: NewAccessKey | None = None


class CommunicationPreferences(Struct, frozen=True, rename="camel"):
    feature_updates: bool
    security_updates: bool
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    company_name: str = ""


class Login(Struct, frozen=True):
    access_key_id: str
    secret_access_key: str

    __repr__ = object.__repr__  # shows no secret


class StatsEvent(Struct, frozen=True, rename={"event_class": "class"}):
    event_class: str
    name: str
    count: Count


class StatsEvents(Struct, frozen=True):
    events: list[StatsEvent]


# Repositories


class RepositoryCreation(Struct, frozen=True):
    name: str
    storage_namespace: str
    storage_id: str = ""
    default_branch: str = "main"
    sample_data: bool = False
    read_only: bool = False


class RepositoryMetadataSet(Struct, frozen=True):
    metadata: dict[str, str]


class RepositoryMetadataKeys(Struct, frozen=True):
    keys: list[str]


class ProtectionRuleBody(Struct, frozen=True):
    pattern: NonEmpty


# Branches, tags, commits


class BranchCreation(Struct, frozen=True):
    name: str
    source: str
    force: bool = False
    hidden: bool = False


class ResetCreation(Struct, frozen=True):
    type: Literal["object", "common_prefix", "reset"]
    path: str = ""
    force: bool = False


class CommitOverrides(Struct, frozen=True):
    message: str = ""
    metadata: dict[str, str] = {}


class RevertCreation(Struct, frozen=True):
    ref: str
    parent_number: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    commit_overrides: CommitOverrides = CommitOverrides()
    force: bool = False
    allow_empty: bool = False


class CherryPickCreation(Struct, frozen=True):
    ref: str
    parent_number: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    commit_overrides: CommitOverrides = CommitOverrides()
    force: bool = False


class TagCreation(Struct, frozen=True):
    id: str
    ref: str
    force: bool = False


class CommitCreation(Struct, frozen=True):
    message: str
    metadata: dict[str, str] = {}
    date: UnixTime | None = None
    allow_empty: bool = False
    force: bool = False


class CommitRecordCreation(Struct, frozen=True):
    commit_id: CommitID
    version: Annotated[int, Meta(ge=0, le=1)]
    committer: str
    message: str
    metarange_id: MetaRangeID
    creation_date: UnixTime
    parents: list[CommitID]
    generation: Count
    metadata: dict[str, str] = {}
    force: bool = False


class PullRequestCreation(Struct, frozen=True):
    title: str
    source_branch: str
    destination_branch: str
    description: str = ""


class PullRequestUpdate(Struct, frozen=True):
    title: str | None = None
    description: str | None = None
    status: PullRequestStatus | None = None


class Merge(Struct, frozen=True):
    message: str = ""
    metadata: dict[str, str] = {}
    strategy: str = ""
    force: bool = False
    allow_empty: bool = False
    squash_merge: bool = False


# Objects


class PathList(Struct, frozen=True):
    paths: list[str]


class ObjectCopyCreation(Struct, frozen=True):
    src_path: str
    src_ref: str | None = None
    force: bool = False
    shallow: bool = False
    # Ours: another repository, the data that the source must still have, and a new description.
    src_repository: str = ""
    src_physical_address: str = ""
    content_type: str | None = None
    user_metadata: dict[str, str] | None = None
    # Those of the copy's data (`graveler.data_headers`); without `headers`, the source's stay.
    headers: dict[str, str] | None = None
    encryption: dict[str, str] = {}


class PrefixMove(Struct, frozen=True):
    src_prefix: str
    if_exists: Literal["fail", "skip", "overwrite"] = "fail"
    force: bool = False


class PrefixCopy(PrefixMove, frozen=True):
    src_ref: str = ""


class UserMetadataUpdate(Struct, frozen=True):
    set: dict[str, str]


class ObjectStageCreation(Struct, frozen=True):
    physical_address: str
    checksum: str
    size_bytes: Count
    mtime: UnixTime | None = None
    metadata: dict[str, str] = {}
    content_type: str = ""
    force: bool = False


class StagingAddress(Struct, frozen=True):
    physical_address: str


class StagingMetadata(Struct, frozen=True):
    staging: StagingAddress
    checksum: str
    size_bytes: Count
    user_metadata: dict[str, str] = {}
    content_type: str = ""
    mtime: UnixTime | None = None
    force: bool = False


# Presigned multipart uploads


class Part(Struct, frozen=True):
    part_number: PartNumber
    etag: str


class UploadCompletion(Struct, frozen=True):
    physical_address: str
    parts: Annotated[list[Part], Meta(max_length=UPLOAD_PARTS_MAX)]
    user_metadata: dict[str, str] = {}
    content_type: str = ""


class UploadAddress(Struct, frozen=True):
    physical_address: str


class CopyPartSource(Struct, frozen=True):
    repository: str
    ref: str
    path: str
    range: str | None = None


class UploadPartCopy(Struct, frozen=True):
    physical_address: str
    copy_source: CopyPartSource


# Recorded multipart uploads


class RecordedUploadCreation(Struct, frozen=True):
    content_type: str = ""
    user_metadata: dict[str, str] = {}
    headers: dict[str, str] = {}
    encryption: dict[str, str] = {}


class RecordedPartCopy(Struct, frozen=True):
    copy_source: CopyPartSource
    src_physical_address: str = ""


class RecordedUploadCompletion(Struct, frozen=True):
    parts: Annotated[list[Part], Meta(max_length=UPLOAD_PARTS_MAX)]
    # What the object must have; any size if it is absent.
    size_bytes: int | None = None
