"""The API as a client sees it: real API Gateway events through the real app, on memory stores."""

import base64
import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote, urlencode

from graveler.model.tasks import TaskSettings
from graveler.operations.accounts import installation
from graveler.ports import Credential, IdentityService, User
from graveler_functions.api.app import build_app
from graveler_functions.api.settings import ApiSettings
from graveler_functions.http.events import encoded_path_of
from tests.support.checks.contracts import check_answer
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.memory import MemoryAccountStore
from tests.support.fakes.tasks import run_all

ACCESS_KEY_ID = "AKIAJTESTTESTTESTTEQ"
SECRET = "dGVzdCBzZWNyZXQgdGVzdCBzZWNyZXQgdGVzdCBz"
SETUP_TOKEN = "one-time"


@dataclass(frozen=True)
class Reply:
    """The response as a client sees it."""

    status: int
    headers: dict[str, str]
    content: bytes
    cookies: list[str]

    @property
    def json(self) -> Any:
        assert self.headers["Content-Type"] == "application/json"
        return json.loads(self.content)

    @property
    def message(self) -> str:
        """The message of an error, and its details."""
        body = self.json
        assert set(body) <= {"message", "details"}
        return ": ".join([body["message"], *([body["details"]] if "details" in body else [])])


def event(
    method: str,
    path: str,
    *,
    query: str = "",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    cookies: list[str] | None = None,
    raw_text: bool = False,
    function_url: bool = False,
) -> dict[str, Any]:
    """Return the event of API Gateway (HTTP API, payload format 2.0) for a percent-encoded path.

    An HTTP API decodes the path, a function URL does not.
    """
    host = "x.lambda-url.us-east-1.on.aws" if function_url else "x.execute-api.us-east-1.aws.com"
    path = path if function_url else unquote(path)
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {name.lower(): value for name, value in (headers or {}).items()},
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
            "requestId": "gateway-request",
            "stage": "$default",
            "domainName": host,
        },
        "isBase64Encoded": body is not None and not raw_text,
    }
    if cookies:
        made["cookies"] = cookies
    if body is not None:
        made["body"] = body.decode() if raw_text else base64.b64encode(body).decode()
    return made


class ApiClient:
    """A client with an access key, over an app on memory stores."""

    identities: IdentityService | None = None

    def __init__(self, settings: ApiSettings | None = None, *, set_up: bool = True) -> None:
        self.world: MemoryWorld = memory_world()
        self.accounts = MemoryAccountStore()
        if set_up:
            credential = Credential(ACCESS_KEY_ID, SECRET, "ann", 1_600_000_000)
            installation.set_up(self.accounts, User("ann", 1_600_000_000), credential)
        self.settings = settings or ApiSettings(setup_token=SETUP_TOKEN)
        self._begin()

    def _begin(self) -> None:
        self.engine = self.world.engine()
        self.app = build_app(self.engine, self.accounts, self.settings, identities=self.identities)

    def fork(self) -> "ApiClient":
        """Return a client of an independent copy of all stores."""
        made = copy(self)
        made.world, made.accounts = self.world.anew(), _copy_of(self.accounts)
        made._begin()
        return made

    @cached_property
    def authorization(self) -> str:
        return "Basic " + base64.b64encode(f"{ACCESS_KEY_ID}:{SECRET}".encode()).decode()

    def send(self, event: dict[str, Any]) -> Reply:
        """Send an event; the answer must be one that the operation declares."""
        # As on Lambda: the app cannot depend on what JSON does not carry.
        answer = json.loads(json.dumps(self.app(json.loads(json.dumps(event)), None)))
        body = answer["body"]
        content = base64.b64decode(body) if answer["isBase64Encoded"] else body.encode()
        method = event["requestContext"]["http"]["method"]
        path = encoded_path_of(event)
        check_answer(method, path, answer["statusCode"], answer["headers"], content)
        return Reply(answer["statusCode"], answer["headers"], content, answer.get("cookies", []))

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        /,
        *,
        query: str | None = None,
        headers: dict[str, str] | None = None,
        below: str = "/api/v1",
        **parameters: Any,
    ) -> Reply:
        """Send a request with credentials.

        Args:
            body: bytes, or an object that is sent as JSON.
            parameters: the query.
        """
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        kind = {} if sent is None else {"content-type": "application/json"}
        return self.send(
            event(
                method,
                f"{below}{path}",
                query=urlencode(parameters, doseq=True) if query is None else query,
                headers={"authorization": self.authorization, **kind, **(headers or {})},
                body=sent,
            )
        )

    def run_tasks(self) -> None:
        """Run all tasks to their end."""
        run_all(self.world.task_queue, self.engine)

    def leave_to_tasks(self, settings: TaskSettings) -> None:
        """Replace the process by one whose requests leave work to tasks, as the settings say."""
        self.world.task_settings = settings
        self._begin()

    # What most tests begin with

    def repository(self, name: str = "repo", **fields: Any) -> None:
        body = {"name": name, "storage_namespace": f"s3://bucket/{name}", **fields}
        assert self.ask("POST", "/repositories", body).status == 201

    def upload(
        self,
        path: str,
        content: bytes = b"x",
        branch: str = "main",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        reply = self.ask(
            "POST",
            f"/repositories/repo/branches/{branch}/objects",
            content,
            path=path,
            headers={"content-type": "text/plain", **(headers or {})},
        )
        assert reply.status == 201, reply
        return reply.json

    def commit(self, message: str = "m", branch: str = "main", **fields: Any) -> Any:
        path = f"/repositories/repo/branches/{branch}/commits"
        reply = self.ask("POST", path, {"message": message, **fields})
        assert reply.status == 201, reply
        return reply.json

    def branch(self, name: str, source: str = "main") -> None:
        body = {"name": name, "source": source}
        assert self.ask("POST", "/repositories/repo/branches", body).status == 201

    def paths(self, ref: str = "main") -> list[str]:
        reply = self.ask("GET", f"/repositories/repo/refs/{quote(ref, safe='')}/objects/ls")
        return [row["path"] for row in reply.json["results"]]


def _copy_of(accounts: MemoryAccountStore) -> MemoryAccountStore:
    made = copy(accounts)
    for name, value in vars(accounts).items():
        if isinstance(value, dict | set):
            setattr(made, name, copy(value))
    return made
