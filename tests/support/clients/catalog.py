"""The Iceberg catalogue as a client sees it: real events through the real app, on memory stores."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from graveler.http.auth import AuthenticatedUser
from graveler_functions.iceberg.app import build_app
from graveler_functions.iceberg.settings import IcebergSettings
from tests.support.clients.api import ACCESS_KEY_ID, ApiClient, Reply, event
from tests.support.worlds.iceberg_tables import request

ALL = "/iceberg/api/v1"
OF_MAIN = "/iceberg/relative_to/repo.main/api/v1"
SETTINGS = IcebergSettings(region="us-east-1", s3_endpoint="http://store")


def vend(location: str, who: AuthenticatedUser, **_: bool) -> Mapping[str, str]:
    return {"s3.access-key-id": f"key for {location}"} if who.access_key_id == ACCESS_KEY_ID else {}


class CatalogClient:
    """A client with the key pair of another one, over the same stores."""

    def __init__(self, api: ApiClient) -> None:
        self.api = api
        self.app = build_app(api.engine, api.accounts, SETTINGS, vend=vend)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        below: str = OF_MAIN,
        headers: Mapping[str, str] | None = None,
        **parameters: Any,
    ) -> Reply:
        """Send a request with credentials; a body is sent as JSON, unless it is bytes."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        answer = self.app(
            event(
                method,
                f"{below}/{path}",
                query=urlencode(parameters),
                headers={"authorization": self.api.authorization, **(headers or {})},
                body=sent,
            ),
            None,
        )
        content = answer["body"].encode()
        return Reply(answer["statusCode"], answer["headers"], content, [])

    def table(self, name: str = "orders", namespace: str = "sales", **fields: Any) -> Any:
        """Create a table, and its namespace, unless they exist; return the table."""
        self.ask("POST", "namespaces", {"namespace": [namespace]})
        body = {**request(), "name": name, **fields}
        reply = self.ask("POST", f"namespaces/{namespace}/tables", body)
        if reply.status == 409:
            reply = self.ask("GET", f"namespaces/{namespace}/tables/{name}")
        assert reply.status == 200, reply
        return reply.json


def fault(reply: Reply) -> tuple[int, str]:
    """Return the status and the type of an error answer."""
    error = reply.json["error"]
    assert error["code"] == reply.status
    assert error["message"]
    return reply.status, error["type"]
