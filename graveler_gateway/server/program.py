"""The gateway of a deployment as a program of its own: `python -m graveler_gateway`."""

import os
import sys

from graveler.aws import wiring
from graveler.http.auth import Authenticator
from graveler_gateway.lake.engine.lakes import EngineLakes
from graveler_gateway.server.application import Application
from graveler_gateway.server.http import processes
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.server import Handler
from graveler_gateway.server.serving import THREADS_A_PLACE, GatewayHandler
from graveler_gateway.server.settings import GatewaySettings, ServerSettings
from graveler_gateway.transfer.store import Transfers
from graveler_gateway.transfer.store_exchange import store_pool


def gateway(settings: GatewaySettings, *, beside_api: bool = False) -> GatewayHandler:
    """Return the handler of one process, over the deployment's stores.

    beside_api: the API has the same origin, so browsers have sessions.
    """
    adapters = wiring.adapters()
    engine, accounts = adapters.engine, adapters.accounts
    sessions = Authenticator(accounts, engine.clock) if beside_api else None
    lakes = EngineLakes(engine, accounts, adapters.s3_requests, sessions)
    application = Application(lakes, Transfers(store_pool()), settings)
    return GatewayHandler(application, settings.threads)


def handler() -> tuple[Handler, Limits]:
    """Return the handler of a process that serves."""
    settings = GatewaySettings.from_environment(os.environ)
    limits = Limits(threads=THREADS_A_PLACE * settings.threads, idle_s=settings.idle_s)
    return gateway(settings), limits


def main() -> int:
    """Serve until a signal arrives; return the process's exit code."""
    try:
        GatewaySettings.from_environment(os.environ)
        server = ServerSettings.from_environment(os.environ)
        return processes.serve(
            "graveler_gateway.server.program:handler",
            server.host,
            server.port,
            workers=server.workers,
            stop_s=server.stop_s,
        )
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
