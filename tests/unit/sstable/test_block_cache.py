"""What tables hold of their blocks: bounded, evicted in turn, and never a wrong answer."""

from random import Random
from threading import Thread

import pytest

from graveler.errors import CorruptDataError
from graveler.sstable import BlockCache, Table, TableWriter

RECORDS = {b"%05d" % number: b"value %d" % number for number in range(3000)}
KEYS = list(RECORDS)


def written(records=RECORDS, **options):
    writer = TableWriter("ranges", block_size_bytes=400, **options)
    writer.add_many(list(records), list(records.values()))
    return writer.finish()


class Counted:
    """A table that tells how many blocks it had to read."""

    def __init__(self, blocks, content=None, indexes=None):
        self.content = content or written()
        self.reads = 0
        self.table = Table.open(
            "a range", len(self.content), self.content[-60:], self.read, blocks, indexes
        )
        list(self.table._places_from(b""))  # the index
        self.reads = 0

    def read(self, offset, length):
        self.reads += 1
        return self.content[offset : offset + length]

    def reads_of(self, *keys):
        before = self.reads
        for key in keys:
            assert self.table.get(key) == RECORDS.get(key)
        return self.reads - before


def test_a_block_is_read_once_while_there_is_room():
    counted = Counted(BlockCache(10**7))
    blocks = len(list(counted.table._places_from(b"")))
    assert counted.reads_of(*KEYS) == blocks > 50
    assert counted.reads_of(*KEYS, b"absent", *KEYS) == 0


def test_keys_that_are_missing_are_missing_whatever_is_held():
    counted = Counted(BlockCache(10**7))
    absent = [key + b"x" for key in KEYS]
    counted.reads_of(*absent)
    counted.reads_of(*KEYS[::7])
    counted.reads_of(*absent)


def test_without_a_cache_every_lookup_reads():
    assert Counted(None).reads_of(KEYS[0], KEYS[0], KEYS[0]) == 3


def test_what_is_asked_for_stays_and_the_rest_goes():
    cache = BlockCache(20_000)
    counted = Counted(cache)
    counted.reads_of(KEYS[0], KEYS[0])
    for at in range(100, 3000, 10):
        counted.reads_of(KEYS[at])
        assert counted.reads_of(KEYS[0]) == 0
        assert cache.held_bytes <= 20_000
    assert counted.reads_of(KEYS[100]) == 1


def test_a_block_that_does_not_fit_is_not_held():
    cache = BlockCache(200)
    counted = Counted(cache)
    assert counted.reads_of(KEYS[0], KEYS[1], KEYS[0]) == 3
    assert cache.held_bytes == 0


def test_tables_share_one_budget_and_a_closed_one_gives_its_share_back():
    cache = BlockCache(30_000)
    Counted(cache).reads_of(*KEYS)
    assert cache.held_bytes > 20_000
    counted = Counted(cache)
    counted.reads_of(*KEYS[:60])
    assert counted.reads_of(*KEYS[:60]) == 0
    assert cache.held_bytes <= 30_000


def test_blocks_in_each_others_place_are_noticed_by_lookups():
    content = bytearray(written(compress=False))
    (first, second), *_ = [
        (one, other)
        for one, other in zip(handles(content), handles(content)[1:], strict=False)
        if one.length == other.length
    ]
    content[first.offset : first.end], content[second.offset : second.end] = (
        content[second.offset : second.end],
        content[first.offset : first.end],
    )
    table = Table.from_bytes("a range", bytes(content), BlockCache(10**6))
    with pytest.raises(CorruptDataError, match="outside its bounds"):
        assert [table.get(key) for key in KEYS] == []


def handles(content):
    table = Table.from_bytes("a range", bytes(content))
    return [table._handle(partition.handles[at]) for partition, at in table._places_from(b"")]


def test_the_part_of_an_index_that_is_asked_for_stays_and_the_rest_goes():
    indexes = BlockCache(10_000)
    counted = Counted(BlockCache(10**7), indexes=indexes)
    counted.reads_of(KEYS[0], KEYS[0])
    for at in range(100, 3000, 10):
        counted.reads_of(KEYS[at])
        assert counted.reads_of(KEYS[0]) == 0
        assert indexes.held_bytes <= 10_000
    # A part of the index, and the block: what was held of it has gone with its part.
    assert counted.reads_of(KEYS[400]) == 2


def test_an_index_that_does_not_fit_is_decoded_each_time():
    counted = Counted(BlockCache(10**7), indexes=BlockCache(0))
    assert counted.reads_of(KEYS[0], KEYS[1], KEYS[0], b"00100 absent") == 8


def test_a_closed_table_gives_back_its_share_of_the_indexes():
    indexes = BlockCache(10_000)
    for _ in range(5):
        counted = Counted(None, indexes=indexes)
        counted.reads_of(*KEYS[::50])
        assert 5_000 < indexes.held_bytes <= 10_000


@pytest.mark.parametrize("index_bytes", [10**9, 4_000], ids=["whole indexes", "parts of indexes"])
def test_threads_may_share_tables_and_the_caches(index_bytes):
    cache, indexes = BlockCache(15_000), BlockCache(index_bytes)
    content = written()
    tables = [
        Table.open(
            f"range {number}", len(content), content, lambda _at, _length: b"", cache, indexes
        )
        for number in range(3)
    ]
    wrong: list[bytes] = []

    def use(seed: int) -> None:
        random = Random(seed)
        for _ in range(4000):
            table, key = random.choice(tables), random.choice(KEYS[:600])
            if table.get(key) != RECORDS[key]:
                wrong.append(key)

    threads = [Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert cache.held_bytes <= 15_000
    assert indexes.held_bytes <= index_bytes
    held = sum(
        partition.held[at] is not None or partition.raw[at] is not None
        for table in tables
        for partition in table._partitions
        if partition is not None
        for at in range(len(partition.bounds))
    )
    assert held < 40
    assert held or index_bytes < cache.budget_bytes
