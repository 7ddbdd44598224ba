"""The gateway of a deployment as a program of its own: `python -m gateway`."""

import os
import sys

from gateway.lake.engine.lakes import EngineLakes
from gateway.server.application import Application
from gateway.server.http import processes
from gateway.server.http.connection import Limits
from gateway.server.http.server import Handler
from gateway.server.serving import THREADS_A_PLACE, GatewayHandler
from gateway.server.settings import GatewaySettings, ServerSettings
from gateway.transfer.store import Transfers
from gateway.transfer.store_exchange import store_pool
from graveler.aws import wiring
from graveler.http.auth import Authenticator


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
            "gateway.server.program:handler",
            server.host,
            server.port,
            workers=server.workers,
            stop_s=server.stop_s,
        )
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
