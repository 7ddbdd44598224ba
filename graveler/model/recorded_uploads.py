"""Recorded multipart uploads: one process begins an upload, and any other one completes it.

An upload is open until it is completed or aborted. Completing it and staging its object are one
transaction. So an open upload has no entry, and a completed one has been the object at its path.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from msgspec import Struct, structs

from graveler.limits import COMPLETED_UPLOAD_LIFE_S, OPEN_UPLOAD_LIFE_S
from graveler.model import NO_TOKEN, AddressType, Entry, StagingToken
from graveler.model.tokens import JsonToken, json_token
from graveler.times import NS_PER_S


class Completion(Struct, frozen=True):
    """How an upload was completed.

    parts_digest identifies the list of parts. The entry was staged under the token. If it had to
    meet a requirement, clean_moves is the branch's count when it did.
    """

    checksum: str  # the ETag without quotes
    size_bytes: int
    completed_ns: int
    parts_digest: str
    token: JsonToken = NO_TOKEN
    clean_moves: int | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """A multipart upload to a path of a branch.

    id is ours, and store_id is the object store's. The address is relative to the namespace.
    headers are those that the object store answered to its beginning; no record holds them.
    branch_uid: the branch that it began on; None if an earlier version recorded it.
    has_checksums: its beginning declared a checksum, so that the store takes those of the parts.
    """

    id: str
    branch: str
    path: bytes
    address: str
    store_id: str
    content_type: str
    created_ns: int
    metadata: Mapping[str, str] = field(default_factory=dict)
    completed: Completion | None = None
    has_checksums: bool = False
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)
    branch_uid: str | None = None

    @property
    def key(self) -> bytes:
        """The key as S3 lists it: the branch, a slash and the path."""
        return upload_key(self.branch, self.path)

    @property
    def place(self) -> tuple[bytes, str]:
        """The place in a listing: by key, and the older upload first."""
        return self.key, self.id

    @property
    def expires_s(self) -> int:
        """The time in Unix seconds after which the record may be deleted."""
        if self.completed is None:
            return self.created_ns // NS_PER_S + OPEN_UPLOAD_LIFE_S
        return self.completed.completed_ns // NS_PER_S + COMPLETED_UPLOAD_LIFE_S

    def completed_by(self, completion: Completion, token: StagingToken) -> "Upload":
        """Return the upload as it is when its entry is staged under the token."""
        return replace(self, completed=structs.replace(completion, token=json_token(token)))

    def entry(self, completion: Completion) -> Entry:
        """Return the entry of the object that the completion makes."""
        return Entry(
            address=self.address,
            address_type=AddressType.RELATIVE,
            size_bytes=completion.size_bytes,
            checksum=completion.checksum,
            last_modified_ns=completion.completed_ns,
            content_type=self.content_type,
            metadata=self.metadata,
        )


def upload_key(branch: str, path: bytes) -> bytes:
    """Return the key of an upload to the path: the branch, a slash and the path."""
    return branch.encode() + b"/" + path


def digest_of_parts(parts: Sequence[tuple[int, str]]) -> str:
    """Return a digest that identifies a list of parts, each a number and a checksum."""
    return sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()
