"""What a commit requires of the table that it updates, by the names of Iceberg's REST catalogue.

The messages begin as those of Iceberg's reference catalogue, which clients' tests compare.
"""

from collections.abc import Callable, Mapping
from typing import Any

from graveler.errors import ConflictError, InvalidInputError
from graveler.iceberg.shapes import Document, checked, field

CREATION = "assert-create"

_Check = Callable[[Document, Document], None]


def check_requirements(requirements: object, metadata: Document | None) -> None:
    """Check the table requirements of a commit.

    Args:
        requirements: the field `requirements` of a request.
        metadata: those of the table; None if there is no table.

    Raises:
        ConflictError: one does not hold, because of another commit.
        InvalidInputError: one is unknown or malformed, or there is no table and it needs one.
    """
    for each in checked(requirements, list[dict[str, Any]], "field 'requirements'"):
        kind = field(each, "type", str)
        if kind not in REQUIREMENTS:
            raise InvalidInputError(f"requirement {kind!r} is not one of {', '.join(REQUIREMENTS)}")
        if metadata is not None:
            REQUIREMENTS[kind](each, metadata)
        elif kind != CREATION:
            raise InvalidInputError(f"requirement {kind!r} needs a table, and there is none")


def _require(fault: str, expected: object, found: object) -> None:
    if expected != found:
        expected, found = ("none" if each is None else each for each in (expected, found))
        raise ConflictError(
            f"Requirement failed: {fault}: expected {expected}, and the table has {found}: load "
            "the table and commit again"
        )


def _check_absence(_requirement: Document, _metadata: Document) -> None:
    raise ConflictError("Requirement failed: table already exists")


def _check_uuid(requirement: Document, metadata: Document) -> None:
    expected = field(requirement, "uuid", str)
    _require("UUID does not match", expected.lower(), (metadata.get("table-uuid") or "").lower())


def _check_ref(requirement: Document, metadata: Document) -> None:
    name = field(requirement, "ref", str)
    # null: the ref must not exist.
    is_absent = requirement.get("snapshot-id") is None
    expected = None if is_absent else field(requirement, "snapshot-id", int)
    _require(f"ref {name!r} changed", expected, metadata["refs"].get(name, {}).get("snapshot-id"))


def _equals(name: str, of_metadata: str, fault: str) -> _Check:
    """Return the check that a number of the requirement equals one of the metadata."""

    def check(requirement: Document, metadata: Document) -> None:
        _require(fault, field(requirement, name, int), metadata[of_metadata])

    return check


REQUIREMENTS: Mapping[str, _Check] = {
    CREATION: _check_absence,
    "assert-table-uuid": _check_uuid,
    "assert-ref-snapshot-id": _check_ref,
    "assert-last-assigned-field-id": _equals(
        "last-assigned-field-id", "last-column-id", "last assigned field id changed"
    ),
    "assert-current-schema-id": _equals(
        "current-schema-id", "current-schema-id", "current schema changed"
    ),
    "assert-last-assigned-partition-id": _equals(
        "last-assigned-partition-id", "last-partition-id", "last assigned partition id changed"
    ),
    "assert-default-spec-id": _equals(
        "default-spec-id", "default-spec-id", "default partition spec changed"
    ),
    "assert-default-sort-order-id": _equals(
        "default-sort-order-id", "default-sort-order-id", "default sort order changed"
    ),
}
