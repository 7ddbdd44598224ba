"""Write Parquet files of a few plain columns, without a library.

Spark reads the addresses of staged objects from Parquet. The libraries that write it are too large
for a Lambda function. The needed part of the format is small:

    "PAR1"  column chunk, column chunk, …  FileMetaData  length of it (u32 LE)  "PAR1"

Each group of rows has a chunk for each column: a page header, then one gzipped page of values in
PLAIN encoding. No value is missing (REQUIRED), so there are no levels. Page header and FileMetaData
are Thrift structs in the compact protocol. Source: parquet.thrift and Encodings.md of
apache/parquet-format; names and numbers are from there.
"""

import zlib
from collections.abc import Sequence
from struct import pack

from msgspec import Struct

from graveler.varint import varint, zigzag_varint

_MAGIC = b"PAR1"
_CREATED_BY = "graveler"

# Thrift's compact protocol: types of fields and of list elements.
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12

# parquet.thrift
_INT64, _BYTE_ARRAY = 2, 6
_REQUIRED = 0
_UTF8 = 0
_GZIP = 2
_PLAIN, _RLE = 0, 3
_DATA_PAGE = 0

# Makes zlib write a gzip header without time or name, so that equal content gives equal bytes.
_GZIP_WINDOW_BITS = 31


class Column(Struct, frozen=True):
    """One column's values in a group of rows, in PLAIN encoding."""

    name: str
    type: int
    count: int
    plain: bytes


def text_column(name: str, values: Sequence[str]) -> Column:
    """Return a column of UTF-8 texts."""
    parts = []
    for value in values:
        encoded = value.encode()
        parts += [pack("<I", len(encoded)), encoded]
    return Column(name, _BYTE_ARRAY, len(values), b"".join(parts))


def int64_column(name: str, values: Sequence[int]) -> Column:
    """Return a column of 64-bit integers."""
    return Column(name, _INT64, len(values), pack(f"<{len(values)}q", *values))


class ParquetWriter:
    """Writes one file in memory: add one group of rows or more, then finish."""

    def __init__(self) -> None:
        self._parts = [_MAGIC]
        self._size_bytes = len(_MAGIC)
        self._columns: Sequence[Column] = ()
        self._row_groups: list[bytes] = []
        self._row_count = 0

    @property
    def size_bytes(self) -> int:
        """The size so far; the file's end adds little."""
        return self._size_bytes

    def add_rows(self, columns: Sequence[Column]) -> None:
        """Append a group of rows; all groups have the same columns."""
        row_count = columns[0].count
        assert all(column.count == row_count for column in columns)
        if self._row_groups:
            assert [(c.name, c.type) for c in columns] == [(c.name, c.type) for c in self._columns]
        # Only their names and types are used later.
        self._columns = [Column(column.name, column.type, 0, b"") for column in columns]
        chunks = [self._write_chunk(column) for column in columns]
        total_bytes = sum(size_bytes for _, size_bytes in chunks)
        self._row_groups.append(
            _struct(
                (1, _LIST, _list(_STRUCT, [chunk for chunk, _ in chunks])),
                (2, _I64, zigzag_varint(total_bytes)),
                (3, _I64, zigzag_varint(row_count)),
            )
        )
        self._row_count += row_count

    def _write_chunk(self, column: Column) -> tuple[bytes, int]:
        """Append the column's page; return its ColumnChunk and its size before compression."""
        page = zlib.compress(column.plain, wbits=_GZIP_WINDOW_BITS)
        header = _page_header(len(column.plain), len(page), column.count)
        offset = self._size_bytes
        self._parts += [header, page]
        self._size_bytes += len(header) + len(page)
        size_bytes = len(header) + len(column.plain)
        metadata = _struct(
            (1, _I32, zigzag_varint(column.type)),
            (2, _LIST, _list(_I32, [zigzag_varint(_PLAIN), zigzag_varint(_RLE)])),
            (3, _LIST, _list(_BINARY, [_text(column.name)])),
            (4, _I32, zigzag_varint(_GZIP)),
            (5, _I64, zigzag_varint(column.count)),
            (6, _I64, zigzag_varint(size_bytes)),
            (7, _I64, zigzag_varint(len(header) + len(page))),
            (9, _I64, zigzag_varint(offset)),
        )
        chunk = _struct((2, _I64, zigzag_varint(offset)), (3, _STRUCT, metadata))
        return chunk, size_bytes

    def finish(self) -> bytes:
        """Return the whole file."""
        assert self._row_groups, "a file without rows has no columns either"
        schema = [
            _struct((4, _BINARY, _text("schema")), (5, _I32, zigzag_varint(len(self._columns))))
        ]
        schema += [_schema_element(column) for column in self._columns]
        metadata = _struct(
            (1, _I32, zigzag_varint(1)),
            (2, _LIST, _list(_STRUCT, schema)),
            (3, _I64, zigzag_varint(self._row_count)),
            (4, _LIST, _list(_STRUCT, self._row_groups)),
            (6, _BINARY, _text(_CREATED_BY)),
        )
        return b"".join([*self._parts, metadata, pack("<I", len(metadata)), _MAGIC])


def _schema_element(column: Column) -> bytes:
    fields = [
        (1, _I32, zigzag_varint(column.type)),
        (3, _I32, zigzag_varint(_REQUIRED)),
        (4, _BINARY, _text(column.name)),
    ]
    if column.type == _BYTE_ARRAY:
        # Mark the bytes as text, both for old readers (6) and for new ones (10).
        fields += [(6, _I32, zigzag_varint(_UTF8)), (10, _STRUCT, _struct((1, _STRUCT, _struct())))]
    return _struct(*fields)


def _page_header(plain_bytes: int, stored_bytes: int, count: int) -> bytes:
    data_page = _struct(
        (1, _I32, zigzag_varint(count)),
        (2, _I32, zigzag_varint(_PLAIN)),
        (
            3,
            _I32,
            zigzag_varint(_RLE),
        ),  # of definition levels, of which there are none
        (4, _I32, zigzag_varint(_RLE)),  # of repetition levels, likewise
    )
    return _struct(
        (1, _I32, zigzag_varint(_DATA_PAGE)),
        (2, _I32, zigzag_varint(plain_bytes)),
        (3, _I32, zigzag_varint(stored_bytes)),
        (5, _STRUCT, data_page),
    )


# Thrift's compact protocol. A field is its number, its type and its encoded value.


def _struct(*fields: tuple[int, int, bytes]) -> bytes:
    parts = []
    last = 0
    for number, kind, value in fields:
        parts += [bytes([(number - last) << 4 | kind]), value]
        last = number
    return b"".join([*parts, b"\0"])


def _list(kind: int, values: Sequence[bytes]) -> bytes:
    count = len(values)
    head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + varint(count)
    return head + b"".join(values)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return varint(len(encoded)) + encoded
