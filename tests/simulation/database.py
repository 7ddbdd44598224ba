"""The two tables of a simulated world: the service, and what it holds.

`Contents` decodes each write when it becomes visible, by the adapters' own functions. So the judge
asks for no item, and knows the moment of each change.
"""

import os
from binascii import a2b_base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from unittest.mock import patch

from graveler.aws.dynamodb.branches import branch_of
from graveler.aws.dynamodb.client import DynamoDB
from graveler.aws.dynamodb.commit_pages import commit_of
from graveler.aws.dynamodb.exports import DynamoExportStore
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.models import (
    BRANCH,
    CLEANUPS,
    COMMIT,
    EXPORT,
    OUTBOX,
    PULL,
    REPOSITORIES,
    TAG,
    TASK,
    UPLOAD,
)
from graveler.aws.dynamodb.outbox import event_of
from graveler.aws.dynamodb.pulls import _pull_of
from graveler.aws.dynamodb.recorded_uploads import _upload_of
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.stored_tokens import token_of
from graveler.aws.dynamodb.tables import Raw, Tables
from graveler.aws.dynamodb.tags import _tag_of
from graveler.aws.dynamodb.tasks import task_of
from graveler.committed.store import Breaking, Committed
from graveler.engine import Engine
from graveler.model import Event, Repository, StagingToken
from graveler.model.recorded_uploads import Upload
from graveler.model.tasks import Task
from graveler.model.tokens import PLAIN, Spread, Spreads
from tests.support.fakes.dynamodb.choices import Choices
from tests.support.fakes.dynamodb.service import Service
from tests.support.fakes.dynamodb.transport import ServiceHttp
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.memory_records import Records
from tests.support.faults.counting import over_ports

_DECODERS: Mapping[str, tuple[str, Callable[[Raw], Any]]] = {
    BRANCH: ("branches", branch_of),
    TAG: ("tags", _tag_of),
    COMMIT: ("commits", commit_of),
    TASK: ("tasks", task_of),
}
# What a change is reported to, if anybody waits for one.
StateWatch = Callable[[str, str, str], None]
TaskWatch = Callable[[Task], None]
UploadWatch = Callable[[Upload], None]
StagedWatch = Callable[[StagingToken, bytes, bytes | None], None]


def _nothing(*_: object) -> None:
    """Do nothing."""


