"""DynamoDB's JSON protocol: signs requests, and retries them.

Theory of operation. An attempt ends in one of four ways:
- done;
- refused for good, which is raised at once;
- not done, but worth another attempt: throttled, or no connection;
- unknown: no answer, or a server error.

Attempts continue while there is time (`graveler.aws.retries`). Every write may be repeated: it has
a condition or a client request token, or stores the same value again. If no attempt succeeds, a
write that may have taken effect raises UnknownOutcomeError. All else raises ThrottledError. Callers
of writes then read back, so a write ends some time before the deadline of the work in hand.

DynamoDB remembers a client request token for ten minutes, and a process may be frozen between two
attempts. So no attempt is sent later than five minutes after the first. Its signature is valid for
five more minutes, and DynamoDB refuses it afterwards.

Items have DynamoDB's form: `{"name": {"S": "main"}}`. Binary values are sent as bytes, and arrive
as base64 text unless a decoder says otherwise.
"""

import binascii
from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

import msgspec

from graveler.aws import deadlines, traces, usage
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.errors import (
    CONDITION_FAILED,
    THROTTLING_CODES,
    ConditionFailedError,
    RequestRefusedError,
    TransactionCancelledError,
)
from graveler.aws.exchanges.buffered import (
    BufferedResponse,
    Pending,
    RequestNotSentError,
    ResponseLostError,
)
from graveler.aws.retries import RetryPolicy
from graveler.aws.signing import Signer
from graveler.aws.system import moment
from graveler.aws.usage import Counted
from graveler.errors import InvalidInputError, ThrottledError, UnknownOutcomeError
from graveler.times import Moment

ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()

_REPEATABLE_S = 5 * 60

# A write leaves this much time to read back its outcome.
_READ_BACK_S = 2.0

_READS = frozenset({"BatchGetItem", "DescribeTable", "GetItem", "Query", "Scan"})
# The table exists, perhaps by the attempt before.
_IN_USE = "ResourceInUseException"


class _TooLateError(Exception):
    """The process was frozen for so long that DynamoDB may have forgotten the first attempt."""


class DynamoDBCall(msgspec.Struct, frozen=True):
    """One request: an operation of the API, its parameters, and the decoder of its answer."""

    operation: str
    request: Mapping[str, Any]
    decoder: msgspec.json.Decoder[Any] = ANYTHING


