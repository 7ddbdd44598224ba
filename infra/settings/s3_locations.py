"""The places in S3 that a deployment may use."""

import re
from dataclasses import dataclass

# As of November 2026, from "General purpose bucket naming rules" in S3's guide.
_BUCKET = re.compile(r"(?!xn--|sthree-|amzn-s3-demo-)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]")
_IP_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_RESERVED_ENDINGS = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3", "-an")
# The characters that a policy takes literally: "*", "?" and "$" have a meaning.
_PREFIX = re.compile(r"[A-Za-z0-9!_.'()/=+@:,& -]*")


@dataclass(frozen=True, slots=True)
class S3Location:
    """A bucket and a prefix of keys in it."""

    bucket: str
    prefix: str = ""

    @classmethod
    def of(cls, uri: str) -> "S3Location":
        """Return the place of `s3://bucket/prefix`.

        Raises:
            ValueError: the URI has another form, or a policy cannot name it.
        """
        scheme, separator, rest = uri.partition("://")
        bucket, _, prefix = rest.partition("/")
        if (scheme, separator) != ("s3", "://"):
            raise ValueError(f"{uri!r} is not a place in S3: write s3://bucket/prefix")
        check_bucket(bucket)
        if not _PREFIX.fullmatch(prefix):
            raise ValueError(f"{uri!r} has characters that IAM policies cannot name")
        return cls(bucket, prefix)

    @property
    def uri(self) -> str:
        """`s3://bucket/prefix`."""
        return f"s3://{self.bucket}/{self.prefix}"

    def overlaps(self, other: "S3Location") -> bool:
        """Whether a key can match both; like policies, it compares characters."""
        one, two = self.prefix, other.prefix
        return self.bucket == other.bucket and (one.startswith(two) or two.startswith(one))


def check_bucket(name: str) -> None:
    """Check the name of a bucket.

    Raises:
        ValueError: S3 would refuse it.
    """
    if (
        not _BUCKET.fullmatch(name)
        or _IP_ADDRESS.fullmatch(name)
        or name.endswith(_RESERVED_ENDINGS)
    ):
        raise ValueError(
            f"{name!r} is not a valid bucket name: 3 to 63 lower-case letters, digits, hyphens and "
            f"dots, a letter or digit at both ends, none that S3 reserves"
        )
