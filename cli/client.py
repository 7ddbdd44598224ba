"""The server, reached as the official `lakefs` SDK reaches it.

Endpoint and credentials are the SDK's to find: ~/.lakectl.yaml, or the file that
LAKECTL_CONFIG_FILE names, and over it the variables LAKECTL_*. Whatever the SDK has no method for
goes through its own transport, so that credentials and TLS settings are always the same. Every
failure becomes a CommandError with one line for the user.
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

# To connect, and to wait for an answer: API Gateway gives up after 30 s.
TIMEOUT_S = (10.0, 60.0)

_AUTHENTICATION = ["basic_auth", "cookie_auth", "jwt_token"]
_KEY_VARIABLES = "LAKECTL_CREDENTIALS_ACCESS_KEY_ID and LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"


class _ErrorBody(msgspec.Struct, frozen=True):
    """What the server says of a failure: lakeFS's message, and Graveler's details of it."""

    message: str
    details: str = ""


class Server:
    """A lakeFS server."""

    def __init__(self, client: lakefs.Client) -> None:
        self._client = client

    @classmethod
    def from_configuration(cls) -> "Server":
        """The server that the SDK's configuration names.

        Raises:
            CommandError: it names none, or cannot be read.
        """
        file = os.environ.get("LAKECTL_CONFIG_FILE", "~/.lakectl.yaml")
        try:
            client = lakefs.Client()  # type: ignore[no-untyped-call] # the SDK has no types here
        except NoAuthenticationFound as error:
            raise CommandError(
                f"there are no credentials: set {_KEY_VARIABLES}, "
                f"or write credentials.access_key_id and .secret_access_key into {file}"
            ) from error
        except Exception as error:  # the SDK lets through whatever a strange file leads to
            raise CommandError(f"cannot use the configuration {file}: {error}") from error
        if not client.config.host:
            raise CommandError(
                "there is no endpoint: set LAKECTL_SERVER_ENDPOINT_URL, "
                f"or write server.endpoint_url into {file}"
            )
        return cls(client)

    @property
    def sdk(self) -> LakeFSClient:
        """The generated client; call it inside `failures_told`."""
        sdk: LakeFSClient = self._client.sdk_client
        return sdk

    def ask(
        self,
        method: str,
        template: str,
        names: Mapping[str, str],
        shape: type[T],
        body: object = None,
    ) -> T:
        """The answer of an operation that the SDK has no method for; an empty one is "".

        The template is a path below /api/v1 with `{name}` for each of the names.

        Raises:
            CommandError: the server refused, or could not be reached.
        """
        api = self.sdk.config_api.api_client
        with self.failures_told():
            answer = api.call_api(
                template,
                method,
                dict(names),
                header_params={"Accept": "application/json", "Content-Type": "application/json"},
                body=msgspec.to_builtins(body),
                response_types_map={"2XX": "object"},
                auth_settings=_AUTHENTICATION,
                _return_http_data_only=True,
                _request_timeout=TIMEOUT_S,
            )
            return msgspec.convert(answer, shape)

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """Turn what the SDK raises into a line for the user.

        Raises:
            CommandError: in place of every failure of a request.
        """
        endpoint = self._client.config.host
        try:
            yield
        except ApiException as error:
            raise CommandError(_refusal(error, endpoint)) from error
        except urllib3.exceptions.HTTPError as error:
            raise CommandError(
                f"cannot reach {endpoint}: {_reason(error)}; is the server running, and the "
                "endpoint right (LAKECTL_SERVER_ENDPOINT_URL, server.endpoint_url)?"
            ) from error
        except (ValueError, LookupError, msgspec.ValidationError) as error:
            raise CommandError(f"{endpoint} does not answer like lakeFS: {error}") from error


def _refusal(error: ApiException, endpoint: str) -> str:
    """What the server said, and what to do about it."""
    told = _told(error.body)
    if error.status == 0:  # the SDK's way to tell of TLS
        return f"cannot reach {endpoint} by TLS: {error.reason}"
    if error.status == 401:
        said = told.message or "error authenticating request"
        return f"{said}: check {_KEY_VARIABLES}, or credentials in the configuration file"
    if told.message == "invalid API endpoint":
        return f"{endpoint} does not have this operation: is it Graveler, and recent enough?"
    if told.message:
        return f"{told.message}: {told.details}" if told.details else told.message
    return f"{endpoint} answered {error.status} {error.reason}: is the endpoint right?"


def _told(body: object) -> _ErrorBody:
    """The server's error body; without a message if it is something else."""
    try:
        return msgspec.json.decode(str(body), type=_ErrorBody)
    except msgspec.DecodeError:
        return _ErrorBody("")


def _reason(error: BaseException) -> str:
    """What the operating system said, if anything, behind the layers of the HTTP client."""
    found: BaseException | None = getattr(error, "reason", None) or error
    text = str(found)
    while found is not None:
        if isinstance(found, OSError) and found.strerror:
            return found.strerror.lower()
        found = found.__cause__ or found.__context__
    return text
