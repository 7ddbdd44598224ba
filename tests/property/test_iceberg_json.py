"""Any JSON of a client or a file gives a result or a refusal, and changes nothing of the old table."""

from copy import deepcopy

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from graveler.errors import ConflictError, InvalidInputError
from graveler.iceberg.creation import created_by_updates, new_metadata
from graveler.iceberg.metadata import read_metadata
from graveler.iceberg.requirements import REQUIREMENTS, check_requirements
from graveler.iceberg.updates import UPDATES, apply_updates
from tests.support.worlds.iceberg_tables import (
    CREATED_MS,
    LOCATION,
    UUID,
    add,
    column,
    order,
    request,
    schema,
    set_ref,
    snapshot,
    spec,
    table,
    with_snapshots,
)

FILE = {"snapshot-id": 2, "statistics-path": "f", "file-size-in-bytes": 9}
FIELDS = {
    "uuid": UUID,
    "format-version": 3,
    "schema": schema(
        column(
            4, "l", {"type": "list", "element-id": 5, "element": "int", "element-required": True}
        )
    ),
    "schema-id": -1,
    "schema-ids": [1],
    "spec": spec((1, "bucket[4]", "b")),
    "spec-id": -1,
    "spec-ids": [1],
    "sort-order": order(1),
    "sort-order-id": -1,
    "snapshot": snapshot(3, 2, first_row_id=20, added_rows=1),
    "snapshot-id": 2,
    "snapshot-ids": [1],
    "ref-name": "b",
    "type": "branch",
    "statistics": {**FILE, "file-footer-size-in-bytes": 1, "blob-metadata": []},
    "partition-statistics": FILE,
    "location": LOCATION,
    "updates": {"a": "b"},
    "removals": ["a"],
    "encryption-key": {"key-id": "k", "encrypted-key-metadata": ""},
    "key-id": "k",
    "ref": "main",
    "last-assigned-field-id": 3,
    "current-schema-id": 0,
    "last-assigned-partition-id": 999,
    "default-spec-id": 0,
    "default-sort-order-id": 0,
}
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("ab-1[")
json = st.recursive(
    scalars | st.sampled_from(["struct", "list", "map", "int", "identity", 2**40, -1, 0, 1.0]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab") | st.sampled_from(sorted(FIELDS)), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def broken(draw, document):
    """Draw the document with a few values replaced or removed, at any depth."""
    found = deepcopy(document)
    for _ in range(draw(st.integers(0, 2))):
        at = found
        while True:
            places = list(at) if isinstance(at, dict) else range(len(at))
            if not places:
                break
            place = draw(st.sampled_from(list(places)))
            if isinstance(at[place], dict | list) and at[place] and draw(st.booleans()):
                at = at[place]
                continue
            if isinstance(at, dict) and draw(st.booleans()):
                del at[place]
            else:
                at[place] = draw(json)
            break
    return found


TABLES = [with_snapshots(table(version), *([1, 2] * (version > 1))) for version in (1, 2, 3)]
ENTRIES = [{"action": kind, **FIELDS} for kind in UPDATES] + [add(snapshot(4, 3)), set_ref(4)]
NEEDS = [{**FIELDS, "type": kind} for kind in REQUIREMENTS]
REQUEST = request(partition_spec=spec((2, "day", "d")), write_order=order(3))
several = st.lists(st.sampled_from(ENTRIES).flatmap(broken), max_size=4) | json


def accepted(step, *arguments, **rest):
    """Return the result of a step, or None if it refuses."""
    try:
        return step(*arguments, **rest)
    except (InvalidInputError, ConflictError):
        return None


@given(st.sampled_from(TABLES), several)
def test_any_updates_give_metadata_that_can_be_read_or_are_refused(base, updates):
    before = msgspec.json.encode(base)
    found = accepted(apply_updates, base, updates, time_ms=CREATED_MS + 60_000, previous_file="f")
    assert found is None or read_metadata(found) == found
    assert msgspec.json.encode(base) == before


@given(st.sampled_from(TABLES), st.lists(st.sampled_from(NEEDS).flatmap(broken)) | json)
def test_any_requirements_hold_or_are_refused(base, requirements):
    accepted(check_requirements, requirements, base)
    accepted(check_requirements, requirements, None)


@given(st.sampled_from(TABLES).flatmap(broken) | json)
def test_any_file_is_read_as_metadata_that_can_be_updated_or_is_refused(document):
    found = accepted(read_metadata, document)
    if found is not None:
        assert read_metadata(found) == found
        for update in ENTRIES:
            accepted(apply_updates, found, [update], time_ms=CREATED_MS + 60_000)


@given(broken(REQUEST) | json)
def test_any_request_makes_a_table_or_is_refused(asked):
    found = accepted(new_metadata, asked, uuid=UUID, location=LOCATION, time_ms=CREATED_MS)
    assert found is None or read_metadata(found) == found


@given(several)
def test_any_commit_makes_a_table_or_is_refused(updates):
    found = accepted(created_by_updates, updates, uuid=UUID, time_ms=CREATED_MS)
    assert found is None or read_metadata(found) == found


def test_deeply_nested_json_is_refused():
    for depth in (90, 200, 5000):
        kind: object = "int"
        for number in range(9, 9 + depth):
            item = {"element-id": number, "element": kind, "element-required": True}
            kind = {"type": "list", **item}
        asked = request(schema=schema(column(1000000, "deep", kind)))
        found = accepted(new_metadata, asked, uuid=UUID, location=LOCATION, time_ms=CREATED_MS)
        assert (found is None) == (depth > 100)
