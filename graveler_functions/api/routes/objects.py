"""Objects: read, list, write, delete, copy."""

from functools import partial

from graveler.access.actions import Action
from graveler.branches import staging
from graveler.branches.data import check_data
from graveler.branches.views import ObjectStat
from graveler.data_headers import ENCRYPTION
from graveler.http import multipart, object_headers
from graveler.http.schemas import objects as schemas
from graveler.http.schemas.fields import text_of
from graveler.http.schemas.listings import Listing, listing
from graveler.http.write_conditions import requirement_of
from graveler.messages import Refusal
from graveler.operations import links, objects, writes
from graveler.staging.listing import CommonPrefix
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, NeedsOneOf, On
from graveler_functions.api.authorization.deferred_checks import check_import, reading_need
from graveler_functions.api.contract import (
    CHANGE,
    FORCE,
    FORM_OR_BYTES,
    PAGE,
    PATH,
    PRESIGN,
    WRITE_CONDITIONS,
    Parameter,
    ParameterKind,
    flag,
    header,
    text,
)
from graveler_functions.api.many_objects import error_rows, split_by_right
from graveler_functions.api.presigning import object_row
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

HEADERS_OF_DATA = tuple(map(header, (*object_headers.KEPT_OF_UPLOADS, *ENCRYPTION)))

_READ = "/repositories/<repository>/refs/<ref>/objects"
_WRITE = "/repositories/<repository>/branches/<branch>/objects"


@operations.add(
    "GET",
    f"{_READ}/stat",
    "statObject",
    parameters=(PATH, flag("user_metadata"), PRESIGN, flag("as_stored")),
    answers={200: schemas.ObjectStats},
    errors=(410,),
)
@checked(Needs.on(Action.READ_OBJECT, named.OBJECT))
def stat_object(request: Request) -> ApiAnswer:
    query = request.query
    found = objects.stat(request.engine, request.repository, request.name("ref"), query.path())
    presign = query.flag("presign")
    if presign and found.if_match:
        check_data(request.engine, found)  # the reader of the URL would not notice
    return answers.of_json(
        object_row(
            request,
            found,
            user_metadata=query.flag("user_metadata", default=True),
            presign=presign,
            as_stored=query.flag("as_stored"),
        )
    )


@operations.add(
    "GET",
    f"{_READ}/ls",
    "listObjects",
    parameters=(*PAGE, text("delimiter"), flag("user_metadata"), PRESIGN),
    answers={200: Listing[schemas.ObjectStats]},
)
@checked(
    Needs(
        On(Action.LIST_OBJECTS, named.REPOSITORY),
        then=f"for each presigned URL {On(Action.READ_OBJECT, named.OBJECT)}",
    )
)
def list_objects(request: Request) -> ApiAnswer:
    query = request.query
    user_metadata = query.flag("user_metadata", default=True)
    presign = query.flag("presign")
    page = objects.list_objects(
        request.engine,
        request.repository,
        request.name("ref"),
        query.object_page(),
    )
    rows = [
        schemas.common_prefix(found.path)
        if isinstance(found, CommonPrefix)
        else object_row(
            request,
            found,
            user_metadata=user_metadata,
            presign=presign and _may_read(request, found.path),
        )
        for found in page.results
    ]
    return answers.of_json(listing(rows, text_of(page.next_after)))


def _may_read(request: Request, path: bytes) -> bool:
    """Whether the user may get a URL from which the object can be read."""
    return request.rights.allows(reading_need(request.repository, text_of(path)))


