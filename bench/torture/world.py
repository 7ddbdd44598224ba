"""State shared by all clients: the stack, the repository, written values, counts."""

import re
import time
from collections import Counter
from pathlib import Path
from threading import Event, Lock
from typing import Any
from urllib.parse import unquote, urlsplit

import boto3
from botocore.config import Config as ClientConfig
from botocore.exceptions import BotoCoreError, ClientError

from bench.torture.history import Holding, Record, StartedTask
from bench.torture.hook_target import HookTarget
from bench.torture.http_client import Http, Reply, UnsentError, get_presigned
from bench.torture.journal import Journal
from bench.torture.ledger import Ledger, Row
from bench.torture.lives import Lives
from bench.torture.neighbours import Neighbours
from bench.torture.stack import TorturedStack
from graveler_embedded.stores import BUCKET
from graveler_embedded.tcp_ports import HOST

# The prefix of the paths that clients share, and the branch of objects to copy and to move.
HOT = "hot/"
SOURCES = "sources"

_KNOWN_MAX = 12
_TRIES = 60


class Collection:
    """The beginning and the end of a garbage collection, for which clients wait."""

    def __init__(self) -> None:
        self.begins, self.over = Event(), Event()


class World:
    """One run on one stack, with one repository after another."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.stack = TorturedStack(folder, f"{seed}")
        self.key_pair = (self.stack.access_key_id, self.stack.secret_access_key)
        self.ledger = Ledger()
        self.journal = Journal(self.stack.data / "events.jsonl")
        self.unsent = 0
        self.reasons: Counter[tuple[str, int, str]] = Counter()
        self.repository, self.paths = "", ()  # type: tuple[str, tuple[str, ...]]
        self.round_name = ""
        self.deleted_branches: tuple[str, ...] = ()  # that this round's clients may delete
        self.dumps: list[dict[str, str]] = []
        self.tasks: list[StartedTask] = []  # of this round
        self.lives = Lives()
        self.hooks = HookTarget()
        self.neighbours = Neighbours(f"http://{HOST}:{self.stack.port}", self.key_pair)
        self.collection = Collection()
        self.is_collected = False  # whether this repository keeps only objects of heads
        self.held = "held"  # a branch whose merges wait for a hook
        self.first_commit = ""
        self._known: list[tuple[str, bool]] = []
        self._holdings: dict[str, Holding] = {}
        self._lock = Lock()
        settings: dict[str, Any] = {
            "region_name": "us-east-1",
            "aws_access_key_id": self.key_pair[0],
            "aws_secret_access_key": self.key_pair[1],
            "config": ClientConfig(
                read_timeout=12, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}
            ),
        }
        endpoint = f"http://{HOST}:{self.stack.dynamodb_port}"
        self._dynamodb = boto3.client("dynamodb", endpoint_url=endpoint, **settings)
        endpoint = f"http://{HOST}:{self.stack.s3_port}"
        self._s3 = boto3.client("s3", endpoint_url=endpoint, **settings)

    def reset(self, head: str) -> None:
        """Forget the last repository; head is the first commit of the new one."""
        self._known, self._holdings, self.dumps = [(head, False)], {}, []
        self.first_commit, self.lives, self.tasks = head, Lives(), []
        self.collection, self.is_collected = Collection(), False

    def calm(
        self,
        http: Http,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: object = None,
        accepted: tuple[int, ...] = (200, 201, 204),
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Repeat a request until it is answered, without faults."""
        reply = Reply(0)
        for _ in range(_TRIES):
            try:
                reply = http.request(method, path, query, body, headers, timeout_s=35)
            except UnsentError:
                self.stack.revive()
                continue
            if reply.status in accepted:
                return reply
            if not reply.is_unknown:
                break
            time.sleep(0.5)
        raise RuntimeError(f"{method} {path}: {reply.status} {reply.message}")

    def url(self, path: str) -> str:
        return f"/repositories/{self.repository}{path}"

    def head(self, http: Http, branch: str) -> str | None:
        """Return the head of a branch; None if there is no such branch."""
        reply = self.calm(http, "GET", self.url(f"/branches/{branch}"), accepted=(200, 404))
        return str(reply.json["commit_id"]) if reply.status == 200 else None

    def holding(self, http: Http, commit_id: str) -> Holding:
        """Return a commit's content at the hot paths, read once, since commits never change."""
        found = self._holdings.get(commit_id)
        if found is None:
            url = self.url(f"/refs/{commit_id}/objects/ls")
            reply = self.calm(http, "GET", url, {"prefix": HOT})
            found = {row["path"]: Row.of(row) for row in reply.json["results"]}
            for path, row in found.items():
                self.ledger.saw(row, f"commit {commit_id} at {path}")
            self._holdings[commit_id] = found
        return found

    def check_content(self, http: Http, ref: str, path: str, row: Row) -> None:
        """Read an object, and compare it with its row."""
        url = self.url(f"/refs/{ref}/objects")
        reply = self.calm(http, "GET", url, {"path": path}, accepted=(200, 302, 404, 410))
        is_large = reply.status == 302
        data = get_presigned(reply.headers["location"]) if is_large else reply.body
        content = self.ledger.content_at(row.address)
        if reply.status not in (200, 302) or content is None or data != content.data:
            self.ledger.problem(f"{ref} at {path}: {reply.status} {reply.body[:60]!r}, not {row}")

    # Requests and answers of clients

    def note(self, record: Record, reply: Reply) -> None:
        with self._lock:
            if record.outcome in ("refused", "unknown"):
                reason = re.split(r"[:,]| [A-Z]{2}[0-9a-v]{20}", reply.message)[0][:40]
                self.reasons[record.name, reply.status, reason] += 1
            if reply.status in (401, 403, 405, 410, 413, 501):
                self.ledger.problem(f"{record} was answered {reply.status} {reply.message}")

    def note_unsent(self) -> None:
        with self._lock:
            self.unsent += 1

    def known_commits(self) -> list[tuple[str, bool]]:
        with self._lock:
            return list(self._known)

    def made(self, record: Record) -> None:
        with self._lock:
            self._known.append((record.commit_id, record.name in ("merge", "merge_task")))
            # The first commit stays: it is empty.
            del self._known[1:-_KNOWN_MAX]

    def dumped(self, answer: dict[str, str]) -> None:
        with self._lock:
            self.dumps.append(answer)

    def put_outside(self, name: str, data: bytes) -> str | None:
        """Put data outside of all repositories; return its address, None if it failed."""
        key = f"outside/{self.repository}/{name}"
        try:
            self._s3.put_object(Bucket=BUCKET, Key=key, Body=data)
        except (BotoCoreError, ClientError):
            return None
        return f"s3://{BUCKET}/{key}"

    def sealed_tokens(self, branch: str) -> int:
        """Return the number of sealed tokens of a branch; 0 if the store does not answer."""
        try:
            repository = self._item("repositories", self.repository)
            uid = repository["uid"]["S"]
            found = self._item(f"repository#{self.repository}#{uid}", f"branch#{branch}")
        except (BotoCoreError, ClientError, KeyError):
            return 0
        return len(found.get("sealed_tokens", {"L": []})["L"])

    def _item(self, partition: str, sort: str) -> dict[str, Any]:
        key = {"partition": {"S": partition}, "sort": {"S": sort}}
        return dict(self._dynamodb.get_item(TableName="graveler-refs", Key=key)["Item"])

    def unsigned(self, presigned_url: str) -> str:
        """Return the address of a presigned URL."""
        return f"s3:/{unquote(urlsplit(presigned_url).path)}"
