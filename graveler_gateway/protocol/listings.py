"""The parameters of listings: prefix, delimiter, amount, and where to continue."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from graveler_gateway.protocol.errors import Code, S3ResponseError

AMOUNT_MAX = 1000
BUCKETS_AMOUNT_MAX = 10_000

_INTEGER_MAX = 2**31 - 1
_INTEGER = re.compile("[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class ObjectsQuery:
    """The parameters of ListObjects, of either version.

    Keys whose bytes are not UTF-8 have surrogates (PEP 383). An empty delimiter means none.
    """

    version: Literal[1, 2]
    prefix: str
    delimiter: str
    # The listing begins with the first key that is greater.
    after: str
    amount: int
    url_encoded: bool
    # As they were sent, because the answer repeats them.
    marker: str = ""
    start_after: str = ""
    # None if it was not sent. An empty one begins at the beginning.
    continuation_token: str | None = None
    fetch_owner: bool = False


@dataclass(frozen=True, slots=True)
class UploadsQuery:
    """The parameters of ListMultipartUploads."""

    prefix: str
    delimiter: str
    key_marker: str
    # The uploads of the key of key_marker begin after this one; "" skips the key.
    upload_id_marker: str
    amount: int
    url_encoded: bool


@dataclass(frozen=True, slots=True)
class PartsQuery:
    """The parameters of ListParts."""

    upload_id: str
    # The listing begins with the first number that is greater.
    number_marker: int
    amount: int


@dataclass(frozen=True, slots=True)
class BucketsQuery:
    """The parameters of ListBuckets."""

    prefix: str
    # The listing begins with the first name that is greater.
    after: str
    amount: int


def objects_query(parameters: Mapping[str, str]) -> ObjectsQuery:
    """Return the parameters of a ListObjects, of version 1 or 2.

    Raises:
        S3ResponseError: INVALID_ARGUMENT, with the parameter's name and value.
    """
    version = _version(parameters)
    marker = parameters.get("marker", "") if version == 1 else ""
    start_after = parameters.get("start-after", "") if version == 2 else ""
    token = parameters.get("continuation-token") if version == 2 else None
    return ObjectsQuery(
        version=version,
        prefix=parameters.get("prefix", ""),
        delimiter=parameters.get("delimiter", ""),
        after=_text_of(token) if token else marker or start_after,
        amount=_amount(parameters, "max-keys"),
        url_encoded=_is_url_encoded(parameters),
        marker=marker,
        start_after=start_after,
        continuation_token=token,
        fetch_owner=version == 2 and parameters.get("fetch-owner", "").lower() == "true",
    )


def uploads_query(parameters: Mapping[str, str]) -> UploadsQuery:
    """Return the parameters of a ListMultipartUploads.

    Raises:
        S3ResponseError: INVALID_ARGUMENT, with the parameter's name and value.
    """
    key_marker = parameters.get("key-marker", "")
    return UploadsQuery(
        prefix=parameters.get("prefix", ""),
        delimiter=parameters.get("delimiter", ""),
        key_marker=key_marker,
        # S3 ignores it without a key.
        upload_id_marker=parameters.get("upload-id-marker", "") if key_marker else "",
        amount=_amount(parameters, "max-uploads"),
        url_encoded=_is_url_encoded(parameters),
    )


def parts_query(parameters: Mapping[str, str]) -> PartsQuery:
    """Return the parameters of a ListParts.

    Raises:
        S3ResponseError: INVALID_ARGUMENT, with the parameter's name and value.
    """
    return PartsQuery(
        upload_id=parameters.get("uploadId", ""),
        number_marker=_integer(parameters, "part-number-marker", 0),
        amount=_amount(parameters, "max-parts"),
    )


def buckets_query(parameters: Mapping[str, str]) -> BucketsQuery:
    """Return the parameters of a ListBuckets.

    Raises:
        S3ResponseError: INVALID_ARGUMENT, with the parameter's name and value.
    """
    token = parameters.get("continuation-token")
    amount = _integer(parameters, "max-buckets", BUCKETS_AMOUNT_MAX)
    if not 1 <= amount <= BUCKETS_AMOUNT_MAX:
        raise _invalid(parameters, "max-buckets", f"must be between 1 and {BUCKETS_AMOUNT_MAX}")
    return BucketsQuery(
        prefix=parameters.get("prefix", ""),
        after="" if token is None else _text_of(token),
        amount=amount,
    )


def token_of(key: bytes) -> str:
    """Return the continuation token of a listing that continues after the key."""
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def key_of_token(token: str) -> bytes:
    """Return the key after which the listing continues.

    Raises:
        S3ResponseError: INVALID_ARGUMENT, if no listing returned this token.
    """
    padding = "=" * (-len(token) % 4)
    try:
        key = base64.urlsafe_b64decode(token + padding)
    except (binascii.Error, ValueError):
        key = b""
    # The decoder skips foreign characters, so compare with the only spelling.
    if not key or token_of(key) != token:
        raise _incorrect_token(token)
    return key


def _incorrect_token(token: str) -> S3ResponseError:
    return S3ResponseError(
        Code.INVALID_ARGUMENT,
        "The continuation token provided is incorrect",
        details={"ArgumentName": "continuation-token", "ArgumentValue": token},
    )


def _text_of(token: str) -> str:
    return key_of_token(token).decode("utf-8", "surrogateescape")


def _version(parameters: Mapping[str, str]) -> Literal[1, 2]:
    list_type = parameters.get("list-type")
    if list_type is None:
        return 1
    if list_type == "2":
        return 2
    raise _invalid(parameters, "list-type", "must be 2")


def _is_url_encoded(parameters: Mapping[str, str]) -> bool:
    encoding = parameters.get("encoding-type")
    if encoding is None:
        return False
    if encoding == "url":
        return True
    raise S3ResponseError(
        Code.INVALID_ARGUMENT,
        "Invalid Encoding Method specified in Request",
        details={"ArgumentName": "encoding-type", "ArgumentValue": encoding},
    )


def _amount(parameters: Mapping[str, str], name: str) -> int:
    return min(_integer(parameters, name, AMOUNT_MAX), AMOUNT_MAX)


def _integer(parameters: Mapping[str, str], name: str, default: int) -> int:
    text = parameters.get(name)
    if text is None:
        return default
    if not _INTEGER.fullmatch(text) or int(text) > _INTEGER_MAX:
        raise _invalid(parameters, name, "is not an integer or not within the integer range")
    return int(text)


def _invalid(parameters: Mapping[str, str], name: str, reason: str) -> S3ResponseError:
    return S3ResponseError(
        Code.INVALID_ARGUMENT,
        f"Provided {name} {reason}",
        details={"ArgumentName": name, "ArgumentValue": parameters[name]},
    )
