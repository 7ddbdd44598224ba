"""The canonical request of Version 4, with S3's rules.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from gateway.protocol.head import Head, unquoted
from gateway.protocol.signatures.parameters import decoded_pairs


def canonical_request(head: Head, signed_headers: Sequence[str], content_sha256: str) -> str:
    """Return the text whose hash is signed; it is Latin-1."""
    return "\n".join(
        (
            head.method,
            canonical_path(head.raw_path),
            canonical_query(decoded_pairs(head)),
            *(f"{name}:{canonical_value(head, name)}" for name in signed_headers),
            "",
            ";".join(signed_headers),
            content_sha256,
        )
    )


def canonical_path(raw_path: str) -> str:
    """Return the path encoded once; S3 keeps empty and dot segments."""
    return quote(unquoted(raw_path), safe="/") or "/"


def canonical_query(parameters: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the decoded parameters, encoded once and sorted, without the signature of a query."""
    encoded = ((quote(name, safe=""), quote(value, safe="")) for name, value in parameters)
    return "&".join(
        f"{name}={value}" for name, value in sorted(encoded) if name != "X-Amz-Signature"
    )


def canonical_value(head: Head, name: str) -> str:
    """Return the header's values without superfluous blanks, joined by commas."""
    return ",".join(_squeezed(value) for key, value in head.headers if key == name)


def _squeezed(value: str) -> str:
    return " ".join(word for word in value.replace("\t", " ").split(" ") if word)
