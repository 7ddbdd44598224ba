"""Where tables live: a name has one path, and a UUID is for one path."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.errors import InvalidInputError
from graveler.iceberg.places import (
    children_folder,
    is_in_location,
    is_uuid_for,
    marker_path,
    metadata_file,
    new_uuid,
    next_version,
    table_path,
    tables_folder,
)

KEY = b"k" * 32
LOCATION = "s3://bucket/lake/_iceberg/u"

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1)
LEVELS = st.lists(NAMES.filter(lambda name: name not in {".", ".."}), min_size=1, max_size=4)


def test_a_table_is_where_lakefs_has_it() -> None:
    path = table_path(("sales",), "orders")
    assert path == b"_lakefs_tables/iceberg/namespaces/sales/tables/orders"


@given(LEVELS, LEVELS)
def test_no_two_names_share_a_path(some: list[str], others: list[str]) -> None:
    def paths(levels: list[str]) -> set[bytes]:
        *namespace, name = levels
        named = {table_path(namespace, name)} if namespace else set()
        return named | {marker_path(levels), tables_folder(levels), children_folder(levels)}

    assert some == others or paths(some).isdisjoint(paths(others))


@pytest.mark.parametrize("name", ["", "a/b", "\x1f", "a\0", ".", "..", "\ud800", "x" * 256])
def test_a_bad_name_is_refused(name: str) -> None:
    for namespace, table in [((name,), "t"), (("n",), name), (("n", name), "t")]:
        with pytest.raises(InvalidInputError):
            table_path(namespace, table)


def test_a_path_that_no_object_can_have_is_refused() -> None:
    levels = ("x" * 250,) * 4
    for too_long in (lambda: table_path(levels[:3], "y" * 250), lambda: marker_path(levels)):
        with pytest.raises(InvalidInputError, match="maximum length"):
            too_long()


def test_a_table_needs_a_namespace() -> None:
    with pytest.raises(InvalidInputError, match="needs a namespace"):
        table_path((), "t")


@given(st.binary(min_size=6, max_size=6), st.binary(min_size=1))
def test_a_uuid_is_for_one_path_of_one_repository(own: bytes, path: bytes) -> None:
    uuid = new_uuid(KEY, "repository", path, own.hex())
    assert is_uuid_for(uuid, KEY, "repository", path)
    assert not is_uuid_for(uuid, KEY, "repository", path + b"2")
    assert not is_uuid_for(uuid, KEY, "another", path)
    assert not is_uuid_for(uuid, b"another key", "repository", path)
    changed = uuid[:-1] + ("0" if uuid[-1] != "0" else "1")
    assert not is_uuid_for(changed, KEY, "repository", path)


@pytest.mark.parametrize("uuid", ["", "../x", "9c12d441-03fe-4693-9a96-a0705ddf69c1", "é" * 36])
def test_a_uuid_of_another_maker_is_for_no_path(uuid: str) -> None:
    assert not is_uuid_for(uuid, KEY, "repository", b"path")


def test_metadata_files_are_numbered() -> None:
    first = metadata_file(LOCATION, 0, "uid")
    name = first.removeprefix(f"{LOCATION}/metadata/00000-").removesuffix(".metadata.json")
    assert str(UUID(name)) == name
    assert first != metadata_file(LOCATION, 0, "other uid")
    assert next_version(first) == 1
    assert next_version(f"{LOCATION}/metadata/v12.metadata.json") == 0


@pytest.mark.parametrize(
    ("uri", "is_in"),
    [
        (LOCATION, True),
        (f"{LOCATION}/", True),
        (f"{LOCATION}/data/x", True),
        (f"{LOCATION}2/data", False),
        (f"{LOCATION}/../v", False),
        (f"{LOCATION}/./x", False),
        ("s3://bucket/lake", False),
        (f"{LOCATION}/x/", True),
        (f"{LOCATION}/x//y", False),
        (f"{LOCATION}//", False),
    ],
)
def test_only_what_is_below_a_location_is_in_it(uri: str, is_in: bool) -> None:
    assert is_in_location(uri, LOCATION) is is_in
