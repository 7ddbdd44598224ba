"""A range holds its own summary, so a commit decodes and hashes only the blocks that it changes."""

import pytest

from graveler.committed.apply import Applied, apply_changes
from graveler.committed.level import RANGES
from graveler.committed.store import Breaking, Committed
from graveler.committed.summary import META_BLOCK, decode_summary, summarize
from graveler.errors import CorruptDataError
from graveler.layout import committed_uri
from graveler.model import Change, MetaRangeID
from graveler.sstable import TAIL_BYTES, Table, TableInMemory, TableWriter
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, applied, opened, read, token_value, write

RECORDS = {b"path/%04d" % n: token_value(f"v{n}") for n in range(2000)}
CHANGE: Change = b"path/1000", token_value("changed")
ONE_RANGE = Breaking(1 << 60)


class Stored:
    """A repository of one range, and its files."""

    def __init__(self) -> None:
        self.memory = MemoryCommittedFiles()
        base = write(Committed(self.memory, breaking=ONE_RANGE), RECORDS)
        self.base_id = base.id
        self.range_id = self.range_of(base.id)

    def committed(self) -> Committed:
        """A process that has read nothing."""
        return Committed(self.memory, breaking=ONE_RANGE)

    def range_of(self, metarange_id: MetaRangeID) -> str:
        (header,) = opened(self.committed(), metarange_id).headers()
        return header.id

    @property
    def content(self) -> bytes:
        return self.memory.files[NAMESPACE, self.range_id]

    @content.setter
    def content(self, content: bytes) -> None:
        self.memory.files[NAMESPACE, self.range_id] = content

    def commit(self, *changes: Change) -> Applied:
        """Apply the changes in a new process."""
        committed = self.committed()
        return apply_changes(committed, opened(committed, self.base_id), changes)


@pytest.fixture
def stored() -> Stored:
    return Stored()


def rewritten(content: bytes, summary: bytes | None) -> bytes:
    """The range with another summary, or with none, as an earlier version wrote it."""
    table = TableInMemory.from_bytes("file", content)
    writer = TableWriter("ranges")
    for at in range(len(table)):
        writer.add_block(*table.block(at))
    return writer.finish({META_BLOCK: summary} if summary is not None else None)


@pytest.mark.parametrize(
    ("change", "blocks"), [(CHANGE, 2), ((CHANGE[0], None), 3)], ids=["new value", "deletion"]
)
def test_a_commit_decodes_only_blocks_of_which_it_changes_the_keys(
    stored, monkeypatch, change, blocks
):
    decoded = []
    block = TableInMemory.block

    def noted(table: TableInMemory, at: int) -> object:
        if table.name == committed_uri(NAMESPACE, stored.range_id):
            decoded.append(at)
        return block(table, at)

    monkeypatch.setattr(TableInMemory, "block", noted)
    stored.commit(change)
    # Beside the changed block, the first and the last: they have the keys at the range's ends.
    assert len(set(decoded)) == blocks


def test_a_range_without_summary_gives_the_same_commit(stored):
    made = stored.commit(CHANGE)
    stored.content = rewritten(stored.content, None)
    again = stored.commit(CHANGE)
    assert again == made
    assert read(opened(stored.committed(), again.metarange_id)) == applied(RECORDS, [CHANGE])


@pytest.mark.parametrize("changes", [[], [CHANGE]], ids=["written", "copied"])
def test_the_summary_in_a_range_is_that_of_its_blocks(stored, changes):
    stored.range_id = stored.range_of(stored.commit(*changes).metarange_id)
    table = TableInMemory.from_bytes("file", stored.content)
    blocks = [table.block(at) for at in range(len(table))]
    assert table.meta_block(META_BLOCK) == summarize(blocks, RANGES).encode()


def test_a_range_with_a_damaged_summary_is_refused(stored):
    whole = stored.content
    encoded = TableInMemory.from_bytes("file", whole).meta_block(META_BLOCK) or b""
    begin = whole.index(encoded)
    for at in range(begin, begin + len(encoded) + 5, 97):
        stored.content = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        with pytest.raises(CorruptDataError, match=stored.range_id):
            stored.commit(CHANGE)


def test_a_summary_of_another_file_is_refused(stored):
    table = TableInMemory.from_bytes("file", stored.content)
    blocks = [table.block(at) for at in range(len(table))]
    alien = summarize(blocks[:3], RANGES).encode()
    swapped = blocks[0]._replace(values=blocks[0].values[::-1])
    of_one_size = summarize([swapped, *blocks[1:]], RANGES).encode()
    for encoded in (b"", alien, alien[:-32], of_one_size):
        stored.content = rewritten(stored.content, encoded)
        with pytest.raises(CorruptDataError, match=rf"{stored.range_id}.*summary"):
            stored.commit(CHANGE)


@pytest.mark.parametrize("shift", [(-1, 0), (0, 1), (-1, 1)], ids=str)
def test_a_summary_that_counts_records_in_the_wrong_blocks_is_refused(stored, shift):
    table = TableInMemory.from_bytes("file", stored.content)
    encoded = table.meta_block(META_BLOCK) or b""
    summary = decode_summary(encoded, len(table), stored.range_id)
    at = table.find(CHANGE[0])
    summary.records[at + shift[0]] += 1
    summary.records[at + shift[1]] -= 1
    stored.content = rewritten(stored.content, summary.encode())
    with pytest.raises(CorruptDataError, match=rf"{stored.range_id}: block {at} does not"):
        stored.commit(CHANGE)


def test_a_lookup_reads_no_more_because_of_the_summary(stored):
    reads = []

    def read_bytes(offset: int, length: int) -> bytes:
        reads.append(length)
        return stored.content[offset : offset + length]

    size_bytes, tail = len(stored.content), stored.content[-TAIL_BYTES:]
    assert size_bytes > TAIL_BYTES
    table = Table.open("file", size_bytes, tail, read_bytes)
    assert table.get(CHANGE[0]) == RECORDS[CHANGE[0]]
    assert len(reads) == 1  # the data block
    bare = rewritten(stored.content, None)
    other = Table.open("file", len(bare), bare[-TAIL_BYTES:], read_bytes)
    assert table.memory_bytes <= other.memory_bytes + 100  # the summary is not kept


def test_a_small_range_has_no_summary_because_lookups_fetch_it_whole(stored):
    few = dict(list(RECORDS.items())[:300])
    base = write(stored.committed(), few)
    content = stored.memory.files[NAMESPACE, stored.range_of(base.id)]
    assert len(content) < TAIL_BYTES
    assert TableInMemory.from_bytes("file", content).meta_block(META_BLOCK) is None
