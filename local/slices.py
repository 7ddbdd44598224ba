"""The processes that apply slices of large changes: one Lambda function behind its Invoke API.

Started by the supervisor as `python -m local.slices PORT`.
"""

import logging
import sys
from collections.abc import Iterable

import msgspec
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from local.background import TIMEOUT_S
from local.config import SLICE_FUNCTION, SLICES_AT_ONCE
from local.gateway import Application, Environ, StartResponse
from local.lambda_runtime import Function
from local.ports import HOST
from local.processes import die_with_parent, parent_pid

logger = logging.getLogger(__name__)

_CONNECTIONS_WAITING_MAX = 64


def slices() -> Application:
    """Return the WSGI application of one process; called in that process."""
    die_with_parent(parent_pid())
    from functions.slices.handler import handler  # noqa: PLC0415 - connects to the stores

    return invocations(Function(SLICE_FUNCTION, handler, TIMEOUT_S))


def invocations(function: Function) -> Application:
    """Return an application that invokes the function and passes its answer on, as Lambda does."""

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        headers = [("Content-Type", "application/json")]
        try:
            content = function.invoke(msgspec.json.decode(environ["wsgi.input"].read(length)))
        except Exception as error:  # as on Lambda, a failed handler does not end the process
            logger.exception("%s failed", function.name)
            headers.append(("X-Amz-Function-Error", "Unhandled"))
            content = msgspec.json.encode({"errorMessage": str(error)})
        start_response("200 OK", headers)
        return [content]

    return answer


def main(port: int) -> None:
    """Serve until a signal arrives."""
    Granian(
        "local.slices:slices",
        factory=True,
        interface=Interfaces.WSGI,
        address=HOST,
        port=port,
        workers=SLICES_AT_ONCE,
        blocking_threads=1,
        backpressure=_CONNECTIONS_WAITING_MAX,
        respawn_failed_workers=True,
        workers_kill_timeout=2,
        websockets=False,
        log_level=LogLevels.error,
    ).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]))
