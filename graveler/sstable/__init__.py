"""SSTables: immutable files of sorted records, in the format of RocksDB and lakeFS.

`TableWriter` makes the bytes of a file, `Table` answers from them; docs/formats/sstable.md is the
format, byte for byte. Nothing here does I/O: bytes come in and go out.
"""

from graveler.sstable.block import Block, BlockSize
from graveler.sstable.reader import (
    TAIL_BYTES,
    BlockCache,
    BlockId,
    BlockIndex,
    ReadBytes,
    Table,
)
from graveler.sstable.writer import BLOCK_SIZE_BYTES, TableWriter

__all__ = [
    "BLOCK_SIZE_BYTES",
    "TAIL_BYTES",
    "Block",
    "BlockCache",
    "BlockId",
    "BlockIndex",
    "BlockSize",
    "ReadBytes",
    "Table",
    "TableWriter",
]
