"""The Lambda function: API Gateway calls `handler`."""

import os

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from graveler.aws.wiring import Adapters
    from graveler_functions.api.app import build_app
    from graveler_functions.api.settings import ApiSettings
    from graveler_functions.http.process import handler_of
    from graveler_functions.http.serving import App

    def _built(adapters: Adapters) -> App:
        return build_app(
            adapters.engine,
            adapters.accounts,
            ApiSettings.from_environment(os.environ),
            identities=adapters.identities,
            secret_of=adapters.clients.secret,
        )

    handler = handler_of(_built)
