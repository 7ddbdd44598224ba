"""AWS's refusals, and the engine's errors that they become.

The adapters catch ConditionFailedError and TransactionCancelledError. They read back whether their
own earlier attempt was the reason, and raise the engine's errors. RequestRefusedError is not about
input: a table or a permission is missing, or we have a bug. Adapters do not catch it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnectionError

from graveler.aws import traces
from graveler.aws.retries import RetryPolicy
from graveler.errors import ThrottledError

T = TypeVar("T")

# The reason for a transaction's write whose condition did not hold.
CONDITION_FAILED = "ConditionalCheckFailed"

# With these codes, the request had no effect, and may succeed a little later.
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
    """The condition of a single write did not hold; item is the stored one, if requested."""

    def __init__(self, item: Mapping[str, Any] | None) -> None:
        super().__init__("the condition did not hold")
        self.item = item


class TransactionCancelledError(Exception):
    """A condition of a transaction did not hold; codes has a reason for each write, in order."""

    def __init__(self, codes: tuple[str, ...]) -> None:
        super().__init__(f"the transaction was cancelled: {', '.join(codes)}")
        self.codes = codes

    @property
    def failed(self) -> tuple[bool, ...]:
        """For each write, in order, whether its condition did not hold."""
        return tuple(code == CONDITION_FAILED for code in self.codes)


class RequestRefusedError(Exception):
    """The service refused the request for good."""

    def __init__(self, request: str, code: str, message: str) -> None:
        super().__init__(f"{request} was refused: {code}: {message}")
        self.code = code


@contextmanager
def service_call(service: str) -> Iterator[None]:
    """Trace boto3's call in the block, and translate its errors.

    Only for requests that may take effect twice: ThrottledError does not say whether a request
    without an answer took effect.

    Raises:
        ThrottledError: the service throttles, fails or does not answer.
        ClientError: the service refused the request for good.
    """
    try:
        with traces.call(service, ""):
            yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in THROTTLING_CODES or error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            problem = f"{service} cannot serve this now: retry later ({error})"
            raise ThrottledError(problem) from error
        raise
    except (HTTPClientError, NoConnectionError) as error:
        raise ThrottledError(f"{service} does not answer: retry later ({error})") from error


def repeated(service: str, request: Callable[[], T]) -> T:
    """Return the result of a request that may take effect twice; repeat it while there is time.

    boto3 would repeat it as well, with pauses that no deadline ends.

    Raises:
        ThrottledError: the service throttles, fails or does not answer.
        ClientError: the service refused the request for good.
    """
    failure = ThrottledError(f"no time is left to ask {service}: retry later")
    for _ in RetryPolicy().attempts():
        try:
            with service_call(service):
                return request()
        except ThrottledError as error:
            failure = error
    raise failure
