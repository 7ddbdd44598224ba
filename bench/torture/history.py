"""Requests and answers of clients, and their conversion to operations of the checker."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.torture.ledger import Content, Ledger, Row, Shown, short
from tests.support.checks.linearizability import UNKNOWN, Operation, Value

# A commit's content at each path.
Holding = dict[str, Row]


class _AnyText(str):
    """Metadata that an answer did not include: equal to any other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, str)

    __hash__ = str.__hash__


ANY_METADATA = _AnyText("?")

WRITES = ("write", "write_if_absent", "write_if_match")


@dataclass(slots=True)
class Record:
    """One request of a client.

    name is the action, kind the checker's operation ("" for none), paths the paths of that
    operation. outcome is the checker's.
    """

    id: str
    client: str
    name: str
    kind: str
    branch: str
    paths: tuple[str, ...]
    invoked: int = 0
    returned: int = 0
    outcome: str = "unknown"
    content: Content | None = None  # of a write
    text: str = ""  # the metadata that are set, or written with the content
    required: str = ""  # the checksum that an If-Match requires
    seen: dict[str, Row | Shown | None] = field(default_factory=dict)  # the answer to a read
    read_data: bytes | None = None  # the content in the answer to a read
    commit_id: str = ""  # the made commit, or the one to which the branch is set
    failed: tuple[str, ...] = ()  # the paths with another answer


@dataclass(slots=True)
class StartedTask:
    """A task that the API has accepted. url is that of its start; state is the last known one."""

    id: str
    url: str
    record: Record
    state: str = "waiting"
    result: dict[str, str] = field(default_factory=dict)

    def ended(self, row: dict[str, Any]) -> None:
        """Record the state of a task that has ended, and the outcome of its request."""
        record, self.state = self.record, row["state"]
        self.result = row.get("result", {})
        record.returned = time.monotonic_ns()
        record.outcome = _outcome(record, row)
        if record.outcome == "ok" and record.kind:
            record.commit_id = self.result["commit_id"]


def _outcome(record: Record, row: dict[str, Any]) -> str:
    if row["state"] == "completed":
        return "ok"
    message, status = row.get("error", {}).get("message", ""), row.get("status_code", 0)
    if record.kind == "commit" and status == 404:
        return "no_branch"
    return "no_changes" if record.kind == "commit" and "no changes" in message else "refused"


def value_of(row: Row | None) -> Value | None:
    return None if row is None else Value(short(row.address), row.metadata)


class Translator:
    """Converts records to operations, once the commits and their content are known."""

    def __init__(
        self,
        ledger: Ledger,
        commits: dict[str, tuple[str, str]],
        holds: Callable[[str], Holding],
    ) -> None:
        """commits: by an operation's ID, the commit that it made and the first parent."""
        self._ledger, self._commits, self._holds = ledger, commits, holds

    def operations(self, record: Record) -> list[Operation]:
        if record.outcome == "refused" or not record.kind:
            return []
        found = []
        for path in record.paths:
            operation = self._operation(record, path)
            if operation is not None:
                found.append(operation)
        return found

    def _operation(self, record: Record, path: str) -> Operation | None:
        kind, outcome = record.kind, record.outcome
        value: Any = None
        parent: Any = UNKNOWN
        if path in record.failed:
            outcome = "unknown"
        required: str | None = None
        if kind in ("read", "read_head") and outcome == "ok":
            if self._is_of_several(record, path):
                return None
            value = self._read(record, path)
        elif kind in WRITES and outcome in ("ok", "unknown"):
            assert record.content is not None
            value = Value(record.content.token, record.text)
        elif kind == "set_metadata":
            value = record.text
        elif kind in ("hard_reset", "create_branch") and outcome in ("ok", "unknown"):
            value = value_of(self._holds(record.commit_id).get(path))
        elif kind in ("commit", "move") and outcome in ("ok", "unknown"):
            made = self._commits.get(record.id)
            if made is None:
                assert outcome == "unknown", record
                return None  # it made no commit
            value = value_of(self._holds(made[0]).get(path))
            parent = value_of(self._holds(made[1]).get(path))
        if record.required:
            content = self._ledger.with_checksum(record.required)
            assert content is not None, record
            required = content.token
        return Operation(
            record.client,
            kind,
            record.invoked,
            record.returned,
            outcome,
            value,
            parent,
            (record.branch, path.encode()),
            f"{record.id} {record.name}",
            required,
        )

    def _is_of_several(self, record: Record, path: str) -> bool:
        """Return whether several addresses may have the read content: it proves nothing then."""
        seen = record.seen.get(path)
        if record.read_data is not None:
            return self._ledger.with_data(record.read_data) is None
        return isinstance(seen, Shown) and self._ledger.with_checksum(seen.checksum) is None

    def _read(self, record: Record, path: str) -> Value | None:
        seen = record.seen.get(path)
        if record.read_data is not None:
            content = self._ledger.with_data(record.read_data)
            assert content is not None
            return Value(content.token, ANY_METADATA)
        if isinstance(seen, Shown):
            content = self._ledger.with_checksum(seen.checksum)
            assert content is not None
            return Value(content.token, ANY_METADATA if seen.metadata is None else seen.metadata)
        return value_of(seen)
