"""The gateway as S3's clients see it: the whole application, over stores and an S3 in memory."""

import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from unittest import mock
from urllib.parse import quote, urlencode, urlsplit
from xml.etree import ElementTree as ET

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from graveler.access.policy import Policy
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.branches.views import ObjectStat
from graveler.engine import Engine
from graveler.http.auth import Authenticator
from graveler.http.rights import RIGHTS_AGE_MAX_S
from graveler.model import ProtectionRule
from graveler.operations import branches, commits, objects, repositories, tags
from graveler.ports import Credential, User
from graveler.staging.listing import CommonPrefix, PageQuery
from graveler_gateway.lake.engine.lakes import EngineLakes
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.server.application import Application, Served
from graveler_gateway.server.log import AccessLogEntry
from graveler_gateway.server.settings import GatewaySettings
from graveler_gateway.transfer.store import Transfers
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.clients.signed_heads import sent, signed_head
from tests.support.fakes.access import EVERYTHING, USER, ScriptedAccounts
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.memory_s3 import ENDPOINT, MemoryPool, MemoryS3

HOST = "gateway.example:8000"
REPO = "repo"
REGION = "us-east-1"
UNSIGNED = "UNSIGNED-PAYLOAD"
SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
UNSIGNED_CHUNKS = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


@dataclass
class CutBody:
    """A body that arrives in pieces of some size; counts how often it is read."""

    body: bytes
    piece_bytes: int = 65_536
    reads: int = 0

    def read(self) -> bytes:
        self.reads += 1
        piece, self.body = self.body[: self.piece_bytes], self.body[self.piece_bytes :]
        return piece


@dataclass(frozen=True)
class Reply:
    """The answer as a client sees it; reads is how often the body of the request was read."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    content: bytes
    reads: int
    length_bytes: int | None
    record: AccessLogEntry

    @property
    def error(self) -> str:
        """The traceback of a fault of the gateway."""
        return self.record.error

    @property
    def operation(self) -> str:
        return self.record.operation

    @property
    def document(self) -> ET.Element:
        return ET.fromstring(self.content)

    @property
    def code(self) -> str:
        """The code of an error's document; "" if it is no error."""
        return self.text("Code") if self.status >= 300 and self.content else ""

    def text(self, path: str) -> str:
        """Return the text of the first element at the path; "" if there is none."""
        found = self.texts(path)
        return found[0] if found else ""

    def texts(self, path: str) -> list[str]:
        """Return the texts of the elements at the path, whatever their namespace."""
        steps = "/".join(f"{{*}}{step}" for step in path.split("/"))
        return [element.text or "" for element in self.document.findall(steps)]


class _Signer(S3SigV4Auth):
    """botocore's signer, for any value of x-amz-content-sha256."""

    def __init__(self, credentials: Credentials, content_sha256: str) -> None:
        super().__init__(credentials, "s3", REGION)
        self._content_sha256 = content_sha256

    def payload(self, request: AWSRequest) -> str:  # noqa: ARG002 - botocore's
        return self._content_sha256


