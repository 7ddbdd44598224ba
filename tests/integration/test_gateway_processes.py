"""The processes of the S3 gateway: flat memory, several of them, and one that is killed."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
import requests

from graveler_embedded.api import PROCESSES
from tests.support.clients.raw_s3 import RawAnswer, RawConnection, Signer
from tests.support.servers.stack import BUCKET, Stack

pytestmark = pytest.mark.server

MB = 1024**2
LARGE = 64
# What a process may take more than at rest while it moves LARGE megabytes: much less than these.
GROWTH_MB_MAX = 40


class Lake:
    """A repository of the running stack, over raw connections."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.name = f"processes-{uuid4().hex[:12]}"
        self._signer = Signer(stack.endpoint, stack.access_key_id, stack.secret_access_key)
        made = requests.post(
            f"{stack.endpoint}/api/v1/repositories",
            json={"name": self.name, "storage_namespace": f"s3://{BUCKET}/{self.name}"},
            auth=(stack.access_key_id, stack.secret_access_key),
            timeout=300,
        )
        assert made.status_code == 201

    def head(self, method: str, key: str, *, size_bytes: int = 0, query: str = "") -> bytes:
        headers = {"Content-Length": str(size_bytes)} if method in {"PUT", "POST"} else {}
        return self._signer.signed(method, f"/{self.name}/main/{key}{query}", headers).head

    def ask(self, method: str, key: str, body: bytes = b"", query: str = "") -> RawAnswer:
        """One request on a connection of its own."""
        with RawConnection(self.stack.endpoint, timeout_s=300) as connection:
            connection.send(self.head(method, key, size_bytes=len(body), query=query) + body)
            return connection.answer(method)

    def put_megabytes(self, key: str, megabytes: int) -> None:
        with RawConnection(self.stack.endpoint, timeout_s=300) as connection:
            connection.send(self.head("PUT", key, size_bytes=megabytes * MB))
            for number in range(megabytes):
                connection.send(bytes([number]) * MB)
            assert connection.answer("PUT").status == 200

    def count_megabytes(self, key: str) -> int:
        """Read the object and forget it."""
        with RawConnection(self.stack.endpoint, timeout_s=300) as connection:
            connection.send(self.head("GET", key))
            stream = connection.socket.makefile("rb")
            while stream.readline() != b"\r\n":
                pass
            count = 0
            while count < LARGE and len(stream.read(MB)) == MB:
                count += 1
            stream.close()
            return count

    def begin_upload(self, key: str) -> str:
        answer = self.ask("POST", key, query="?uploads=")
        return answer.content.partition(b"<UploadId>")[2].partition(b"</UploadId>")[0].decode()

    def complete(self, key: str, upload_id: str, etags: list[str]) -> RawAnswer:
        rows = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
            for number, etag in enumerate(etags, 1)
        )
        document = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()
        return self.ask("POST", key, document, query=f"?uploadId={upload_id}")

    def part(self, key: str, upload_id: str, number: int, content: bytes) -> str:
        query = f"?partNumber={number}&uploadId={upload_id}"
        return self.ask("PUT", key, content, query=query).headers["etag"]


@pytest.fixture
def lake(stack: Stack) -> Lake:
    return Lake(stack)


def workers(stack: Stack) -> list[int]:
    """The processes that serve requests: the children of `python -m graveler_embedded.api`."""
    children: dict[int, list[int]] = {}
    commands: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            commands[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(folder.name))
    (server,) = [pid for pid in children[stack.pid] if "graveler_embedded.api" in commands[pid]]
    # A process whose workers were killed may have no child for a moment.
    return [pid for pid in children.get(server, []) if "resource_tracker" not in commands[pid]]


