"""Where a collection may delete, and how old an object has to be."""

import pytest

from graveler.ports import ListedObject
from graveler.retention.candidates import MINIMUM_AGE_S, Territory, namespaces_inside

NAMESPACE = "s3://bucket/repo"
TERRITORY = Territory(NAMESPACE, cutoff_ns=100)


def listed(uri: str, last_modified_ns: int = 99) -> ListedObject:
    return ListedObject(uri, 1, last_modified_ns)


def test_objects_in_data_are_candidates_by_their_key_under_the_namespace() -> None:
    assert TERRITORY.candidate(listed(f"{NAMESPACE}/data/p/x")) == "data/p/x"
    assert TERRITORY.candidate(listed(f"{NAMESPACE}/data/x")) == "data/x"


@pytest.mark.parametrize(
    "uri",
    [
        f"{NAMESPACE}/_lakefs/dummy",
        f"{NAMESPACE}/root",
        f"{NAMESPACE}/data",
        f"{NAMESPACE}/data/",
        f"{NAMESPACE}/data/folder/",
        f"{NAMESPACE}/data2/p/x",
        f"{NAMESPACE}2/data/p/x",
        "s3://bucket/data/p/x",
        "s3://other/repo/data/p/x",
        f"s3://bucket/{NAMESPACE}/data/p/x",
    ],
)
def test_nothing_else_is_one(uri: str) -> None:
    assert TERRITORY.candidate(listed(uri)) is None


@pytest.mark.parametrize(("last_modified_ns", "expected"), [(99, "data/x"), (100, None)])
def test_it_must_be_older_than_the_cutoff(last_modified_ns: int, expected: str | None) -> None:
    assert TERRITORY.candidate(listed(f"{NAMESPACE}/data/x", last_modified_ns)) == expected


def test_the_minimum_age_is_an_hour_more_than_an_address_is_good_for() -> None:
    assert MINIMUM_AGE_S == 25 * 60 * 60


def test_a_namespace_that_is_a_whole_bucket() -> None:
    territory = Territory("s3://bucket", cutoff_ns=100)
    assert territory.candidate(listed("s3://bucket/data/x")) == "data/x"
    assert territory.candidate(listed("s3://bucket2/data/x")) is None


def test_other_namespaces_inside_of_data_are_found() -> None:
    inside = (f"{NAMESPACE}/data/y", f"{NAMESPACE}/data/y/data/z")
    outside = (NAMESPACE, f"{NAMESPACE}2", "s3://bucket", f"{NAMESPACE}/data2", f"{NAMESPACE}/x")
    assert namespaces_inside(NAMESPACE, (*inside, *outside)) == inside


def test_a_namespace_that_is_all_of_data_is_inside_too() -> None:
    inside = namespaces_inside(NAMESPACE, [f"{NAMESPACE}/data"])
    territory = Territory(NAMESPACE, 100, inside)
    assert territory.candidate(listed(f"{NAMESPACE}/data/p/x")) is None


def test_nothing_of_theirs_is_a_candidate() -> None:
    territory = Territory(NAMESPACE, 100, (f"{NAMESPACE}/data/y",))
    assert territory.candidate(listed(f"{NAMESPACE}/data/y/data/p/x")) is None
    assert not territory.holds("data/y/data/p/x")
    assert territory.candidate(listed(f"{NAMESPACE}/data/yy/x")) == "data/yy/x"
