"""Data blocks are compared and changed as bytes with the results of decoding all of them."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from graveler.sstable.block import encode_records
from graveler.sstable.entries import differing_records, replace_values

# Bytes that trailers are made of, keys that continue each other, and keys with long common parts.
edge_keys = st.lists(st.sampled_from([0, 1, 0x61, 0xFF]), max_size=12).map(bytes)
long_keys = st.integers(0, 60).map(lambda n: b"a/long/path/of/objects/%04d" % n)
keys = edge_keys | long_keys | st.binary(min_size=120, max_size=300)
values = st.binary(max_size=4) | st.integers(0, 20_000).map(lambda n: b"v" * n)
blocks = st.dictionaries(keys, values, min_size=1, max_size=60) | st.dictionaries(
    long_keys, values, min_size=20, max_size=60
)
edits = st.dictionaries(keys, values | st.none(), max_size=5)


def encoded(records):
    ordered = sorted(records.items())
    return encode_records([key for key, _ in ordered], [value for _, value in ordered])


@given(blocks, st.data())
@settings(deadline=None)
def test_the_differences_of_two_blocks_are_those_of_their_records(left, data):
    right = dict(left)
    places = st.dictionaries(st.sampled_from(sorted(left)), values | st.none(), max_size=5)
    for key, value in (data.draw(places) | data.draw(edits)).items():
        if value is None:
            right.pop(key, None)
        else:
            right[key] = value
    expected = [
        (key, left.get(key), right.get(key))
        for key in sorted(left | right)
        if left.get(key) != right.get(key)
    ]
    assert differing_records(encoded(left), encoded(right)) == expected


@given(blocks, blocks)
@settings(deadline=None)
def test_blocks_without_anything_in_common_differ_in_all_records(left, right):
    only = {key: value + b"!" for key, value in right.items() if key not in left}
    found = differing_records(encoded(left), encoded(only))
    expected = [(key, left.get(key), only.get(key)) for key in sorted(left | only)]
    assert found == expected


@given(blocks, st.data())
@settings(deadline=None)
def test_a_block_with_new_values_has_the_bytes_of_encoding_them(records, data):
    new = data.draw(st.dictionaries(st.sampled_from(sorted(records)), values, min_size=1))
    replaced = replace_values(encoded(records), sorted(new.items()))
    assert replaced is not None
    assert replaced.raw == encoded(records | new)
    places = [place for place, key in enumerate(sorted(records)) if key in new]
    assert replaced.places == places
    assert replaced.values == [records[key] for key in sorted(new)]


@given(blocks, keys, values, st.data())
@settings(deadline=None)
def test_a_block_that_lacks_one_of_the_keys_is_not_changed_in_place(records, key, value, data):
    new = data.draw(st.dictionaries(st.sampled_from(sorted(records)), values)) | {key: value}
    records.pop(key, None)
    if records:
        assert replace_values(encoded(records), sorted(new.items())) is None


@given(blocks, st.data())
@settings(deadline=None)
def test_a_damaged_block_is_refused_or_read_but_never_fails_otherwise(records, data):
    raw = bytearray(encoded(records))
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=4)):
        raw[at] = data.draw(st.integers(0, 255))
    with suppress(ValueError):
        differing_records(encoded(records), bytes(raw))
    with suppress(ValueError):
        differing_records(bytes(raw), encoded(records))
    with suppress(ValueError):
        replace_values(bytes(raw), sorted(records.items()))
