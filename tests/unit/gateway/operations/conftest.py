"""Each test runs in both homes of the gateway: beside the engine, and over the HTTP API."""

from functools import partial

import pytest

from gateway.operations.settings import OperationSettings
from gateway.server.settings import GatewaySettings
from tests.support.sidecar import api_lakes

STACK = "tests.support.gateway_stack"
CHECKED_HERE = OperationSettings(hashed_bytes_max=0)


@pytest.fixture(autouse=True, params=["engine", "api"])
def home(request, monkeypatch) -> str:
    """The home of the gateways that the test makes."""
    if request.param == "api":
        monkeypatch.setattr(f"{STACK}.EngineLakes", api_lakes)
        monkeypatch.setattr(
            f"{STACK}.GatewaySettings", partial(GatewaySettings, operations=CHECKED_HERE)
        )
    return request.param
