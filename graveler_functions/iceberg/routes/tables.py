"""Tables: loading them, creating them, and what is done to them whole."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.needs import Permission
from graveler.access.resources import namespace_arn, repository_arn
from graveler.errors import InvalidInputError
from graveler.iceberg.places import location_of
from graveler.iceberg.shapes import Document, field
from graveler.operations.tables import namespaces, system, tables
from graveler.operations.tables.metadata import IcebergTable
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.iceberg.catalog import SEPARATOR, CatalogPlace
from graveler_functions.iceberg.request import IcebergRequest

_VENDED = "vended-credentials"
_EXPIRES = "s3.session-token-expires-at-ms"


class Identifier(Struct):
    namespace: list[str]
    name: str


class Renaming(Struct):
    source: Identifier
    destination: Identifier


class Registration(Struct, rename="kebab"):
    name: str
    metadata_location: str
    overwrite: bool = False


def list_tables(request: IcebergRequest) -> ApiAnswer:
    place = request.place
    if not place.namespace:  # repositories, refs and the root have no tables
        return answers.of_json({"identifiers": [], "next-page-token": None})
    request.require_on_namespace(Action.LIST_TABLES, place)
    names, token = request.pages(
        lambda after, amount: namespaces.list_tables(request.engine, *place.parts, after, amount)
    )
    found = [{"namespace": request.levels, "name": name} for name in names]
    return answers.of_json({"identifiers": found, "next-page-token": token})


def load_table(request: IcebergRequest) -> ApiAnswer:
    shown = request.query.text("snapshots") or "all"
    if shown not in {"all", "refs"}:
        raise InvalidInputError(f"snapshots is {shown[:40]!r}: send all or refs")
    table = _loaded(request)
    # The name of a file that was registered may have any characters.
    tag = f'"{quote((table.metadata_location or "").rpartition("/")[2])}-{shown}"'
    # Credentials expire while the table stays as it is.
    if tag in (request.header("if-none-match") or "") and not _gets_credentials(request):
        return answers.empty(304, {"ETag": tag})
    if shown == "refs":
        table = IcebergTable(table.metadata_location, _with_snapshots_of_refs(table.metadata))
    return of_table(request, request.table, table, {"ETag": tag}, can_write=_may_write(request))


def _with_snapshots_of_refs(metadata: Document) -> Document:
    named = {ref["snapshot-id"] for ref in metadata["refs"].values()}
    snapshots = [each for each in metadata["snapshots"] if each["snapshot-id"] in named]
    return {**metadata, "snapshots": snapshots}


def _loaded(request: IcebergRequest) -> IcebergTable:
    place = _readable(request)
    if not place.is_system:
        return tables.load(request.engine, *place.parts, request.table)
    return system.load(request.engine, place.repository, place.ref, request.table, request.who.user)


def _readable(request: IcebergRequest) -> CatalogPlace:
    """Return the namespace of the table, which the user may read."""
    place = request.table_place
    request.require_on_table(Action.READ_TABLE, place, request.table)
    if place.is_system:  # its rows are what a listing of objects shows
        arn = repository_arn(place.repository)
        request.rights.require(Permission(Action.LIST_OBJECTS, arn))
    return place


def has_table(request: IcebergRequest) -> ApiAnswer:
    place = _readable(request)
    if place.is_system:  # a look makes no table
        system.check_exists(request.engine, place.repository, place.ref, request.table)
    else:
        tables.load(request.engine, *place.parts, request.table)
    return answers.empty()


def load_credentials(request: IcebergRequest) -> ApiAnswer:
    table = _loaded(request)
    found = _credentials(request, table, can_write=_may_write(request))
    return answers.of_json({"storage-credentials": found})


def report_metrics(request: IcebergRequest) -> ApiAnswer:
    request.require_on_table(Action.READ_TABLE, request.table_place, request.table)
    return answers.empty()


def create_table(request: IcebergRequest) -> ApiAnswer:
    place, body = request.table_place, request.decode(dict[str, Any])
    name, is_staged = field(body, "name", str), body.get("stage-create") is True
    request.require_on_table(Action.CREATE_TABLE, place, name)
    made = tables.create(request.engine, *place.parts, name, body, is_staged=is_staged)
    # Whoever creates the table writes its first files, before or after it exists.
    return of_table(request, name, made, can_write=True)


def register_table(request: IcebergRequest) -> ApiAnswer:
    place, body = request.table_place, request.decode(Registration)
    request.require_on_table(Action.CREATE_TABLE, place, body.name)
    if body.overwrite:
        request.require_on_table(Action.UPDATE_TABLE, place, body.name)

    def check_file(uri: str) -> None:
        # The file may be of a table that the user must not read.
        request.rights.require(Permission(Action.IMPORT_FROM_STORAGE, namespace_arn(uri)))

    made = tables.register(
        request.engine,
        *place.parts,
        body.name,
        body.metadata_location,
        overwrite=body.overwrite,
        check_file=check_file,
    )
    can_write = request.may_on_table(Action.UPDATE_TABLE, place, body.name)
    return of_table(request, body.name, made, can_write=can_write)


def drop_table(request: IcebergRequest) -> ApiAnswer:
    # A client may ask for a purge. The files stay, because other branches and commits have them.
    place = request.table_place
    request.require_on_table(Action.DELETE_TABLE, place, request.table)
    tables.drop(request.engine, *place.parts, request.table)
    return answers.empty()


def rename_table(request: IcebergRequest) -> ApiAnswer:
    body = request.decode(Renaming)
    source = request.catalog.table_place(body.source.namespace)
    destination = request.catalog.table_place(body.destination.namespace)
    request.require_on_table(Action.DELETE_TABLE, source, body.source.name)
    # Otherwise a user who must not read the table could give it a name that the user may read.
    request.require_on_table(Action.READ_TABLE, source, body.source.name)
    request.require_on_table(Action.CREATE_TABLE, destination, body.destination.name)
    check_same_ref([source, destination])
    tables.rename(
        request.engine,
        source.repository,
        source.ref,
        (source.namespace, body.source.name),
        (destination.namespace, body.destination.name),
    )
    return answers.empty()


def check_same_ref(places: list[CatalogPlace]) -> None:
    """Check that all places are of one ref.

    Raises:
        InvalidInputError: they are of several.
    """
    if len({(place.repository, place.ref) for place in places}) > 1:
        raise InvalidInputError("one request changes tables of one ref of one repository only")


def of_table(
    request: IcebergRequest,
    name: str,
    table: IcebergTable,
    headers: Mapping[str, str] | None = None,
    *,
    can_write: bool,
) -> ApiAnswer:
    """Return the answer with a table, and with what a client needs to reach its files."""
    settings = request.services.settings
    config = {"client.region": settings.region}
    if settings.s3_endpoint:
        config |= {
            "s3.endpoint": settings.s3_endpoint,
            "s3.path-style-access": "true",
            "s3.region": settings.region,
        }
    found: dict[str, Any] = {"metadata": table.metadata, "config": config}
    if table.metadata_location is not None:
        found["metadata-location"] = table.metadata_location
    gets = _gets_credentials(request)
    credentials = _credentials(request, table, can_write=can_write) if gets else []
    for each in credentials:
        config |= each["config"]  # clients of earlier versions of the specification read it here
    if credentials:
        found["storage-credentials"] = credentials
    # Without that time, Iceberg's Java library would ask for others at once.
    if _EXPIRES in config:
        namespace = quote(SEPARATOR.join(request.levels), safe="")
        config["client.refresh-credentials-endpoint"] = (
            f"v1/namespaces/{namespace}/tables/{quote(name, safe='')}/credentials"
        )
    return answers.of_json(found, headers=headers)


def _may_write(request: IcebergRequest) -> bool:
    place = request.table_place
    return not place.is_system and request.may_on_table(Action.UPDATE_TABLE, place, request.table)


def _gets_credentials(request: IcebergRequest) -> bool:
    asked = (request.header("x-iceberg-access-delegation") or "").split(",")
    return request.services.vend is not None and _VENDED in [each.strip() for each in asked]


def _credentials(
    request: IcebergRequest, table: IcebergTable, *, can_write: bool
) -> list[dict[str, Any]]:
    """Return credentials of the store for the table's files, if there are any to give."""
    vend = request.services.vend
    if vend is None:
        return []
    # Whoever may write the table's files may have replaced its metadata, and so its location.
    file = table.metadata_location
    location = table.location if file is None else location_of(file)
    config = dict(vend(location, request.who, can_write=can_write))
    return [{"prefix": location, "config": config}] if config else []
