"""Requests and answers of clients, and their conversion to operations of the checker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.torture.ledger import Content, Ledger, Row
from tests.support.linearizability import UNKNOWN, Operation, Value

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


@dataclass(slots=True)
class Record:
    """One request of a client.

    name is what was asked, kind what it is for the checker ("" if it is not for it), paths those
    that it counts for. outcome is the checker's.
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
    content: Content | None = None  # what a write writes
    text: str = ""  # the metadata that are set
    seen: dict[str, Row | None] = field(default_factory=dict)  # what a read was told
    read_data: bytes | None = None  # the content that a read was given
    commit_id: str = ""  # that was made, or that the branch is set to
    failed: tuple[str, ...] = ()  # paths for which the answer was another


def short(address: str) -> str:
    """Return the distinguishing part of an address."""
    return address.rpartition("/")[2]


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
        """commits: of an operation's ID, the commit that it made and the first parent."""
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
        if kind in ("read", "read_head") and outcome == "ok":
            if record.read_data is not None:
                address = self._ledger.address_of(record.read_data)
                if address is None:
                    return None  # content that several addresses may have
                value = Value(short(address), ANY_METADATA)
            else:
                value = value_of(record.seen.get(path))
        elif kind in ("write", "write_if_absent") and outcome in ("ok", "unknown"):
            assert record.content is not None
            value = Value(short(record.content.address or f"never-seen/{record.id}"))
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
        key = (record.branch, path.encode())
        label = f"{record.id} {record.name}"
        return Operation(
            record.client, kind, record.invoked, record.returned, outcome, value, parent, key, label
        )
