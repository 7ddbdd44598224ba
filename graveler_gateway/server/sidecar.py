"""The gateway on a client's machine: `graveler gateway`, over the HTTP API of a deployment."""

import os
from collections.abc import MutableMapping
from dataclasses import dataclass

from graveler.errors import GravelerError
from graveler_gateway.lake.api.lakes import ApiLakes
from graveler_gateway.lake.api.requests import Requests
from graveler_gateway.lake.api.transport import HttpTransport
from graveler_gateway.operations.request import OperationSettings
from graveler_gateway.server.application import Application
from graveler_gateway.server.http import processes
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.server import Handler
from graveler_gateway.server.serving import THREADS_A_PLACE, GatewayHandler
from graveler_gateway.server.settings import PREFIX, GatewaySettings
from graveler_gateway.transfer.store import Transfers
from graveler_gateway.transfer.store_exchange import store_pool

_API_URL = f"{PREFIX}API_URL"
_ACCESS_KEY_ID = f"{PREFIX}ACCESS_KEY_ID"
_SECRET_ACCESS_KEY = f"{PREFIX}SECRET_ACCESS_KEY"
_STOP_S = 25.0


@dataclass(frozen=True, slots=True, repr=False)
class ApiAccess:
    """The API of a deployment, and the key pair of its user; never printed.

    url ends in `/api/v1`.
    """

    url: str
    access_key_id: str
    secret_access_key: str

    def lakes(self) -> ApiLakes:
        """Return the lakes of the key pair."""
        transport = HttpTransport(self.url, self.access_key_id, self.secret_access_key)
        return ApiLakes(Requests(transport), self.access_key_id, self.secret_access_key)


class CannotServeError(Exception):
    """The gateway cannot start; the message says why, and what to do."""


def handler() -> tuple[Handler, Limits]:
    """Return the handler of a process that serves."""
    api = ApiAccess(
        os.environ[_API_URL], os.environ[_ACCESS_KEY_ID], os.environ[_SECRET_ACCESS_KEY]
    )
    settings = GatewaySettings.from_environment(os.environ)
    # A presigned URL signs no hash that S3 could check, so the gateway checks all of them.
    operations = OperationSettings(region=settings.operations.region, hashed_bytes_max=0)
    served = GatewaySettings(settings.domains, operations, settings.threads, settings.idle_s)
    application = Application(api.lakes(), Transfers(store_pool()), served)
    limits = Limits(threads=THREADS_A_PLACE * served.threads, idle_s=served.idle_s)
    return GatewayHandler(application, served.threads), limits


def check(api: ApiAccess, host: str, port: int) -> str:
    """Check that the gateway can serve; return the name of the key pair's user.

    Raises:
        CannotServeError: a package is missing, a setting is wrong, the address is not free, or the
            API refuses the key pair.
    """
    try:
        # An extra of the package, which may be missing.
        import anycrc  # noqa: F401, PLC0415
    except ImportError as error:
        raise CannotServeError(
            "anycrc is not installed: install the extra 'gateway' (docs/cli.md, Installation)"
        ) from error
    _check_address(host, port)
    try:
        GatewaySettings.from_environment(os.environ)
        user = api.lakes().user()
    except (ValueError, GravelerError) as error:
        raise CannotServeError(str(error)) from error
    if not user:
        raise CannotServeError("the API does not know the key pair: check the configuration")
    return user


def serve(api: ApiAccess, host: str, port: int, workers: int) -> None:
    """Serve until a signal arrives; returns then."""
    _export(api, os.environ)
    processes.serve(f"{__name__}:handler", host, port, workers=workers, stop_s=_STOP_S)


def _check_address(host: str, port: int) -> None:
    """Check that the address is free.

    Raises:
        CannotServeError: it is not.
    """
    try:
        processes.listen(host, port).close()
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0].lower()
        raise CannotServeError(f"cannot listen on {host}:{port}: {reason}") from error


def _export(api: ApiAccess, environment: MutableMapping[str, str]) -> None:
    """Put the deployment into the environment, which the processes inherit."""
    environment[_API_URL] = api.url
    environment[_ACCESS_KEY_ID] = api.access_key_id
    environment[_SECRET_ACCESS_KEY] = api.secret_access_key
