"""The handler of a function behind the HTTP API: one app for each process."""

from collections.abc import Callable
from typing import Any

from graveler.aws import wiring
from graveler.aws.wiring import Adapters
from graveler_functions.http.events import Event
from graveler_functions.http.rest_api import for_both_apis
from graveler_functions.http.serving import App


def handler_of(build: Callable[[Adapters], App]) -> App:
    """Return the handler, which API Gateway calls (an HTTP API, or a REST API).

    The app is built now, while the process starts: Lambda then gives the most CPU, and no request
    waits. A process that resumes a snapshot builds it anew, to share nothing with others.
    """

    def built() -> App:
        return for_both_apis(build(wiring.adapters()))

    app = built()

    def renew() -> None:
        nonlocal app
        wiring.forget()
        app = built()

    def handler(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own
        """Return the answer to one request."""
        return app(event, context)

    wiring.after_restore(renew)
    return handler