class DynamoDB:
    """One endpoint of DynamoDB, shared by all threads.

    `observe` is called before every round trip with its operations.
    """

    def __init__(
        self,
        http: DynamoDBHttpClient,
        signer: Signer,
        retries: RetryPolicy | None = None,
        observe: Callable[[str], None] | None = None,
    ) -> None:
        self._http = http
        self._signer = signer
        self.retries = retries or RetryPolicy()
        self._observe = observe

    def close(self) -> None:
        """Close the connections that carry no request."""
        self._http.close()

    def call(
        self,
        operation: str,
        request: Mapping[str, Any],
        decoder: msgspec.json.Decoder[Any] = ANYTHING,
    ) -> Any:  # noqa: ANN401 - the decoder's type
        """Return the answer to one request.

        Raises:
            ConditionFailedError, TransactionCancelledError: a condition did not hold.
            InvalidInputError: an item would be too large.
            RequestRefusedError: DynamoDB refused it, and would refuse it again.
            ThrottledError: the request was not done in time, and had no effect.
            UnknownOutcomeError: a write may have taken effect.
        """
        if self._observe is not None:
            self._observe(operation)
        with traces.call("DynamoDB", operation):
            return self._settle(DynamoDBCall(operation, request, decoder), None)

    def call_together(self, first: DynamoDBCall, second: DynamoDBCall) -> tuple[Any, Any]:
        """Return the answers to two reads sent at the same time; raises as `call` does."""
        operations = f"{first.operation}+{second.operation}"
        if self._observe is not None:
            self._observe(operations)
        with traces.call("DynamoDB", operations):
            ahead = self._try_begin(first), self._try_begin(second)
            try:
                return self._settle(first, ahead[0]), self._settle(second, ahead[1])
            finally:
                for pending in ahead:
                    if pending is not None:
                        pending.abandon()

    def _begin(self, operation: str, body: bytes, since: Moment | None = None) -> Pending:
        usage.count(Counted.DYNAMODB_REQUESTS)
        headers = {
            "content-type": "application/x-amz-json-1.0",
            "host": self._http.host,
            "x-amz-target": f"DynamoDB_20120810.{operation}",
        }
        signed = self._signer.signed(headers, body)
        # Checked after signing, so the signature is older.
        if since is not None and not since.is_within(_REPEATABLE_S, moment()):
            raise _TooLateError
        return self._http.begin(signed, body)

    def _try_begin(self, call: DynamoDBCall) -> Pending | None:
        try:
            return self._begin(call.operation, msgspec.json.encode(call.request))
        except (RequestNotSentError, ResponseLostError):
            return None  # _settle tries again

    def _settle(self, call: DynamoDBCall, begun: Pending | None) -> Any:  # noqa: ANN401 - as `call`
        if call.operation in _READS:
            return self._attempts(call, begun)
        with deadlines.keeping(_READ_BACK_S):
            return self._attempts(call, begun)

    def _attempts(self, call: DynamoDBCall, begun: Pending | None) -> Any:  # noqa: ANN401 - as `call`
        body = msgspec.json.encode(call.request)
        may_have_landed = False
        problem = "no time is left"
        since = moment()
        for _ in self.retries.attempts():
            pending, begun = begun, None
            try:
                answer = (pending or self._begin(call.operation, body, since)).finish()
            except _TooLateError:
                break
            except RequestNotSentError as error:
                problem = str(error)
                continue
            except ResponseLostError as error:
                problem, may_have_landed = str(error), True
                continue
            if answer.status == 200 and _is_whole(answer):
                if call.operation not in _READS:
                    deadlines.write_landed()
                return call.decoder.decode(answer.body)
            if answer.status == 200 or answer.status >= 500:
                problem, may_have_landed = f"{call.operation}: status {answer.status}", True
                continue
            try:
                problem = _throttling(call.operation, answer)
            except RequestRefusedError as error:
                if not may_have_landed or call.operation in _READS or error.code == _IN_USE:
                    raise
                # A refusal, as of expired credentials, proves nothing about the attempt before.
                problem = str(error)
                break
        if may_have_landed and call.operation not in _READS:
            deadlines.write_landed()
            raise UnknownOutcomeError(f"DynamoDB did not confirm a write: {problem}")
        raise ThrottledError(f"DynamoDB cannot serve this now: retry later ({problem})")


def _is_whole(answer: BufferedResponse) -> bool:
    expected = answer.headers.get("x-amz-crc32")
    return expected is None or int(expected) == crc32(answer.body)


def _throttling(operation: str, answer: BufferedResponse) -> str:
    """Return the refusal's text if another attempt may succeed, else raise its error."""
    try:
        document = ANYTHING.decode(answer.body)
    except msgspec.DecodeError:
        document = {}
    code = str(document.get("__type", answer.status)).rpartition("#")[2]
    message = str(document.get("message") or document.get("Message") or "")
    if code in THROTTLING_CODES:
        return f"{operation}: {code}"
    if code == "ConditionalCheckFailedException":
        raise ConditionFailedError(document.get("Item"))
    if code == "TransactionCanceledException":
        reasons = document.get("CancellationReasons") or []
        codes = tuple(str(reason.get("Code", "None")) for reason in reasons)
        if CONDITION_FAILED in codes:
            raise TransactionCancelledError(codes)
        if any(each in THROTTLING_CODES for each in codes):
            return f"{operation}: {', '.join(codes)}"
        message = " ".join(str(reason.get("Message") or "") for reason in reasons) or message
    if "size" in message and "exceeded" in message:
        # "Item size has exceeded the maximum allowed size"; updates and keys have similar texts.
        raise InvalidInputError(f"a record is too large: {message.strip()}")
    raise RequestRefusedError(operation, code, message)


def binary(attribute: Mapping[str, str]) -> bytes:
    """Return the bytes of a binary attribute value that arrived as base64."""
    return binascii.a2b_base64(attribute["B"])
