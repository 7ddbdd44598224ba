"""The Lambda function: API Gateway calls `handler`."""

import os
from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from graveler.aws.wiring import Adapters
    from graveler_functions.api.app import build_app
    from graveler_functions.api.settings import ApiSettings
    from graveler_functions.http.events import Event
    from graveler_functions.http.process import app_of_process
    from graveler_functions.http.serving import App

    def _built(adapters: Adapters) -> App:
        return build_app(
            adapters.engine,
            adapters.accounts,
            ApiSettings.from_environment(os.environ),
            identities=adapters.identities,
            secret_of=adapters.clients.secret,
        )

    _app = app_of_process(_built)


def handler(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own
    """Return the answer to one request."""
    return _app(event, context)
