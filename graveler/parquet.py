"""Write Parquet files of a few columns, without a library.

Spark reads the addresses of staged objects from Parquet, and Iceberg's clients the table of a
commit's objects. The libraries that write it are too large for a Lambda function. The needed part
of the format is small:

    "PAR1"  column chunk, column chunk, …  FileMetaData  length of it (u32 LE)  "PAR1"

Each group of rows has a chunk for each column: a page header, then one page of values in PLAIN
encoding, compressed with Zstandard. No value is missing (REQUIRED). So only a column of maps has
levels: the repetition levels say which entries continue a map, the definition levels which maps are
not empty. Page header and FileMetaData are Thrift structs in the compact protocol.

Source: parquet.thrift, Encodings.md and LogicalTypes.md of apache/parquet-format; names and numbers
are from there.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from struct import pack

import cramjam
from msgspec import Struct

from graveler.varint import varint, zigzag_varint

_MAGIC = b"PAR1"
_CREATED_BY = "graveler"

# parquet.thrift
_INT64, _BYTE_ARRAY = 2, 6
_REQUIRED, _REPEATED = 0, 2
_ZSTD = 6
_PLAIN, _RLE = 0, 3
_DATA_PAGE = 0

# A value of Thrift's compact protocol: its type there, and its bytes.
_Value = tuple[int, bytes]


def _i32(number: int) -> _Value:
    return 5, zigzag_varint(number)


def _i64(number: int) -> _Value:
    return 6, zigzag_varint(number)


def _text(text: str) -> _Value:
    encoded = text.encode()
    return 8, varint(len(encoded)) + encoded


def _list(values: Sequence[_Value]) -> _Value:
    kind, count = values[0][0], len(values)
    head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + varint(count)
    return 9, head + b"".join(encoded for _, encoded in values)


def _struct(fields: Mapping[int, _Value]) -> _Value:
    """Return a struct of fields by number, in that order."""
    parts, last = [], 0
    for number, (kind, encoded) in fields.items():
        parts += [bytes([(number - last) << 4 | kind]), encoded]
        last = number
    return 12, b"".join([*parts, b"\0"])


_NOTHING = _struct({})
_TRUE: _Value = (1, b"")

# What values mean, both for old readers (6) and for new ones (10).
_Meaning = tuple[_Value, _Value]
_STRING: _Meaning = (_i32(0), _struct({1: _NOTHING}))
_MAP: _Meaning = (_i32(1), _struct({2: _NOTHING}))
_TIME_US: _Meaning = (_i32(10), _struct({8: _struct({1: _TRUE, 2: _struct({2: _NOTHING})})}))


class _Leaf(Struct, frozen=True):
    """Values of one type: their path in the schema, and their page.

    count: of values, or of levels if there are any.
    """

    path: Sequence[str]
    type: int
    count: int
    plain: bytes


class Column(Struct, frozen=True):
    """One column's values in a group of rows, and the elements of the schema that describe it."""

    rows: int
    elements: Sequence[_Value]
    leaves: Sequence[_Leaf]


def text_column(name: str, values: Sequence[str | bytes], field_id: int | None = None) -> Column:
    """Return a column of texts, or of their UTF-8; field_id is Iceberg's."""
    leaf = _Leaf([name], _BYTE_ARRAY, len(values), _plain(values))
    return Column(len(values), [_leaf_element(name, _BYTE_ARRAY, _STRING, field_id)], [leaf])


def int64_column(name: str, values: Sequence[int], field_id: int | None = None) -> Column:
    """Return a column of 64-bit integers."""
    return _of_numbers(name, values, None, field_id)


def time_column(name: str, values_us: Sequence[int], field_id: int | None = None) -> Column:
    """Return a column of Unix times in microseconds."""
    return _of_numbers(name, values_us, _TIME_US, field_id)


def _of_numbers(
    name: str, values: Sequence[int], meaning: _Meaning | None, field_id: int | None
) -> Column:
    leaf = _Leaf([name], _INT64, len(values), pack(f"<{len(values)}q", *values))
    return Column(len(values), [_leaf_element(name, _INT64, meaning, field_id)], [leaf])


def map_column(
    name: str, rows: Sequence[Mapping[str, str]], field_ids: tuple[int, int, int]
) -> Column:
    """Return a column of maps of texts; field_ids are those of map, key and value."""
    map_id, key_id, value_id = field_ids
    # An empty map has a place among the levels as well.
    continues = [number > 0 for row in rows for number in range(len(row) or 1)]
    is_full = [bool(row) for row in rows for _ in range(len(row) or 1)]
    levels = _levels(continues) + _levels(is_full)
    keys = _plain([key for row in rows for key in row])
    values = _plain([value for row in rows for value in row.values()])
    inner = "key_value"
    elements = [
        _element({3: _i32(_REQUIRED), 4: _text(name), 5: _i32(1)}, _MAP, map_id),
        _element({3: _i32(_REPEATED), 4: _text(inner), 5: _i32(2)}),
        _leaf_element("key", _BYTE_ARRAY, _STRING, key_id),
        _leaf_element("value", _BYTE_ARRAY, _STRING, value_id),
    ]
    leaves = [
        _Leaf([name, inner, leaf], _BYTE_ARRAY, len(is_full), levels + plain)
        for leaf, plain in (("key", keys), ("value", values))
    ]
    return Column(len(rows), elements, leaves)