@operations.add(
    "POST",
    _WRITE,
    "uploadObject",
    parameters=(PATH, FORCE, text("storageClass"), *HEADERS_OF_DATA, *WRITE_CONDITIONS),
    body=FORM_OR_BYTES,
    is_body_optional=True,
    answers={201: schemas.ObjectStats},
    errors=(403, 412, 501),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def upload_object(request: Request) -> ApiAnswer:
    query = request.query
    path = query.path()
    force = query.flag("force")
    if query.text("storageClass") not in {"", "STANDARD"}:
        raise Refusal.NOT_SERVED.error("storage classes; leave storageClass out")
    requirement = requirement_of(request.headers)
    content_type = request.header("content-type") or ""

    def read_content() -> tuple[bytes, str]:
        if not multipart.is_form(content_type):
            return request.body, content_type
        part = multipart.content_part(request.body, content_type)
        return part.content, part.content_type

    stat = writes.upload(
        request.engine,
        request.repository,
        request.branch,
        path,
        read_content=read_content,
        body_bytes=request.body_bytes_max,
        metadata=object_headers.user_metadata_of(request.headers),
        headers=object_headers.of_upload(request.headers),
        requirement=requirement,
        force=force,
    )
    return answers.of_json(object_row(request, stat), 201)


@operations.add(
    "DELETE",
    _WRITE,
    "deleteObject",
    parameters=(PATH, FORCE, *WRITE_CONDITIONS),
    answers={204: None},
    errors=(403, 409, 412, 501),
)
@checked(Needs.on(Action.DELETE_OBJECT, named.OBJECT))
def delete_object(request: Request) -> ApiAnswer:
    writes.delete(
        request.engine,
        request.repository,
        request.branch,
        request.query.path(),
        requirement=requirement_of(request.headers),
        force=request.query.flag("force"),
    )
    return answers.empty()


@operations.add(
    "POST",
    f"{_WRITE}/delete",
    "deleteObjects",
    parameters=(FORCE,),
    body=schemas.PathList,
    answers={200: schemas.ObjectErrorList},
    errors=CHANGE,
)
@checked(NeedsOneOf(On(Action.DELETE_OBJECT, named.DELETED_OBJECTS)))
def delete_objects(request: Request) -> ApiAnswer:
    paths = request.decode(schemas.PathList).paths
    allowed, rows = split_by_right(request, Action.DELETE_OBJECT, paths)
    failures = writes.delete_many(
        request.engine,
        request.repository,
        request.branch,
        [path.encode() for path in paths if path in allowed],
        force=request.query.flag("force"),
    )
    return answers.of_json(schemas.ObjectErrorList(rows + error_rows(failures)))


@operations.add(
    "POST",
    f"{_WRITE}/copy",
    "copyObject",
    parameters=(Parameter("dest_path", ParameterKind.PATH), *WRITE_CONDITIONS),
    body=schemas.ObjectCopyCreation,
    answers={201: schemas.ObjectStats},
    errors=(403, 410, 412, 501),
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.DESTINATION_OBJECT),
        On(Action.READ_OBJECT, named.SOURCE_OBJECT),
    )
)
def copy_object(request: Request) -> ApiAnswer:
    path = request.query.path("dest_path")
    body = request.decode(schemas.ObjectCopyCreation)
    stat = writes.copy(
        request.engine,
        request.repository,
        request.branch,
        path,
        source_ref=body.src_ref or None,
        source_path=body.src_path.encode(),
        source_repository=body.src_repository or None,
        source=_source_of(request, body) if body.src_physical_address else None,
        content_type=body.content_type,
        metadata=body.user_metadata,
        headers=object_headers.of_data(body.headers, body.encryption),
        requirement=requirement_of(request.headers),
        force=body.force,
        shallow=body.shallow,
    )
    return answers.of_json(object_row(request, stat), 201, stat.headers)


def _source_of(request: Request, body: schemas.ObjectCopyCreation) -> ObjectStat:
    return objects.stat_of_data(
        request.engine,
        body.src_repository or request.repository,
        body.src_ref or request.branch,
        body.src_path.encode(),
        body.src_physical_address,
    )


@operations.add(
    "PUT",
    f"{_WRITE}/stat/user_metadata",
    "updateObjectUserMetadata",
    parameters=(PATH, *WRITE_CONDITIONS),
    body=schemas.UserMetadataUpdate,
    answers={204: None},
    errors=(403, 409, 412, 501),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def update_object_user_metadata(request: Request) -> ApiAnswer:
    path = request.query.path()
    body = request.decode(schemas.UserMetadataUpdate)
    writes.set_user_metadata(
        request.engine,
        request.repository,
        request.branch,
        path,
        body.set,
        requirement=requirement_of(request.headers),
    )
    # lakeFS's specification says 201, but its server sends 204, and lakectl accepts nothing else.
    return answers.empty(204)


@operations.add(
    "PUT",
    _WRITE,
    "stageObject",
    parameters=(PATH, *WRITE_CONDITIONS),
    body=schemas.ObjectStageCreation,
    answers={201: schemas.ObjectStats},
    errors=(403, 412, 501),
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.OBJECT),
        then=f"`{Action.IMPORT_FROM_STORAGE}` on `arn:lakefs:fs:::namespace/{{physical address}}`, "
        "if the address was not issued for the path",
    )
)
def stage_object(request: Request) -> ApiAnswer:
    path = request.query.path()
    body = request.decode(schemas.ObjectStageCreation)
    stat = links.stage(
        request.engine,
        request.repository,
        request.branch,
        path,
        links.StoredData(
            physical_address=body.physical_address,
            checksum=body.checksum,
            size_bytes=body.size_bytes,
            content_type=body.content_type,
            metadata=body.metadata,
            mtime_s=body.mtime,
        ),
        requirement=requirement_of(request.headers),
        force=body.force,
        check_foreign=partial(check_import, request),
    )
    return answers.of_json(object_row(request, stat), 201)


@operations.add(
    "GET",
    f"{_WRITE}/stage_allowed",
    "uploadObjectPreflight",
    parameters=(PATH,),
    answers={204: None},
    errors=CHANGE,
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def upload_object_preflight(request: Request) -> ApiAnswer:
    staging.branch_for_staging(
        request.engine, request.repository, request.branch, request.query.path(), force=False
    )
    return answers.empty()


@operations.add(
    "GET",
    f"{_READ}/underlyingProperties",
    "getUnderlyingProperties",
    parameters=(PATH,),
    answers={200: schemas.UnderlyingProperties},
    errors=(410,),
)
@checked(Needs.on(Action.READ_OBJECT, named.OBJECT))
def get_underlying_properties(request: Request) -> ApiAnswer:
    found = objects.stat(
        request.engine, request.repository, request.name("ref"), request.query.path()
    )
    # The object store's port has no storage classes, and the field is optional.
    headers = check_data(request.engine, found).headers
    return answers.of_json(schemas.UnderlyingProperties(headers=headers))
