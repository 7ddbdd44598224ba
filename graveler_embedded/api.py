"""The processes that serve the API, the web page and the S3 gateway on one port.

Started by the supervisor as `python -m graveler_embedded.api PORT`.
"""

import os
import sys

from graveler.model.places import below_half
from graveler_embedded.api_gateway import ApiRoutes, application
from graveler_embedded.config import WAITS_AT_ONCE
from graveler_embedded.lambda_runtime import LocalFunction
from graveler_embedded.processes import die_with_parent, parent_pid
from graveler_embedded.serving import handler, one_port
from graveler_embedded.tcp_ports import open_host
from graveler_functions.iceberg import paths as iceberg_paths
from graveler_functions.web import paths
from graveler_gateway.server.fairness import FairPlaces
from graveler_gateway.server.http import processes
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.server import Handler

# For two cores, which the stores use as well. On a busy machine, one to three processes and eight
# or sixteen requests at once had the same speed. Only branch reads were faster with eight.
PROCESSES = 2
REQUESTS_AT_ONCE = 8
# Of one user, while others send requests. With more, a flood slows them; with one, a slow request
# would stop its user.
_EACH_AT_ONCE = 2
# More requests of a user that wait for a place get 503: they would hold the threads of all.
_EACH_WAITING = 200
STOP_S = 2.0

# As in a deployment. API Gateway waits for a second more.
API_TIMEOUT_S = 29.0
WEB_TIMEOUT_S = 10.0


def api() -> tuple[Handler, Limits]:
    """Return the handler of one process; called in that process."""
    die_with_parent(parent_pid())
    from graveler_functions.api.handler import handler as api_handler  # noqa: PLC0415 - connects to the stores
    from graveler_functions.iceberg.handler import handler as iceberg_handler  # noqa: PLC0415 - the same
    from graveler_functions.web.handler import handler as web_handler  # noqa: PLC0415 - lists its files
    from graveler_gateway.server.program import gateway  # noqa: PLC0415 - the same
    from graveler_gateway.server.settings import GatewaySettings  # noqa: PLC0415 - the same

    settings = GatewaySettings.from_environment(os.environ)
    web = LocalFunction("graveler-web", web_handler, WEB_TIMEOUT_S)
    iceberg = LocalFunction("graveler-iceberg", iceberg_handler, API_TIMEOUT_S)
    waits_max = below_half(WAITS_AT_ONCE)
    routes = ApiRoutes(
        LocalFunction("graveler-api", api_handler, API_TIMEOUT_S),
        {" ".join(route): web for route in paths.routes()}
        | dict.fromkeys(iceberg_paths.routes(), iceberg),
    )
    both = one_port(
        handler(
            application(routes),
            FairPlaces(REQUESTS_AT_ONCE, each_max=_EACH_AT_ONCE, waiting_max=_EACH_WAITING),
            FairPlaces(WAITS_AT_ONCE, each_max=waits_max, user_max=waits_max),
        ),
        gateway(settings, beside_api=True),
        settings.domains,
    )
    return both, Limits(idle_s=settings.idle_s)


if __name__ == "__main__":
    port = int(sys.argv[1])
    sys.exit(
        processes.serve(
            "graveler_embedded.api:api", open_host(), port, workers=PROCESSES, stop_s=STOP_S
        )
    )
