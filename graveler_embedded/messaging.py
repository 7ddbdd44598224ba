"""Serves boto3's `events`, `sqs` and `glue` clients on loopback, by AWS's JSON protocols over HTTP.

Every request is a POST whose X-Amz-Target header names the operation. Signatures are not checked:
like DynamoDB Local, it listens on loopback only, and web pages cannot send that header.
"""

import logging
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from uuid import uuid4

import msgspec

from graveler_embedded.bus import LocalEventBus
from graveler_embedded.glue import LocalGlue, TooManyJobsError
from graveler_embedded.processes import StartError
from graveler_embedded.queue_delivery import md5_of
from graveler_embedded.queues import (
    DELAY_S_MAX,
    MESSAGE_BYTES_MAX,
    Message,
    Queues,
    UnknownQueueError,
    queue_arn,
    queue_url,
)
from graveler_embedded.tcp_ports import HOST

logger = logging.getLogger(__name__)

EVENTS_PER_REQUEST_MAX = 10
EVENTS_BYTES_MAX = 256 * 1024
_EVENT_TIME_BYTES = 14
_REQUEST_BYTES_MAX = 4 * 1024 * 1024

_WAIT_S_MAX = 20
_VISIBILITY_TIMEOUT_S_MAX = 12 * 60 * 60

ServiceAnswer = Mapping[str, Any]


