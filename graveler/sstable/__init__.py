"""SSTables: immutable files of sorted records, in the format of RocksDB and lakeFS.

`TableWriter` makes the bytes of a file, and `Table` reads records from them. The format, byte for
byte, is in docs/formats/sstable.md. Nothing here does I/O: callers pass and receive bytes.
"""

from graveler.sstable.block import Block, BlockSize
from graveler.sstable.block_cache import BlockCache
from graveler.sstable.entries import Pair
from graveler.sstable.format import seal_block
from graveler.sstable.open_table import TAIL_BYTES, OpenTable, ReadBytes
from graveler.sstable.reader import Records, Table
from graveler.sstable.table_in_memory import TableInMemory
from graveler.sstable.writer import BLOCK_SIZE_BYTES, TableWriter

__all__ = [
    "BLOCK_SIZE_BYTES",
    "TAIL_BYTES",
    "Block",
    "BlockCache",
    "BlockSize",
    "OpenTable",
    "Pair",
    "ReadBytes",
    "Records",
    "Table",
    "TableInMemory",
    "TableWriter",
    "seal_block",
]
