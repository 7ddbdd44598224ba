"""DynamoDB's own refusals: conditions, cancelled transactions, items too large.

Items travel as DynamoDB writes them: `{"name": {"S": "main"}}`; binary values are encoded from
bytes, and arrive as base64 text unless a decoder says otherwise.
"""

import binascii
from collections.abc import Mapping

from graveler.aws.errors import (
    THROTTLING_CODES,
    ConditionFailedError,
    RequestRefusedError,
    TransactionCancelledError,
)
from graveler.aws.json_service import JsonService, Refusal
from graveler.errors import InvalidInputError


class DynamoDB(JsonService):
    """One endpoint of DynamoDB.

    Beside what JsonService raises, calls raise ConditionFailedError and TransactionCancelledError
    when a condition did not hold, and InvalidInputError when an item would be too large.
    """

    name = "DynamoDB"
    version = "1.0"
    target = "DynamoDB_20120810"
    reads = frozenset({"BatchGetItem", "DescribeTable", "GetItem", "Query", "Scan"})

    def _on_refusal(self, operation: str, refusal: Refusal) -> str:
        message = refusal.message
        if refusal.code == "ConditionalCheckFailedException":
            raise ConditionFailedError(refusal.document.get("Item"))
        if refusal.code == "TransactionCanceledException":
            reasons = refusal.document.get("CancellationReasons") or []
            codes = tuple(str(reason.get("Code", "None")) for reason in reasons)
            if "ConditionalCheckFailed" in codes:
                raise TransactionCancelledError(codes)
            if any(each in THROTTLING_CODES for each in codes):
                return f"{operation}: {', '.join(codes)}"
            message = " ".join(str(reason.get("Message") or "") for reason in reasons) or message
        if "size" in message and "exceeded" in message:
            # "Item size has exceeded the maximum allowed size", and the like for updates and keys.
            raise InvalidInputError(f"a record is too large to be stored: {message.strip()}")
        if message != refusal.message:
            raise RequestRefusedError(operation, refusal.code, message)
        return super()._on_refusal(operation, refusal)


def binary(attribute: Mapping[str, str]) -> bytes:
    """The bytes of a binary attribute value as it arrived."""
    return binascii.a2b_base64(attribute["B"])