@dataclass
class Contents:
    """What the tables hold.

    records: by name and uid of the repository.
    registered: tokens to drop, by the key of their item.
    exports: (repository uid, branch) of every record of an export.
    on_state, on_task, on_staged: called for each change. on_upload: for each completion.
    """

    records: dict[tuple[str, str], Records] = field(default_factory=dict)
    registered: dict[str, tuple[StagingToken, ...]] = field(default_factory=dict)
    staged: dict[StagingToken, dict[bytes, bytes | None]] = field(default_factory=dict)
    exports: set[tuple[str, str]] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)
    on_state: StateWatch = _nothing
    on_task: TaskWatch = _nothing
    on_upload: UploadWatch = _nothing
    on_staged: StagedWatch = _nothing

    def fork(self) -> "Contents":
        """Return an independent copy with an empty outbox."""
        return Contents(
            {key: records.fork() for key, records in self.records.items()},
            dict(self.registered),
            {token: dict(values) for token, values in self.staged.items()},
            set(self.exports),
        )

    def observe(self, table: str, old: Raw | None, new: Raw | None) -> None:
        """Note a write that becomes visible."""
        if old is None and new is None:
            return
        if table == "staging":
            self._observe_staged(old, new)
            return
        item: Raw = old if new is None else new  # type: ignore[assignment] # one of them exists
        partition, sort = item["partition"]["S"], item["sort"]["S"]
        if partition.startswith(CLEANUPS):
            self._observe_cleanup(sort, new)
        elif partition == REPOSITORIES:
            state = "restoring" if "restoring" in item else "whole"
            self.on_state(sort, "repository", "" if new is None else state)
        elif partition.startswith("repository#"):
            _, name, uid = partition.split("#")
            if new is not None and sort.startswith(OUTBOX):
                self._observe_event(item, is_new=old is None)
            else:
                self._observe_record((name, uid), sort, item, is_there=new is not None)

    def _observe_staged(self, old: Raw | None, new: Raw | None) -> None:
        item: Raw = old if new is None else new  # type: ignore[assignment] # one of them exists
        name, _, part = item["token"]["S"].partition("#")
        if part.isdigit():  # a gate
            return
        token = StagingToken(name)
        path = a2b_base64(item["path"]["B"])
        values = self.staged.setdefault(token, {})
        if new is None:
            values.pop(path, None)
            return
        values[path] = a2b_base64(new["value"]["B"]) if "value" in new else None
        self.on_staged(token, path, values[path])

    def _observe_cleanup(self, sort: str, new: Raw | None) -> None:
        if new is None:
            self.registered.pop(sort, None)
            return
        tokens = new.get("tokens", {}).get("L", ())
        self.registered[sort] = tuple(map(token_of, tokens))

    def _observe_event(self, item: Raw, *, is_new: bool) -> None:
        """A repeated put of an event changes nothing, so the stream does not have it."""
        event = event_of(item)
        assert event is not None
        if is_new:
            self.events.append(event)

    def _observe_record(
        self, repository: tuple[str, str], sort: str, item: Raw, *, is_there: bool
    ) -> None:
        kind, _, name = sort.partition("#")
        kind += "#"
        if kind in _DECODERS:
            attribute, decode = _DECODERS[kind]
            records = self.records.setdefault(repository, Records())
            held: dict[str, Any] = getattr(records, attribute)
            decoded = decode(item)
            if kind == TASK:
                name = decoded.id
            if is_there:
                held[name] = decoded
            else:
                held.pop(name, None)
            if kind in (BRANCH, TAG):
                self.on_state(repository[0], sort, decoded.commit_id if is_there else "")
            elif kind == TASK and is_there:
                self.on_task(decoded)
        elif kind == PULL and is_there:
            self.on_state(repository[0], sort, _pull_of(item).status)
        elif kind == UPLOAD and is_there:
            upload = _upload_of(item)
            if upload.completed is not None:
                self.on_upload(upload)
        elif kind == EXPORT:
            change = self.exports.add if is_there else self.exports.discard
            change((repository[1], name))


class InspectedRefs(DynamoRefStore):
    """The refs, with what is in the table."""

    _contents: Contents

    def __init__(self, tables: Tables, contents: Contents) -> None:
        super().__init__(tables)
        object.__setattr__(self, "_contents", contents)  # the class is frozen

    @property
    def events(self) -> list[Event]:
        return self._contents.events

    @property
    def records(self) -> dict[tuple[str, str], Records]:
        return self._contents.records

    @property
    def cleanups(self) -> list[tuple[int, StagingToken]]:
        """The tokens to drop, with the times in ns when they are due."""
        registered = self._contents.registered
        return [
            (int(sort.partition("#")[0]), token)
            for sort in registered
            for token in registered[sort]
        ]

    def records_of(self, repository: Repository) -> Records:
        key = (repository.name, repository.uid)
        return self._contents.records.setdefault(key, Records())


class InspectedStaging(DynamoStagingStore):
    """The staged changes, with what is in the table."""

    def __init__(self, tables: Tables, contents: Contents) -> None:
        super().__init__(tables)
        self._contents = contents

    def changes(self, token: StagingToken) -> Mapping[bytes, bytes | None]:
        """Return every change staged under the token."""
        return self._contents.staged.get(token, {})

    def tokens(self) -> list[StagingToken]:
        """Return the tokens that hold staged changes."""
        return [token for token, values in self._contents.staged.items() if values]