def _leaf_element(name: str, kind: int, meaning: _Meaning | None, field_id: int | None) -> _Value:
    return _element({1: _i32(kind), 3: _i32(_REQUIRED), 4: _text(name)}, meaning, field_id)


def _element(
    fields: dict[int, _Value], meaning: _Meaning | None = None, field_id: int | None = None
) -> _Value:
    """Return a SchemaElement."""
    converted = {6: meaning[0]} if meaning else {}
    numbered = {9: _i32(field_id)} if field_id is not None else {}
    logical = {10: meaning[1]} if meaning else {}
    return _struct(fields | converted | numbered | logical)


def _plain(values: Sequence[str | bytes]) -> bytes:
    encoded = (value.encode() if isinstance(value, str) else value for value in values)
    return b"".join([part for value in encoded for part in (pack("<I", len(value)), value)])


def _levels(levels: Iterable[bool]) -> bytes:
    """Return levels of 0 and 1 as runs of equal ones, behind the length of all."""
    runs = [varint(len(list(run)) << 1) + bytes([level]) for level, run in groupby(levels)]
    encoded = b"".join(runs)
    return pack("<I", len(encoded)) + encoded


class ParquetWriter:
    """Writes one file in memory: add one group of rows or more, then finish."""

    def __init__(self) -> None:
        self._parts = [_MAGIC]
        self._size_bytes = len(_MAGIC)
        self._elements: Sequence[Sequence[_Value]] = ()
        self._row_groups: list[_Value] = []
        self._row_count = 0

    @property
    def size_bytes(self) -> int:
        """The size so far; the file's end adds little."""
        return self._size_bytes

    def add_rows(self, columns: Sequence[Column]) -> None:
        """Append a group of rows; all groups have the same columns."""
        row_count = columns[0].rows
        assert all(column.rows == row_count for column in columns)
        elements = [column.elements for column in columns]
        assert elements == self._elements or not self._row_groups
        self._elements = elements
        chunks = [self._write_chunk(leaf) for column in columns for leaf in column.leaves]
        total_bytes = sum(size_bytes for _, size_bytes in chunks)
        group = {1: _list([chunk for chunk, _ in chunks]), 2: _i64(total_bytes), 3: _i64(row_count)}
        self._row_groups.append(_struct(group))
        self._row_count += row_count

    def _write_chunk(self, leaf: _Leaf) -> tuple[_Value, int]:
        """Append the column's page; return its ColumnChunk and its size before compression."""
        page = bytes(cramjam.zstd.compress(leaf.plain))
        header = _page_header(len(leaf.plain), len(page), leaf.count)
        offset = self._size_bytes
        self._parts += [header, page]
        self._size_bytes += len(header) + len(page)
        size_bytes = len(header) + len(leaf.plain)
        metadata = {
            1: _i32(leaf.type),
            2: _list([_i32(_PLAIN), _i32(_RLE)]),
            3: _list([_text(part) for part in leaf.path]),
            4: _i32(_ZSTD),
            5: _i64(leaf.count),
            6: _i64(size_bytes),
            7: _i64(len(header) + len(page)),
            9: _i64(offset),
        }
        return _struct({2: _i64(offset), 3: _struct(metadata)}), size_bytes

    def finish(self) -> bytes:
        """Return the whole file."""
        assert self._row_groups, "a file without rows has no columns either"
        root = _struct({4: _text("schema"), 5: _i32(len(self._elements))})
        described = {
            1: _i32(1),
            2: _list([root, *(each for elements in self._elements for each in elements)]),
            3: _i64(self._row_count),
            4: _list(self._row_groups),
            6: _text(_CREATED_BY),
        }
        _, metadata = _struct(described)
        return b"".join([*self._parts, metadata, pack("<I", len(metadata)), _MAGIC])


def _page_header(plain_bytes: int, stored_bytes: int, count: int) -> bytes:
    # The last two are the encodings of definition and repetition levels.
    data_page = {1: _i32(count), 2: _i32(_PLAIN), 3: _i32(_RLE), 4: _i32(_RLE)}
    _, header = _struct(
        {
            1: _i32(_DATA_PAGE),
            2: _i32(plain_bytes),
            3: _i32(stored_bytes),
            5: _struct(data_page),
        }
    )
    return header
