"""The Lambda function: API Gateway (an HTTP API, or a REST API) calls `handler`."""

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler.aws.vended_credentials import VendedCredentials
    from graveler.http.auth import AuthenticatedUser
    from graveler_functions.http.rest_api import for_both_apis
    from graveler_functions.iceberg.app import build_app
    from graveler_functions.iceberg.request import Vend
    from graveler_functions.iceberg.settings import IcebergSettings


@lru_cache(maxsize=1)
def _app() -> Callable[[dict[str, Any], LambdaContext], dict[str, Any]]:
    adapters = wiring.adapters()
    settings = IcebergSettings.from_environment(os.environ)

    def own(_location: str, who: AuthenticatedUser, **_can_write: bool) -> Mapping[str, str]:
        keys = adapters.clients.credentials()
        if who.access_key_id != keys.access_key:
            return {}  # in the embedded stack, they are also the first user's, who may do all
        return {
            "s3.access-key-id": keys.access_key,
            "s3.secret-access-key": keys.secret_key,
            **({"s3.session-token": keys.token} if keys.token else {}),
        }

    of_role = VendedCredentials(lambda: adapters.clients.sts, settings.vended_role_arn)

    def temporary(location: str, who: AuthenticatedUser, *, can_write: bool) -> Mapping[str, str]:
        return of_role(location, who.user, can_write=can_write)

    vend: Vend | None = own if settings.shares_own_credentials else None
    if settings.vended_role_arn:
        vend = temporary
    return for_both_apis(build_app(adapters.engine, adapters.accounts, settings, vend=vend))


def _renew() -> None:
    """Build everything anew that one process must not share with another."""
    wiring.forget()
    _app.cache_clear()
    _app()


# Built while the process starts: Lambda then gives the most CPU, and no request waits.
with without_garbage_collection():
    _app()
wiring.after_restore(_renew)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the answer to one request."""
    return _app()(event, context)
