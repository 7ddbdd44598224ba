"""The refusals of the service, and the error for requests that the fake does not know."""

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """A refusal: its status and code, and the fields that its answer has beside the message."""

    def __init__(
        self, code: str, message: str, extra: Mapping[str, Any] | None = None, status: int = 400
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.extra = extra or {}
        self.status = status

    def document(self) -> dict[str, Any]:
        """Return the body of the answer."""
        prefix = "com.amazon.coral.validate" if self.code == VALIDATION else _PREFIX
        return {"__type": f"{prefix}#{self.code}", "message": self.message, **self.extra}


class UnknownFormError(BaseException):
    """The fake does not know this form of a request.

    Not an Exception: no handler of the code under test may hide it.
    """


VALIDATION = "ValidationException"
_PREFIX = "com.amazonaws.dynamodb.v20120810"


def invalid(message: str) -> ServiceError:
    """Return the refusal of a malformed request."""
    return ServiceError(VALIDATION, message)