def memory_mb(pid: int, field: str) -> int:
    """VmRSS, or VmHWM: the most since it was last reset."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition(f"{field}:")[2].split()[0]) // 1024


def at_rest(stack: Stack) -> dict[int, int]:
    """The memory of all processes that serve, once the last of them has started."""
    before: dict[int, int] = {}
    for _ in range(300):
        now = {pid: memory_mb(pid, "VmRSS") for pid in workers(stack)}
        if len(now) == PROCESSES and now == before:
            return now
        before = now
        time.sleep(1)
    pytest.fail("a process does not start")


class Memory:
    """How much more memory the processes have taken at most, than at the beginning."""

    def __init__(self, stack: Stack) -> None:
        self._at_rest = at_rest(stack)
        for pid in self._at_rest:
            Path(f"/proc/{pid}/clear_refs").write_text("5")

    def growth_mb(self) -> int:
        return max(memory_mb(pid, "VmHWM") - before for pid, before in self._at_rest.items())


def test_large_objects_pass_in_both_directions_without_filling_the_memory(lake: Lake) -> None:
    lake.put_megabytes("warm", 4)
    memory = Memory(lake.stack)
    with ThreadPoolExecutor(4) as clients:
        list(clients.map(lambda name: lake.put_megabytes(name, LARGE), "ab"))
        assert list(clients.map(lake.count_megabytes, "abab")) == [LARGE] * 4
    assert memory.growth_mb() < GROWTH_MB_MAX


def test_readers_that_take_nothing_fill_no_memory_and_stop_nobody(lake: Lake) -> None:
    lake.put_megabytes("large", LARGE)
    lake.ask("PUT", "small", b"small")
    memory = Memory(lake.stack)
    with ExitStack() as readers:
        for _ in range(16):
            connection = RawConnection(lake.stack.endpoint, receives_bytes=64 * 1024)
            readers.enter_context(connection)
            connection.send(lake.head("GET", "large"))
        time.sleep(2)
        for _ in range(20):
            assert lake.ask("GET", "small").content == b"small"
        assert memory.growth_mb() < GROWTH_MB_MAX
    assert lake.count_megabytes("large") == LARGE


def test_a_writer_faster_than_the_store_fills_no_memory(lake: Lake) -> None:
    lake.put_megabytes("warm", 4)
    memory = Memory(lake.stack)
    with ThreadPoolExecutor(6) as writers:
        list(writers.map(lambda number: lake.put_megabytes(f"w{number}", LARGE // 2), range(6)))
    assert memory.growth_mb() < GROWTH_MB_MAX


def test_all_processes_know_an_upload(lake: Lake) -> None:
    assert len(at_rest(lake.stack)) > 1
    upload_id = lake.begin_upload("joined")
    pieces = [bytes([number]) * 5 * MB for number in range(6)]
    with ThreadPoolExecutor(3) as clients:
        etags = list(
            clients.map(
                lambda number: lake.part("joined", upload_id, number, pieces[number - 1]),
                range(1, 7),
            )
        )
    for _ in range(10):  # each on a connection of its own, which any process may take
        listed = lake.ask("GET", "joined", query=f"?uploadId={upload_id}").content
        assert listed.count(b"<PartNumber>") == 6
    completed = lake.complete("joined", upload_id, etags)
    assert completed.status == 200
    assert lake.complete("joined", upload_id, etags).content == completed.content
    assert lake.ask("GET", "joined").content == b"".join(pieces)


def test_an_upload_survives_processes_that_are_killed(lake: Lake) -> None:
    upload_id = lake.begin_upload("survivor")
    pieces = [b"1" * 5 * MB, b"2" * 5 * MB, b"end"]
    etags = [lake.part("survivor", upload_id, 1, pieces[0])]
    with RawConnection(lake.stack.endpoint) as connection:
        query = f"?partNumber=2&uploadId={upload_id}"
        connection.send(lake.head("PUT", "survivor", size_bytes=5 * MB, query=query))
        connection.send(pieces[1][: 2 * MB])
        time.sleep(0.3)
        before = workers(lake.stack)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
    wait_for_others(lake, before)
    etags += [lake.part("survivor", upload_id, number, pieces[number - 1]) for number in (2, 3)]
    assert lake.complete("survivor", upload_id, etags).status == 200
    assert lake.ask("GET", "survivor").content == b"".join(pieces)


def wait_for_others(lake: Lake, before: list[int]) -> None:
    """Wait until other processes serve in place of these."""
    for _ in range(300):
        try:
            if (
                not set(before) & set(workers(lake.stack))
                and lake.ask("HEAD", "none").status == 404
            ):
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.2)
    pytest.fail("no process serves")
