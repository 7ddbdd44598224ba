"""Whatever is written as Parquet, a library reads back."""

from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from graveler.parquet import (
    ParquetWriter,
    int64_column,
    map_column,
    text_column,
    time_column,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
rows = st.tuples(texts, st.integers(-(2**63), 2**63 - 1))


def written(groups: list[list[tuple[str, int]]]) -> bytes:
    writer = ParquetWriter()
    for group in groups:
        writer.add_rows(
            [
                text_column("physical_address", [address for address, _ in group]),
                int64_column("creation_date", [date for _, date in group]),
            ]
        )
    size_bytes = writer.size_bytes
    content = writer.finish()
    assert size_bytes < len(content)
    return content


@given(st.lists(st.lists(rows, max_size=30), min_size=1, max_size=20))
def test_rows_come_back_as_they_were(groups: list[list[tuple[str, int]]]) -> None:
    table = pq.read_table(BytesIO(written(groups)))
    assert table.schema == pa.schema(
        [
            pa.field("physical_address", pa.string(), nullable=False),
            pa.field("creation_date", pa.int64(), nullable=False),
        ]
    )
    columns = (column.to_pylist() for column in table.columns)
    assert list(zip(*columns, strict=True)) == [row for group in groups for row in group]


@given(st.lists(st.lists(rows, max_size=30), min_size=1, max_size=20))
def test_the_metadata_tell_the_truth(groups: list[list[tuple[str, int]]]) -> None:
    content = written(groups)
    metadata = pq.ParquetFile(BytesIO(content)).metadata
    assert metadata.num_rows == sum(map(len, groups))
    assert [metadata.row_group(at).num_rows for at in range(len(groups))] == list(map(len, groups))
    end = 4
    for at in range(len(groups)):
        group = metadata.row_group(at)
        chunks = [group.column(number) for number in range(2)]
        assert group.total_byte_size == sum(chunk.total_uncompressed_size for chunk in chunks)
        for chunk in chunks:
            assert (chunk.compression, chunk.data_page_offset) == ("ZSTD", end)
            end += chunk.total_compressed_size
    assert end + metadata.serialized_size + 8 == len(content)


def test_equal_rows_give_equal_bytes() -> None:
    groups = [[("data/a/b", 1), ("data/a/c", 2)]]
    assert written(groups) == written(groups)


days_us = st.integers(-(10**15), 10**15)
labels = st.dictionaries(texts, texts, max_size=3)


@given(st.lists(st.lists(st.tuples(days_us, labels), max_size=30), min_size=1, max_size=3))
def test_times_and_maps_come_back_under_iceberg_s_ids(
    groups: list[list[tuple[int, dict[str, str]]]],
) -> None:
    writer = ParquetWriter()
    for group in groups:
        maps = map_column("labels", [row for _, row in group], (2, 3, 4))
        writer.add_rows([time_column("at", [time_us for time_us, _ in group], 1), maps])
    table = pq.read_table(BytesIO(writer.finish()))
    at, labels = table.schema.field("at"), table.schema.field("labels")
    assert (at.type, str(labels.type)) == (
        pa.timestamp("us", "UTC"),
        "map<string, string ('labels')>",
    )
    for number, field in enumerate([at, labels, labels.type.key_field, labels.type.item_field], 1):
        assert not field.nullable
        assert field.metadata == {b"PARQUET:field_id": str(number).encode()}
    times_us = table["at"].cast(pa.int64()).to_pylist()
    rows = zip(times_us, map(dict, table["labels"].to_pylist()), strict=True)
    assert list(rows) == [row for group in groups for row in group]
