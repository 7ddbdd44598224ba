"""A lakeFS and its object store in memory, on loopback, with faults on demand."""

import json
import threading
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Stored:
    """An object."""

    content: bytes
    checksum: str
    metadata: dict[str, str]
    content_type: str
    address: str


@dataclass
class Fault:
    """What happens to the next requests of a method whose path has the text."""

    method: str
    text: str
    # drop: no answer, nothing done; lose: done, no answer; cut: half a body; damage: other bytes;
    # a number: that status.
    kind: str | int
    times: int


@dataclass
class Lake:
    """The state, and what was asked."""

    port: int = 0
    pre_sign: bool = True
    life_s: int = 900
    objects: dict[str, Stored] = field(default_factory=dict)
    addresses: dict[str, bytes] = field(default_factory=dict)  # the object store
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # method and path
    ranges: list[str] = field(default_factory=list)
    number: int = 0
    encryption: str = ""
    # By PUT: whether the request had the checksum of its body, and its content type.
    checked: list[bool] = field(default_factory=list)
    put_types: set[str] = field(default_factory=set)
    is_graveler: bool = True  # and has requests on many objects
    # The status of the next link of a path, and whether it has its effect nevertheless.
    link_failures: dict[str, tuple[int, bool]] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)  # links that the answer does not mention
    refused: set[str] = field(default_factory=set)  # paths that get no address of many
    signs_blindly: bool = False  # the API presigns parts of uploads that S3 has ended
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def fails(self, method: str, text: str, kind: str | int, times: int = 1) -> None:
        self.faults.append(Fault(method, text, kind, times))

    def has(self, path: str, content: bytes, checksum: str = "") -> None:
        """Store an object."""
        self.number += 1
        address = f"s3://b/data/{self.number}"
        self.addresses[address] = content
        checksum = checksum or md5(content).hexdigest()
        self.objects[path] = Stored(content, checksum, {}, "text/plain", address)

    def collect(self, *paths: str) -> None:
        """Delete the data of objects, as garbage collection does."""
        for path in paths:
            del self.addresses[self.objects[path].address]

    def replace(self, path: str, content: bytes) -> None:
        """Replace the data of an object, as the owner of imported data may."""
        self.addresses[self.objects[path].address] = content

    def is_replaced(self, path: str) -> bool:
        """Whether the object store has other data than the entry says."""
        found = self.objects.get(path)
        return found is not None and self.addresses.get(found.address) not in {None, found.content}

    def has_data(self, path: str) -> bool:
        """Whether the object store has the object's data."""
        return self.objects[path].address in self.addresses

    def amount(self, method: str, text: str) -> int:
        """Return how many such requests arrived."""
        return sum(each.startswith(method) and text in each for each in self.asked)

    def fault(self, method: str, path: str) -> str | int | None:
        with self.lock:
            for each in self.faults:
                if each.times and each.method == method and each.text in path:
                    each.times -= 1
                    return each.kind
        return None

    def url(self, address: str, more: str = "") -> str:
        began = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        key = address.removeprefix("s3://b/")
        query = f"X-Amz-Date={began}&X-Amz-Expires={self.life_s}{more}"
        return f"{self.endpoint}/store/{key}?{query}"

    def row(self, path: str, *, presign: bool = False) -> dict[str, object]:
        found = self.objects[path]
        return {
            "path": path,
            "path_type": "object",
            "physical_address": self.url(found.address) if presign else found.address,
            "checksum": found.checksum,
            "size_bytes": len(found.content),
            "mtime": 1_700_000_000,
            "metadata": found.metadata,
            "content_type": found.content_type,
        }


def checksum_of_parts(parts: Sequence[bytes]) -> str:
    """The checksum of an object that was uploaded in these parts, as S3's."""
    return f"{md5(b''.join(md5(each).digest() for each in parts)).hexdigest()}-{len(parts)}"


def checksum_in_parts(content: bytes, part_bytes: int) -> str:
    """The checksum of an object that was uploaded in parts of this size, as S3's."""
    starts = range(0, len(content), part_bytes)
    return checksum_of_parts([content[each : each + part_bytes] for each in starts])


