"""Rates of writing and reading tables: `python -m bench.sstable [RECORDS]` prints one line each.

Records have the usual shape: keys of about 60 bytes that share prefixes, values of 190 bytes,
of which half is random (digest, checksum, address) and does not compress. "A range" has the
default raggedness; "large" is one table of all the records, more than a processor's cache holds.
"""

import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from graveler.limits import RANGE_RAGGEDNESS_RECORDS
from graveler.sstable import TAIL_BYTES, BlockCache, Table, TableWriter

LOOKUPS = 200_000
COLD_LOOKUPS = 200
TRIES = 3


def make_records(count: int) -> tuple[list[bytes], list[bytes]]:
    random = Random(1)
    keys = sorted(
        b"warehouse/events/year=2026/month=%02d/part-%06d-%08d.parquet" % (i % 97, i // 40, i)
        for i in range(count)
    )
    values = [
        b"\x40%b\xba\x02\x0a\x2ddata/%b\x12\x08\x08%b\x18%b\x22\x20%b0\x01:\x18application/octet-stream"
        % (
            random.randbytes(32),
            random.randbytes(20).hex().encode(),
            random.randbytes(5),
            random.randbytes(3),
            random.randbytes(16).hex().encode(),
        )
        for _ in keys
    ]
    return keys, [value.ljust(190, b"=") for value in values]


def write(keys: list[bytes], values: list[bytes]) -> bytes:
    writer = TableWriter("ranges")
    writer.add_many(keys, values)
    return writer.finish()


def write_each(keys: list[bytes], values: list[bytes]) -> None:
    writer = TableWriter("ranges")
    for key, value in zip(keys, values, strict=True):
        writer.add(key, value)
        assert writer.estimated_size_bytes
    writer.finish()


def write_hashed(keys: list[bytes], values: list[bytes]) -> None:
    """Write with the three SHA-256 that each record adds to the range's ID."""
    file_id = sha256()
    for key, value in zip(keys, values, strict=True):
        file_id.update(sha256(sha256(key).digest() + sha256(value).digest()).digest())
    write(keys, values)


def get_each(table: Table, keys: list[bytes]) -> None:
    get = table.get
    for key in keys:
        get(key)


def get_cold(path: Path, keys: list[bytes]) -> None:
    for key in keys:
        with path.open("rb") as file:

            def read(offset: int, length: int) -> bytes:
                file.seek(offset)
                return file.read(length)

            size_bytes = path.stat().st_size
            tail = read(max(0, size_bytes - TAIL_BYTES), TAIL_BYTES)
            assert Table.open("cold", size_bytes, tail, read).get(key) is not None


def measure(what: str, operations: int, run: Callable[[], object]) -> None:
    """Print the best rate of a few runs."""
    seconds = []
    for _ in range(TRIES):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    rate = operations / min(seconds)
    print(f"{what:40} {rate:12,.0f}/s {1e6 / rate:10.2f} µs each")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    keys, values = make_records(count)
    print(f"{count} records, keys of {len(keys[0])} bytes, values of {len(values[0])}")
    measure("write, in bulk", count, lambda: write(keys, values))
    measure("write, in bulk, three SHA-256 a record", count, lambda: write_hashed(keys, values))
    measure("write, record by record", count, lambda: write_each(keys, values))

    content = write(keys, values)
    table = Table.from_bytes("large", content)
    measure("scan, records", count, lambda: sum(1 for _ in table.scan()))
    measure("scan, blocks", count, lambda: sum(len(block.keys) for block in table.blocks()))

    in_range = min(count, RANGE_RAGGEDNESS_RECORDS)
    small = write(keys[:in_range], values[:in_range])
    random = Random(2)
    for size, file, amount in ("a range", small, in_range), ("large", content, count):
        wanted = random.choices(keys[:amount], k=LOOKUPS)
        cached = Table.from_bytes(size, file, BlockCache(1 << 30))
        get_each(cached, keys[:amount])
        measure(f"get, {size}, blocks cached", LOOKUPS, partial(get_each, cached, wanted))
    few = random.choices(keys[:in_range], k=LOOKUPS // 10)
    uncached = Table.from_bytes("uncached", small)
    measure("get, a range, block decoded each time", len(few), lambda: get_each(uncached, few))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "range"
        path.write_bytes(small)
        cold = few[:COLD_LOOKUPS]
        measure("open and get, a range", len(cold), lambda: get_cold(path, cold))


if __name__ == "__main__":
    main()
