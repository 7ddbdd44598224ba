"""What AWS answers when it refuses, and what the engine is told.

The adapters catch ConditionFailedError and TransactionCancelledError themselves, read back whose
doing it was, and raise the engine's own errors. RequestRefusedError is nobody's input: a missing
table, a missing permission, a bug of ours; nothing catches it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnectionError

from graveler.aws import traces
from graveler.errors import ThrottledError

# Each of these says: the same request may succeed a little later, and has had no effect.
THROTTLING_CODES = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


class ConditionFailedError(Exception):
    """The condition of a single write did not hold; item is what is stored, when asked for."""

    def __init__(self, item: Mapping[str, Any] | None) -> None:
        super().__init__("the condition did not hold")
        self.item = item


class TransactionCancelledError(Exception):
    """A condition of a transaction did not hold; codes has one reason per write, in order."""

    def __init__(self, codes: tuple[str, ...]) -> None:
        super().__init__(f"the transaction was cancelled: {', '.join(codes)}")
        self.codes = codes


class RequestRefusedError(Exception):
    """The service understood the request and will never do it."""

    def __init__(self, request: str, code: str, message: str) -> None:
        super().__init__(f"{request} was refused: {code}: {message}")
        self.code = code


@contextmanager
def service_call(service: str) -> Iterator[None]:
    """A call of boto3's: traced, and what outlasts its retries told in the engine's words.

    Refusals for good pass through.

    For requests that may happen twice: nobody is told whether one that got no answer has landed.
    """
    try:
        with traces.call(service, ""):
            yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in THROTTLING_CODES or error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            problem = f"{service} cannot serve this now, try again later: {error}"
            raise ThrottledError(problem) from error
        raise
    except (HTTPClientError, NoConnectionError) as error:
        raise ThrottledError(f"{service} does not answer, try again later: {error}") from error
