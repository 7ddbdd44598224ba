"""The processes that serve the API: its handler behind the gateway, on one shared port.

Started by the supervisor as `python -m local.api PORT`.
"""

import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from local.gateway import application
from local.lambda_runtime import Function
from local.ports import HOST
from local.processes import die_with_parent, parent_pid
from local.rsgi import Rsgi, rsgi

# For two cores, which the stores use as well. On a busy machine, one to three processes and eight
# or sixteen threads performed alike, except that branch reads were faster with eight threads.
PROCESSES = 2
THREADS = 8
CONNECTIONS_WAITING_MAX = 512

# As in a deployment. API Gateway waits for a second more.
API_TIMEOUT_S = 29.0


def api() -> Rsgi:
    """Return the RSGI application of one process; called in that process."""
    die_with_parent(parent_pid())
    from functions.api.handler import handler  # noqa: PLC0415 - connects to the stores

    return rsgi(application(Function("graveler-api", handler, API_TIMEOUT_S)), THREADS)


def main(port: int) -> None:
    """Serve until a signal arrives."""
    Granian(
        "local.api:api",
        factory=True,
        interface=Interfaces.RSGI,
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
