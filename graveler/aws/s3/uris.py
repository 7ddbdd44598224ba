"""URIs of objects: `s3://bucket/key`."""

import re

from msgspec import Struct

from graveler.errors import InvalidInputError

_BUCKET = re.compile(r"[A-Za-z0-9._-]{1,255}")


class Location(Struct, frozen=True):
    """A bucket and a key in it; without a key, the whole bucket."""

    bucket: str
    key: str

    @classmethod
    def of(cls, uri: str) -> "Location":
        """Return the location of `s3://bucket/key`.

        Raises:
            InvalidInputError: the URI has another form.
        """
        location = cls.of_prefix(uri)
        if not location.key:
            raise InvalidInputError(f"{uri!r} is not an S3 object URI: write s3://bucket/key")
        return location

    @classmethod
    def of_prefix(cls, uri: str) -> "Location":
        """Return the location of `s3://bucket/prefix`, whose prefix may be empty.

        Raises:
            InvalidInputError: the URI has another form.
        """
        scheme, _, rest = uri.partition("://")
        bucket, _, prefix = rest.partition("/")
        if scheme != "s3" or not _BUCKET.fullmatch(bucket):
            raise InvalidInputError(f"{uri!r} is not an S3 URI: write s3://bucket/key")
        return cls(bucket, prefix)

    @property
    def parameters(self) -> dict[str, str]:
        """The location as boto3's parameters."""
        return {"Bucket": self.bucket} | ({"Key": self.key} if self.key else {})

    @property
    def whole_bucket(self) -> "Location":
        """The location's bucket, without the key."""
        return Location(self.bucket, "")


def range_header(first_and_last: tuple[int, int]) -> str:
    """Return a range of bytes, both ends inclusive, in HTTP's form."""
    return f"bytes={first_and_last[0]}-{first_and_last[1]}"
