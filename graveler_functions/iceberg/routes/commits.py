"""Commits to one table, and to several at one moment."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from graveler.access.actions import Action
from graveler.errors import ConflictError, ContentionError, InvalidInputError
from graveler.operations.tables import commits
from graveler.operations.tables.commits import TableChange
from graveler.operations.tables.metadata import IcebergTable
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.iceberg.catalog import CatalogPlace
from graveler_functions.iceberg.request import IcebergRequest
from graveler_functions.iceberg.routes.tables import Identifier, check_same_ref


class TableCommit(Struct):
    requirements: list[dict[str, Any]]
    updates: list[dict[str, Any]]
    identifier: Identifier | None = None


class Transaction(Struct, rename="kebab"):
    table_changes: list[TableCommit]


def commit_table(request: IcebergRequest) -> ApiAnswer:
    place, body = request.table_place, request.decode(TableCommit)
    change = TableChange(place.namespace, request.table, body.requirements, body.updates)
    (table,) = _committed(request, [place], [change])
    found = {"metadata-location": table.metadata_location, "metadata": table.metadata}
    return answers.of_json(found)


def commit_transaction(request: IcebergRequest) -> ApiAnswer:
    places: list[CatalogPlace] = []
    changes: list[TableChange] = []
    for number, each in enumerate(request.decode(Transaction).table_changes):
        if each.identifier is None:
            raise InvalidInputError(f"table change {number} has no identifier")
        place = request.catalog.table_place(each.identifier.namespace)
        places.append(place)
        changes.append(
            TableChange(place.namespace, each.identifier.name, each.requirements, each.updates)
        )
    _committed(request, places, changes)
    return answers.empty()


def _committed(
    request: IcebergRequest, places: Sequence[CatalogPlace], changes: Sequence[TableChange]
) -> Sequence[IcebergTable]:
    for place, change in zip(places, changes, strict=True):
        action = Action.CREATE_TABLE if change.creates else Action.UPDATE_TABLE
        request.require_on_table(action, place, change.table)
    check_same_ref(list(places))
    if not places:
        raise InvalidInputError("a transaction needs a table change")
    with _retried_by_clients():
        return commits.commit_tables(request.engine, places[0].repository, places[0].ref, changes)


@contextmanager
def _retried_by_clients() -> Iterator[None]:
    """Make lost races a conflict, after which clients load the table and commit again."""
    try:
        yield
    except ContentionError as error:
        raise ConflictError(error.message, error.details) from error
