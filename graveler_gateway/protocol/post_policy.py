"""Policies of POST object: a signed form may contain only what its policy allows.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
"""

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.signatures import keys, times, version2, version4

_UNCOVERED = frozenset({"awsaccesskeyid", "file", "policy", "signature", "x-amz-signature"})
_EXPIRATION = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z", re.ASCII)


@dataclass(frozen=True)
class LengthRange:
    """The sizes of files that a policy allows; no limit if max_bytes is None."""

    min_bytes: int = 0
    max_bytes: int | None = None

    def check(self, size_bytes: int) -> None:
        """Refuse a file that is too small or too large."""
        if size_bytes < self.min_bytes:
            raise S3ResponseError(Code.ENTITY_TOO_SMALL)
        if self.max_bytes is not None and size_bytes > self.max_bytes:
            raise S3ResponseError(Code.ENTITY_TOO_LARGE)


@dataclass(frozen=True)
class _Condition:
    """A condition on one field: it equals the value, or begins with it."""

    field: str
    value: str
    is_prefix: bool

    def holds(self, actual: str) -> bool:
        if not self.is_prefix:
            return actual == self.value
        # S3 reads a content type with commas as a list.
        parts = actual.split(",") if self.field == "content-type" else [actual]
        return all(part.startswith(self.value) for part in parts)


def form_access_key_id(fields: Mapping[str, str]) -> str | None:
    """Return the key that signed the form; None if the form is anonymous.

    Names of fields are in lower case, here and in check_policy.

    Raises:
        S3ResponseError: A field of the signature is missing or malformed.
    """
    if _is_version4(fields):
        return _scope(fields).access_key_id
    if "signature" in fields or "awsaccesskeyid" in fields:
        return _required(fields, "AWSAccessKeyId")
    if "policy" in fields:
        raise _missing("X-Amz-Signature")
    return None


def check_policy(fields: Mapping[str, str], secret: str, now_s: int, bucket: str) -> LengthRange:
    """Return the sizes that the file may have; refuse a form that its policy does not allow.

    Raises:
        S3ResponseError: The signature is wrong, or the policy is malformed, expired or not met.
    """
    policy = _required(fields, "policy")
    document = _base64(policy)
    _check_signature(fields, secret, policy)
    expiration_s, conditions, length_range = _parse(document)
    if now_s >= expiration_s:
        raise _failed("Policy expired.")
    values = {**fields, "bucket": bucket}
    for condition in conditions:
        if not condition.holds(values.get(condition.field, "")):
            operator = "starts-with" if condition.is_prefix else "eq"
            parts = json.dumps([operator, f"${condition.field}", condition.value])
            raise _failed(f"Policy Condition failed: {parts}")
    covered = {condition.field for condition in conditions} | _UNCOVERED
    extra = [name for name in values if name not in covered and not name.startswith("x-ignore-")]
    if extra:
        raise _failed(f"Extra input fields: {', '.join(sorted(extra))}")
    return length_range


def _check_signature(fields: Mapping[str, str], secret: str, policy: str) -> None:
    if _is_version4(fields):
        scope = _scope(fields)
        key = keys.signing_key(secret, scope.date, scope.region, scope.service)
        presented, computed = _required(fields, "X-Amz-Signature"), keys.signature(key, policy)
    else:
        presented = _required(fields, "Signature")
        computed = version2.sign(secret, policy.encode())
    if not keys.is_same(presented, computed):
        raise S3ResponseError(
            Code.SIGNATURE_DOES_NOT_MATCH,
            details={"StringToSign": policy, "SignatureProvided": presented},
        )


def _is_version4(fields: Mapping[str, str]) -> bool:
    return "x-amz-signature" in fields or "x-amz-credential" in fields


def _scope(fields: Mapping[str, str]) -> version4.Scope:
    if _required(fields, "X-Amz-Algorithm") != version4.ALGORITHM:
        raise S3ResponseError(
            Code.INVALID_ARGUMENT, f"X-Amz-Algorithm only supports {version4.ALGORITHM}"
        )
    time = times.parse_basic(_required(fields, "X-Amz-Date"))
    if time is None:
        raise S3ResponseError(Code.INVALID_ARGUMENT, "X-Amz-Date must be YYYYMMDDTHHMMSSZ")
    return version4.parse_scope(_required(fields, "X-Amz-Credential"), time, Code.INVALID_ARGUMENT)


def _parse(document: bytes) -> tuple[int, list[_Condition], LengthRange]:
    """Return the policy's expiration (Unix time), conditions and sizes."""
    try:
        policy = json.loads(document)
    except (ValueError, RecursionError):
        raise _invalid("Invalid JSON.") from None
    if not isinstance(policy, dict) or not isinstance(policy.get("conditions"), list):
        raise _invalid("A policy is an object with expiration and conditions.")
    conditions: list[_Condition] = []
    lengths = LengthRange()
    for item in policy["conditions"]:
        match item:
            case dict() if item:
                conditions += [_condition("eq", f"${name}", value) for name, value in item.items()]
            case [str(operator), least, most] if operator.lower() == "content-length-range":
                lengths = _narrowed(lengths, least, most)
            case [str(operator), str(field), value]:
                conditions.append(_condition(operator.lower(), field, value))
            case _:
                raise _invalid(
                    "A condition is neither an object with properties nor a list of three."
                )
    return _expiration_s(policy.get("expiration")), conditions, lengths


def _condition(operator: str, field: str, value: object) -> _Condition:
    if operator not in {"eq", "starts-with"} or not field.startswith("$"):
        raise _invalid("A condition is unknown: use eq, starts-with or content-length-range.")
    if not isinstance(value, str):
        raise _invalid(f"The value of {field} must be a string.")
    return _Condition(field[1:].lower(), value, operator == "starts-with")


def _narrowed(lengths: LengthRange, least: object, most: object) -> LengthRange:
    """Return the sizes that both ranges allow."""
    try:
        min_bytes, max_bytes = int(str(least)), int(str(most))
    except ValueError:
        raise _invalid("content-length-range needs two numbers.") from None
    if lengths.max_bytes is not None:
        max_bytes = min(max_bytes, lengths.max_bytes)
    return LengthRange(max(min_bytes, lengths.min_bytes), max_bytes)


def _expiration_s(expiration: object) -> int:
    match = _EXPIRATION.fullmatch(expiration) if isinstance(expiration, str) else None
    try:
        time = datetime.fromisoformat(match[1]) if match else None
    except ValueError:
        time = None
    if time is None:
        raise _invalid("expiration must be YYYY-MM-DDTHH:MM:SS.000Z.")
    return times.seconds(time.replace(tzinfo=UTC))


def _base64(policy: str) -> bytes:
    try:
        return b64decode(policy, validate=True)
    except ValueError:
        raise _invalid("It is not base64.") from None


def _required(fields: Mapping[str, str], name: str) -> str:
    if value := fields.get(name.lower()):
        return value
    raise _missing(name)


def _missing(name: str) -> S3ResponseError:
    return S3ResponseError(
        Code.INVALID_ARGUMENT,
        f"Bucket POST must contain a field named '{name}'. If it is specified, please check the "
        "order of the fields.",
        details={"ArgumentName": name},
    )


def _invalid(message: str) -> S3ResponseError:
    return S3ResponseError(Code.INVALID_ARGUMENT, f"Invalid Policy: {message}")


def _failed(message: str) -> S3ResponseError:
    return S3ResponseError(Code.POST_POLICY_FAILED, f"{Code.POST_POLICY_FAILED.message}: {message}")
