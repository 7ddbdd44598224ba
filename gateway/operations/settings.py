"""What a deployment may choose about the operations."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperationSettings:
    """The choices.

    region: the one that GetBucketLocation answers.
    redirects: reads of clients that follow redirects are sent to presigned URLs.
    hashed_bytes_max: the largest content whose SHA-256 the store is asked to check.
    """

    region: str = "us-east-1"
    redirects: bool = False
    hashed_bytes_max: int = 5 * 1024**3
