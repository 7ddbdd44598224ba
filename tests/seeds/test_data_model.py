"""The page on the data model: commits as content-addressed SSTables, refs beside them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, pairwise

import lakefs
import pytest
from rocksdict import Options, Rdict

from tests.seeds.clients import Clients, commit
from tests.seeds.statements import said, shows
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

APPLY = "tests/unit/committed/test_apply.py"
LAWS = "tests/property/test_diff_laws.py"
MEMORY = "tests/unit/committed/test_cache_memory.py"
STORE = "tests/unit/committed/test_committed_store.py"
REUSE = "[ADR 9](adr/0009-raggedness-by-measurement.md) has the measurement"
DYNAMODB = "DynamoDB stores them: [formats/dynamodb.md](formats/dynamodb.md)"

STATEMENTS = {
    "002.01": said("Since commits in lakeFS are immutable, they are easy to store"),
    "002.02": said(
        "local disk and even RAM can be used to cache",
        f"{STORE}::test_a_warm_lookup_takes_nothing",
        but="RAM alone; functions have no disk that stays",
    ),
    "002.03": said(
        "we only need to evict them when space is running out",
        f"{MEMORY}::test_whole_files_stay_within_their_budget",
        f"{MEMORY}::test_blocks_stay_within_their_budget",
    ),
    "002.04": said("SSTables, compatible with RocksDB"),
    "002.05": said(
        "close to 500k random GetObject calls / second",
        but="A measurement: [the engine's lookups](../bench/README.md#the-engine)",
    ),
    "002.06": said("relatively easy to generate and consume … accessible to … tools"),
    "002.07": said(
        "delta encoding for keys",
        "tests/property/test_sstable.py::test_shared_prefixes_are_those_of_stored_keys",
    ),
    "002.08": said("a set of contiguous, non-overlapping SSTables … the entire keyspace"),
    "002.09": said("a standardized way to encode content-addressable key value pairs"),
    "002.10": said("constructed of a key, an identity and a value"),
    "002.11": said("any sequence of bytes that uniquely identifies the value"),
    "002.12": said("identical, if their key and identity fields are equal"),
    "002.13": said("the name of the file is its identity"),
    "002.14": said(
        "valueRecordID = h(h(key) || h(Identity)); fileID = h(valueRecordID 1 + … + N)",
        "tests/unit/test_identity.py::test_a_record_is_named_by_the_documented_formula",
        but="For an object, the record's ID covers the stored value: "
        "[its identity and its entry](formats/committed.md#ids)",
    ),
    "002.15": said(
        "proportional to the size of the difference as opposed to the total size",
        f"{APPLY}::test_ranges_without_changes_are_neither_read_nor_written",
    ),
    "002.16": said(
        "an efficient diff … time proportional to the size of their difference",
        f"{LAWS}::test_a_diff_reads_no_range_that_both_sides_share",
    ),
    "002.17": said('a "Meta Range", which is a special range containing all ranges'),
    "002.18": said("it can reuse all ranges except for … the one containing the modified range"),
    "002.19": said("create a new Metarange since its hash is now changed as well"),
    "002.20": said("a commit is expected to reuse >= 99% of the previous commit blocks", but=REUSE),
    "002.21": said(
        "<lakefs root> _lakefs/ <range hash> <metarange hash>",
        but="Data objects have addresses under `data/`, as in 001.03",
    ),
    "002.22": said("a fixed 2-level hierarchy"),
    "002.23": said(
        'uncommitted (or "staged") data experiences frequent random writes',
        "tests/integration/test_concurrency.py::"
        "test_no_acknowledged_write_is_missing_while_commits_run",
    ),
    "002.24": said("branches … are modified frequently: on every commit or merge operation"),
    "002.25": said(
        "require strong consistency guarantees while also being fault tolerant",
        "tests/simulation/test_simulation.py::test_every_schedule_keeps_the_promises",
        but="[The guarantees](../ARCHITECTURE.md#what-concurrent-clients-may-rely-on)",
    ),
    "002.26": said("are currently stored on PostgreSQL", but=DYNAMODB),
    "002.27": said("embedding Raft to replicate these writes across a cluster", but=DYNAMODB),
    "002.28": said(
        "multi-Raft to shard references across a wider fleet",
        but="DynamoDB's partitions: [how far they go](limits.md)",
    ),
}

RAGGEDNESS = 8192


def end_of_range(letter: str) -> str:
    """Return a key after which its range ends, by the rule of docs/formats/committed.md."""
    keys = (f"{letter}/{number}" for number in count())
    return next(
        key
        for key in keys
        if int.from_bytes(sha256(key.encode()).digest()[:8], "big") % RAGGEDNESS == 0
    )


@dataclass(frozen=True)
class Lake:
    """Commit B is derived from commit A and changes one object among e/…."""

    clients: Clients
    repository: lakefs.Repository
    a: lakefs.Reference
    b: lakefs.Reference

    def uri(self, file_id: str) -> str:
        return f"s3://{BUCKET}/{self.repository.id}/_lakefs/{file_id}"

    def cat(self, file_id: str) -> list[dict]:
        """Return the records of a file, as `graveler sst cat` shows them."""
        lines = self.clients.graveler(
            *("sst", "cat", self.uri(file_id), "--json"),
            AWS_ENDPOINT_URL=self.clients.stack.s3_endpoint,
        )
        return [json.loads(line) for line in lines.splitlines()]

    def ranges(self, commit: lakefs.Reference) -> list[dict]:
        return self.cat(commit.get_commit().meta_range_id)


@pytest.fixture(scope="module")
def lake(clients: Clients, repository: lakefs.Repository) -> Lake:
    main = repository.branch("main")
    ends = [end_of_range(letter) for letter in "acegi"]
    a = commit(main, **{key: "A" for end in ends for key in (f"{end[0]}/", end)})
    b = commit(main, **{"e/": "B"})
    return Lake(clients, repository, repository.ref(a), repository.ref(b))


@shows("002.01", "002.08", "002.15", "002.17", "002.18", "002.19", "002.21", "002.22", "002.24")
def test_a_commit_reuses_all_ranges_but_the_one_that_it_changes(lake):
    before, after = lake.ranges(lake.a), lake.ranges(lake.b)
    keys = [each.path for each in lake.b.objects()]
    assert [key for row in after for key in (row["min_key"], row["max_key"])] == keys
    assert all(one["max_key"] < other["min_key"] for one, other in pairwise(after))
    changed = [row["min_key"] for row in after if row not in before]
    assert (len(after), changed) == (5, ["e/"])
    assert lake.a.get_commit().meta_range_id != lake.b.get_commit().meta_range_id
    named = {row["id"] for row in (*before, *after)} | {
        commit.get_commit().meta_range_id for commit in (lake.a, lake.b)
    }
    stored = set(lake.clients.stored(f"{lake.repository.id}/_lakefs/"))
    assert named <= stored
    assert all("/" not in name for name in named)
    assert lake.repository.branch("main").get_commit().id == lake.b.id
    assert lake.a.object("e/").reader().read() == b"A"


@shows("002.04", "002.06", "002.09", "002.10", "002.13", "002.14")
def test_rocksdb_reads_files_that_are_named_by_their_content(lake, tmp_path):
    metarange = lake.b.get_commit().meta_range_id
    ranges = [row["id"] for row in lake.ranges(lake.b)]
    names = [metarange, *ranges]
    for name in names:
        (tmp_path / name).write_bytes(lake.clients.content(lake.uri(name)))
        keys, values = zip(*read_by_rocksdb(tmp_path, name), strict=True)
        assert file_id(keys, [x.encode() for x in ranges] if name == metarange else values) == name
    lake.clients.graveler("sst", "verify", *(str(tmp_path / name) for name in names))


def read_by_rocksdb(folder, name):
    database = Rdict(str(folder / f"database-{name}"), Options(raw_mode=True))
    try:
        database.ingest_external_file([str(folder / name)])
        return list(database.items())
    finally:
        database.close()


def file_id(keys: Sequence[bytes], identities: Sequence[bytes]) -> str:
    """The document's formula."""

    def h(data: bytes) -> bytes:
        return sha256(data).digest()

    records = zip(keys, identities, strict=True)
    return h(b"".join(h(h(key) + h(identity)) for key, identity in records)).hex()


@shows("002.10", "002.11", "002.12")
def test_equal_content_has_an_equal_identity_and_no_difference(lake):
    again = lake.repository.branch("again").create(lake.b)
    for path in ("e/", "g/"):
        again.object(path).upload("B")
    made = lake.repository.ref(commit(again))
    assert [each.path for each in lake.b.diff(made)] == ["g/"]
    (e, *_), (g, *_) = (
        lake.cat(row["id"]) for row in lake.ranges(made) if row["min_key"] in ("e/", "g/")
    )
    assert (e["key"], g["key"]) == ("e/", "g/")
    assert e["identity"] == g["identity"]
    assert e["address"] != g["address"]
