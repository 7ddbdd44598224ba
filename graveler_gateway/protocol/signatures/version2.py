"""AWS Signature Version 2, in the Authorization header or in a presigned URL.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
"""

import hmac
import re
from base64 import b64encode
from dataclasses import dataclass

from graveler_gateway.protocol.bodies import payload
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures import keys, times
from graveler_gateway.protocol.signatures.verified import SignatureKind, VerifiedSignature

SCHEME = "AWS"
QUERY_NAMES = ("AWSAccessKeyId", "Signature", "Expires")

_ACCESS_KEY_ID = re.compile("[!-~]{1,128}")
_EXPIRES = re.compile("[0-9]{1,12}")
_SUB_RESOURCES = frozenset(
    {
        b"accelerate",
        b"acl",
        b"analytics",
        b"cors",
        b"delete",
        b"inventory",
        b"lifecycle",
        b"location",
        b"logging",
        b"metrics",
        b"notification",
        b"object-lock",
        b"partNumber",
        b"policy",
        b"replication",
        b"requestPayment",
        b"response-cache-control",
        b"response-content-disposition",
        b"response-content-encoding",
        b"response-content-language",
        b"response-content-type",
        b"response-expires",
        b"restore",
        b"select",
        b"select-type",
        b"storageClass",
        b"tagging",
        b"torrent",
        b"uploadId",
        b"uploads",
        b"versionId",
        b"versioning",
        b"versions",
        b"website",
    }
)
"""The parameters that are signed. Version 2 leaves all others open to change."""


@dataclass(frozen=True)
class Version2:
    """A Version 2 signature; expires_s (Unix time) is set if it was presigned."""

    kind: SignatureKind
    access_key_id: str
    signature: str
    expires_s: int | None = None

    def verify(
        self,
        head: RequestHead,
        secret: str,
        now_s: int,
        *,
        bucket_of_host: str = "",
        signing_key: keys.SigningKeys = keys.signing_key,  # noqa: ARG002 - the secret itself signs
    ) -> VerifiedSignature:
        """Return what the signature proves, as PresentedSignature.verify promises."""
        self._check_time(head, now_s)
        string_to_sign = self._string_to_sign(head, bucket_of_host)
        strings = [string_to_sign]
        if not bucket_of_host and head.raw_path.count("/") == 1:
            # boto signs the path of a bucket with a slash, and sends it without one.
            as_signed = RequestHead(head.method, f"{head.raw_path}/", head.raw_query, head.headers)
            strings.append(self._string_to_sign(as_signed, ""))
        if not any(keys.is_same(self.signature, sign(secret, string)) for string in strings):
            details = {
                "AWSAccessKeyId": self.access_key_id,
                "StringToSign": string_to_sign.decode("utf-8", "backslashreplace"),
                "SignatureProvided": self.signature,
            }
            raise S3ResponseError(Code.SIGNATURE_DOES_NOT_MATCH, details=details)
        content_sha256 = head.header(payload.HEADER)
        if content_sha256 is None:
            return VerifiedSignature(self.access_key_id, payload.UNSIGNED)
        return VerifiedSignature(self.access_key_id, payload.parse_payload(content_sha256))

    def _check_time(self, head: RequestHead, now_s: int) -> None:
        if self.expires_s is not None:
            if now_s > self.expires_s:
                raise S3ResponseError(Code.EXPIRED_PRESIGNED_REQUEST)
            return
        time = times.parse_time(head.header("x-amz-date") or head.header("date") or "")
        if time is None:
            raise S3ResponseError(
                Code.ACCESS_DENIED, "AWS authentication requires a valid Date or x-amz-date header"
            )
        times.check_skew(times.seconds(time), now_s)

    def _string_to_sign(self, head: RequestHead, bucket_of_host: str) -> bytes:
        if self.expires_s is not None:
            date = str(self.expires_s)
        else:
            date = "" if head.header("x-amz-date") else _value(head, "date")
        lines = [head.method, _value(head, "content-md5"), _value(head, "content-type"), date]
        amz_headers = sorted({name for name, _ in head.headers if name.startswith("x-amz-")})
        lines += [f"{name}:{_value(head, name)}" for name in amz_headers]
        bucket = f"/{bucket_of_host}" if bucket_of_host else ""
        # Headers are Latin-1 text, the rest is UTF-8.
        return "".join(f"{line}\n" for line in lines).encode("latin-1") + (
            (bucket + head.raw_path).encode("latin-1", "replace") + _sub_resources(head)
        )


def sign(secret: str, string_to_sign: bytes) -> str:
    """Return the Version 2 signature of the bytes, in base64."""
    return b64encode(hmac.digest(secret.encode(), string_to_sign, "sha1")).decode()


def parse_header(authorization: str) -> Version2:
    """Return the signature of an Authorization header that begins with SCHEME.

    Raises:
        S3ResponseError: The header is malformed.
    """
    access_key_id, _, signature = authorization[len(SCHEME) :].strip().rpartition(":")
    if not _ACCESS_KEY_ID.fullmatch(access_key_id) or not signature:
        raise S3ResponseError(
            Code.INVALID_ARGUMENT,
            "AWS authorization header is invalid. Expected AwsAccessKeyId:signature",
            details={"ArgumentName": "Authorization"},
        )
    return Version2(SignatureKind.VERSION_2_HEADER, access_key_id, signature)


def parse_query(head: RequestHead) -> Version2:
    """Return the signature of a presigned URL.

    Raises:
        S3ResponseError: A parameter is missing, malformed or there twice.
    """
    given = head.sole_parameters(QUERY_NAMES)
    if given is None:
        raise S3ResponseError(
            Code.ACCESS_DENIED,
            "Query-string authentication requires the Signature, Expires and AWSAccessKeyId "
            "parameters",
        )
    if not _EXPIRES.fullmatch(given["Expires"]):
        raise S3ResponseError(
            Code.ACCESS_DENIED, "Invalid date (should be seconds since epoch): Expires"
        )
    if not _ACCESS_KEY_ID.fullmatch(given["AWSAccessKeyId"]):
        raise S3ResponseError(Code.INVALID_ACCESS_KEY_ID)
    return Version2(
        SignatureKind.VERSION_2_QUERY,
        given["AWSAccessKeyId"],
        given["Signature"],
        int(given["Expires"]),
    )


def _value(head: RequestHead, name: str) -> str:
    return ",".join(value.strip(" \t") for key, value in head.headers if key == name)


def _sub_resources(head: RequestHead) -> bytes:
    """Return the signed parameters with decoded values, each value only if it was sent."""
    signed = sorted(pair for pair in head.decoded_parameters if pair[0] in _SUB_RESOURCES)
    parts = [name + b"=" + value if value else name for name, value in signed]
    return b"?" + b"&".join(parts) if parts else b""