@contextmanager
def running() -> Iterator[Lake]:
    """Serve a lake."""
    lake = Lake()

    class Handler(_Handler):
        state = lake

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:  # a client that was killed
            pass

    with Server(("127.0.0.1", 0), Handler) as http:
        lake.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield lake
        finally:
            http.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    state: Lake
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def handle_one(self) -> None:
        lake = self.state
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        query = {
            key: each[0] for key, each in parse_qs(parts.query, keep_blank_values=True).items()
        }
        with lake.lock:
            lake.asked.append(f"{self.command} {unquote(self.path)}")
        self.kind = lake.fault(self.command, unquote(self.path))
        if self.kind == "drop":
            self.close_connection = True
            return
        if isinstance(self.kind, int):
            self.answer(self.kind, {"message": f"fault {self.kind}"})
            return
        with lake.lock:
            if parts.path.startswith("/store/"):
                self.store(parts.path.removeprefix("/store/"), query, body)
            else:
                self.api(parts.path.removeprefix("/api/v1"), query, body)

    do_GET = do_PUT = do_POST = do_DELETE = handle_one  # noqa: N815 - http.server's names

    def answer(
        self, status: int, content: object = b"", headers: dict[str, str] | None = None
    ) -> None:
        if self.kind == "lose":
            self.close_connection = True
            return
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        if self.kind == "damage" and body:
            body = bytes([body[0] ^ 1]) + body[1:]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.kind == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        self.wfile.write(body)

    def link(self, path: str, given: dict[str, Any]) -> None:
        address = given["staging"]["physical_address"]
        content, metadata = self.state.addresses[address], given["user_metadata"]
        self.keep(path, content, given["checksum"], metadata, given["content_type"], address)

    def store(self, key: str, query: dict[str, str], body: bytes) -> None:
        lake, address = self.state, f"s3://b/{key}"
        if query["X-Amz-Expires"] == "0":
            self.answer(403, b"<Error><Message>Request has expired</Message></Error>")
        elif self.command == "PUT":
            expected = self.headers.get("Content-MD5")
            if expected and b64decode(expected) != md5(body).digest():
                self.answer(400, b"<Error><Code>BadDigest</Code></Error>")
                return
            if "uploadId" in query and query["uploadId"] not in lake.parts:
                self.answer(404, b"<Error><Code>NoSuchUpload</Code></Error>")
                return
            if "uploadId" in query:
                lake.parts[query["uploadId"]][int(query["partNumber"])] = body
            else:
                lake.addresses[address] = body
            lake.put_types.add(self.headers["Content-Type"])
            tag = md5(body).hexdigest()
            if self.kind == "damage":
                self.kind, tag = None, "0" * 32
            headers = {"ETag": f'"{tag}"'}
            if lake.encryption:
                headers |= {
                    "ETag": f'"{"e" * 32}"',
                    "x-amz-server-side-encryption": lake.encryption,
                }
            lake.checked.append(expected is not None)
            self.answer(200, b"", headers)
        elif address not in lake.addresses:
            self.answer(404, b"<?xml version='1.0'?>\n<Error><Code>NoSuchKey</Code></Error>")
        else:
            content = lake.addresses[address]
            self.content(content, md5(content).hexdigest())

    def content(self, content: bytes, tag: str) -> None:
        headers = {"ETag": f'"{tag}"'}
        if self.state.encryption:
            headers["x-amz-server-side-encryption"] = self.state.encryption
        asked = self.headers.get("Range")
        if not asked:
            self.answer(200, content, headers)
            return
        self.state.ranges.append(asked)
        first, last = asked.removeprefix("bytes=").split("-")
        self.answer(206, content[int(first) : int(last) + 1], headers)

    def api(  # noqa: C901, PLR0912, PLR0915 - a table of operations
        self, path: str, query: dict[str, str], body: bytes
    ) -> None:
        lake, named = self.state, query.get("path", "")
        presign = query.get("presign") == "true"
        route = (self.command, path.split("/", 5)[-1] if path.count("/") > 4 else path)
        upload = path.rpartition("/pmpu/")[2].split("/")[0]
        match route:
            case ("GET", "/config"):
                self.answer(
                    200,
                    {
                        "storage_config": {
                            "pre_sign_support": lake.pre_sign,
                            "pre_sign_multipart_upload": lake.pre_sign,
                        }
                    },
                )
            case ("POST", "objects"):
                kind = self.headers["Content-Type"]
                self.keep(named, body, md5(body).hexdigest(), self.user_metadata(), kind)
                self.answer(201, lake.row(named))
            case ("GET", "objects" | "objects/stat") if named not in lake.objects:
                self.answer(404, {"message": "not found"})
            case ("GET", "objects") if not lake.has_data(named):
                self.answer(410, {"message": "No data"})
            case ("GET", "objects/stat") if presign and lake.is_replaced(named):
                self.answer(410, {"message": "the data were replaced"})
            case ("GET", "objects"):
                self.content(lake.objects[named].content, lake.objects[named].checksum)
            case ("GET", "objects/stat"):
                self.answer(200, lake.row(named, presign=presign))
            case ("GET", "objects/ls"):
                self.listing(query, presign=presign)
            case ("DELETE", "objects"):
                lake.objects.pop(named, None)
                self.answer(204)
            case ("POST", "objects/delete"):
                for each in json.loads(body)["paths"]:
                    lake.objects.pop(each, None)
                self.answer(200, {"errors": []})
            case ("POST", "objects/copy") if not lake.has_data(json.loads(body)["src_path"]):
                self.answer(410, {"message": "No data"})
            case ("POST", "objects/copy"):
                source = lake.objects[json.loads(body)["src_path"]]
                lake.objects[query["dest_path"]] = source
                self.answer(201, lake.row(query["dest_path"]))
            case ("GET", "staging/backing"):
                lake.number += 1
                address = f"s3://b/data/{lake.number}"
                self.answer(200, {"physical_address": address, "presigned_url": lake.url(address)})
            case ("PUT", "staging/backing"):
                self.link(named, json.loads(body))
                self.answer(200, lake.row(named))
            case ("POST", "staging/addresses" | "staging/links") if not lake.is_graveler:
                self.answer(404, {"message": "invalid API endpoint"})
            case ("POST", "staging/addresses"):
                rows, errors = [], []
                for each in json.loads(body)["paths"]:
                    if each in lake.refused:
                        errors.append({"path": each, "status_code": 401, "message": "refused"})
                        continue
                    lake.number += 1
                    address = f"s3://b/data/{lake.number}"
                    url = lake.url(address)
                    rows.append({"path": each, "physical_address": address, "presigned_url": url})
                self.answer(200, {"addresses": rows, "errors": errors})
            case ("POST", "staging/links"):
                linked, errors = [], []
                for each in json.loads(body)["objects"]:
                    status, has_effect = lake.link_failures.pop(each["path"], (0, True))
                    if has_effect:
                        self.link(each["path"], each)
                    if status:
                        error = {"path": each["path"], "status_code": status, "message": "failed"}
                        errors.append(error)
                    elif each["path"] not in lake.left_out:
                        linked.append(lake.row(each["path"]))
                self.answer(200, {"objects": linked, "errors": errors})
            case ("POST", "staging/pmpu"):
                lake.number += 1
                upload, address = f"u{lake.number}", f"s3://b/data/{lake.number}"
                lake.parts[upload] = {}
                numbers = range(1, int(query["parts"]) + 1)
                urls = [lake.url(address, f"&uploadId={upload}&partNumber={n}") for n in numbers]
                answer = {"upload_id": upload, "physical_address": address, "presigned_urls": urls}
                self.answer(201, answer)
            case ("PUT", _) if "/parts/" in path and (upload in lake.parts or lake.signs_blindly):
                address = json.loads(body)["physical_address"]
                more = f"&uploadId={upload}&partNumber={path.rpartition('/')[2]}"
                lake.life_s = lake.life_s or 900
                self.answer(200, {"presigned_url": lake.url(address, more)})
            case ("PUT", _) if "/pmpu/" in path and upload in lake.parts:
                given, found = json.loads(body), lake.parts.pop(upload)
                content = b"".join(found[each["part_number"]] for each in given["parts"])
                checksum = checksum_of_parts([each for _, each in sorted(found.items())])
                address = given["physical_address"]
                lake.addresses[address] = content
                metadata, kind = given["user_metadata"], given["content_type"]
                self.keep(named, content, checksum, metadata, kind, address)
                self.answer(200, lake.row(named))
            case _:
                self.answer(404, {"message": f"no such upload or operation {route}"})

    def keep(
        self,
        path: str,
        content: bytes,
        checksum: str,
        metadata: dict[str, str],
        kind: str,
        address: str = "",
    ) -> None:
        if not address:
            self.state.has(path, content)
            address = self.state.objects[path].address
        self.state.objects[path] = Stored(content, checksum, metadata, kind, address)

    def user_metadata(self) -> dict[str, str]:
        found = {}
        for name, value in self.headers.items():
            for prefix, key in (("x-lakefs-meta-", ""), ("x-lakefs-internal-", "::lakefs::")):
                if name.lower().startswith(prefix):
                    found[key + name.lower().removeprefix(prefix)] = value
        return found

    def listing(self, query: dict[str, str], *, presign: bool) -> None:
        names = sorted(self.state.objects, key=str.encode)
        prefix, after = query.get("prefix", ""), query.get("after", "")
        found = [each for each in names if each.startswith(prefix) and each > after]
        amount = int(query.get("amount", 100))
        more = len(found) > amount
        rows = [self.state.row(each, presign=presign) for each in found[:amount]]
        pagination = {"has_more": more, "next_offset": found[amount - 1] if more else ""}
        self.answer(200, {"pagination": pagination, "results": rows})
