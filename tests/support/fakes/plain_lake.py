"""A lakeFS in memory with one repository, for the program's commands that make many requests."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

REPOSITORY = "lake"

_INTERNAL = "x-lakefs-internal-"


@dataclass(frozen=True)
class Stored:
    """An object."""

    content: bytes
    metadata: Mapping[str, str] = field(default_factory=dict)
    mtime: int = 1_700_000_000

    @property
    def checksum(self) -> str:
        return hashlib.md5(self.content, usedforsecurity=False).hexdigest()


Objects = dict[str, Stored]


class PlainLake:
    """The commits of branch main, and what is not committed yet."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.commits: list[tuple[str, Objects]] = [("c0", {})]
        self.staged: Objects = {}
        self.collected: set[str] = set()  # paths of objects without data
        self.metadata: dict[str, str] = {}  # of the last commit
        self.asked: list[str] = []
        self.page_size = 3
        # Called before each request; what it returns, if anything, is the status of a refusal.
        self.before: Callable[[str, str], int | None] = lambda _method, _path: None

    @property
    def head(self) -> str:
        return self.commits[-1][0]

    @property
    def content(self) -> dict[str, bytes]:
        """The committed objects."""
        return {path: each.content for path, each in self.commits[-1][1].items()}

    def change(self, **contents: str | None) -> None:
        """Commit objects with these contents; None deletes one. `__` stands for a slash."""
        self.put({path.replace("__", "/"): text for path, text in contents.items()})

    def put(self, contents: Mapping[str, str | None]) -> None:
        """Stage and commit objects by their whole paths; None deletes one."""
        for path, text in contents.items():
            if text is None:
                del self.staged[path]
            else:
                self.staged[path] = Stored(text.encode())
        self.commit()

    def commit(self) -> None:
        """Commit what is staged."""
        self.commits.append((f"c{len(self.commits)}", dict(self.staged)))

    def objects(self, ref: str) -> Objects | None:
        """Return the objects of a ref; those of a branch with what is not committed."""
        if ref == "main":
            return self.staged
        return dict(self.commits).get(ref)

    def answer(  # noqa: C901, PLR0911, PLR0912 - a table of operations
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
    ) -> tuple[int, object]:
        """Return the status and the body of an answer."""
        path = path.removeprefix("/api/v1")
        self.asked.append(f"{method} {path}")
        if status := self.before(method, path):
            return status, {"message": "refused by the test"}
        match [method, *[unquote(part) for part in path.split("/")[3:]]]:
            case ["GET"]:
                return 200, {"storage_config": {"pre_sign_support": False}}
            case ["GET", "commits", ref]:
                found = self.head if ref == "main" else ref
                if found not in dict(self.commits):
                    return 404, {"message": "commit not found"}
                return 200, self._commit(found)
            case ["GET", "branches", "main"]:
                return 200, {"id": "main", "commit_id": self.head}
            case ["GET", "branches", "main", "diff"]:
                return 200, self._diff(self.commits[-1][1], self.staged, query)
            case ["GET", "refs", left, "diff", right]:
                to = self.commits[-1][1] if right == "main" else self.objects(right)
                return 200, self._diff(self.objects(left) or {}, to or {}, query)
            case ["GET", "refs", ref, "objects", "ls"]:
                return 200, self._listing(self.objects(ref) or {}, query)
            case ["GET", "refs", ref, "objects", "stat"]:
                found_object = (self.objects(ref) or {}).get(query["path"])
                return (200, _stats(query["path"], found_object)) if found_object else (404, {})
            case ["GET", "refs", ref, "objects"] if query["path"] in self.collected:
                return 410, {"message": "No data"}
            case ["GET", "refs", ref, "objects"]:
                return 200, (self.objects(ref) or {})[query["path"]].content
            case ["POST", "branches", "main", "objects"]:
                metadata = {
                    f"::lakefs::{name.lower().removeprefix(_INTERNAL)}": value
                    for name, value in headers.items()
                    if name.lower().startswith(_INTERNAL)
                }
                self.staged[query["path"]] = Stored(body, metadata)
                return 201, _stats(query["path"], self.staged[query["path"]])
            case ["POST", "branches", "main", "objects", "delete"]:
                for each in json.loads(body)["paths"]:
                    self.staged.pop(each, None)
                return 200, {"errors": []}
            case ["POST", "branches", "main", "commits"]:
                self.metadata = json.loads(body)["metadata"]
                self.commit()
                return 201, self._commit(self.head)
        return 404, {"message": "not found"}

    def _commit(self, name: str) -> object:
        return {
            "id": name,
            "parents": [],
            "committer": "me",
            "message": "a message",
            "creation_date": 1_700_000_000,
            "meta_range_id": "",
            "metadata": self.metadata,
        }

    def _listing(self, objects: Objects, query: Mapping[str, str]) -> object:
        return self._page([_stats(path, objects[path]) for path in sorted(objects)], query)

    def _diff(self, left: Objects, right: Objects, query: Mapping[str, str]) -> object:
        found = []
        for path in sorted(left.keys() | right.keys()):
            before, now = left.get(path), right.get(path)
            if before == now:
                continue
            kind = "added" if before is None else "removed" if now is None else "changed"
            each: dict[str, object] = {"type": kind, "path": path, "path_type": "object"}
            if now is not None:
                stats = _stats(path, now)
                each["size_bytes"] = stats["size_bytes"]
                each["right"] = {name: stats[name] for name in ("checksum", "mtime", "metadata")}
            found.append(each)
        return self._page(found, query)

    def _page(self, found: list[dict[str, object]], query: Mapping[str, str]) -> object:
        prefix, after = query.get("prefix", ""), query.get("after", "")
        found = [each for each in found if str(each["path"]).startswith(prefix)]
        found = [each for each in found if str(each["path"]) > after]
        page = found[: self.page_size]
        last = page[-1]["path"] if page else ""
        has_more = len(found) > len(page)
        return {"pagination": {"has_more": has_more, "next_offset": last}, "results": page}


def _stats(path: str, stored: Stored) -> dict[str, object]:
    return {
        "path": path,
        "path_type": "object",
        "physical_address": "s3://bucket/key",
        "checksum": stored.checksum,
        "mtime": stored.mtime,
        "size_bytes": len(stored.content),
        "metadata": dict(stored.metadata),
    }


@contextmanager
def served() -> Iterator[PlainLake]:
    """Yield a lake that answers on loopback."""
    lake = PlainLake()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            status, answer = lake.answer(
                self.command, url.path, query, dict(self.headers.items()), body
            )
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815 - http.server's names

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        lake.endpoint = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield lake
        finally:
            http.shutdown()
            thread.join()
