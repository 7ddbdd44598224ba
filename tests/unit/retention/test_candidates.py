"""What a collection may delete: names of our own shape, in no other repository's folder, and old."""

from hypothesis import given
from hypothesis import strategies as st

from graveler.addresses import sign_address
from graveler.ports import ListedObject
from graveler.retention.candidates import (
    MINIMUM_AGE_S,
    Territory,
    namespaces_inside,
    overlap,
)
from tests.support.checks.cases import for_each
from tests.support.worlds.addresses import address, partition

NAMESPACE = "s3://bucket/repo"
TERRITORY = Territory(NAMESPACE, cutoff_ns=100, tables_cutoff_ns=100)
OURS = address(1)
HANDED_OUT = sign_address(b"key", "repo", "main", b"path", address(2))


def listed(uri: str, last_modified_ns: int = 99) -> ListedObject:
    return ListedObject(uri, 1, last_modified_ns, "checksum")


@for_each("ours", [OURS, HANDED_OUT])
def test_objects_of_our_own_are_candidates_by_their_key_under_the_namespace(ours: str) -> None:
    assert TERRITORY.candidate(listed(f"{NAMESPACE}/{ours}")) == ours


@for_each(
    "uri",
    [
        f"{NAMESPACE}/_lakefs/dummy",
        f"{NAMESPACE}/root",
        f"{NAMESPACE}/data",
        f"{NAMESPACE}/data/",
        f"{NAMESPACE}/data/folder/",
        f"{NAMESPACE}/data/x",
        f"{NAMESPACE}/data/2019/part-0.parquet",
        f"{NAMESPACE}/data/2019/{OURS.rpartition('/')[2]}",
        f"{NAMESPACE}/{partition(1)}part-0.parquet",
        f"{NAMESPACE}/{OURS},part-0.parquet",
        f"{NAMESPACE}/{HANDED_OUT}.parquet",
        f"{NAMESPACE}/data2/{OURS.removeprefix('data/')}",
        f"{NAMESPACE}2/{OURS}",
        f"s3://bucket/{OURS}",
        f"s3://other/repo/{OURS}",
        f"s3://bucket/{NAMESPACE}/{OURS}",
    ],
)
def test_other_writers_objects_are_no_candidates(uri: str) -> None:
    assert TERRITORY.candidate(listed(uri)) is None
    assert list(TERRITORY.candidates([listed(uri)])) == []


@for_each(("last_modified_ns", "expected"), [(99, OURS), (100, None)])
def test_it_must_be_older_than_the_cutoff(last_modified_ns: int, expected: str | None) -> None:
    found = listed(f"{NAMESPACE}/{OURS}", last_modified_ns)
    assert TERRITORY.candidate(found) == expected


TABLE = "_iceberg/0190a1b2-c3d4-8e5f-9a6b-c7d8e9f00112/"


@for_each(
    ("key", "last_modified_ns", "expected"),
    [
        (f"{TABLE}data/p=1/x.parquet", 49, True),
        (f"{TABLE}metadata/00001-x.metadata.json", 49, True),
        (f"{TABLE}data/x.parquet", 50, False),
        ("_iceberg/backup/data/x.parquet", 49, False),
        (f"_iceberg/x/{TABLE}data/x", 49, False),
        (f"x/{TABLE}data/x", 49, False),
        (TABLE.rstrip("/"), 49, False),
    ],
)
def test_files_of_tables_are_candidates_by_an_age_of_their_own(
    key: str, last_modified_ns: int, expected: bool
) -> None:
    territory = Territory(NAMESPACE, cutoff_ns=100, tables_cutoff_ns=50)
    found = territory.candidate(listed(f"{NAMESPACE}/{key}", last_modified_ns))
    assert found == (key if expected else None)


def test_a_table_s_folder_that_was_a_namespace_is_left_alone() -> None:
    assert candidates(f"{TABLE}_lakefs/dummy", f"{TABLE}data/x") == []
    assert candidates(f"{TABLE}data/x") == [f"{TABLE}data/x"]


def test_the_minimum_age_is_four_hours_more_than_an_address_is_good_for() -> None:
    assert MINIMUM_AGE_S == (24 + 4) * 60 * 60


