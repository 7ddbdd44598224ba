"""A request of S3 as its operation gets it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from graveler_gateway.lake.port import ObjectPlace, UserLake
from graveler_gateway.operations.content import RequestContent
from graveler_gateway.protocol.addressing import KEY_BYTES_MAX, BucketAndKey, split_key
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.transfer.store import Transfers

# An operation's XML document. The longest, 10,000 parts with all checksums, has about 4 MB.
DOCUMENT_BYTES_MAX = 8 * 1024 * 1024
# S3's version of all objects in a bucket without versions.
NULL_VERSION = "null"


@dataclass(frozen=True, slots=True)
class OperationSettings:
    """A deployment's choices about the operations.

    region: the one that GetBucketLocation answers.
    redirects: reads of clients that follow redirects are sent to presigned URLs.
    hashed_bytes_max: the largest content whose SHA-256 the store is asked to check.
    """

    region: str = "us-east-1"
    redirects: bool = False
    hashed_bytes_max: int = 5 * 1024**3


@dataclass(frozen=True)
class S3Request:
    """An authenticated request; an operation reads the content only after all of its checks."""

    head: RequestHead
    target: BucketAndKey
    lake: UserLake
    content: RequestContent
    transfers: Transfers
    settings: OperationSettings
    now_s: int
    user: str
    # The client itself signs: it uses no presigned URL, and no form.
    is_signed_by_header: bool

    @property
    def bucket(self) -> str:
        return self.target.bucket

    @property
    def parameters(self) -> Mapping[str, str]:
        return self.head.parameters

    def header(self, name: str) -> str | None:
        """Return a header by its lower-case name; None if it is absent."""
        return self.head.header(name)

    @cached_property
    def key(self) -> str:
        """The key as clients see it: `<ref>/<path>`."""
        return self.target.key.decode("utf-8", "replace")

    @cached_property
    def place(self) -> ObjectPlace:
        """The place that the key names.

        Raises:
            S3ResponseError: the key names only a ref, its path is too long, or a version is named.
        """
        if (self.parameters.get("versionId") or NULL_VERSION) != NULL_VERSION:
            raise S3ResponseError(
                Code.NO_SUCH_VERSION, "Objects have no versions here: read them at a commit's ID"
            )
        named = split_key(self.target.key)
        if not named.path:
            raise S3ResponseError(
                Code.NO_SUCH_KEY, f"{self.key!r} names only a ref: a key is <ref>/<path>"
            )
        if len(named.path) > KEY_BYTES_MAX:
            raise S3ResponseError(
                Code.KEY_TOO_LONG,
                details={"Size": str(len(named.path)), "MaxSizeAllowed": str(KEY_BYTES_MAX)},
            )
        return ObjectPlace(self.bucket, named.ref, named.path)

    @property
    def is_root(self) -> bool:
        """Whether the key is a ref with a slash, as `main/`: clients take it for a folder."""
        named = split_key(self.target.key)
        return named.has_slash and not named.path

    def document(self) -> bytes:
        """Return the request's XML document."""
        return self.content.whole(DOCUMENT_BYTES_MAX)
