"""A cache of so many bytes takes that much memory, and never a fifth more, whatever is in it."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graveler.committed.headers import HeaderTable
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.committed.summary import Summary
from graveler.model import MetaRangeID
from graveler.sstable import TAIL_BYTES, BlockCache, BlockSize, OpenTable, Table, TableWriter
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, Records, write

BUDGET = 200_000
LOOKUPS = 200
NOTHING = CacheSizes(
    range_bytes=0,
    index_bytes=0,
    block_bytes=0,
    content_bytes=0,
    summary_bytes=0,
    metarange_bytes=0,
)


class CopiedFiles(MemoryCommittedFiles):
    """Answers with bytes of its own, as a server does."""

    def read_all(self, namespace: str, file_id: str) -> bytes:
        return bytes(bytearray(super().read_all(namespace, file_id)))

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        tail, size_bytes = super().read_tail(namespace, file_id, length)
        return bytes(bytearray(tail)), size_bytes


def records(amount: int, key_bytes: int, value_bytes: int) -> Records:
    numbers = range(amount)
    return {
        b"%06d" % n + b"k" * (key_bytes - 6): (b"%06d" % n * value_bytes)[:value_bytes]
        for n in numbers
    }


# Of both kinds, about four times what fits the budget.
SHAPES = {
    "short": (records(6_000, 6, 3), Breaking(100)),
    "usual": (records(2_500, 40, 200), Breaking(100)),
    "long keys": (records(1_000, 900, 10), Breaking(20)),
    "long values": (records(600, 20, 4000), Breaking(10)),
}
each_shape = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture(scope="module", autouse=True)
def only_what_is_made_here_is_collected() -> Iterator[None]:
    """Else each collection looks through everything that the other tests have loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def growth_bytes(fill: Callable[[], object]) -> int:
    """How much memory is in use after fill that was not before."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = fill()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return after - before


def check(grown_bytes: int, least: float = 0.4) -> None:
    """The caches hold something, and no more than they may."""
    assert least * BUDGET < grown_bytes < 1.2 * BUDGET


def stored(shape: str) -> tuple[CopiedFiles, MetaRangeID, list[bytes]]:
    """A metarange of that shape in files of its own, and its keys."""
    content, breaking = SHAPES[shape]
    files = CopiedFiles()
    return files, write(Committed(files, breaking=breaking), content).id, list(content)


def sizes(**budgets: int) -> CacheSizes:
    return CacheSizes(**(vars_of(NOTHING) | budgets))


def vars_of(caches: CacheSizes) -> dict[str, int]:
    return {name: getattr(caches, name) for name in CacheSizes.__struct_fields__}


@each_shape
@pytest.mark.parametrize("times", [1, 2], ids=["raw", "decoded"])
def test_blocks_stay_within_their_budget(shape, times):
    files, metarange_id, keys = stored(shape)
    ample = sizes(block_bytes=BUDGET, index_bytes=10**9, range_bytes=10**9, metarange_bytes=10**9)
    committed = Committed(files, caches=ample)
    metarange = MetaRange(committed, NAMESPACE, metarange_id)
    for header in metarange.headers():
        index_of(committed.open_range(NAMESPACE, header))  # what is not a block is there before
    files.reads = NoList()

    def fill() -> object:
        for key in keys:
            for _ in range(times):
                assert metarange.get(key) is not None
        return metarange

    check(growth_bytes(fill))
    assert committed._blocks.held_bytes <= BUDGET


def index_of(table: OpenTable[Any]) -> int:
    """Have the whole index decoded; how many blocks it has."""
    return sum(1 for _ in table._places_from(b""))


class NoList(list[tuple[str, str]]):
    """Takes no memory for what is appended."""

    def append(self, _read: tuple[str, str]) -> None:
        pass


@each_shape
def test_blocks_of_metaranges_stay_within_the_same_budget(shape):
    content, _ = SHAPES[shape]
    files = CopiedFiles()
    metarange_id = write(Committed(files, breaking=Breaking(1)), content).id
    files.reads = NoList()
    committed = Committed(files, caches=sizes(block_bytes=BUDGET, metarange_bytes=10**9))
    metarange = MetaRange(committed, NAMESPACE, metarange_id)
    index_of(metarange._open())
    check(growth_bytes(lambda: [sum(1 for _ in metarange.headers()), metarange]))


@each_shape
def test_open_ranges_stay_within_their_budget(shape):
    content, _ = SHAPES[shape]
    files = CopiedFiles()
    metarange_id = write(Committed(files, breaking=Breaking(10)), content).id
    files.reads = NoList()
    committed = Committed(files, caches=sizes(range_bytes=BUDGET, metarange_bytes=10**9))
    metarange = MetaRange(committed, NAMESPACE, metarange_id)
    last_keys = [header.max_key for header in metarange.headers()]

    def fill() -> object:
        for key in last_keys:
            metarange.get(key)
        return metarange

    check(growth_bytes(fill))


@each_shape
def test_indexes_of_open_ranges_stay_within_their_budget(shape):
    content, _ = SHAPES[shape]
    writer = TableWriter("ranges", block_size_bytes=1)
    writer.add_many(list(content), [b""] * len(content))
    file = writer.finish()
    indexes = BlockCache(BUDGET)

    def read(offset: int, length: int) -> bytes:
        return file[offset : offset + length]

    table = Table.open("a range", len(file), file[-TAIL_BYTES:], read, None, indexes)

    def fill() -> object:
        for key in content:
            assert table.get(key) == b""
        return table

    check(growth_bytes(fill))
    assert indexes.held_bytes <= BUDGET


@each_shape
@pytest.mark.parametrize("kind", [Table, HeaderTable])
def test_an_open_table_takes_the_memory_that_it_states(shape, kind):
    """Also a large one, most of which is its index."""
    content, _ = SHAPES[shape]
    writer = TableWriter("ranges", block_size_bytes=1)
    writer.add_many(list(content), [b""] * len(content))
    file = writer.finish()

    def fill() -> Any:
        table = kind.open("s3://bucket/a/file", len(file), file[-TAIL_BYTES:], read)
        index_of(table)
        return table

    def read(offset: int, length: int) -> bytes:
        return file[offset : offset + length]

    said = fill().memory_bytes
    assert 0.6 * said < growth_bytes(fill) < 1.1 * said


@each_shape
def test_open_metaranges_stay_within_their_budget(shape):
    content, breaking = SHAPES[shape]
    files = CopiedFiles()
    writing = Committed(files, breaking=breaking)
    keys = list(content)
    some = [write(writing, dict.fromkeys(keys[begin:], b"x")).id for begin in range(0, 60, 3)]
    files.reads = NoList()
    committed = Committed(files, caches=sizes(metarange_bytes=BUDGET))

    def fill() -> object:
        for metarange_id in some:
            MetaRange(committed, NAMESPACE, metarange_id).get(keys[-1])
        return committed

    check(growth_bytes(fill), least=0)


@each_shape
def test_whole_files_stay_within_their_budget(shape):
    files, metarange_id, _ = stored(shape)
    files.reads = NoList()
    metarange = MetaRange(
        Committed(files, caches=sizes(content_bytes=BUDGET)), NAMESPACE, metarange_id
    )

    def fill() -> object:
        for _ in metarange.records():
            pass
        return metarange

    check(growth_bytes(fill), least=0.05)


@pytest.mark.parametrize("blocks", [1, 30, 150])
def test_summaries_stay_within_their_budget(blocks):
    committed = Committed(MemoryCommittedFiles(), caches=sizes(summary_bytes=BUDGET))

    def fill() -> object:
        for number in range(4 * BUDGET // (blocks * 530)):
            summary = Summary()
            summary.record_ids = bytes(512 * blocks)
            for at in range(blocks):
                summary.add(BlockSize(16, 1000 + number + at, 3000 + at))
            committed.keep(NAMESPACE, f"{number:064x}", b"", summary)
        return committed

    check(growth_bytes(fill))


@each_shape
def test_files_opened_for_their_blocks_stay_within_their_budget(shape):
    files, metarange_id, _ = stored(shape)
    files.reads = NoList()
    metarange = MetaRange(
        Committed(files, caches=sizes(content_bytes=BUDGET, metarange_bytes=10**9)),
        NAMESPACE,
        metarange_id,
    )
    headers = list(metarange.headers())

    def fill() -> object:
        for header in headers:
            metarange.range_blocks(header)
        return metarange

    check(growth_bytes(fill), least=0.2)
