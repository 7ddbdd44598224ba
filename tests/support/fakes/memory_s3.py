"""S3's HTTP side in memory: what a client of it sends over the real code of connections.

It is as weak as S3: a request without a right signature, with an unsigned `x-amz-*` header, a wrong
length, hash or MD5 stores nothing.
"""

import base64
import hashlib
import io
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from graveler.aws.exchanges.connection import (
    Host,
    HttpConnection,
    StreamedResponse,
)
from graveler.aws.exchanges.pool import Pool
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.data_headers import (
    ENCRYPTION,
    KEPT,
    DataHeaders,
    encryption_of,
    kept_of,
)
from graveler.errors import GravelerError, UploadNotFoundError
from graveler.ports import Clock
from graveler_gateway.protocol.addressing import target_of
from graveler_gateway.protocol.bodies import trailed
from graveler_gateway.protocol.bodies.decoder import Decoder
from graveler_gateway.protocol.bodies.payload import parse_payload
from graveler_gateway.protocol.bodies.plan import body_plan
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.presented import parse
from graveler_gateway.protocol.signatures.verified import VerifiedSignature
from tests.support.fakes.memory_objects import MemoryObjectStore
from tests.support.fakes.part_checksums import declared_algorithm
from tests.support.fakes.scripted_s3 import answer_of
from tests.support.worlds.server_world import Keys

ENDPOINT = "http://s3.memory:9000"

_STATUS_LINE = re.compile(rb"[A-Z]+ \S+ HTTP/1\.1")


