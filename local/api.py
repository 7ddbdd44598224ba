"""The processes that serve the API and the S3 gateway on one shared port.

Started by the supervisor as `python -m local.api PORT`.
"""

import os
import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from local.asgi import Asgi, asgi, one_port
from local.gateway import application
from local.lambda_runtime import Function
from local.ports import HOST
from local.processes import die_with_parent, parent_pid

# For two cores, which the stores use as well. On a busy machine, one to three processes and eight
# or sixteen threads performed alike, except that branch reads were faster with eight threads.
PROCESSES = 2
THREADS = 8
CONNECTIONS_WAITING_MAX = 512

# As in a deployment. API Gateway waits for a second more.
API_TIMEOUT_S = 29.0


def api() -> Asgi:
    """Return the ASGI application of one process; called in that process."""
    die_with_parent(parent_pid())
    from functions.api.handler import handler  # noqa: PLC0415 - connects to the stores
    from gateway.server.program import gateway  # noqa: PLC0415 - the same
    from gateway.server.settings import GatewaySettings  # noqa: PLC0415 - the same

    settings = GatewaySettings.from_environment(os.environ)
    function = Function("graveler-api", handler, API_TIMEOUT_S)
    return one_port(asgi(application(function), THREADS), gateway(settings), settings.domains)


def main(port: int) -> None:
    """Serve until a signal arrives."""
    Granian(
        "local.api:api",
        factory=True,
        interface=Interfaces.ASGINL,
        address=HOST,
        port=port,
        workers=PROCESSES,
        backpressure=CONNECTIONS_WAITING_MAX,
        respawn_failed_workers=True,
        workers_kill_timeout=2,
        websockets=False,
        log_level=LogLevels.error,
    ).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]))
