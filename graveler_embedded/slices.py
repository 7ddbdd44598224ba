"""The processes that apply slices of large changes: one Lambda function behind its Invoke API.

Started by the supervisor as `python -m graveler_embedded.slices PORT`.
"""

import logging
import sys

import msgspec

from graveler_embedded.api_gateway import ApiRequest, Application, GatewayAnswer
from graveler_embedded.config import SLICE_FUNCTION, SLICES_AT_ONCE
from graveler_embedded.lambda_runtime import TIMEOUT_S, LocalFunction
from graveler_embedded.processes import die_with_parent, parent_pid
from graveler_embedded.serving import handler
from graveler_embedded.tcp_ports import HOST
from graveler_gateway.server.fairness import FairPlaces
from graveler_gateway.server.http import processes
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.server import Handler

logger = logging.getLogger(__name__)

_STOP_S = 2.0


def slices() -> tuple[Handler, Limits]:
    """Return the handler of one process; called in that process."""
    die_with_parent(parent_pid())
    from graveler_functions.slices.handler import (  # noqa: PLC0415 - connects to the stores
        handler as slice_handler,
    )

    # As Lambda does, a process serves one invocation at a time.
    one = FairPlaces(1)
    function = LocalFunction(SLICE_FUNCTION, slice_handler, TIMEOUT_S)
    return handler(invocations(function), one, one), Limits()


def invocations(function: LocalFunction) -> Application:
    """Return an application that invokes the function and passes its answer on, as Lambda does."""

    def answer(request: ApiRequest) -> GatewayAnswer:
        headers = [("Content-Type", "application/json")]
        try:
            content = function.invoke(msgspec.json.decode(request.body))
        except Exception as error:  # as on Lambda, a failed handler does not end the process
            logger.exception("%s failed", function.name)
            headers.append(("X-Amz-Function-Error", "Unhandled"))
            content = msgspec.json.encode({"errorMessage": str(error)})
        return 200, headers, content

    return answer


if __name__ == "__main__":
    port = int(sys.argv[1])
    sys.exit(
        processes.serve(
            "graveler_embedded.slices:slices", HOST, port, workers=SLICES_AT_ONCE, stop_s=_STOP_S
        )
    )
