"""How fast committed data are written, read, changed and compared, in one process.

`python -m bench.engine [OBJECTS]` makes a repository's content in memory and prints one line for
each figure, in processor time. Keys are those of a table in partitions of 1,000 files, values
those of real entries.
"""

import sys
from collections.abc import Callable
from hashlib import sha256
from random import Random
from time import process_time

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import CacheSizes, Committed
from graveler.diff.two_way import diff
from graveler.entries import entry_value
from graveler.merge import merge
from graveler.model import AddressType, Change, Entry, Record
from tests.support.memory import MemoryCommittedFiles

NAMESPACE = "s3://bench/repository"
LOOKUPS = 200_000
TRIES = 3
AMPLE = CacheSizes(index_bytes=1 << 28, block_bytes=1 << 30, content_bytes=1 << 29)


def value_of(number: int, version: int = 0) -> bytes:
    digest = sha256(b"%d/%d" % (number, version)).hexdigest()
    return entry_value(
        Entry(
            address=f"data/{digest[:20]}/{digest[20:40]}",
            address_type=AddressType.RELATIVE,
            size_bytes=number,
            checksum=digest[:32],
            last_modified_ns=1_700_000_000_000_000_000 + number,
            content_type="application/octet-stream",
        )
    )


def key_of(number: int) -> bytes:
    return b"data/part=%04d/file-%06d.parquet" % (number // 1000, number % 1000)


def seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def changes(random: Random, objects: int, amount: int) -> list[Change]:
    numbers = sorted(random.sample(range(objects), amount))
    version = random.randrange(1, 1 << 30)
    return [(key_of(number), value_of(number, version)) for number in numbers]


def main(objects: int = 200_000) -> None:
    random = Random(1)
    records: list[Record] = [(key_of(number), value_of(number)) for number in range(objects)]
    committed = Committed(MemoryCommittedFiles(), caches=AMPLE)

    def content(metarange_id: str) -> MetaRange:
        return MetaRange(committed, NAMESPACE, metarange_id)

    def changed(amount: int) -> MetaRange:
        made = apply_changes(committed, base, changes(random, objects, amount))
        return content(made.metarange_id)

    empty = content("")
    start = process_time()
    base = content(apply_changes(committed, empty, records).metarange_id)
    print(f"write, records/s                   {objects / (process_time() - start):>12,.0f}")
    ranges = sum(1 for _ in base.headers())
    print(f"ranges                             {ranges:>12,}")
    for temperature in ("cold", "warm"):
        spent = seconds(lambda: sum(1 for _ in base.records()))
        print(f"scan {temperature}, records/s               {objects / spent:>12,.0f}")
    keys = [records[random.randrange(objects)][0] for _ in range(LOOKUPS)]
    spent = seconds(lambda: [base.get(key) for key in keys])
    print(f"lookup, all layers, per second     {LOOKUPS / spent:>12,.0f}")
    for amount in (1, 10, 100, 1_000):
        commits, diffs = [], []
        for _ in range(TRIES):
            start = process_time()
            other = changed(amount)
            commits.append(process_time() - start)
            diffs.append(seconds(lambda other=other: list(diff(base, other))))
        print(f"commit of {amount:>5,} random changes, ms {min(commits) * 1000:>13,.1f}")
        print(f"diff of   {amount:>5,} random changes, ms {min(diffs) * 1000:>13,.1f}")
    source, destination = changed(100), changed(100)
    spent = seconds(lambda: merge(committed, base, source, destination, "source-wins"))
    print(f"merge, 100 changes on each side, ms{spent * 1000:>13,.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
