"""SSTables: immutable files of sorted records, in the format of RocksDB and lakeFS.

`TableWriter` makes the bytes of a file, `Table` answers from them; docs/formats/sstable.md is the
format, byte for byte. Nothing here does I/O: bytes come in and go out.
"""

from graveler.sstable.block import Block, BlockSize
from graveler.sstable.block_cache import BlockCache
from graveler.sstable.opened import TAIL_BYTES, OpenTable, ReadBytes
from graveler.sstable.reader import Records, Table
from graveler.sstable.whole import WholeTable
from graveler.sstable.writer import BLOCK_SIZE_BYTES, TableWriter

__all__ = [
    "BLOCK_SIZE_BYTES",
    "TAIL_BYTES",
    "Block",
    "BlockCache",
    "BlockSize",
    "OpenTable",
    "ReadBytes",
    "Records",
    "Table",
    "TableWriter",
    "WholeTable",
]
