"""A client: its requests to the API, their records, and the effects that answers imply."""

import time
from collections.abc import Callable
from random import Random
from typing import Any

from bench.torture.history import Record
from bench.torture.http_client import Http, Reply, UnsentError, get_presigned, put_presigned
from bench.torture.ledger import EQUAL, METADATA, Content, Row
from bench.torture.world import HOT, SOURCES, World

_OCTETS = {"Content-Type": "application/octet-stream"}


class Client:
    """One client: a thread of requests, one after the other."""

    def __init__(self, world: World, name: str, chance: Random, *, slow: bool = False) -> None:
        self.world, self.name, self.chance = world, name, chance
        self.http = Http(world.stack.port, *world.key_pair)
        self._count = self._contents = 0
        self.timeout_s = 2.5 if slow else 9.0
        self.records: list[Record] = []

    # The requests

    def ask(
        self,
        record: Record,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: object = None,
        headers: dict[str, str] | None = None,
        timeout_s: float = 0.0,
    ) -> Reply:
        """Send the request of a record, and record the answer; a path may name its repository."""
        url = path if path.startswith("/repositories") else self.world.url(path)
        timeout_s = timeout_s or self.timeout_s
        return self.carry_out(
            record,
            lambda: self.http.request(method, url, query, body, headers, timeout_s),
            _outcome,
        )

    def carry_out(
        self,
        record: Record,
        send: Callable[[], Reply],
        outcome: Callable[[Record, Reply], str],
    ) -> Reply:
        """Send the request of a record, and record the effect that its answer implies."""
        record.invoked = time.monotonic_ns()
        try:
            reply = send()
        except UnsentError:
            self.world.note_unsent()
            raise
        self.records.append(record)
        record.returned = time.monotonic_ns()
        record.outcome = outcome(record, reply)
        self.world.note(record, reply)
        return reply

    def record(
        self, name: str, kind: str, branch: str = "", path: str | None = None, commit_id: str = ""
    ) -> Record:
        """Return the record of a coming request; without a path it is for all paths."""
        self._count += 1
        paths = self.world.paths if path is None else (path,)
        number = f"{self.world.round_name}.{self.name}.{self._count}"
        return Record(
            number, self.name, name, kind, branch or self.a_branch(), paths, commit_id=commit_id
        )

    def a_branch(self) -> str:
        return self.chance.choice(("main", "main", "dev"))

    def a_path(self) -> str:
        return self.chance.choice(self.world.paths)

    def a_commit(self, first: int = 0) -> tuple[str, bool]:
        """Return a known commit, and whether it is a merge; commit 0 is the repository's first."""
        known = self.world.known_commits()
        # The newest commits are the likeliest to be revertible and pickable.
        return self.chance.choice((known[first:] or known)[-self.chance.choice((2, 20)) :])

    def unique(self) -> bytes:
        self._contents += 1
        size = self.chance.choice((0, 0, 10, 1000))
        return f"{self.world.round_name} {self.name} {self._contents}\n".encode() + b"x" * size

    # Writes

    def upload(self, *, if_absent: bool = False) -> Record:
        name, kind = ("upload_if_absent", "write_if_absent") if if_absent else ("upload", "write")
        record = self.record(name, kind, path=self.a_path())
        data = self.unique()
        record.content = content = Content(data)
        self.world.ledger.writes(content)
        headers = {"If-None-Match": "*"} if if_absent else {}
        if self.chance.random() < 0.5:
            body, headers = data, headers | _OCTETS
        else:
            body, headers = (
                _form(data),
                headers | {"Content-Type": "multipart/form-data; boundary=torture"},
            )
        reply = self.ask(
            record, "POST", f"/branches/{record.branch}/objects", _at(record), body, headers
        )
        return self._wrote(record, reply)

    def upload_if_absent(self) -> Record:
        return self.upload(if_absent=True)

    def stage(self) -> Record | None:
        record = self.record("stage", "write", path=self.a_path())
        if self.chance.random() < 0.25:
            record.name, record.kind = "stage_if_absent", "write_if_absent"
        data = self.chance.choice((*EQUAL, self.unique()))
        address = self.world.put_outside(record.id, data)
        if address is None:
            return None
        record.content = Content(data, address)
        self.world.ledger.writes(record.content)
        body = _described(data) | {"physical_address": address}
        headers = {"If-None-Match": "*"} if record.kind == "write_if_absent" else {}
        url = f"/branches/{record.branch}/objects"
        return self._wrote(record, self.ask(record, "PUT", url, _at(record), body, headers))

    def link(self) -> Record | None:
        record = self.record("link", "write", path=self.a_path())
        url = f"/branches/{record.branch}/staging/backing"
        got = self.record("get_physical_address", "", record.branch, record.paths[0])
        reply = self.ask(got, "GET", url, {**_at(record), "presign": "true"})
        if reply.status != 200:
            return None
        data = self.chance.choice((*EQUAL, self.unique()))
        signed = reply.json["physical_address"]
        if not put_presigned(reply.json["presigned_url"], data):
            return None
        record.content = Content(data, self.world.unsigned(reply.json["presigned_url"]))
        self.world.ledger.writes(record.content)
        body = _described(data) | {"staging": {"physical_address": signed}}
        return self._wrote(record, self.ask(record, "PUT", url, _at(record), body))

    def copy(self) -> Record | None:
        data = self.unique()
        source = self.record("upload_source", "", SOURCES, f"source/{self.name}.{self._count}")
        url = f"/branches/{SOURCES}/objects"
        if self.ask(source, "POST", url, _at(source), data, _OCTETS).status != 201:
            return None
        record = self.record("copy", "write", path=self.a_path())
        record.content = Content(data)
        self.world.ledger.writes(record.content)
        body = {"src_path": source.paths[0], "src_ref": SOURCES}
        url = f"/branches/{record.branch}/objects/copy"
        return self._wrote(
            record, self.ask(record, "POST", url, {"dest_path": record.paths[0]}, body)
        )

    def _wrote(self, record: Record, reply: Reply) -> Record:
        if record.outcome == "ok":
            row = Row.of(reply.json)
            assert record.content is not None
            self.world.ledger.saw(row, f"answer to {record.id}")
            if record.content.address != row.address:
                self.world.ledger.problem(f"{record} was answered {row}")
        return record

    def set_metadata(self) -> Record:
        record = self.record("set_metadata", "set_metadata", path=self.a_path())
        record.text = f"m{record.id}"
        url = f"/branches/{record.branch}/objects/stat/user_metadata"
        self.ask(record, "PUT", url, _at(record), {"set": {METADATA: record.text}})
        return record

    def delete(self) -> Record:
        record = self.record("delete", "delete", path=self.a_path())
        self.ask(record, "DELETE", f"/branches/{record.branch}/objects", _at(record))
        return record

    def delete_many(self) -> Record:
        record = self.record("delete_many", "tombstone")
        url = f"/branches/{record.branch}/objects/delete"
        reply = self.ask(record, "POST", url, body={"paths": list(record.paths)})
        if record.outcome == "ok":
            record.failed = tuple(row["path"] for row in reply.json["errors"] or ())
        return record

    # Commits

    def commit(self, branch: str = "", *, allow_empty: bool = False) -> Record:
        record = self.record("commit", "commit", branch)
        body = {"message": f"#{record.id}", "allow_empty": allow_empty}
        reply = self.ask(record, "POST", f"/branches/{record.branch}/commits", body=body)
        return self._made(record, reply, "id")

    def merge(self) -> Record:
        record = self._after_commit("merge")
        other = "dev" if record.branch == "main" else "main"
        source = self.chance.choice((other, other, self.a_commit()[0]))
        body = {"message": f"#{record.id}", "strategy": "source-wins"}
        reply = self.ask(record, "POST", f"/refs/{source}/merge/{record.branch}", body=body)
        return self._made(record, reply, "reference")

    def revert(self) -> Record:
        record = self._after_commit("revert")
        ref, is_merge = self.a_commit(1)
        body = {
            "ref": ref,
            "parent_number": 1 if is_merge else 0,
            "commit_overrides": {"message": f"#{record.id}"},
        }
        self.ask(record, "POST", f"/branches/{record.branch}/revert", body=body)
        return record

    def cherry_pick(self) -> Record:
        record = self._after_commit("cherry_pick")
        ref, is_merge = self.a_commit(1)
        body: dict[str, object] = {
            "ref": ref,
            "commit_overrides": {"message": f"#{record.id}"},
        }
        if is_merge:
            body["parent_number"] = 1
        reply = self.ask(record, "POST", f"/branches/{record.branch}/cherry-pick", body=body)
        return self._made(record, reply, "id")

    def _after_commit(self, name: str) -> Record:
        """Usually commit first: merges, reverts and cherry-picks need a clean branch."""
        branch = self.a_branch()
        if self.chance.random() < 0.8:
            self.commit(branch)
        return self.record(name, "move", branch)

    def _made(self, record: Record, reply: Reply, name: str) -> Record:
        if record.outcome == "ok":
            record.commit_id = reply.json[name]
            self.world.made(record)
        return record

    # Branches

    def reset(self) -> Record:
        record = self.record("reset", "reset")
        self.ask(record, "PUT", f"/branches/{record.branch}", body={"type": "reset"})
        return record

    def reset_object(self) -> Record:
        kind = self.chance.choice(("object", "common_prefix"))
        record = self.record(f"reset_{kind}", "reset_object", path=self.a_path())
        body = {"type": kind, "path": record.paths[0]}
        self.ask(record, "PUT", f"/branches/{record.branch}", body=body)
        return record

    def hard_reset(self) -> Record:
        branch = self.a_branch()
        if self.chance.random() < 0.5:
            self.commit(branch)
        record = self.record("hard_reset", "hard_reset", branch, commit_id=self.a_commit()[0])
        url = f"/branches/{record.branch}/hard_reset"
        self.ask(record, "PUT", url, {"ref": record.commit_id})
        return record

    def create_branch(self) -> Record:
        commit_id = self.a_commit()[0]
        record = self.record("create_branch", "create_branch", "dev", commit_id=commit_id)
        self.ask(record, "POST", "/branches", body={"name": "dev", "source": record.commit_id})
        return record

    def delete_branch(self) -> Record:
        record = self.record("delete_branch", "delete_branch", "dev")
        self.ask(record, "DELETE", "/branches/dev")
        return record

    def dump(self) -> Record:
        record = self.record("dump", "")
        reply = self.ask(record, "PUT", "/refs/dump")
        if record.outcome == "ok":
            self.world.dumped(reply.json)
        return record

    # Reads

    def stat(self, branch: str = "", path: str = "", suffix: str = "") -> Record:
        kind = "read_head" if suffix else "read"
        name = "stat_head" if suffix else "stat"
        record = self.record(name, kind, branch, path or self.a_path())
        url = f"/refs/{record.branch}{suffix}/objects/stat"
        reply = self.ask(record, "GET", url, _at(record))
        if reply.status == 200:
            row = Row.of(reply.json)
            self.world.ledger.saw(row, f"{record.id} {name}")
            record.seen[record.paths[0]] = row
        return record

    def stat_head(self) -> Record:
        return self.stat(suffix="@")

    def list(self) -> Record:
        record = self.record("list", "read")
        reply = self.ask(record, "GET", f"/refs/{record.branch}/objects/ls", {"prefix": HOT})
        if reply.status == 200:
            for each in reply.json["results"]:
                record.seen[each["path"]] = row = Row.of(each)
                self.world.ledger.saw(row, f"{record.id} list")
        return record

    def get(self) -> Record:
        record = self.record("get", "read", path=self.a_path())
        reply = self.ask(record, "GET", f"/refs/{record.branch}/objects", _at(record))
        if reply.status == 200:
            record.read_data = reply.body
        elif reply.status == 302:  # large
            record.read_data = get_presigned(reply.headers["location"])
            if record.read_data is None:
                record.outcome = "unknown"
        elif reply.status == 410:
            self.world.ledger.problem(f"{record} was answered 410")
        return record


