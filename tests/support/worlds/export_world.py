"""A world with an exported branch, and a witness that checks every write at its destinations.

The witness knows nothing about how exports work. After each write it checks everything at the
destinations, and records violations:

- a write by a runner that does not hold the lease at that moment;
- a `_lakefs_success` beside objects that are not those of the commit it was put for;
- a `_STATUS_….json` that says success while the path does not hold exactly its commit;
- a change of an object of others.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from graveler.addresses import physical_uri
from graveler.committed.store import Breaking
from graveler.data_headers import NO_HEADERS, DataHeaders
from graveler.engine import Engine
from graveler.entries import value_entry
from graveler.export.record import BranchExport, Destination, ExportConfiguration, ExportRequest
from graveler.model import CommitID, Entry, Repository
from graveler.open_repository import OpenRepository
from graveler.operations import repositories
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.ports import ObjectDescription, ObjectInfo
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.memory import FixedClock, MemoryObjectStore

REPO = "lake"
NAMESPACE = "s3://bucket/lake"
MARK = "_lakefs_success"
FOREIGN = b"of others"

# What readers of an object get: content, content type, metadata.
Seen = tuple[bytes, str, tuple[tuple[str, str], ...]]


class WatchedObjects(MemoryObjectStore):
    """An object store that calls hooks before and after every write; before may fail it."""

    def __init__(self, clock: FixedClock) -> None:
        super().__init__(clock)
        self.before: Callable[[str, str], None] = lambda _operation, _uri: None
        self.after: Callable[[str], None] = lambda _uri: None
        self.deleted: dict[str, Seen] = {}

    def put(
        self,
        uri: str,
        content: bytes,
        content_type: str,
        *,
        headers: DataHeaders = NO_HEADERS,
        if_absent: bool = False,
        if_match: str = "",
    ) -> ObjectInfo:
        self.before("put", uri)
        with self._lock:
            info = super().put(
                uri, content, content_type, headers=headers, if_absent=if_absent, if_match=if_match
            )
            self.after(uri)
        return info

    def copy(
        self,
        source_uri: str,
        target_uri: str,
        size_bytes: int,
        description: ObjectDescription | None = None,
        before_request: Callable[[], None] | None = None,
        *,
        if_match: str = "",
        headers: DataHeaders = NO_HEADERS,
    ) -> ObjectInfo:
        self.before("copy", target_uri)
        with self._lock:
            info = super().copy(
                source_uri,
                target_uri,
                size_bytes,
                description,
                before_request,
                if_match=if_match,
                headers=headers,
            )
            self.after(target_uri)
        return info

    def delete(self, uri: str) -> None:
        self.before("delete", uri)
        with self._lock:
            if self.head(uri) is not None:
                self.deleted[uri] = self.seen(uri)
            super().delete(uri)
            self.after(uri)

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        stayed = {}
        for uri in uris:
            try:
                self.delete(uri)
            except OSError as error:
                stayed[uri] = str(error)
        return stayed

    def seen(self, uri: str) -> Seen:
        described = self.description(uri)
        metadata = tuple(sorted(described.metadata.items()))
        return self.get(uri), described.content_type, metadata


@dataclass
class ExportWorld:
    """Stores with one repository, and the witness's records about the export of `branch`."""

    world: MemoryWorld
    objects: WatchedObjects
    repository: Repository
    branch: str = "main"
    runner: str = ""  # the one working now; "" must not write
    violations: list[str] = field(default_factory=list)
    writes: list[tuple[str, str]] = field(default_factory=list)  # runner, URI
    promises: dict[str, CommitID] = field(default_factory=dict)  # commits of current marks, by URI
    foreign: set[str] = field(default_factory=set)  # URIs of others, which must not change
    leftovers: set[str] = field(default_factory=set)  # of a deleted export
    _contents: dict[CommitID, dict[str, Seen]] = field(default_factory=dict)

    def engine(self) -> Engine:
        return self.world.engine()

    @property
    def record(self) -> BranchExport | None:
        return self.world.exports.branch_export(self.repository, self.branch)

    def content_of(self, commit_id: CommitID) -> Mapping[str, Seen]:
        """What a commit holds, by key."""
        if commit_id not in self._contents:
            content = OpenRepository(self.engine(), self.repository).content(commit_id)
            self._contents[commit_id] = {
                key.decode(): self._described(value_entry(value))
                for key, value in content.records()
            }
        return self._contents[commit_id]

    def _described(self, entry: Entry) -> Seen:
        """What a reader of the entry's copy is to get, even if its data are gone."""
        uri = physical_uri(NAMESPACE, entry)
        seen = self.objects.deleted.get(uri) or self.objects.seen(uri)
        if not (entry.content_type or entry.metadata):
            return seen
        return seen[0], entry.content_type, tuple(sorted(entry.metadata.items()))

    def place_foreign(self, uri: str) -> None:
        """An object that somebody else keeps at a destination."""
        MemoryObjectStore.put(self.objects, uri, FOREIGN, "text/plain")
        self.foreign.add(uri)

    def forget(self) -> None:
        """What was exported belongs to nobody any more."""
        self.leftovers |= set(self.objects.uris("s3://out")) - self.foreign
        self.promises.clear()

    # The witness

    def saw(self, uri: str) -> None:
        """Check everything after a write."""
        is_piece = "/_lakefs/exports/" in uri
        if not uri.startswith("s3://out/") and not (is_piece and self.objects.head(uri)):
            return  # any runner may delete an ended run's pieces
        try:
            self._look(uri)
        except Exception as error:  # noqa: BLE001 - whoever writes is not to mistake it for his own
            self.violations.append(f"the witness failed: {error!r}")

    def _look(self, uri: str) -> None:
        self.writes.append((self.runner, uri))
        record = self.record
        run = record.run if record else None
        now_ns = self.world.clock.peek_ns
        if run is None or run.runner != self.runner or run.lease_until_ns <= now_ns:
            holder = (run.runner, (run.lease_until_ns - now_ns) / 1e9) if run else None
            self.violations.append(f"{self.runner} wrote {uri}; the lease is with {holder}")
        self.leftovers.discard(uri)
        own = run is not None and self._key(run.configuration.path, uri) in self.content_of(
            run.commit_id
        )
        if uri.endswith(MARK):
            self.promises.pop(uri, None)
            if not own and self.objects.head(uri) is not None and run is not None:
                self.promises[uri] = run.commit_id
        self._check_marks()
        self._check_status()
        self._check_foreign()

    @staticmethod
    def _key(path: str, uri: str) -> str:
        return uri.removeprefix(path + "/")

    def _check_marks(self) -> None:
        for mark, commit_id in self.promises.items():
            directory = mark.removesuffix(MARK)
            path = next(p for p in self.paths() if directory.startswith(p + "/"))
            name = directory.removeprefix(path + "/")
            promised = {
                key: seen
                for key, seen in self.content_of(commit_id).items()
                if key.startswith(name)
            }
            found = self.exported(path, name)
            if found != promised:
                self.violations.append(f"{mark} stands beside {_difference(found, promised)}")

    def paths(self) -> list[str]:
        """Every path the branch was exported to."""
        record = self.record
        known = {each.path for each in record.destinations} if record else set()
        if record is not None and record.run is not None:
            known.add(record.run.configuration.path)
        return sorted(known, key=len, reverse=True)

    def exported(self, path: str, prefix: str = "") -> dict[str, Seen]:
        """Return the objects at a path by key, without marks, reports, leftovers and foreign ones."""
        found = {}
        reports = ("_STATUS_", f"{REPO}-{self.branch}-")
        for uri in self.objects.uris(f"{path}/{prefix}"):
            is_report = uri.rpartition("/")[2].startswith(reports)
            if not is_report and uri not in self.foreign | self.leftovers | self.promises.keys():
                found[self._key(path, uri)] = self.objects.seen(uri)
        return found

    def _check_status(self) -> None:
        for uri in self.objects.uris("s3://out"):
            if "/_STATUS_" in uri and uri not in self.leftovers:
                status = json.loads(self.objects.get(uri))
                if status["status"] == "success":
                    self._check_holds(status["path"], status["commit"], uri)
                    self._check_manifest(status["path"], status["manifest"])

    def _check_manifest(self, path: str, manifest: str) -> None:
        lines = [json.loads(line) for line in self.objects.get(manifest).splitlines()]
        listed = {line["key"]: line["etag"] for line in lines}
        infos = {key: self.objects.head(f"{path}/{key}") for key in self.exported(path)}
        if listed != {key: info.checksum for key, info in infos.items() if info is not None}:
            self.violations.append(f"{manifest} is not what {path} holds")

    def _check_holds(self, path: str, commit_id: CommitID, why: str) -> None:
        found, expected = self.exported(path), self.content_of(commit_id)
        if found != expected:
            self.violations.append(f"{why}: {path} has {_difference(found, expected)}")

    def _check_foreign(self) -> None:
        for uri in self.foreign:
            if self.objects.head(uri) is None or self.objects.get(uri) != FOREIGN:
                self.violations.append(f"{uri} was touched")

    def check_whole_destinations(self) -> None:
        """Check that every destination that is whole in the record holds exactly its commit."""
        for known in self.record.destinations if self.record else ():
            if known.exported_commit and not known.touched_commits:
                self._check_holds(known.path, known.exported_commit, "the record says whole")

    # What users and functions do

    def configure(self, path: str = "s3://out/latest", **more: object) -> None:
        force = bool(more.pop("force", False))
        patterns = more.pop("patterns", ())
        configuration = ExportConfiguration(
            path,
            last_keys_in_prefix_regexps=patterns,  # type: ignore[arg-type]
            **more,  # type: ignore[arg-type]
        )
        requests.configure(self.engine(), REPO, self.branch, configuration, force=force)

    def destination(self, path: str = "s3://out/latest") -> Destination:
        assert self.record is not None
        return next(each for each in self.record.destinations if each.path == path)

    def advance(
        self, engine: Engine | None = None, runner: str = "runner", time_s: float = 900
    ) -> None:
        """Do what one invocation of the export function does, whatever the message was."""
        deadline_ns = self.world.clock.peek_ns + round(time_s * 1e9)
        self.runner = runner
        advance(
            engine or self.engine(),
            ExportRequest(REPO, self.branch),
            runner=runner,
            time_left_s=lambda: (deadline_ns - self.world.clock.peek_ns) / 1e9,
        )
        self.runner = ""
        assert self.violations == []

    def settle(self, invocations_max: int = 100) -> None:
        """Deliver the messages in the queue until there are none, letting time pass."""
        self.advance(runner="invocation")
        queue = self.world.export_queue
        for number in range(invocations_max):
            if not queue.waiting:
                return
            due_ns, request = queue.waiting.pop(0)
            self.world.clock.tick(max(0, due_ns - self.world.clock.peek_ns) / 1e9)
            assert request == ExportRequest(REPO, self.branch)
            self.advance(runner=f"invocation {number}")
        raise AssertionError("the export never ends")


def export_world(step_ns: int = 10**7, raggedness: int = 2) -> ExportWorld:
    """Return an empty repository; the clock advances by step_ns at each reading."""
    world = memory_world(Breaking(raggedness), step_ns=step_ns)
    objects = WatchedObjects(world.clock)
    world.objects = objects
    repository = repositories.create(world.engine(), name=REPO, storage_namespace=NAMESPACE)
    made = ExportWorld(world, objects, repository)
    objects.after = made.saw
    return made


def _difference(found: Mapping[str, Seen], expected: Mapping[str, Seen]) -> str:
    keys = sorted(found.keys() | expected.keys())
    return ", ".join(
        f"{key}: {found.get(key)} instead of {expected.get(key)}"
        for key in keys
        if found.get(key) != expected.get(key)
    )
