"""A lake over the API in memory: what `graveler gateway` has, without servers."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from unittest import mock
from urllib.parse import quote

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from graveler.engine import Engine
from graveler.ports import AccountStore
from graveler_functions.api.app import build_app
from graveler_functions.api.settings import ApiSettings
from graveler_functions.http.events import encoded_path_of
from graveler_gateway.lake.api.lakes import ApiLakes
from graveler_gateway.lake.api.requests import Requests
from graveler_gateway.lake.api.transport import ApiResponse
from graveler_gateway.lake.port import Lakes
from graveler_gateway.operations.request import OperationSettings
from graveler_gateway.server.settings import GatewaySettings
from tests.support.checks.contracts import check_answer
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, event
from tests.support.fakes.memory_objects import MemoryObjectStore
from tests.support.fakes.memory_s3 import ENDPOINT
from tests.support.worlds.server_world import REGION, Keys


class AppTransport:
    """`Transport` to an app of this process; the answers must be ones that operations declare."""

    def __init__(self, engine: Engine, accounts: AccountStore) -> None:
        self._app = build_app(engine, accounts, ApiSettings(setup_token="one-time"))
        pair = base64.b64encode(f"{ACCESS_KEY_ID}:{SECRET}".encode()).decode()
        self._credentials = {"authorization": f"Basic {pair}"}
        # Method and target of each request.
        self.sent: list[tuple[str, str]] = []

    def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> ApiResponse:
        self.sent.append((method, target))
        path, _, query = target.partition("?")
        sent = {**self._credentials, **headers}
        asked = event(method, f"/api/v1{path}", query=query, headers=sent, body=body or None)
        answer = self._app(asked, None)
        text = answer["body"]
        content = base64.b64decode(text) if answer["isBase64Encoded"] else text.encode()
        status, given = answer["statusCode"], answer["headers"]
        check_answer(method, encoded_path_of(asked), status, given, content)
        return ApiResponse(status, {name.lower(): value for name, value in given.items()}, content)


class SignedUrls:
    """Presigns URLs as S3 checks them, at the time of the engine."""

    def __init__(self, engine: Engine) -> None:
        keys = Keys()
        self._engine = engine
        self._credentials = Credentials(keys.access_key, keys.secret_key)

    def presign_get(self, uri: str, expires_s: int, *_: str) -> str:
        return self._presigned("GET", uri, expires_s)

    def presign_put(self, uri: str, expires_s: int, headers: Mapping[str, str] = {}) -> str:
        return self._presigned("PUT", uri, expires_s, headers=headers)

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        parameters = f"?partNumber={part_number}&uploadId={upload_id}"
        return self._presigned("PUT", uri, expires_s, parameters)

    def presign_parts(self, uri: str, upload_id: str, parts: int, expires_s: int) -> Sequence[str]:
        numbers = range(1, parts + 1)
        return [self.presign_part(uri, upload_id, number, expires_s) for number in numbers]

    def _presigned(
        self,
        method: str,
        uri: str,
        expires_s: int,
        parameters: str = "",
        headers: Mapping[str, str] = {},
    ) -> str:
        path = quote(uri.removeprefix("s3://"), safe="/~")
        request = AWSRequest(method, f"{ENDPOINT}/{path}{parameters}", headers=dict(headers))
        now = datetime.fromtimestamp(self._engine.now_s(), UTC)
        with mock.patch("botocore.auth.get_current_datetime", return_value=now):
            S3SigV4QueryAuth(self._credentials, "s3", REGION, expires=expires_s).add_auth(request)
        return str(request.url)


def api_lakes(engine: Engine, accounts: AccountStore, *_: Any) -> ApiLakes:
    """Return lakes over the API of the engine, whose URLs lead to the S3 in memory."""
    assert isinstance(engine.objects, MemoryObjectStore)
    urls = SignedUrls(engine)
    for name in ("presign_get", "presign_put", "presign_part", "presign_parts"):
        setattr(engine.objects, name, getattr(urls, name))
    requests = Requests(AppTransport(engine, accounts), sleep=lambda _: None)
    return ApiLakes(requests, ACCESS_KEY_ID, SECRET, now_s=engine.now_s)


def serve_over_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each `GatewayStack` of the test be a gateway over the API of its engine."""
    stack = "tests.support.worlds.gateway_stack"
    operations = OperationSettings(hashed_bytes_max=0)
    monkeypatch.setattr(f"{stack}.EngineLakes", api_lakes)
    monkeypatch.setattr(f"{stack}.GatewaySettings", partial(GatewaySettings, operations=operations))


def is_over_the_api(lakes: Lakes) -> bool:
    """Whether the gateway is over the API: the contract of lakes names what that home lacks."""
    return isinstance(lakes, ApiLakes)