# With several names, the answer does not say which one is missing.
_SEVERAL_NAMES = ("copy", "merge", "merge_task", "create_branch")


def calm_client(world: World) -> Client:
    """Return a client for requests without faults."""
    return Client(world, "end", Random(0))


def _outcome(record: Record, reply: Reply) -> str:
    """Return the effect that an answer implies."""
    if reply.is_unknown:
        return "unknown"
    if reply.status < 300:
        return "ok"
    if reply.status == 404:
        return _not_found(record, reply.message)
    if (reply.status, record.kind) in ((412, "write_if_absent"), (409, "create_branch")):
        return "exists"
    has_changes = record.name != "commit" or "no changes" not in reply.message
    return "refused" if has_changes else "no_changes"


def _not_found(record: Record, message: str) -> str:
    if "not found: no object" not in message:
        return "refused" if record.name in _SEVERAL_NAMES else "no_branch"
    if record.kind in ("read", "read_head"):
        return "ok"
    return "absent" if record.kind == "set_metadata" else "refused"


def _at(record: Record) -> dict[str, Any]:
    return {"path": record.paths[0]}


def _described(data: bytes) -> dict[str, Any]:
    return {"checksum": Content(data).checksum, "size_bytes": len(data), "mtime": 1_600_000_000}


def _form(data: bytes) -> bytes:
    head = 'Content-Disposition: form-data; name="content"; filename="x"\r\n\r\n'
    return b"--torture\r\n" + head.encode() + data + b"\r\n--torture--\r\n"