class InspectedExports(DynamoExportStore):
    """The exports, with what is in the table."""

    _contents: Contents

    def __init__(self, tables: Tables, contents: Contents) -> None:
        super().__init__(tables)
        object.__setattr__(self, "_contents", contents)  # the class is frozen

    def recorded(self) -> frozenset[tuple[str, str]]:
        """Return (repository uid, branch) of every record."""
        return frozenset(self._contents.exports)


class _NoSigner:
    """The service asks nobody who sent a request."""

    def signed(self, headers: Mapping[str, str], _body: bytes) -> Mapping[str, str]:
        return headers


def tables_of(service: Service) -> Tables:
    """Return the tables, by a client without faults."""
    signer: Any = _NoSigner()
    return Tables("refs", "staging", DynamoDB(ServiceHttp(service), signer))


# Tokens spread after few changes, as a schedule has.
SPREADS: Spreads = ((0, PLAIN), (1, Spread(shards=2, gates=3)), (3, Spread(shards=3, gates=8)))

# What is done in place of a port's method: planted(method, arguments, options).
Planted = Callable[..., Any]


@dataclass
class SimulatedWorld(MemoryWorld):
    """A world whose refs, staged changes, exports and leases are in DynamoDB's tables.

    refs, staging, exports: as clients without faults see them, for the judge.
    planted: faults, by the name of the port's method that they replace.
    """

    refs: InspectedRefs  # type: ignore[assignment]
    staging: InspectedStaging  # type: ignore[assignment]
    exports: InspectedExports  # type: ignore[assignment]
    jobs: DynamoJobStore  # type: ignore[assignment]
    service: Service = field(default_factory=Service)
    contents: Contents = field(default_factory=Contents)
    planted: dict[str, Planted] = field(default_factory=dict)

    def over(self, service: Service, contents: Contents) -> "SimulatedWorld":
        """Return this world over a service with the contents."""
        service.observe = contents.observe
        tables = tables_of(service)
        return replace(
            self,
            refs=InspectedRefs(tables, contents),
            staging=InspectedStaging(tables, contents),
            exports=InspectedExports(tables, contents),
            jobs=DynamoJobStore(tables),
            service=service,
            contents=contents,
        )

    def fork(self, choices: Choices | None = None) -> "SimulatedWorld":
        """Return an independent copy, whose service has the choices."""
        clock = self.clock.fork()
        service = self.service.fork(choices, lambda: clock.peek_ns / 10**9)
        return replace(
            self.over(service, self.contents.fork()),
            clock=clock,
            names=self.names.fork(clock),
            objects=self.objects.fork(clock),
            files=self.files.fork(),
            export_queue=self.export_queue.fork(clock),
            task_queue=self.task_queue.fork(clock),
            planted={},
        )

    def plant(self, name: str, instead: Planted) -> None:
        """Replace a method of a port, such as `staging.close`; `instead` gets it first."""
        self.planted[name] = instead

    def engine(self, committed: Committed | None = None, tables: Tables | None = None) -> Engine:
        """Return an engine, over the tables of a client if they are given."""
        made = super().engine(committed)
        if tables is not None:
            made = replace(
                made,
                refs=DynamoRefStore(tables),
                staging=DynamoStagingStore(tables, SPREADS),
                exports=DynamoExportStore(tables),
                jobs=DynamoJobStore(tables),
            )
        return over_ports(made, self._with_planted) if self.planted else made

    def _with_planted(
        self, name: str, method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        instead = self.planted.get(name)
        return (method if instead is None else lambda *a, **o: instead(method, *a, **o))(
            *args, **options
        )


def simulated_world(breaking: Breaking | None = None) -> SimulatedWorld:
    """Return a world with empty tables."""
    memory = memory_world(breaking, step_ns=10**6)
    made = SimulatedWorld(**vars(memory)).over(Service(), Contents())
    made.refs.tables.create()
    return made


@contextmanager
def drawn_ids(seed: int) -> Iterator[None]:
    """Let the IDs that the adapters draw follow from the seed."""
    with patch.object(os, "urandom", Random(seed).randbytes):
        yield
