"""S3 through boto3, or directly: either makes one attempt, and we retry.

boto3 can retry as well, but does not report whether an earlier attempt may have taken effect. A
write that timed out and was then throttled has an unknown outcome. One that was only throttled had
no effect. Attempts end as in `dynamodb.client`. Every request may be repeated. It reads, or stores
the same again, or the caller recognizes its own earlier attempt. It does so by
S3Error.may_have_landed, or by a mark in the object.

boto3 finds the region of a bucket, and detects errors that arrive with status 200.
"""

from contextlib import nullcontext, suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ProxyConnectionError,
    SSLError,
)
from botocore.parsers import ResponseParserError

from graveler.aws import background_work, traces, usage
from graveler.aws.background_work import READS
from graveler.aws.errors import THROTTLING_CODES
from graveler.aws.exchanges.buffered import RequestNotSentError, ResponseLostError
from graveler.aws.exchanges.time_budget import silence_of
from graveler.aws.retries import LONG_READ_TIMEOUT_S, RetryPolicy
from graveler.aws.s3.direct_client import HEADERS, DirectClient, ElsewhereError
from graveler.aws.s3.uris import Location
from graveler.aws.usage import Counted
from graveler.errors import (
    BucketRefusedError,
    ThrottledError,
    UnknownOutcomeError,
)

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NOT_SENT = (
    ConnectTimeoutError,
    EndpointConnectionError,
    ProxyConnectionError,
    RequestNotSentError,
)
_NO_ANSWER = (
    HTTPClientError,
    IncompleteReadError,
    ResponseParserError,
    SSLError,
    ResponseLostError,
)

# Retried like throttling: another writer of the same key is not done yet.
_CONFLICT_CODES = frozenset({"ConditionalRequestConflict", "OperationAborted"})

# The status of servers that lack some of S3's operations; a retry cannot succeed.
_NOT_IMPLEMENTED = 501

_LONG = frozenset({"complete_multipart_upload", "copy_object", "upload_part_copy"})

_REFUSED_BUCKET = {
    "NoSuchBucket": "does not exist",
    "AccessDenied": "refuses us: the role needs access to it",
    "403": "refuses us: the role needs access to it",  # the answer to HEAD has no body with a code
    "AllAccessDisabled": "refuses us: all access is disabled",
    "InvalidBucketName": "is not a valid bucket name",
}


class S3Error(Exception):
    """S3 refused a request."""

    def __init__(self, error: ClientError, *, may_have_landed: bool) -> None:
        super().__init__(str(error))
        self.status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        self.code = error.response["Error"]["Code"]
        self.headers = error.response["ResponseMetadata"]["HTTPHeaders"]
        # Whether an earlier attempt got no answer, and may be the reason for this refusal.
        self.may_have_landed = may_have_landed


class S3:
    """S3, or an endpoint that is compatible with it; shared by all threads."""

    def __init__(
        self,
        client: "S3Client",
        retries: RetryPolicy | None = None,
        directly: DirectClient | None = None,
    ) -> None:
        """Send requests that `directly` serves through it, and others through boto3's client."""
        for operation in ("PutObject", "UploadPart"):
            client.meta.events.register(
                f"before-call.s3.{operation}", _put_at_once, unique_id=f"graveler-{operation}"
            )
        events = client.meta.events
        events.register("before-parameter-build.s3", _set_aside, unique_id="graveler-set-aside")
        events.register("before-call.s3", _add_headers, unique_id="graveler-headers")
        self.client = client
        self._retries = retries or RetryPolicy()
        self._directly = directly

    def call(self, operation: str, location: Location, **parameters: object) -> dict[str, Any]:
        """Return the answer of the client's method of that name; `Body` is read into bytes.

        The parameter HEADERS holds further headers as they are sent. boto3 would rewrite some of
        them: it parses Expires as a time, but a user may choose any text.

        Raises:
            S3Error: S3 refused the request for good.
            BucketRefusedError: the bucket does not exist or refuses us.
            ThrottledError: the request was not done in time, and had no effect.
            UnknownOutcomeError: a write may have taken effect.
        """
        may_have_landed = False
        problem = "no time is left"
        patience_s = background_work.patience_s(operation)
        retries = self._retries.patient(patience_s) if patience_s else self._retries
        is_read = operation.startswith(READS)
        silence_s = retries.read_timeout_s if patience_s or is_read else None
        if operation in _LONG:
            silence_s = LONG_READ_TIMEOUT_S
        for _ in retries.attempts():
            try:
                with nullcontext() if silence_s is None else silence_of(silence_s):
                    return self._attempt(operation, location, parameters)
            except _NOT_SENT as error:
                problem = str(error)
            except _NO_ANSWER as error:
                problem, may_have_landed = str(error), True
            except ClientError as error:
                problem = str(error)
                refusal = S3Error(error, may_have_landed=may_have_landed)
                if refusal.code in THROTTLING_CODES or refusal.code in _CONFLICT_CODES:
                    continue
                if refusal.code in _REFUSED_BUCKET:
                    reason = _REFUSED_BUCKET[refusal.code]
                    raise BucketRefusedError(f"bucket {location.bucket} {reason}") from error
                if refusal.status < 500 or refusal.status == _NOT_IMPLEMENTED:
                    raise refusal from error
                may_have_landed = True
        if may_have_landed and not is_read:
            raise UnknownOutcomeError(f"S3 did not confirm a write: {problem}")
        raise ThrottledError(f"S3 cannot serve this now: retry later ({problem})")

    def _attempt(
        self, operation: str, location: Location, parameters: dict[str, object]
    ) -> dict[str, Any]:
        parameters = {**location.parameters, **parameters}
        if self._directly is not None and self._directly.serves(operation, parameters):
            usage.count(Counted.S3_REQUESTS)
            with suppress(ElsewhereError), traces.call("S3", operation):
                return self._directly.call(operation, parameters)
        method = getattr(self.client, operation)
        usage.count(Counted.S3_REQUESTS)
        with traces.call("S3", operation):
            answer: dict[str, Any] = method(**parameters)
            if "Body" in answer:
                answer["Body"] = answer["Body"].read()
            return answer


def _set_aside(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    """Move the further headers out of the parameters, which boto3 checks."""
    context[HEADERS] = params.pop(HEADERS, {})


def _add_headers(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    """Add the further headers, before boto3 signs the request."""
    params["headers"].update(context.get(HEADERS, {}))


def _put_at_once(params: dict[str, Any], **_: object) -> None:
    """Make boto3 send content together with its headers.

    boto3 wraps bytes in a file. Before it sends a file, it asks S3 for permission (`Expect`). That
    costs another round trip and a quarter of the CPU time.
    """
    if isinstance(params["body"], BytesIO):
        params["body"] = params["body"].getvalue()