class ServiceError(Exception):
    """The service refuses the request with one of AWS's error codes."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class _Parameters(msgspec.Struct, rename="pascal", forbid_unknown_fields=True):
    """The parameters that are supported; requests with others are refused."""


class _Entry(msgspec.Struct, rename="pascal"):
    source: str = ""
    detail_type: str = ""
    detail: str = ""
    event_bus_name: str = "default"
    resources: list[str] = []
    time: float | None = None


class _PutEvents(_Parameters):
    entries: list[_Entry]


class _QueueName(_Parameters):
    queue_name: str


class _QueueUrl(_Parameters):
    queue_url: str

    @property
    def queue(self) -> str:
        return self.queue_url.rpartition("/")[2]


class _SendMessage(_QueueUrl):
    message_body: str
    delay_seconds: int = 0
    message_group_id: str = ""


class _ReceiveMessage(_QueueUrl):
    max_number_of_messages: int = 1
    wait_time_seconds: int = 0
    visibility_timeout: int | None = None
    attribute_names: list[str] = []
    message_attribute_names: list[str] = []
    message_system_attribute_names: list[str] = []


class _DeleteMessage(_QueueUrl):
    receipt_handle: str


class _ChangeMessageVisibility(_DeleteMessage):
    visibility_timeout: int


class _GetQueueAttributes(_QueueUrl):
    attribute_names: list[str] = []


class _StartJobRun(_Parameters):
    job_name: str
    arguments: dict[str, str] = {}


class AwsServices:
    """The operations of EventBridge, SQS and Glue on one bus, its queues, and the jobs."""

    def __init__(self, bus: LocalEventBus, queues: Queues, jobs: LocalGlue, endpoint: str) -> None:
        self._bus = bus
        self._queues = queues
        self._jobs = jobs
        self._endpoint = endpoint
        self._operations: Mapping[str, tuple[type[_Parameters], Callable[[Any], ServiceAnswer]]] = {
            "AWSEvents.PutEvents": (_PutEvents, self._put_events),
            "AmazonSQS.ListQueues": (_Parameters, self._list_queues),
            "AmazonSQS.GetQueueUrl": (_QueueName, self._get_queue_url),
            "AmazonSQS.GetQueueAttributes": (_GetQueueAttributes, self._get_queue_attributes),
            "AmazonSQS.PurgeQueue": (_QueueUrl, self._purge_queue),
            "AmazonSQS.SendMessage": (_SendMessage, self._send_message),
            "AmazonSQS.ReceiveMessage": (_ReceiveMessage, self._receive_message),
            "AmazonSQS.DeleteMessage": (_DeleteMessage, self._delete_message),
            "AmazonSQS.ChangeMessageVisibility": (
                _ChangeMessageVisibility,
                self._change_visibility,
            ),
            "AWSGlue.StartJobRun": (_StartJobRun, self._start_job_run),
        }

    def call(self, target: str, body: bytes) -> ServiceAnswer:
        """Return the answer to a request.

        Raises:
            ServiceError: the request is refused.
        """
        if target not in self._operations:
            raise ServiceError("UnknownOperationException", f"{target!r} is not supported")
        kind, operation = self._operations[target]
        try:
            return operation(msgspec.json.decode(body or b"{}", type=kind))
        except msgspec.MsgspecError as error:
            raise ServiceError("ValidationException", str(error)) from error
        except UnknownQueueError as error:
            code = "com.amazonaws.sqs#QueueDoesNotExist"
            raise ServiceError(code, str(error)) from error

    # EventBridge

    def _put_events(self, request: _PutEvents) -> ServiceAnswer:
        if not 1 <= len(request.entries) <= EVENTS_PER_REQUEST_MAX:
            message = f"a request has 1 to {EVENTS_PER_REQUEST_MAX} entries"
            raise ServiceError("ValidationException", message)
        if sum(map(_size_bytes, request.entries)) > EVENTS_BYTES_MAX:
            message = "Total size of the entries in the request is over the limit."
            raise ServiceError("ValidationException", message)
        results = [self._put_event(entry) for entry in request.entries]
        failed = sum("ErrorCode" in result for result in results)
        return {"FailedEntryCount": failed, "Entries": results}

    def _put_event(self, entry: _Entry) -> ServiceAnswer:
        # The name may be the bus's ARN.
        if entry.event_bus_name.rpartition("/")[2] != self._bus.name:
            return _failed("NotFound", f"there is no event bus {entry.event_bus_name!r}")
        if not entry.source or not entry.detail_type:
            return _failed("InvalidArgument", "Source and DetailType are required")
        try:
            detail = msgspec.json.decode(entry.detail, type=dict[str, Any])
        except msgspec.MsgspecError:
            return _failed("MalformedDetail", "Detail is malformed.")
        event_id = self._bus.put(
            entry.source,
            entry.detail_type,
            detail,
            time_s=entry.time,
            resources=entry.resources,
        )
        return {"EventId": event_id}

    # SQS

    def _list_queues(self, _: _Parameters) -> ServiceAnswer:
        return {"QueueUrls": [self._url(name) for name in self._queues.queues]}

    def _get_queue_url(self, request: _QueueName) -> ServiceAnswer:
        self._queues.counts(request.queue_name)  # raises if the queue does not exist
        return {"QueueUrl": self._url(request.queue_name)}

    def _url(self, queue: str) -> str:
        return queue_url(self._endpoint, queue)

    def _get_queue_attributes(self, request: _GetQueueAttributes) -> ServiceAnswer:
        counts = self._queues.counts(request.queue)
        attributes = {
            "QueueArn": queue_arn(request.queue),
            "ApproximateNumberOfMessages": str(counts.due),
            "ApproximateNumberOfMessagesNotVisible": str(counts.received),
            "ApproximateNumberOfMessagesDelayed": str(counts.delayed),
            "VisibilityTimeout": str(self._queues.queues[request.queue].visibility_timeout_s),
        }
        wanted = set(request.attribute_names)
        return {
            "Attributes": {
                name: value for name, value in attributes.items() if wanted & {name, "All"}
            }
        }

    def _purge_queue(self, request: _QueueUrl) -> ServiceAnswer:
        self._queues.purge(request.queue)
        return {}

    def _send_message(self, request: _SendMessage) -> ServiceAnswer:
        if not 1 <= len(request.message_body.encode()) <= MESSAGE_BYTES_MAX:
            message = f"a message has 1 to {MESSAGE_BYTES_MAX} bytes"
            raise ServiceError("InvalidParameterValue", message)
        _require_within("DelaySeconds", request.delay_seconds, 0, DELAY_S_MAX)
        message_id = self._queues.send(
            request.queue, request.message_body, request.delay_seconds, request.message_group_id
        )
        return {"MessageId": message_id, "MD5OfMessageBody": md5_of(request.message_body)}

    def _receive_message(self, request: _ReceiveMessage) -> ServiceAnswer:
        _require_within("MaxNumberOfMessages", request.max_number_of_messages, 1, 10)
        _require_within("WaitTimeSeconds", request.wait_time_seconds, 0, _WAIT_S_MAX)
        if request.visibility_timeout is not None:
            _require_visibility_timeout(request.visibility_timeout)
        messages = self._queues.receive(
            request.queue,
            messages_max=request.max_number_of_messages,
            wait_s=request.wait_time_seconds,
            visibility_timeout_s=request.visibility_timeout,
        )
        return {"Messages": [_received(message) for message in messages]} if messages else {}

    def _delete_message(self, request: _DeleteMessage) -> ServiceAnswer:
        self._queues.delete(request.queue, request.receipt_handle)
        return {}

    def _change_visibility(self, request: _ChangeMessageVisibility) -> ServiceAnswer:
        _require_visibility_timeout(request.visibility_timeout)
        self._queues.set_due(request.queue, request.receipt_handle, request.visibility_timeout)
        return {}

    # Glue

    def _start_job_run(self, request: _StartJobRun) -> ServiceAnswer:
        try:
            return {"JobRunId": self._jobs.start(request.job_name, request.arguments)}
        except StartError as error:
            raise ServiceError("EntityNotFoundException", str(error)) from error
        except TooManyJobsError as error:
            raise ServiceError("ConcurrentRunsExceededException", str(error)) from error


def _size_bytes(entry: _Entry) -> int:
    texts = (entry.source, entry.detail_type, entry.detail, *entry.resources)
    time_bytes = 0 if entry.time is None else _EVENT_TIME_BYTES
    return time_bytes + sum(len(text.encode()) for text in texts)


def _failed(code: str, message: str) -> ServiceAnswer:
    return {"ErrorCode": code, "ErrorMessage": message}


def _received(message: Message) -> ServiceAnswer:
    return {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "Body": message.body,
        "MD5OfBody": md5_of(message.body),
        "Attributes": {
            "ApproximateReceiveCount": str(message.receives),
            "SentTimestamp": str(message.sent_ms),
            "ApproximateFirstReceiveTimestamp": str(message.first_received_ms),
        },
    }


def _require_visibility_timeout(seconds: int) -> None:
    _require_within("VisibilityTimeout", seconds, 0, _VISIBILITY_TIMEOUT_S_MAX)


def _require_within(name: str, value: int, lowest: int, highest: int) -> None:
    if not lowest <= value <= highest:
        message = f"{name} is {value}: it must be from {lowest} to {highest}"
        raise ServiceError("InvalidParameterValue", message)


def server(services: AwsServices, port: int) -> ThreadingHTTPServer:
    """Return an HTTP server of the services on the port; the caller runs it."""
    handler = type("_Handler", (_Requests,), {"services": services})
    return ThreadingHTTPServer((HOST, port), handler)


class _Requests(BaseHTTPRequestHandler):
    """One connection."""

    services: ClassVar[AwsServices]
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True
    timeout = 60  # idle connections end

    def do_POST(self) -> None:
        """Answer one request."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > _REQUEST_BYTES_MAX:
            self.close_connection = True
            self._answer(413, {"__type": "RequestEntityTooLarge"})
            return
        body = self.rfile.read(length)
        try:
            answer = self.services.call(self.headers.get("X-Amz-Target", ""), body)
        except ServiceError as error:
            self._answer(error.status, {"__type": error.code, "message": str(error)})
        except Exception:
            logger.exception("a request failed")
            self._answer(500, {"__type": "InternalFailure"})
        else:
            self._answer(200, answer)

    def _answer(self, status: int, content: ServiceAnswer) -> None:
        body = msgspec.json.encode(content)
        self.send_response(status)
        self.send_header("Content-Type", self.headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-amzn-RequestId", str(uuid4()))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Requests are not logged."""
