"""The transport that connects the real client to the fake service: JSON in, JSON out."""

from collections.abc import Mapping

import msgspec

from graveler.aws.dynamodb.client import ANYTHING
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.exchanges.buffered import BufferedResponse, Pending
from tests.support.fakes.dynamodb.errors import ServiceError
from tests.support.fakes.dynamodb.service import Service

_encode = msgspec.json.Encoder().encode


def response_of(service: Service, operation: str, body: bytes) -> BufferedResponse:
    """Return the service's answer to one request, which takes effect now."""
    try:
        document = service.answer(operation, ANYTHING.decode(body))
    except ServiceError as error:
        return BufferedResponse(error.status, {}, _encode(error.document()))
    return BufferedResponse(200, {}, _encode(document))


def operation_of(headers: Mapping[str, str]) -> str:
    """Return the operation of a request."""
    return headers["x-amz-target"].rpartition(".")[2]


class Answered(Pending):
    """A request whose answer is known."""

    def __init__(self, response: BufferedResponse) -> None:
        self._response = response

    def finish(self, **_: bool) -> BufferedResponse:
        return self._response

    def abandon(self) -> None:
        """Do nothing: the answer needs no connection."""


class ServiceHttp(DynamoDBHttpClient):
    """Sends to a fake service; a request takes effect when it begins."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.host = "dynamodb.fake"

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        return Answered(response_of(self.service, operation_of(headers), body))

    def close(self) -> None:
        """Do nothing: there are no connections."""
