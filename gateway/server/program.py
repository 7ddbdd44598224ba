"""The gateway of a deployment as a program of its own: `python -m gateway`."""

import os
import sys

from gateway.lake.engine.lakes import EngineLakes
from gateway.server.application import Application
from gateway.server.asgi import Asgi
from gateway.server.settings import GatewaySettings
from gateway.transfer.exchange import store_pool
from gateway.transfer.store import Transfers
from graveler.aws import wiring


def gateway(settings: GatewaySettings) -> Asgi:
    """Return the ASGI application of one process, over the deployment's stores."""
    lakes = EngineLakes(wiring.engine(), wiring.accounts(), wiring.s3_requests())
    transfers = Transfers(store_pool())
    application = Application(lakes, transfers, settings)
    return Asgi(application, threads=settings.threads, idle_s=settings.idle_s)


def application() -> Asgi:
    """Return the application of a process that Granian started."""
    return gateway(GatewaySettings.from_environment(os.environ))


def main() -> int:
    """Serve until a signal arrives; return the process's exit code."""
    from granian import Granian  # noqa: PLC0415 - the embedded stack has a server already
    from granian.constants import Interfaces  # noqa: PLC0415 - the same
    from granian.log import LogLevels  # noqa: PLC0415 - the same

    from gateway.server.settings import ServerSettings  # noqa: PLC0415 - the same

    try:
        GatewaySettings.from_environment(os.environ)
        server = ServerSettings.from_environment(os.environ)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    Granian(
        "gateway.server.program:application",
        factory=True,
        interface=Interfaces.ASGINL,
        address=server.host,
        port=server.port,
        workers=server.workers,
        respawn_failed_workers=True,
        workers_kill_timeout=server.stop_s,
        websockets=False,
        log_level=LogLevels.warning,
    ).serve()
    return 0
