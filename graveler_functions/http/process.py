"""The app of a process behind the HTTP API."""

from collections.abc import Callable
from typing import Any

from graveler.aws import wiring
from graveler.aws.wiring import Adapters
from graveler_functions.http.events import Event
from graveler_functions.http.rest_api import for_both_apis
from graveler_functions.http.serving import App


def app_of_process(build: Callable[[Adapters], App]) -> App:
    """Return the app, for the events of an HTTP API and of a REST API.

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

    def current(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own
        return app(event, context)

    wiring.after_restore(renew)
    return current
