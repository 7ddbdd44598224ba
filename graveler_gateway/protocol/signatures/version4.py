"""AWS Signature Version 4, in the Authorization header or in a presigned URL."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from graveler_gateway.protocol.bodies import payload
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead, unquoted
from graveler_gateway.protocol.signatures import keys, times
from graveler_gateway.protocol.signatures.verified import (
    ChunkSeed,
    SignatureKind,
    VerifiedSignature,
)

ALGORITHM = "AWS4-HMAC-SHA256"
MAX_EXPIRES_S = 7 * 24 * 60 * 60
QUERY_NAMES = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-Date",
    "X-Amz-SignedHeaders",
    "X-Amz-Expires",
)

_HEADER_FIELDS = ("Credential", "SignedHeaders", "Signature")
_CREDENTIAL = re.compile(
    r"(?P<access_key_id>[!-~]{1,128})/(?P<date>\d{8})/(?P<region>[!-.0-~]*)"
    r"/(?P<service>[!-.0-~]*)/(?P<terminator>[!-.0-~]*)",
    re.ASCII,
)
_SIGNED_HEADERS = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+(;[!#$%&'*+.^_`|~0-9a-z-]+)*")
_QUERY_NAMES_REQUIRED = (
    "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, "
    "X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."
)


@dataclass(frozen=True)
class Scope:
    """The scope of a signing key: requests of one day, region and service."""

    access_key_id: str
    date: str
    region: str
    service: str

    @property
    def text(self) -> str:
        """The scope as strings to sign have it, without the access key ID."""
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


@dataclass(frozen=True)
class Version4:
    """A Version 4 signature; expires_s is set if it was presigned."""

    kind: SignatureKind
    scope: Scope
    time: datetime
    signed_headers: tuple[str, ...]
    signature: str
    content_sha256: str
    expires_s: int | None = None

    @property
    def access_key_id(self) -> str:
        """The key whose secret verify needs."""
        return self.scope.access_key_id

    def verify(
        self,
        head: RequestHead,
        secret: str,
        now_s: int,
        *,
        bucket_of_host: str = "",  # noqa: ARG002 - the signed Host header says it
        signing_key: keys.SigningKeys = keys.signing_key,
    ) -> VerifiedSignature:
        """Return what the signature proves, as PresentedSignature.verify promises."""
        self._check_time(now_s)
        self._check_coverage(head)
        canonical = canonical_request(head, self.signed_headers, self.content_sha256)
        timestamp = times.format_basic(self.time)
        string_to_sign = "\n".join(
            (ALGORITHM, timestamp, self.scope.text, keys.sha256_hex(canonical.encode("latin-1")))
        )
        key = signing_key(secret, self.scope.date, self.scope.region, self.scope.service)
        if not keys.is_same(self.signature, keys.signature(key, string_to_sign)):
            details = {
                "AWSAccessKeyId": self.access_key_id,
                "StringToSign": string_to_sign,
                "SignatureProvided": self.signature,
                "CanonicalRequest": canonical,
            }
            raise S3ResponseError(Code.SIGNATURE_DOES_NOT_MATCH, details=details)
        body = payload.parse_payload(self.content_sha256)
        seed = ChunkSeed(key, timestamp, self.scope.text, self.signature)
        return VerifiedSignature(self.access_key_id, body, seed if body.has_signed_chunks else None)

    def _check_time(self, now_s: int) -> None:
        signed_s = times.seconds(self.time)
        if self.expires_s is None:
            times.check_skew(signed_s, now_s)
        elif now_s < signed_s - times.MAX_SKEW_S:
            raise S3ResponseError(Code.EXPIRED_PRESIGNED_REQUEST, "Request is not yet valid")
        elif now_s > signed_s + self.expires_s:
            raise S3ResponseError(Code.EXPIRED_PRESIGNED_REQUEST)

    def _check_coverage(self, head: RequestHead) -> None:
        """Refuse a head with headers that must be signed and are not, or the reverse."""
        present = {name for name, _ in head.headers}
        needed = {"host"} | {name for name in present if name.startswith("x-amz-")}
        if unsigned := sorted(needed - set(self.signed_headers)):
            raise S3ResponseError(
                Code.ACCESS_DENIED,
                "There were headers present in the request which were not signed",
                details={"HeadersNotSigned": ", ".join(unsigned)},
            )
        if absent := sorted(set(self.signed_headers) - present):
            raise S3ResponseError(
                Code.SIGNATURE_DOES_NOT_MATCH,
                f"The signed headers {', '.join(absent)} are not in the request.",
            )


def parse_header(head: RequestHead, authorization: str) -> Version4:
    """Return the signature of an Authorization header that begins with ALGORITHM.

    Raises:
        S3ResponseError: The header is malformed, or the head lacks a date or x-amz-content-sha256.
    """
    error = Code.AUTHORIZATION_HEADER_MALFORMED
    pairs = [part.strip().partition("=") for part in authorization[len(ALGORITHM) :].split(",")]
    fields = {name: value for name, _, value in pairs}
    for name in _HEADER_FIELDS:
        if not fields.get(name):
            raise S3ResponseError(
                error, f"The authorization header is malformed; {name} is missing."
            )
    if len(pairs) != len(_HEADER_FIELDS):
        raise S3ResponseError(
            error, "The authorization header is malformed; it has superfluous fields."
        )
    time = times.parse_time(head.header("x-amz-date") or head.header("date") or "")
    if time is None:
        raise S3ResponseError(
            Code.ACCESS_DENIED, "AWS authentication requires a valid Date or x-amz-date header"
        )
    content_sha256 = head.header(payload.HEADER)
    if content_sha256 is None:
        raise S3ResponseError(
            Code.INVALID_REQUEST, f"Missing required header for this request: {payload.HEADER}"
        )
    payload.parse_payload(content_sha256)
    return Version4(
        SignatureKind.VERSION_4_HEADER,
        parse_scope(fields["Credential"], time, error),
        time,
        _signed_headers(fields["SignedHeaders"], error),
        fields["Signature"],
        content_sha256,
    )


def parse_query(head: RequestHead) -> Version4:
    """Return the signature of a presigned URL.

    Raises:
        S3ResponseError: A parameter is missing, malformed or there twice.
    """
    error = Code.AUTHORIZATION_QUERY_PARAMETERS_ERROR
    given = head.sole_parameters(QUERY_NAMES)
    if given is None:
        raise S3ResponseError(error, _QUERY_NAMES_REQUIRED)
    if given["X-Amz-Algorithm"] != ALGORITHM:
        raise S3ResponseError(error, f'X-Amz-Algorithm only supports "{ALGORITHM}"')
    time = times.parse_basic(given["X-Amz-Date"])
    if time is None:
        raise S3ResponseError(
            error, "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\""
        )
    content_sha256 = (
        head.parameters.get("X-Amz-Content-Sha256")
        or head.header(payload.HEADER)
        or payload.PayloadKind.UNSIGNED.value
    )
    payload.parse_payload(content_sha256)
    return Version4(
        SignatureKind.VERSION_4_QUERY,
        parse_scope(given["X-Amz-Credential"], time, error),
        time,
        _signed_headers(given["X-Amz-SignedHeaders"], error),
        given["X-Amz-Signature"],
        content_sha256,
        _expires_s(given["X-Amz-Expires"]),
    )


def parse_scope(credential: str, time: datetime, error: Code) -> Scope:
    """Return the scope of a credential, which must be of the day of time; else raise error."""
    match = _CREDENTIAL.fullmatch(credential)
    if not match:
        raise S3ResponseError(
            error,
            "The credential is mal-formed; expecting "
            '"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".',
        )
    if match["terminator"] != "aws4_request":
        raise S3ResponseError(
            error, 'The credential is malformed; it must end with "aws4_request".'
        )
    if match["service"] != "s3":
        raise S3ResponseError(
            error,
            f'The credential is malformed; incorrect service "{match["service"]}". '
            'This endpoint belongs to "s3".',
        )
    if match["date"] != times.format_basic(time)[:8]:
        raise S3ResponseError(
            error,
            f'Invalid credential date "{match["date"]}". This date is not the same as '
            f'X-Amz-Date: "{times.format_basic(time)[:8]}".',
        )
    return Scope(match["access_key_id"], match["date"], match["region"], match["service"])


def _signed_headers(text: str, error: Code) -> tuple[str, ...]:
    if not _SIGNED_HEADERS.fullmatch(text):
        raise S3ResponseError(
            error, "SignedHeaders is malformed; expecting lower-case names separated by ;"
        )
    return tuple(sorted(text.split(";")))


def _expires_s(text: str) -> int:
    error = Code.AUTHORIZATION_QUERY_PARAMETERS_ERROR
    if not re.fullmatch("[0-9]{1,19}", text):
        raise S3ResponseError(error, "X-Amz-Expires should be a number")
    if not 1 <= int(text) <= MAX_EXPIRES_S:
        raise S3ResponseError(error, f"X-Amz-Expires must be between 1 and {MAX_EXPIRES_S} seconds")
    return int(text)


def canonical_request(head: RequestHead, signed_headers: Sequence[str], content_sha256: str) -> str:
    """Return the text whose hash is signed; it is Latin-1."""
    return "\n".join(
        (
            head.method,
            canonical_path(head.raw_path),
            canonical_query(head.decoded_parameters),
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


def canonical_value(head: RequestHead, name: str) -> str:
    """Return the header's values without superfluous blanks, joined by commas."""
    return ",".join(_squeezed(value) for key, value in head.headers if key == name)


def _squeezed(value: str) -> str:
    return " ".join(word for word in value.replace("\t", " ").split(" ") if word)
