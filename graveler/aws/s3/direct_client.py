"""The most frequent requests without boto3, which takes four times as much processor time.

Answers have the form of boto3's, and refusals are botocore's, so callers see no difference. boto3
still serves all other operations, and buckets of other regions (docs/adr/0006).
"""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree as ET

from botocore.exceptions import ClientError

from graveler.aws.exchanges.buffered import begin
from graveler.aws.exchanges.connection import Host
from graveler.aws.exchanges.pool import Pool
from graveler.aws.exchanges.time_budget import response_budget
from graveler.aws.retries import READ_TIMEOUT_S
from graveler.aws.s3.signed_requests import UNSIGNED_PAYLOAD, S3Requests
from graveler.ports import SignedS3Request

# Called with each request's service, operation and parameters.
Observer = Callable[[str, str, Mapping[str, Any]], None]

# The name of a parameter of any request: further headers, as they are sent.
HEADERS = "Headers"

_METADATA = "x-amz-meta-"
# Parameters of the requests that are sent here, and the headers they become.
_HEADERS = {
    "ContentType": "content-type",
    "IfMatch": "if-match",
    "IfNoneMatch": "if-none-match",
    "Range": "range",
}
_KNOWN = frozenset({*_HEADERS, "Body", "Bucket", HEADERS, "Key", "Metadata"})
# Headers of answers, and boto3's names for them.
_TEXTS = {
    "content-range": "ContentRange",
    "content-type": "ContentType",
    "etag": "ETag",
}
# S3 may report an error under the status of a success.
_ERROR_ELEMENT = b"<Error"


class ElsewhereError(Exception):
    """boto3 has to send this request: the bucket is in another region."""


class DirectClient:
    """Sends requests for single objects over kept connections; shared by threads.

    signs_content: whether S3 checks a hash of the content when it arrives.
    """

    def __init__(
        self, requests: S3Requests, *, signs_content: bool, observe: Observer | None = None
    ) -> None:
        self._requests = requests
        self._signs_content = signs_content
        self._observe = observe
        self._pool = Pool(lambda: response_budget(READ_TIMEOUT_S))
        self._elsewhere: set[str] = set()

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def __del__(self) -> None:
        self.close()

    def serves(self, operation: str, parameters: Mapping[str, object]) -> bool:
        """Whether `call` can send the request."""
        return (
            operation in _METHODS
            and parameters.keys() <= _KNOWN
            and parameters["Bucket"] not in self._elsewhere
        )

    def call(self, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return S3's answer to one attempt.

        Raises:
            ClientError: S3 refused.
            RequestNotSentError, ResponseLostError: S3 did not answer.
            ElsewhereError: boto3 has to send it.
        """
        method, name = _METHODS[operation]
        if self._observe is not None:
            self._observe("s3", name, parameters)
        content: bytes = parameters.get("Body", b"")
        uri = f"s3://{parameters['Bucket']}/{parameters['Key']}"
        request = self._signed(method, uri, content, _headers_of(parameters))
        host = Host(request.scheme, request.host, request.port)
        pending = begin(self._pool, host, method, request.target, request.headers, content)
        found = pending.finish(needs_end=method == "GET")
        status, headers, body = found.status, found.headers, found.body
        if _is_elsewhere(status, headers, self._requests.region):
            self._elsewhere.add(parameters["Bucket"])
            raise ElsewhereError
        if method == "PUT" and status < 300 and _ERROR_ELEMENT in body:
            status = 500
        about: Any = {"HTTPStatusCode": status, "HTTPHeaders": headers}
        if status >= 300:
            raise ClientError({"Error": _error_of(status, body), "ResponseMetadata": about}, name)
        answer: dict[str, Any] = {"ResponseMetadata": about}
        answer |= {_TEXTS[header]: headers[header] for header in headers if header in _TEXTS}
        if method != "PUT":
            answer |= _described(headers)
        if method == "GET":
            answer["Body"] = body
        return answer

    def _signed(
        self, method: str, uri: str, content: bytes, headers: dict[str, str]
    ) -> SignedS3Request:
        if method != "PUT":
            return self._requests.sign_read(method, uri, headers)
        headers["content-length"] = str(len(content))
        hashed = sha256(content).hexdigest() if self._signs_content else UNSIGNED_PAYLOAD
        return self._requests.sign_put(uri, headers, hashed)


_METHODS = {
    "get_object": ("GET", "GetObject"),
    "head_object": ("HEAD", "HeadObject"),
    "put_object": ("PUT", "PutObject"),
}


def _headers_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    headers = {header: parameters[name] for name, header in _HEADERS.items() if name in parameters}
    for name, text in parameters.get("Metadata", {}).items():
        headers[f"{_METADATA}{name}"] = text
    return {**headers, **parameters.get(HEADERS, {})}


def _described(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the object's metadata, length and time in the headers of an answer.

    Raises:
        ElsewhereError: the time has a form that only boto3 understands.
    """
    described: dict[str, Any] = {
        "Metadata": {
            name.removeprefix(_METADATA): text
            for name, text in headers.items()
            if name.startswith(_METADATA)
        }
    }
    if "content-length" in headers:
        described["ContentLength"] = int(headers["content-length"])
    if "last-modified" in headers:
        try:
            described["LastModified"] = parsedate_to_datetime(headers["last-modified"])
        except ValueError as error:
            raise ElsewhereError from error
    return described


def _is_elsewhere(status: int, headers: Mapping[str, str], region: str) -> bool:
    if status in {301, 302, 307, 308}:
        return True
    return status in {400, 403} and headers.get("x-amz-bucket-region", region) != region


def _error_of(status: int, body: bytes) -> Any:  # noqa: ANN401 - as botocore has it
    """Return the code and the message of a refusal; its status is the code without a document."""
    try:
        document = ET.fromstring(body) if body else None  # noqa: S314 - from the store
    except (ET.ParseError, LookupError, ValueError):  # no document, or in an unknown encoding
        document = None
    if document is None:
        return {"Code": str(status), "Message": ""}
    texts = {child.tag.rpartition("}")[2]: child.text or "" for child in document}
    return {"Code": texts.get("Code", str(status)), "Message": texts.get("Message", "")}
