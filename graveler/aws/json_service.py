"""AWS's JSON protocol, which DynamoDB and KMS speak: signed, and repeated while that may help.

An attempt ends in one of four ways: done; refused for good (raised at once); not done, worth
another attempt (throttling, no connection); and unknown (no answer, or a server error). Attempts
go on while there is time. Every write of ours may be repeated: it has a condition, or a client
request token, or it stores the same value again. If none succeeds, a write that may have had its
effect ends in UnknownOutcomeError, everything else in ThrottledError.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from zlib import crc32

import msgspec

from graveler.aws.errors import THROTTLING_CODES, RequestRefusedError
from graveler.aws.http_client import Answer, HttpClient, NoAnswerError, NotSentError, Pending
from graveler.aws.retries import Retries
from graveler.aws.signing import Signer
from graveler.errors import ThrottledError, UnknownOutcomeError

ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


@dataclass(frozen=True, slots=True)
class Call:
    """One request: an operation of the API, its parameters, and how its answer is decoded."""

    operation: str
    request: Mapping[str, Any]
    decoder: msgspec.json.Decoder[Any] = ANYTHING


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a service says when it does not do something."""

    code: str
    message: str
    document: Mapping[str, Any]


class JsonService:
    """One endpoint of one service, shared by all threads.

    observe is told of every round trip, by the operations that it carries.
    """

    name: str
    version: str  # of the JSON protocol
    target: str  # what the service calls this version of its API
    reads: frozenset[str]  # operations without effect

    def __init__(
        self,
        http: HttpClient,
        signer: Signer,
        retries: Retries | None = None,
        observe: Callable[[str], None] | None = None,
    ) -> None:
        self._http = http
        self._signer = signer
        self.retries = retries or Retries()
        self._observe = observe

    def call(
        self,
        operation: str,
        request: Mapping[str, Any],
        decoder: msgspec.json.Decoder[Any] = ANYTHING,
    ) -> Any:  # noqa: ANN401 - what the decoder makes
        """The answer to one request.

        Raises:
            RequestRefusedError: no repetition will mend it; a service's class may raise its own.
            ThrottledError: not done in the time there was; nothing happened.
            UnknownOutcomeError: a write that may have happened.
        """
        if self._observe is not None:
            self._observe(operation)
        return self._settle(Call(operation, request, decoder), None)

    def call_together(self, first: Call, second: Call) -> tuple[Any, Any]:
        """The answers to two reads that travel at the same time; raises as `call` does."""
        if self._observe is not None:
            self._observe(f"{first.operation}+{second.operation}")
        ahead = self._try_begin(first), self._try_begin(second)
        try:
            return self._settle(first, ahead[0]), self._settle(second, ahead[1])
        finally:
            for pending in ahead:
                if pending is not None:
                    pending.abandon()

    def _on_refusal(self, operation: str, refusal: Refusal) -> str:
        """Raise what the refusal means; or return it as text, if it is worth another attempt."""
        if refusal.code in THROTTLING_CODES:
            return f"{operation}: {refusal.code}"
        raise RequestRefusedError(operation, refusal.code, refusal.message)

    def _begin(self, operation: str, body: bytes) -> Pending:
        headers = {
            "content-type": f"application/x-amz-json-{self.version}",
            "x-amz-target": f"{self.target}.{operation}",
        }
        body_sha256 = sha256(body).hexdigest()
        signed = self._signer.signed("POST", self._http.host, "/", "", headers, body_sha256)
        return self._http.begin("POST", "/", signed, body)

    def _try_begin(self, call: Call) -> Pending | None:
        try:
            return self._begin(call.operation, msgspec.json.encode(call.request))
        except (NotSentError, NoAnswerError):
            return None  # _settle will try again

    def _settle(self, call: Call, begun: Pending | None) -> Any:  # noqa: ANN401 - as `call`
        body = msgspec.json.encode(call.request)
        may_have_landed = False
        problem = ""
        for _ in self.retries.attempts():
            pending, begun = begun, None
            try:
                answer = (pending or self._begin(call.operation, body)).finish()
            except NotSentError as error:
                problem = str(error)
                continue
            except NoAnswerError as error:
                problem, may_have_landed = str(error), True
                continue
            if answer.status == 200 and _is_whole(answer):
                return call.decoder.decode(answer.body)
            if answer.status == 200 or answer.status >= 500:
                problem, may_have_landed = f"{call.operation}: status {answer.status}", True
                continue
            problem = self._on_refusal(call.operation, _refusal_of(answer))
        if may_have_landed and call.operation not in self.reads:
            raise UnknownOutcomeError(f"{self.name} did not confirm a write: {problem}")
        raise ThrottledError(f"{self.name} cannot serve this now, try again later: {problem}")


def _is_whole(answer: Answer) -> bool:
    expected = answer.headers.get("x-amz-crc32")
    return expected is None or int(expected) == crc32(answer.body)


def _refusal_of(answer: Answer) -> Refusal:
    try:
        document = ANYTHING.decode(answer.body)
    except msgspec.DecodeError:
        document = {}
    code = str(document.get("__type", answer.status)).rpartition("#")[2]
    message = str(document.get("message") or document.get("Message") or "")
    return Refusal(code, message, document)
