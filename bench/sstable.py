"""How fast tables are written and read: `python -m bench.sstable [RECORDS]` prints one line each.

Records are of the usual shape: keys of about 60 bytes that share prefixes, values of 190 bytes,
of which a third is random (digest, checksum, address) and does not compress.
"""

import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter

from graveler.sstable import TAIL_BYTES, Block, BlockId, Table, TableWriter

LOOKUPS = 200_000
RANGE_RECORDS = 8_192
TRIES = 3


class DictCache(dict[BlockId, Block]):
    def put(self, block_id: BlockId, block: Block, _size_bytes: int, /) -> None:
        self[block_id] = block


def make_records(count: int) -> tuple[list[bytes], list[bytes]]:
    random = Random(1)
    keys = [
        b"warehouse/events/year=2026/month=%02d/part-%06d-%08d.parquet" % (i % 97, i // 40, i)
        for i in range(count)
    ]
    keys.sort()
    values = [
        b"\x40%b\xba\x02\x0a\x29data/%b\x12\x08\x08%b\x18%b\x22\x20%b8\x01:application/octet-stream"
        % (
            random.randbytes(32),
            random.randbytes(20).hex().encode(),
            random.randbytes(5),
            random.randbytes(3),
            random.randbytes(16).hex().encode(),
        )
        for _ in range(count)
    ]
    return keys, [value.ljust(190, b"=") for value in values]


def best(run: Callable[[], int]) -> float:
    """Operations per second of the best of a few tries; run answers how many it did."""
    rates = []
    for _ in range(TRIES):
        start = perf_counter()
        done = run()
        rates.append(done / (perf_counter() - start))
    return max(rates)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    keys, values = make_records(count)

    def write_many() -> int:
        writer = TableWriter("ranges")
        writer.add_many(keys, values)
        writer.finish()
        return count

    def write_each() -> int:
        writer = TableWriter("ranges")
        for key, value in zip(keys, values, strict=True):
            writer.add(key, value)
            if writer.estimated_size_bytes > 1 << 40:
                break
        writer.finish()
        return count

    def write_hashed() -> int:
        writer = TableWriter("ranges")
        file_id = sha256()
        for key, value in zip(keys, values, strict=True):
            file_id.update(sha256(sha256(key).digest() + sha256(value).digest()).digest())
        writer.add_many(keys, values)
        writer.finish()
        return count

    print(f"{count} records, keys of {len(keys[0])} bytes, values of {len(values[0])}")
    print(f"write, add_many                 {best(write_many):12,.0f} records/s")
    print(f"write, three SHA-256 a record   {best(write_hashed):12,.0f} records/s")
    print(f"write, add and estimate each    {best(write_each):12,.0f} records/s")

    writer = TableWriter("ranges")
    writer.add_many(keys, values)
    content = writer.finish()
    table = Table.from_bytes("bench", content)
    print(
        f"scan, records                   {best(lambda: sum(1 for _ in table.scan())):12,.0f} records/s"
    )
    print(
        f"scan, blocks                    {best(lambda: sum(len(b.keys) for b in table.blocks())):12,.0f} records/s"
    )

    random = Random(2)
    wanted = random.choices(keys, k=LOOKUPS)

    def look_up(looked_up: Table, amount: int) -> int:
        get = looked_up.get
        for key in wanted[:amount]:
            get(key)
        return amount

    cached = Table.from_bytes("bench", content, DictCache())
    look_up(cached, LOOKUPS)
    print(f"get, blocks cached              {best(lambda: look_up(cached, LOOKUPS)):12,.0f} gets/s")
    print(
        f"get, block decoded each time    {best(lambda: look_up(table, LOOKUPS // 10)):12,.0f} gets/s"
    )

    writer = TableWriter("ranges")
    writer.add_many(keys[:RANGE_RECORDS], values[:RANGE_RECORDS])
    content = writer.finish()
    with tempfile.NamedTemporaryFile() as file:
        path = Path(file.name)
        path.write_bytes(content)

        def cold() -> int:
            for key in keys[: RANGE_RECORDS : RANGE_RECORDS // 100]:
                with path.open("rb") as opened:

                    def read(offset: int, length: int) -> bytes:
                        opened.seek(offset)
                        return opened.read(length)

                    size_bytes = len(content)
                    tail = read(max(0, size_bytes - TAIL_BYTES), TAIL_BYTES)
                    if Table.open("cold", size_bytes, tail, read).get(key) is None:
                        raise SystemExit("a record is missing")
            return 100

        print(f"open and get one record, a range of {RANGE_RECORDS}: {1e3 / best(cold):.2f} ms")


if __name__ == "__main__":
    main()