class GatewayStack:
    """One gateway with one repository `repo`, whose only user may do everything at first."""

    def __init__(
        self, settings: GatewaySettings | None = None, *, has_sessions: bool = False
    ) -> None:
        self.world: MemoryWorld = memory_world()
        self.accounts = ScriptedAccounts()
        credential = Credential(ACCESS_KEY_ID, SECRET, USER, 1_600_000_000)
        self.accounts.set_up(User(USER, 1_600_000_000), credential)
        self.accounts.given = EVERYTHING
        self.engine: Engine = self.world.engine()
        self.s3 = MemoryS3(self.world.objects, self.world.clock)
        self.connections = MemoryPool(self.s3)
        self.settings = settings or GatewaySettings()
        self.lakes = EngineLakes(
            self.engine,
            self.accounts,
            S3Requests(Endpoint(ENDPOINT, REGION), lambda: self.s3.keys, now_s=lambda: self.now_s),
            Authenticator(self.accounts, self.world.clock) if has_sessions else None,
        )
        self.transfers = Transfers(self.connections, sleep=lambda _: None)
        self.application = Application(self.lakes, self.transfers, self.settings)
        self.credentials = Credentials(ACCESS_KEY_ID, SECRET)
        self.repository(REPO)

    @property
    def now_s(self) -> float:
        return self.world.clock.peek_ns / 10**9

    def repository(self, name: str, **more: Any) -> None:
        repositories.create(self.engine, name=name, storage_namespace=f"s3://bucket/{name}", **more)

    def branch(self, name: str, source: str = "main", repository: str = REPO) -> None:
        branches.create(self.engine, repository, name=name, source=source)

    def commit(self, branch: str = "main", repository: str = REPO) -> str:
        """Commit the branch; return the commit's ID."""
        request = commits.CommitRequest("message", USER, allow_empty=True)
        return commits.commit(self.engine, repository, branch, request).id

    def tag(self, name: str, ref: str) -> None:
        tags.create(self.engine, REPO, name=name, ref=ref)

    def protect(self, branch: str) -> None:
        """Refuse all writes to the branch."""
        repositories.set_protection_rules(self.engine, REPO, [ProtectionRule(branch)])

    def may(self, *policies: Policy) -> None:
        """Replace the user's policies, and let the process forget the old ones."""
        self.accounts.given = policies
        self.world.clock.tick(RIGHTS_AGE_MAX_S)

    # Requests

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        query: Mapping[str, str] | str = "",
        headers: Mapping[str, str] | None = None,
        content_sha256: str | None = None,
        piece_bytes: int = 65_536,
        host: str = HOST,
    ) -> Reply:
        """Send a request that is signed in its header; the path is decoded text."""
        digest = sha256(body).hexdigest() if content_sha256 is None else content_sha256
        length = {"content-length": str(len(body))} if body or method in {"PUT", "POST"} else {}
        head = self.signed(
            method, path, query=query, headers={**length, **(headers or {})},
            content_sha256=digest, host=host,
        )  # fmt: skip
        return self.send(head, CutBody(body, piece_bytes))

    def ask_chunked(
        self,
        path: str,
        content: bytes,
        *,
        chunk_bytes: int = 8192,
        piece_bytes: int = 65_536,
        query: Mapping[str, str] | str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """PUT the content in signed chunks."""
        sent_headers = {"x-amz-decoded-content-length": str(len(content)), **(headers or {})}
        head = self.signed(
            "PUT", path, query=query, headers=sent_headers, content_sha256=SIGNED_CHUNKS
        )
        return self.send(head, CutBody(self.chunks(head, content, chunk_bytes), piece_bytes))

    def presigned(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        query: Mapping[str, str] | str = "",
        headers: Mapping[str, str] | None = None,
        expires_s: int = 60,
    ) -> Reply:
        """Send a request that is signed in its query."""
        length = {"content-length": str(len(body))} if method == "PUT" else {}
        request = AWSRequest(method, _url(HOST, path, query), headers=dict(headers or {}))
        with self._at_clock():
            S3SigV4QueryAuth(self.credentials, "s3", REGION, expires=expires_s).add_auth(request)
        head = sent(request)
        unsigned = [*head.headers, *length.items()]
        return self.send(
            RequestHead(head.method, head.raw_path, head.raw_query, unsigned), CutBody(body)
        )

    def signed(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | str = "",
        headers: Mapping[str, str] | None = None,
        content_sha256: str = UNSIGNED,
        host: str = HOST,
    ) -> RequestHead:
        """Return a head that botocore signs at the time of the gateway."""
        request = AWSRequest(method, _url(host, path, query), headers=dict(headers or {}))
        with self._at_clock():
            _Signer(self.credentials, content_sha256).add_auth(request)
        return sent(request)

    def signed_raw(
        self,
        method: str,
        raw_path: str,
        raw_query: str,
        headers: Mapping[str, str],
        body: bytes,
        kind: str,
    ) -> RequestHead:
        """Return a head that verifies, whatever it says; botocore would refuse to sign some.

        kind is "hash" for the body's, "chunks" for signed chunks, or a x-amz-content-sha256.
        """
        digest = {"hash": sha256(body).hexdigest(), "chunks": SIGNED_CHUNKS}.get(kind, kind)
        moment = datetime.fromtimestamp(int(self.now_s), UTC).strftime("%Y%m%dT%H%M%SZ")
        sent_headers = {
            "host": HOST,
            **headers,
            "x-amz-date": moment,
            "x-amz-content-sha256": digest,
        }
        head = RequestHead(method, raw_path, raw_query, tuple(sent_headers.items()))
        return signed_head(head, self.credentials, REGION, moment, digest)

    def chunks(self, head: RequestHead, content: bytes, chunk_bytes: int) -> bytes:
        """Return the content as chunks that continue the head's signature."""
        signer = _Signer(self.credentials, SIGNED_CHUNKS)
        moment = head.header("x-amz-date") or ""
        scope = f"{moment[:8]}/{REGION}/s3/aws4_request"
        found = re.search("Signature=([0-9a-f]{64})", head.header("authorization") or "")
        assert found is not None
        previous = found[1]
        request = AWSRequest()
        request.context["timestamp"] = moment
        made = bytearray()
        for chunk in [*pieces_of(content, chunk_bytes), b""]:
            hashes = f"{sha256(b'').hexdigest()}\n{sha256(chunk).hexdigest()}"
            text = f"AWS4-HMAC-SHA256-PAYLOAD\n{moment}\n{scope}\n{previous}\n{hashes}"
            previous = signer.signature(text, request)
            made += f"{len(chunk):x};chunk-signature={previous}\r\n".encode() + chunk + b"\r\n"
        return bytes(made)

    def send(self, head: RequestHead, body: CutBody | None = None) -> Reply:
        """Send a head with a body, however they are made; return what the client gets."""
        arriving = body or CutBody(b"")
        served = self.application.serve(head, arriving, "127.0.0.1")
        return self._reply(head, served, arriving)

    def _reply(self, head: RequestHead, served: Served, arriving: CutBody) -> Reply:
        answer, record = served.response, served.entry
        content = answer.content
        if answer.reading is not None:
            with answer.reading:
                content = b"".join(answer.reading.pieces())
        if head.method == "HEAD" or answer.status in {204, 304}:
            content = b""
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Reply(
            answer.status,
            headers,
            content,
            arriving.reads,
            answer.length_bytes,
            record,
        )

    @contextmanager
    def _at_clock(self) -> Any:
        now = datetime.fromtimestamp(int(self.now_s), UTC)
        with mock.patch("botocore.auth.get_current_datetime", return_value=now):
            yield

    # What most tests begin with and look at

    def put(self, key: str, content: bytes = b"content", **headers: str) -> Reply:
        """Store an object of the repository; underscores in names of headers become hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        reply = self.ask("PUT", f"/{REPO}/{key}", content, headers=named)
        assert reply.status == 200, reply
        return reply

    def get(self, key: str) -> bytes:
        """Return the content of an object of the repository."""
        reply = self.ask("GET", f"/{REPO}/{key}")
        assert reply.status == 200, reply
        return reply.content

    def listed_objects(self, ref: str) -> Sequence[ObjectStat]:
        """Return the objects of a ref as the engine has them."""
        page = objects.list_objects(self.engine, REPO, ref, PageQuery(1000))
        return [item for item in page.results if not isinstance(item, CommonPrefix)]

    def keys(self, query: Mapping[str, str], repository: str = REPO) -> Sequence[str]:
        """Return the keys and common prefixes that a listing has."""
        reply = self.ask("GET", f"/{repository}", query=query)
        assert reply.status == 200, reply
        return [*reply.texts("Contents/Key"), *reply.texts("CommonPrefixes/Prefix")]


def pieces_of(content: bytes, size_bytes: int) -> list[bytes]:
    """Return the content in pieces."""
    return [content[at : at + size_bytes] for at in range(0, len(content), size_bytes)]


def _url(host: str, path: str, query: Mapping[str, str] | str) -> str:
    text = query if isinstance(query, str) else urlencode(query, quote_via=quote, safe="~")
    url = f"http://{host}{quote(path, safe='/~')}"
    assert not urlsplit(url).query
    return f"{url}?{text}" if text else url