def test_a_namespace_that_is_a_whole_bucket() -> None:
    territory = Territory("s3://bucket", cutoff_ns=100, tables_cutoff_ns=100)
    assert territory.candidate(listed(f"s3://bucket/{OURS}")) == OURS
    assert territory.candidate(listed(f"s3://bucket2/{OURS}")) is None


def candidates(*keys: str) -> list[str]:
    found = [listed(f"{NAMESPACE}/{key}") for key in sorted(keys)]
    return [address for address, _ in TERRITORY.candidates(found)]


def test_a_folder_that_was_a_namespace_is_left_alone_and_others_are_not() -> None:
    theirs = [address(number) for number in range(100, 103)]
    ours = [address(number) for number in (1, 2, 200, 201)]
    marker = f"{partition(100)}_lakefs/dummy"
    assert candidates(*ours, *theirs, marker) == sorted(ours)
    assert candidates(*ours, *theirs) == sorted([*ours, *theirs])


# Names that sort before `_lakefs/` and behind it.
NAMES = [first + 19 * "0" for first in "049agv"]


@given(
    st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=12),
    st.sets(st.sampled_from(NAMES), max_size=3),
)
def test_wherever_names_sort_no_object_beside_metadata_is_a_candidate(
    objects: set[tuple[str, str]], namespaces: set[str]
) -> None:
    markers = [f"data/{folder}/_lakefs/{name}" for folder in namespaces for name in "ab"]
    found = candidates(*(f"data/{folder}/{name}" for folder, name in objects), *markers)
    assert found == sorted(
        f"data/{folder}/{name}" for folder, name in objects if folder not in namespaces
    )


def test_other_namespaces_inside_of_data_are_found() -> None:
    inside = (f"{NAMESPACE}/_iceberg/x", f"{NAMESPACE}/data/y", f"{NAMESPACE}/data/y/data/z")
    outside = (NAMESPACE, f"{NAMESPACE}2", "s3://bucket", f"{NAMESPACE}/data2", f"{NAMESPACE}/x")
    assert namespaces_inside(NAMESPACE, (*inside, *outside)) == inside


def test_a_namespace_that_is_all_of_data_is_inside_too() -> None:
    inside = namespaces_inside(NAMESPACE, [f"{NAMESPACE}/data"])
    territory = Territory(NAMESPACE, 100, 100, inside)
    assert territory.candidate(listed(f"{NAMESPACE}/{OURS}")) is None


def test_nothing_of_theirs_is_a_candidate() -> None:
    folder = f"{NAMESPACE}/{partition(1)}".rstrip("/")
    territory = Territory(NAMESPACE, 100, 100, (folder,))
    assert territory.candidate(listed(f"{NAMESPACE}/{OURS}")) is None
    assert not territory.holds(OURS)
    beside = address(100)
    assert territory.candidate(listed(f"{NAMESPACE}/{beside}")) == beside


SEGMENTS = st.lists(st.sampled_from(["a", "data", "_lakefs", partition(1)[5:-1]]), max_size=4)


@given(SEGMENTS, SEGMENTS)
def test_no_object_belongs_to_two_namespaces_however_they_lie(
    one: list[str], other: list[str]
) -> None:
    """So repositories that were created inside each other at one moment lose nothing."""
    namespaces = ["/".join(["s3://bucket", *segments]) for segments in (one, other)]
    first, second = (Territory(namespace, 100, 100) for namespace in namespaces)
    if first.namespace != second.namespace:
        found = listed(f"{first.namespace}/{OURS}")
        assert first.candidate(found) == OURS
        assert second.candidate(found) is None


@for_each(
    ("one", "other", "expected"),
    [
        ("s3://bucket/a", "s3://bucket/a", False),  # the marker tells of that
        ("s3://bucket/a", "s3://bucket/ab", False),
        ("s3://bucket/a", "s3://bucket/b", False),
        ("s3://bucket", "s3://bucket2", False),
        ("s3://bucket/a", "s3://bucket/a/b", True),
        ("s3://bucket/a", "s3://bucket/a/data/x/y", True),
        ("s3://bucket", "s3://bucket/a", True),
    ],
)
def test_namespaces_overlap_if_one_is_inside_the_other(
    one: str, other: str, expected: bool
) -> None:
    assert overlap(one, other) is overlap(other, one) is expected
