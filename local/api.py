"""The processes that serve HTTP: the API's handler behind the gateway, on one shared port.

Started by the supervisor as `python -m local.api PORT`.
"""

import os
import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from local.gateway import Application, application
from local.lambda_runtime import Function
from local.ports import HOST
from local.processes import die_with_parent

# Two cores, which the stores want too. On a busy machine one to three processes and eight or
# sixteen threads could not be told apart but for branch reads, where eight threads were ahead.
PROCESSES = 2
THREADS = 8
CONNECTIONS_WAITING_MAX = 512

# API Gateway gives up after this time.
API_TIMEOUT_S = 30.0


def api() -> Application:
    """The WSGI application of one process; called in that process."""
    die_with_parent(os.getppid())
    from functions.api.handler import handler  # noqa: PLC0415 - connects to the stores

    return application(Function("graveler-api", handler, API_TIMEOUT_S))


def main(port: int) -> None:
    """Serve until a signal ends it."""
    Granian(
        "local.api:api",
        factory=True,
        interface=Interfaces.WSGI,
        address=HOST,
        port=port,
        workers=PROCESSES,
        blocking_threads=THREADS,
        backpressure=CONNECTIONS_WAITING_MAX,
        respawn_failed_workers=True,
        workers_kill_timeout=2,
        websockets=False,
        log_level=LogLevels.error,
    ).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]))
