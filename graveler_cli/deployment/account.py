"""Read-only requests to an AWS account, with one line for each failure."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, NoRegionError

from graveler_cli.errors import CommandError

_TIMEOUTS = Config(
    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 3}
)

_FORBIDDEN = {
    "AccessDenied",
    "AccessDeniedException",
    "AuthorizationError",
    "UnauthorizedOperation",
    "403",
}

# IAM's name of a service, where it differs from boto3's.
_IAM_NAMES = {"service-quotas": "servicequotas", "resourcegroupstaggingapi": "tag"}


class CannotLookError(Exception):
    """A request failed; reason says why, and remedy what allows it."""

    def __init__(self, action: str, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = f"{action}: {reason}"
        self.remedy = (
            f"allow {action} to your identity, or look in the console"
            if code in _FORBIDDEN
            else "try again; if it fails again, look in the console"
        )


class Account:
    """An account and region, as the operator's credentials see it."""

    def __init__(self, region: str = "") -> None:
        self._session = boto3.Session()
        chosen = region or os.environ.get("AWS_REGION") or self._session.region_name
        if not chosen:
            raise CommandError("no region is configured: set AWS_REGION, or use --region")
        self.region = chosen
        self._clients: dict[str, Any] = {}

    @cached_property
    def id(self) -> str:
        """The account's ID.

        Raises:
            CommandError: there are no credentials, or AWS cannot be reached with them.
        """
        try:
            return str(self.call("sts", "get_caller_identity")["Account"])
        except CannotLookError as error:
            remedy = "set AWS_PROFILE, or sign in with `aws sso login`"
            if endpoint := os.environ.get("AWS_ENDPOINT_URL"):  # an S3 gateway's, most often
                remedy = f"unset AWS_ENDPOINT_URL, which is {endpoint}"
            raise CommandError(f"cannot use AWS: {error.reason}; {remedy}") from error

    def call(self, service: str, operation: str, **given: object) -> Mapping[str, Any]:
        """Return the answer of an operation that changes nothing.

        Raises:
            CannotLookError: it failed.
        """
        action = _action(service, operation)
        try:
            if service not in self._clients:
                create = cast("Callable[..., Any]", self._session.client)
                self._clients[service] = create(service, self.region, config=_TIMEOUTS)
            answer: Mapping[str, Any] = getattr(self._clients[service], operation)(**given)
        except ClientError as error:
            given_error = error.response.get("Error", {})
            code = given_error.get("Code", "")
            raise CannotLookError(
                action, code, _line(f"{code} {given_error.get('Message', '')}")
            ) from error
        except (NoCredentialsError, NoRegionError, BotoCoreError) as error:
            raise CannotLookError(action, "", _line(str(error))) from error
        return answer

    def find(
        self, service: str, operation: str, absent: tuple[str, ...], **given: object
    ) -> Mapping[str, Any]:
        """Return the answer, or an empty one if the service reports that the thing is absent.

        Raises:
            CannotLookError: the operation failed for another reason.
        """
        try:
            return self.call(service, operation, **given)
        except CannotLookError as error:
            if error.code in absent:
                return {}
            raise

    def pages(
        self, service: str, operation: str, key: str, **given: object
    ) -> list[Mapping[str, Any]]:
        """Return the rows of all pages of a listing whose token is NextToken.

        Raises:
            CannotLookError: it failed.
        """
        rows: list[Mapping[str, Any]] = []
        token: dict[str, object] = {}
        while True:
            answer = self.call(service, operation, **given, **token)
            rows += answer.get(key, [])
            if not answer.get("NextToken"):
                return rows
            token = {"NextToken": answer["NextToken"]}


def _action(service: str, operation: str) -> str:
    """Return IAM's name of the operation, such as dynamodb:DescribeTable."""
    name = "".join(word.capitalize() for word in operation.split("_"))
    return f"{_IAM_NAMES.get(service, service)}:{name}"


def _line(text: str) -> str:
    return " ".join(text.split())
