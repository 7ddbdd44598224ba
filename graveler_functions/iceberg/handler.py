"""The Lambda function: API Gateway calls `handler`."""

import os
from collections.abc import Mapping
from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from graveler.aws.vended_credentials import VendedCredentials
    from graveler.aws.wiring import Adapters
    from graveler.http.auth import AuthenticatedUser
    from graveler_functions.http.events import Event
    from graveler_functions.http.process import app_of_process
    from graveler_functions.http.serving import App
    from graveler_functions.iceberg.app import build_app
    from graveler_functions.iceberg.request import Vend
    from graveler_functions.iceberg.settings import IcebergSettings

    def _built(adapters: Adapters) -> App:
        settings = IcebergSettings.from_environment(os.environ)
        vend = _own(adapters) if settings.shares_own_credentials else None
        if settings.vended_role_arn:
            vend = _temporary(adapters, settings.vended_role_arn)
        return build_app(adapters.engine, adapters.accounts, settings, vend=vend)

    def _own(adapters: Adapters) -> Vend:
        def vend(_location: str, who: AuthenticatedUser, **_can_write: bool) -> Mapping[str, str]:
            keys = adapters.clients.credentials()
            if who.access_key_id != keys.access_key:
                return {}  # in the embedded stack, they are also the first user's, who may do all
            return {
                "s3.access-key-id": keys.access_key,
                "s3.secret-access-key": keys.secret_key,
                **({"s3.session-token": keys.token} if keys.token else {}),
            }

        return vend

    def _temporary(adapters: Adapters, role_arn: str) -> Vend:
        of_role = VendedCredentials(lambda: adapters.clients.sts, role_arn)

        def vend(location: str, who: AuthenticatedUser, *, can_write: bool) -> Mapping[str, str]:
            return of_role(location, who.user, can_write=can_write)

        return vend

    _app = app_of_process(_built)


def handler(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own
    """Return the answer to one request."""
    return _app(event, context)
