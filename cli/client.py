"""Requests to the server, through the official `lakefs` SDK.

The SDK finds endpoint and credentials: in ~/.lakectl.yaml or the file that LAKECTL_CONFIG_FILE
names; the variables LAKECTL_* override the file. An operation that the SDK has no method for uses
the SDK's transport as well, with the same credentials and TLS settings. Every failure becomes a
CommandError with one line for the user.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import lakefs
import msgspec
import urllib3
from lakefs.exceptions import NoAuthenticationFound
from lakefs_sdk.client import LakeFSClient
from lakefs_sdk.exceptions import ApiException

from cli.errors import CommandError

T = TypeVar("T")

# To connect, and to wait for an answer; API Gateway's timeout is 30 s.
TIMEOUT_S = (10.0, 60.0)

_AUTHENTICATION = ["basic_auth", "cookie_auth", "jwt_token"]
_KEY_VARIABLES = "LAKECTL_CREDENTIALS_ACCESS_KEY_ID and LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"


class _ErrorBody(msgspec.Struct, frozen=True):
    """The server's error: lakeFS's message, and Graveler's details."""

    message: str
    details: str = ""


class Server:
    """A lakeFS server."""

    def __init__(self, client: lakefs.Client) -> None:
        self._client = client

    @classmethod
    def from_configuration(cls) -> "Server":
        """Return the server in the SDK's configuration.

        Raises:
            CommandError: the configuration has no endpoint or credentials, or cannot be read.
        """
        file = os.environ.get("LAKECTL_CONFIG_FILE", "~/.lakectl.yaml")
        try:
            client = lakefs.Client()  # type: ignore[no-untyped-call] # the SDK has no types here
        except NoAuthenticationFound as error:
            raise CommandError(
                f"no credentials are configured: set {_KEY_VARIABLES}, "
                f"or write credentials.access_key_id and .secret_access_key into {file}"
            ) from error
        except Exception as error:  # with an unusual file, the SDK may raise anything
            raise CommandError(f"cannot use the configuration {file}: {error}") from error
        if not client.config.host:
            raise CommandError(
                "no endpoint is configured: set LAKECTL_SERVER_ENDPOINT_URL, "
                f"or write server.endpoint_url into {file}"
            )
        return cls(client)

    @property
    def sdk(self) -> LakeFSClient:
        """The generated client; call it inside `command_errors`."""
        sdk: LakeFSClient = self._client.sdk_client
        return sdk

    @property
    def key_pair(self) -> tuple[str, str, str]:
        """The API's URL, the access key's ID and the secret, as configured."""
        found = self._client.config
        return str(found.host), str(found.username or ""), str(found.password or "")

    def ask(
        self,
        method: str,
        template: str,
        names: Mapping[str, str],
        shape: type[T],
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> T:
        """Return the answer of an operation that the SDK has no method for; an empty one is "".

        Args:
            method: the HTTP method.
            template: a path relative to /api/v1, with `{name}` for each of the names.
            names: the values of the template's names.
            shape: the type of the answer.
            body: the request's body.
            query: the parameters of the request's query.

        Raises:
            CommandError: the server refused the request, or could not be reached.
        """
        api = self.sdk.config_api.api_client
        with self.command_errors():
            answer = api.call_api(
                template,
                method,
                dict(names),
                list((query or {}).items()),
                header_params={"Accept": "application/json", "Content-Type": "application/json"},
                body=msgspec.to_builtins(body),
                response_types_map={"2XX": "object"},
                auth_settings=_AUTHENTICATION,
                _return_http_data_only=True,
                _request_timeout=TIMEOUT_S,
            )
            return msgspec.convert(answer, shape)

    @contextmanager
    def command_errors(self) -> Iterator[None]:
        """Translate the SDK's errors in the block.

        Raises:
            CommandError: a request failed.
        """
        endpoint = self._client.config.host
        try:
            yield
        except ApiException as error:
            raise CommandError(_refusal(error, endpoint)) from error
        except urllib3.exceptions.HTTPError as error:
            raise CommandError(
                f"cannot reach {endpoint}: {_reason(error)}; check that the server is running and "
                "the endpoint is right (LAKECTL_SERVER_ENDPOINT_URL, server.endpoint_url)"
            ) from error
        except (ValueError, LookupError, msgspec.ValidationError) as error:
            raise CommandError(f"{endpoint} does not answer like lakeFS: {error}") from error


def _refusal(error: ApiException, endpoint: str) -> str:
    """Return the server's message, and what to do."""
    body = _decode_error(error.body)
    if error.status == 0:  # the SDK reports errors of TLS like this
        return f"cannot reach {endpoint} by TLS: {error.reason}"
    if error.status == 401:
        message = body.message or "error authenticating request"
        return f"{message}: check {_KEY_VARIABLES}, or credentials in the configuration file"
    if body.message == "invalid API endpoint":
        return f"{endpoint} does not have this operation: check that it is a recent Graveler"
    if body.message:
        return f"{body.message}: {body.details}" if body.details else body.message
    return f"{endpoint} answered {error.status} {error.reason}: check the endpoint"


def _decode_error(body: object) -> _ErrorBody:
    """Return the server's error body; one without a message if the body has another form."""
    try:
        return msgspec.json.decode(str(body), type=_ErrorBody)
    except msgspec.DecodeError:
        return _ErrorBody("")


def _reason(error: BaseException) -> str:
    """Return the operating system's message among the error's causes, else the error's own."""
    found: BaseException | None = getattr(error, "reason", None) or error
    text = str(found)
    while found is not None:
        if isinstance(found, OSError) and found.strerror:
            return found.strerror.lower()
        found = found.__cause__ or found.__context__
    return text
