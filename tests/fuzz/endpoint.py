"""A running endpoint as the fuzzer's target: it judges answers, and cannot see the stores."""

import base64
import http.client
import json
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from graveler_functions.api.app import API_PREFIX
from tests.fuzz.drafts import AUTHORIZATION, Draft
from tests.support.checks.contracts import check_answer
from tests.support.clients.api import Reply

TIMEOUT_S = 60
# Names in valid requests, and what the endpoint has instead.
OURS = "repo"


class Endpoint:
    """Sends requests over HTTP, to a repository of its own."""

    def __init__(self, url: str, access_key_id: str, secret: str, namespace: str) -> None:
        parts = urlsplit(url)
        self._is_tls = parts.scheme == "https"
        self._place = parts.netloc
        pair = base64.b64encode(f"{access_key_id}:{secret}".encode()).decode()
        self.authorization = f"Basic {pair}"
        self.repository = f"fuzz-{uuid4().hex[:12]}"
        self._prepare(namespace.rstrip("/"))

    def _prepare(self, namespace: str) -> None:
        place = f"{namespace}/{self.repository}"
        root = f"/repositories/{self.repository}"
        self._ask("POST", "/repositories", {"name": self.repository, "storage_namespace": place})
        for path in ("a/1", "a/2", "b"):
            self._ask("POST", f"{root}/branches/main/objects?path={quote(path)}", b"content")
        self._ask("POST", f"{root}/branches/main/commits", {"message": "m"})
        for branch in ("dev", "exported", "spare"):
            self._ask("POST", f"{root}/branches", {"name": branch, "source": "main"})
        self._ask("POST", f"{root}/tags", {"id": "v1", "ref": "main"})

    def _ask(self, method: str, path: str, body: Any) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {AUTHORIZATION: self.authorization, "content-type": "application/json"}
        reply = self._sent(method, API_PREFIX + path, headers, content)
        assert reply.status < 300, reply

    def judged(self, draft: Draft) -> Reply | None:
        """Send the request; None if HTTP cannot carry it.

        Raises:
            AssertionError: the answer breaks a rule.
        """
        for name, value in draft.names.items():
            if value == OURS:
                draft.names[name] = self.repository
        if not draft.method:
            return None
        path = f"{draft.path}?{draft.query_string}" if draft.query else draft.path
        try:
            # The library refuses control characters and spaces, as all clients do.
            reply = self._sent(draft.method, path, draft.headers, draft.content)
        except (ValueError, http.client.InvalidURL):
            return None
        assert reply.status < 500 or reply.status == 501, reply
        if reply.headers.get("Content-Type") or reply.status < 400:
            check_answer(draft.method, draft.path, reply.status, reply.headers, reply.content)
        return reply

    def _sent(
        self, method: str, path: str, headers: dict[str, str], content: bytes | None
    ) -> Reply:
        kind = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
        connection = kind(self._place, timeout=TIMEOUT_S)
        try:
            left_out = {"host", "content-length"}
            sent = {name: value for name, value in headers.items() if name not in left_out}
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            found = {name.title(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read(), [])
        finally:
            connection.close()
