"""The updates of a commit to a table, by the names of Iceberg's REST catalogue."""

from collections.abc import Callable, Mapping
from typing import Any

from graveler.errors import GravelerError, InvalidInputError
from graveler.iceberg import snapshots
from graveler.iceberg.draft import ORDERS, SCHEMAS, SPECS, Draft, Numbered
from graveler.iceberg.layouts import (
    FIRST_PARTITION_ID,
    check_order,
    check_spec,
    is_same_order,
    is_same_spec,
    with_partition_ids,
)
from graveler.iceberg.metadata import by_id
from graveler.iceberg.schemas import TableColumn, check_schema, columns_of, is_same_schema
from graveler.iceberg.shapes import (
    FORMAT_VERSION_MAX,
    Document,
    EncryptedKey,
    PartitionSpec,
    PartitionStatisticsFile,
    SortOrder,
    StatisticsFile,
    TableSchema,
    checked,
    field,
    stored,
)

Update = Callable[[Draft, Document], None]


def apply_updates(
    base: Document, updates: object, *, time_ms: int, previous_file: str | None = None
) -> Document:
    """Return the metadata after the updates of one commit, in their order; base if nothing changes.

    Args:
        base: complete metadata, as `read_metadata` returns them.
        updates: the field `updates` of a request.
        time_ms: the time of the commit.
        previous_file: the location of base, for the log of metadata files; None logs nothing.

    Raises:
        InvalidInputError: an update is unknown, malformed, or leaves metadata that are invalid.
        ConflictError: a value in an update is stale, because of another commit.
    """
    draft = Draft(base)
    for number, update in enumerate(checked(updates, list[dict[str, Any]], "field 'updates'")):
        action = field(update, "action", str)
        if action not in UPDATES:
            raise InvalidInputError(f"update {action!r} is not one of {', '.join(UPDATES)}")
        try:
            UPDATES[action](draft, update)
        except GravelerError as error:
            raise error.within(f"update {number}, {action}") from error
    return draft.finished(time_ms, previous_file)


def _assign_uuid(draft: Draft, update: Document) -> None:
    draft.fields["table-uuid"] = field(update, "uuid", str)


def _upgrade_format_version(draft: Draft, update: Document) -> None:
    version = field(update, "format-version", int)
    if not draft.version <= version <= FORMAT_VERSION_MAX:
        raise InvalidInputError(
            f"format-version {version} is not from {draft.version}, which the table has, "
            f"to {FORMAT_VERSION_MAX}"
        )
    draft.fields["format-version"] = version
    if version > 1:
        draft.fields.setdefault("last-sequence-number", 0)
    if version > 2:
        draft.fields.setdefault("next-row-id", 0)


def _add_schema(draft: Draft, update: Document) -> None:
    field(update, "schema", TableSchema)
    schema = stored(update["schema"], type="struct")
    columns = check_schema(schema, draft.version)
    draft.add(SCHEMAS, schema, is_same_schema)
    draft.fields["last-column-id"] = max([draft.fields["last-column-id"], *columns])


def _add_spec(draft: Draft, update: Document) -> None:
    field(update, "spec", PartitionSpec)
    last_id = draft.fields["last-partition-id"]
    spec = with_partition_ids(stored(update["spec"]), draft.fields["partition-specs"], last_id)
    check_spec(spec, _current_columns(draft))
    ids = [each["field-id"] for each in spec["fields"]]
    if draft.version == 1 and ids != [FIRST_PARTITION_ID + n for n in range(len(ids))]:
        raise InvalidInputError(f"field-ids {ids} must be 1000, 1001, … in format version 1")
    if draft.add(SPECS, spec, is_same_spec):
        draft.fields["last-partition-id"] = max([last_id, *ids])


def _add_sort_order(draft: Draft, update: Document) -> None:
    field(update, "sort-order", SortOrder)
    order = stored(update["sort-order"])
    check_order(order, _current_columns(draft))
    draft.add(ORDERS, order, is_same_order, number=None if order["fields"] else 0)


def _choosing(kind: Numbered) -> Update:
    """Return the update that chooses from a list."""
    return lambda draft, update: draft.choose(kind, field(update, kind.id_name, int))


def _dropping(kind: Numbered) -> Update:
    """Return the update that removes from a list."""
    return lambda draft, update: draft.drop(kind, field(update, f"{kind.id_name}s", list[int]))


def _current_columns(draft: Draft) -> dict[int, TableColumn]:
    current = draft.fields["current-schema-id"]
    return columns_of(by_id(draft.fields["schemas"], "schema-id", current))


def _set_location(draft: Draft, update: Document) -> None:
    draft.fields["location"] = field(update, "location", str).rstrip("/")


def _set_properties(draft: Draft, update: Document) -> None:
    # The second name is that of old clients.
    name = "updated" if "updated" in update and "updates" not in update else "updates"
    new = field(update, name, dict[str, str])
    draft.fields["properties"] = {**draft.fields["properties"], **new}


def _remove_properties(draft: Draft, update: Document) -> None:
    name = "removed" if "removed" in update and "removals" not in update else "removals"
    removed = set(field(update, name, list[str]))
    properties = draft.fields["properties"].items()
    draft.fields["properties"] = {key: value for key, value in properties if key not in removed}


def _add_encryption_key(draft: Draft, update: Document) -> None:
    key_id = field(update, "encryption-key", EncryptedKey).key_id
    keys = draft.fields.get("encryption-keys", [])
    if all(each["key-id"] != key_id for each in keys):
        draft.fields["encryption-keys"] = [*keys, stored(update["encryption-key"])]


def _remove_encryption_key(draft: Draft, update: Document) -> None:
    key_id = field(update, "key-id", str)
    draft.replace("encryption-keys", without=lambda each: each["key-id"] == key_id)


UPDATES: Mapping[str, Update] = {
    "assign-uuid": _assign_uuid,
    "upgrade-format-version": _upgrade_format_version,
    "add-schema": _add_schema,
    "set-current-schema": _choosing(SCHEMAS),
    "remove-schemas": _dropping(SCHEMAS),
    "add-spec": _add_spec,
    "set-default-spec": _choosing(SPECS),
    "remove-partition-specs": _dropping(SPECS),
    "add-sort-order": _add_sort_order,
    # The ID in this update has a longer name than in a sort order.
    "set-default-sort-order": lambda draft, update: draft.choose(
        ORDERS, field(update, "sort-order-id", int)
    ),
    "add-snapshot": snapshots.add_snapshot,
    "set-snapshot-ref": snapshots.set_ref,
    "remove-snapshots": snapshots.remove_snapshots,
    "remove-snapshot-ref": snapshots.remove_ref,
    "set-statistics": snapshots.setting("statistics", StatisticsFile),
    "remove-statistics": snapshots.removing("statistics"),
    "set-partition-statistics": snapshots.setting("partition-statistics", PartitionStatisticsFile),
    "remove-partition-statistics": snapshots.removing("partition-statistics"),
    "set-location": _set_location,
    "set-properties": _set_properties,
    "remove-properties": _remove_properties,
    "add-encryption-key": _add_encryption_key,
    "remove-encryption-key": _remove_encryption_key,
}
