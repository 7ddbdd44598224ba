"""The properties block: facts about a table, and its writer's statements about the content.

A table's own properties begin with `rocksdb.`; all others are user properties. Names and values are
those that lakeFS writes (through pebble), so that equal records give equal files.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from graveler.sstable.format import (
    INDEX_TYPE_SINGLE,
    INDEX_TYPE_TWO_LEVEL,
    VARINT,
    read_varint,
)

COMPARATOR: Final = "rocksdb.comparator"
DATA_BLOCKS: Final = "rocksdb.num.data.blocks"
DATA_SIZE: Final = "rocksdb.data.size"
INDEX_SIZE: Final = "rocksdb.index.size"
INDEX_TYPE: Final = "rocksdb.block.based.table.index.type"
INDEX_KEY_IS_USER_KEY: Final = "rocksdb.index.key.is.user.key"
INDEX_VALUE_IS_DELTA_ENCODED: Final = "rocksdb.index.value.is.delta.encoded"
BYTEWISE: Final = b"leveldb.BytewiseComparator"

_TEXTS: Final = {
    "rocksdb.block.based.table.prefix.filtering": b"0",
    "rocksdb.block.based.table.whole.key.filtering": b"0",
    COMPARATOR: BYTEWISE,
    "rocksdb.compression_options": (
        b"window_bits=-14; level=32767; strategy=0; max_dict_bytes=0; zstd_max_train_bytes=0; "
        b"enabled=0; "
    ),
    "rocksdb.merge.operator": b"pebble.concatenate",
    "rocksdb.prefix.extractor.name": b"nullptr",
    "rocksdb.property.collectors": b"[static]",
}
_FIXED_INTEGERS: Final = {
    "rocksdb.external_sst_file.global_seqno": bytes(8),
    "rocksdb.external_sst_file.version": (2).to_bytes(4, "little"),
}
_NUMBERS: Final = {
    "rocksdb.column.family.id": 0x7FFFFFFF,  # of no column family
    "rocksdb.creation.time": 0,  # so that files are reproducible
    "rocksdb.deleted.keys": 0,
    "rocksdb.filter.size": 0,
    "rocksdb.fixed.key.length": 0,
    "rocksdb.format.version": 0,
    INDEX_KEY_IS_USER_KEY: 0,
    INDEX_VALUE_IS_DELTA_ENCODED: 0,
    "rocksdb.merge.operands": 0,
    "rocksdb.num.range-deletions": 0,
    "rocksdb.oldest.key.time": 0,
}


class TableStatistics(Struct):
    """The counters of a writer for the properties of its table."""

    records: int = 0
    key_bytes: int = 0  # stored keys, trailers included
    value_bytes: int = 0
    data_bytes: int = 0  # data blocks as stored, trailers included
    data_blocks: int = 0
    index_bytes: int = 0
    index_partitions: int = 0  # 0: the index is a single block
    top_index_bytes: int = 0


def table_properties(statistics: TableStatistics, *, compress: bool) -> dict[str, bytes]:
    """Return the table's own properties, encoded."""
    numbers = _NUMBERS | {
        DATA_SIZE: statistics.data_bytes,
        INDEX_SIZE: statistics.index_bytes,
        DATA_BLOCKS: statistics.data_blocks,
        "rocksdb.num.entries": statistics.records,
        "rocksdb.raw.key.size": statistics.key_bytes,
        "rocksdb.raw.value.size": statistics.value_bytes,
    }
    index_type = INDEX_TYPE_SINGLE
    if statistics.index_partitions:
        index_type = INDEX_TYPE_TWO_LEVEL
        numbers["rocksdb.index.partitions"] = statistics.index_partitions
        numbers["rocksdb.top-level.index.size"] = statistics.top_index_bytes
    return (
        _TEXTS
        | _FIXED_INTEGERS
        | {name: VARINT[number] for name, number in numbers.items()}
        | {
            "rocksdb.compression": b"Snappy" if compress else b"NoCompression",
            INDEX_TYPE: index_type.to_bytes(4, "little"),
        }
    )


def readable_properties(properties: Mapping[str, bytes]) -> dict[str, str | int]:
    r"""Return all properties as texts or numbers; bytes that are not UTF-8 are escaped (`\xff`).

    Raises:
        ValueError: one of the table's own numbers is malformed.
    """
    readable: dict[str, str | int] = {}
    for name, value in sorted(properties.items()):
        if name in _FIXED_INTEGERS or name == INDEX_TYPE:
            readable[name] = int.from_bytes(value, "little")
        elif name in _NUMBER_NAMES:
            readable[name] = read_varint(value, 0)[0]
        else:
            readable[name] = value.decode(errors="backslashreplace")
    return readable


_NUMBER_NAMES: Final = frozenset(
    name
    for name in table_properties(TableStatistics(index_partitions=1), compress=True)
    if name not in _TEXTS and name not in _FIXED_INTEGERS and name != "rocksdb.compression"
)