@dataclass
class MemoryS3:
    """Serves requests over a store in memory.

    answers: bytes to answer the next requests with, in place of serving them; None serves one.
    change: what becomes of each further answer on its way, for cut ones.
    """

    objects: MemoryObjectStore
    clock: Clock
    keys: Keys = field(default_factory=Keys)
    answers: deque[bytes | None] = field(default_factory=deque)
    change: Callable[[bytes], bytes] = lambda answer: answer
    requests: list[RequestHead] = field(default_factory=list)
    # Heads of requests whose body never ended.
    incomplete: list[RequestHead] = field(default_factory=list)

    def answer(self, head: RequestHead, body: bytes) -> bytes:
        """Return the answer to a request, as it is on the wire."""
        self.requests.append(head)
        scripted = self.answers.popleft() if self.answers else None
        if scripted is not None:
            return scripted
        return self.change(self._served(head, body))

    def _served(self, head: RequestHead, body: bytes) -> bytes:
        try:
            content, checksums = self._checked(head, body)
            target = target_of(head.raw_path, None, ())
            uri = f"s3://{target.bucket}/{target.key.decode()}"
            if head.method == "GET":
                return self._read(head, uri)
            return self._write(head, uri, content, checksums)
        except S3ResponseError as error:
            document = f"<Error><Code>{error.code.text}</Code><Message>{error.message}</Message>"
            return answer_of(error.code.status, document.encode() + b"</Error>")

    def _checked(self, head: RequestHead, body: bytes) -> tuple[bytes, Mapping[str, str]]:
        """Return the content of a request that may be served, and its checksum by its header."""
        presented = parse(head)
        if presented is None or presented.access_key_id != self.keys.access_key:
            raise S3ResponseError(Code.INVALID_ACCESS_KEY_ID)
        presented.verify(head, self.keys.secret_key, self.clock.now_ns() // 10**9)
        is_presigned = "X-Amz-Signature" in head.parameters
        sha256 = head.header("x-amz-content-sha256") or (is_presigned and "UNSIGNED-PAYLOAD")
        if sha256 not in {
            "UNSIGNED-PAYLOAD",
            trailed.PAYLOAD_HASH,
            hashlib.sha256(body).hexdigest(),
        }:
            raise S3ResponseError(Code.CONTENT_SHA256_MISMATCH)
        md5 = head.header("content-md5")
        if md5 is not None and base64.b64decode(md5) != hashlib.md5(body).digest():
            raise S3ResponseError(Code.BAD_DIGEST)
        if head.method == "PUT" and head.header("content-length") is None:
            raise S3ResponseError(Code.MISSING_CONTENT_LENGTH)
        payload = parse_payload(sha256 if sha256 == trailed.PAYLOAD_HASH else "UNSIGNED-PAYLOAD")
        plan = body_plan(head, VerifiedSignature("", payload))
        decoder = Decoder(plan, check_sha256=False, check_md5=False)
        content, checksum = decoder.feed(body), decoder.finish().checksum
        return content, {} if checksum is None else dict([checksum])

    def _read(self, head: RequestHead, uri: str) -> bytes:
        content = self.objects.contents().get(uri)
        asks = head.header("x-amz-checksum-mode") == "ENABLED" and not head.header("range")
        info = self.objects.head(uri, with_checksums=asks)
        if content is None or info is None:
            raise S3ResponseError(Code.NO_SUCH_KEY)
        if head.header("if-match") not in {None, f'"{info.checksum}"'}:
            raise S3ResponseError(Code.PRECONDITION_FAILED)
        kept = [f"{name}: {value}" for name, value in info.headers.items()]
        wanted = re.fullmatch("bytes=([0-9]+)-([0-9]+)", head.header("range") or "")
        if wanted is None:
            return answer_of(200, content, *kept)
        first, last = int(wanted[1]), int(wanted[2])
        if first >= len(content):
            raise S3ResponseError(Code.INVALID_RANGE)
        return answer_of(206, content[first : last + 1], *kept)

    def _write(
        self, head: RequestHead, uri: str, body: bytes, checksums: Mapping[str, str]
    ) -> bytes:
        upload_id = head.parameters.get("uploadId")
        told: Mapping[str, str]
        try:
            if upload_id is None:
                content_type = head.header("content-type") or "binary/octet-stream"
                sent = {name: head.header(name) or "" for name in (*KEPT, *ENCRYPTION)}
                full = {"x-amz-checksum-type": "FULL_OBJECT"} if checksums else {}
                told = {**encryption_of(sent), **checksums, **full}
                headers = DataHeaders(kept_of(sent), told)
                checksum = self.objects.put(uri, body, content_type, headers=headers).checksum
            else:
                number = int(head.parameters["partNumber"])
                self.objects.list_parts(uri, upload_id, 0, 1)
                begun = self.objects.headers_of_upload(upload_id)
                declared = declared_algorithm(begun)
                if checksums.keys() - ({declared.header} if declared else set()):
                    raise S3ResponseError(Code.INVALID_REQUEST, "Checksum Type mismatch occurred")
                told = {**encryption_of(begun), **checksums}
                checksum = self.objects.upload_part(uri, upload_id, number, body)
        except UploadNotFoundError as error:
            raise S3ResponseError(Code.NO_SUCH_UPLOAD) from error
        except GravelerError as error:
            raise S3ResponseError(Code.NO_SUCH_BUCKET) from error
        lines = [f"{name}: {value}" for name, value in told.items()]
        return answer_of(200, b"", f'ETag: "{checksum}"', *lines)


class MemoryConnection(HttpConnection):
    """A connection to an S3 in memory, which answers as soon as a request is whole."""

    def __init__(self, host: Host, s3: MemoryS3) -> None:
        super().__init__(host, cast("Any", None))
        self._s3 = s3
        self._sent = bytearray()
        self._answer = io.BytesIO()

    def send_more(self, content: bytes) -> None:
        self._sent += content

    def answer(self) -> StreamedResponse:
        parsed = self._parsed()
        if parsed is None:
            raise TimeoutError("S3 waits for the rest of the body")
        self._sent.clear()
        self._answer = io.BytesIO(self._s3.answer(*parsed))
        return super().answer()

    def receive(self, most_bytes: int) -> bytes:
        return self._answer.read(most_bytes)

    def receive_all(self, size_bytes: int) -> bytes:
        return self._answer.read(size_bytes)

    def close(self) -> None:
        parsed_head = self._head()
        if parsed_head is not None:
            self._s3.incomplete.append(parsed_head)
        self._sent.clear()

    def _head(self) -> RequestHead | None:
        head, end, _ = bytes(self._sent).partition(b"\r\n\r\n")
        if not end:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        assert _STATUS_LINE.match(first.encode("latin-1")), first
        method, target, _ = first.split(" ")
        path, _, query = target.partition("?")
        pairs = [line.partition(":") for line in lines]
        headers = [(name.lower(), value.strip()) for name, _, value in pairs]
        return RequestHead(method, path, query, headers)

    def _parsed(self) -> tuple[RequestHead, bytes] | None:
        """Return the request; None if its body is not what its length says."""
        head = self._head()
        if head is None:
            return None
        body = bytes(self._sent).partition(b"\r\n\r\n")[2]
        return (head, body) if len(body) == int(head.header("content-length") or 0) else None


class MemoryPool(Pool):
    """Connections to an S3 in memory; `kept` counts those that could be used again."""

    def __init__(self, s3: MemoryS3) -> None:
        super().__init__(lambda: TimeBudget(1))
        self._s3 = s3
        self.kept = 0

    def take(self, host: Host) -> HttpConnection:
        return MemoryConnection(host, self._s3)

    def give_back(self, connection: HttpConnection) -> None:
        self.kept += connection.is_reusable
        connection.close()
