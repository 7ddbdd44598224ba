"""Table requirements: a commit that another one overtook is refused, and told to retry."""

from typing import Any

import pytest

from graveler.errors import ConflictError, InvalidInputError
from graveler.http.errors import status_of
from graveler.iceberg.requirements import REQUIREMENTS, check_requirements
from tests.support.checks.cases import for_each
from tests.support.worlds.iceberg_tables import UUID, table, with_snapshots

TABLE = with_snapshots(table(), 1, 2)
HOLDING: list[dict[str, Any]] = [
    {"type": "assert-table-uuid", "uuid": UUID.upper()},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 2},
    {"type": "assert-ref-snapshot-id", "ref": "dev", "snapshot-id": None},
    {"type": "assert-ref-snapshot-id", "ref": "dev"},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999},
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
]
FAILING: list[dict[str, Any]] = [
    {"type": "assert-create"},
    {"type": "assert-table-uuid", "uuid": UUID.replace("9", "8")},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 1},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None},
    {"type": "assert-ref-snapshot-id", "ref": "dev", "snapshot-id": 1},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2},
    {"type": "assert-current-schema-id", "current-schema-id": 1},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
    {"type": "assert-default-spec-id", "default-spec-id": 1},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 1},
]


def test_every_kind_is_tried():
    assert {each["type"] for each in FAILING} == REQUIREMENTS.keys()


def test_requirements_that_hold_let_a_commit_pass():
    check_requirements(HOLDING, TABLE)
    check_requirements([], TABLE)


@for_each("requirement", FAILING)
def test_a_requirement_that_fails_is_a_conflict(requirement):
    with pytest.raises(ConflictError) as failed:
        check_requirements([*HOLDING, requirement], TABLE)
    assert status_of(failed.value) == 409
    assert str(failed.value).startswith("Requirement failed: ")


def test_an_absent_snapshot_is_called_none():
    for ref, snapshot, told in (
        ("main", None, "none, and the table has 2"),
        ("dev", 1, "has none"),
    ):
        requirement = {"type": "assert-ref-snapshot-id", "ref": ref, "snapshot-id": snapshot}
        with pytest.raises(ConflictError, match=told):
            check_requirements([requirement], TABLE)


def test_a_table_that_does_not_exist_may_be_created():
    check_requirements([{"type": "assert-create"}], None)


@for_each("requirement", HOLDING)
def test_only_creation_is_possible_without_a_table(requirement):
    with pytest.raises(InvalidInputError):
        check_requirements([{"type": "assert-create"}, requirement], None)


@for_each(
    ("requirements", "named"),
    [
        ({}, "requirements"),
        (["assert-create"], "$[0]"),
        ([{}], "'type'"),
        ([{"type": "assert-view-uuid", "uuid": UUID}], "assert-view-uuid"),
        ([{"type": "assert-table-uuid"}], "'uuid'"),
        ([{"type": "assert-ref-snapshot-id", "snapshot-id": 1}], "'ref'"),
        ([{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": ""}], "'snapshot-id'"),
        ([{"type": "assert-default-spec-id", "default-spec-id": True}], "'default-spec-id'"),
    ],
)
def test_a_malformed_requirement_is_refused_by_the_name_of_its_field(requirements, named):
    with pytest.raises(InvalidInputError) as refused:
        check_requirements(requirements, TABLE)
    assert named in str(refused.value)
    assert status_of(refused.value) == 400
