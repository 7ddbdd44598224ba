"""Recorded multipart uploads: any process completes, lists or aborts what another one began.

lakeFS has no such operations: its uploads are known to the client only. The S3 gateway on a
client's machine is built on these.
"""

from graveler.access.actions import Action
from graveler.branches import data
from graveler.errors import InvalidInputError
from graveler.http import object_headers
from graveler.http.byte_range import parse as parse_byte_range
from graveler.http.schemas import recorded_uploads as schemas
from graveler.http.schemas.fields import text_of
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.objects import ObjectStats
from graveler.http.write_conditions import requirement_of
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler.messages import Refusal
from graveler.operations import objects, recorded_uploads
from graveler.ports import ExpectedObject, UploadedPart
from graveler.staging.listing import CommonPrefix
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import (
    AFTER,
    AMOUNT,
    CHANGE,
    PAGE,
    PATH,
    WRITE_CONDITIONS,
    text,
)
from graveler_functions.api.presigning import expiry_s, object_row
from graveler_functions.api.request import Request
from graveler_functions.api.routes.uploads import number_of_part
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_OF_REPOSITORY = "/repositories/<repository>/uploads"
_UPLOADS = "/repositories/<repository>/branches/<branch>/uploads"
_UPLOAD = f"{_UPLOADS}/<upload_id>"
_PARTS = f"{_UPLOAD}/parts"
_PART = f"{_PARTS}/<part_number>"


@operations.add(
    "POST",
    _UPLOADS,
    "createRecordedUpload",
    parameters=(PATH,),
    body=schemas.RecordedUploadCreation,
    answers={201: schemas.RecordedUploadRow},
    errors=(403,),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def create_upload(request: Request) -> ApiAnswer:
    path = request.query.path()
    body = request.decode(schemas.RecordedUploadCreation)
    upload = recorded_uploads.create(
        request.engine,
        request.repository,
        request.branch,
        path,
        content_type=body.content_type,
        metadata=body.user_metadata,
        headers=object_headers.of_data(body.headers, body.encryption),
    )
    return answers.of_json(schemas.recorded_upload(upload), 201, upload.headers)


@operations.add(
    "GET",
    _OF_REPOSITORY,
    "listRecordedUploads",
    parameters=(*PAGE, text("delimiter"), text("after_id")),
    answers={200: Listing[schemas.RecordedUploadRow]},
)
@checked(Needs.on(Action.LIST_OBJECTS, named.REPOSITORY))
def list_uploads(request: Request) -> ApiAnswer:
    query = request.query
    page = recorded_uploads.list_uploads(
        request.engine,
        request.repository,
        query.object_page(),
        after_id=query.text("after_id"),
    )
    rows = [
        schemas.prefix_of_uploads(item.path)
        if isinstance(item, CommonPrefix)
        else schemas.recorded_upload(item)
        for item in page.results
    ]
    # The key alone: the ID after which the next page begins is that of the last row.
    return answers.of_json(listing(rows, text_of(page.next_after)))


@operations.add(
    "PUT",
    _PART,
    "presignRecordedPart",
    parameters=(PATH,),
    answers={200: schemas.PartLocation},
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def presign_part(request: Request) -> ApiAnswer:
    path, number = request.query.path(), number_of_part(request)
    uri, store_id = recorded_uploads.location(
        request.engine, request.repository, request.branch, path, request.name("upload_id")
    )
    url = request.engine.objects.presign_part(uri, store_id, number, PRESIGNED_URL_LIFE_S)
    return answers.of_json(schemas.PartLocation(url, expiry_s(request)))


@operations.add(
    "PUT",
    f"{_PART}/copy",
    "copyRecordedPart",
    parameters=(PATH,),
    body=schemas.RecordedPartCopy,
    answers={204: None},
    errors=(410, 416),
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.OBJECT),
        On(Action.READ_OBJECT, named.SOURCE_OF_RECORDED_PART),
    )
)
def copy_part(request: Request) -> ApiAnswer:
    path, number = request.query.path(), number_of_part(request)
    body = request.decode(schemas.RecordedPartCopy)
    source = body.copy_source
    uri, store_id = recorded_uploads.location(
        request.engine, request.repository, request.branch, path, request.name("upload_id")
    )
    found = objects.stat_of_data(
        request.engine,
        source.repository,
        source.ref,
        source.path.encode(),
        body.src_physical_address,
    )
    wanted = None
    if source.range:
        wanted = parse_byte_range(source.range, found.entry.size_bytes)
    copied = data.copy_part(request.engine, found, uri, store_id, number, wanted)
    return answers.empty(204, {"ETag": f'"{copied.checksum}"', **copied.headers})


@operations.add(
    "GET",
    _PARTS,
    "listRecordedParts",
    parameters=(PATH, AFTER, AMOUNT),
    answers={200: Listing[schemas.RecordedPartRow]},
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def list_parts(request: Request) -> ApiAnswer:
    query = request.query
    path, after = query.path(), query.text("after") or "0"
    if not (after.isascii() and after.isdigit() and len(after) <= 5):
        raise InvalidInputError(f"after {after!r} is not the number of a part")
    uri, store_id = recorded_uploads.location(
        request.engine, request.repository, request.branch, path, request.name("upload_id")
    )
    page = request.engine.objects.list_parts(uri, store_id, int(after), query.amount())
    rows = [schemas.recorded_part(part) for part in page.parts]
    next_after = str(rows[-1].part_number) if page.has_more else ""
    return answers.of_json(listing(rows, next_after))


@operations.add(
    "PUT",
    _UPLOAD,
    "completeRecordedUpload",
    parameters=(PATH, *WRITE_CONDITIONS),
    body=schemas.RecordedUploadCompletion,
    answers={200: ObjectStats},
    errors=(403, 409, 412, 501),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def complete_upload(request: Request) -> ApiAnswer:
    path = request.query.path()
    body = request.decode(schemas.RecordedUploadCompletion)
    if not body.parts:
        raise Refusal.NO_PARTS.error("list the uploaded parts")
    stat = recorded_uploads.complete(
        request.engine,
        request.repository,
        request.branch,
        path,
        request.name("upload_id"),
        [UploadedPart(part.part_number, part.etag) for part in body.parts],
        requirement_of(request.headers),
        ExpectedObject(body.size_bytes),
    )
    return answers.of_json(object_row(request, stat), headers=stat.headers)


@operations.add(
    "DELETE",
    _UPLOAD,
    "abortRecordedUpload",
    parameters=(PATH,),
    answers={204: None},
    errors=CHANGE,
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def abort_upload(request: Request) -> ApiAnswer:
    recorded_uploads.abort(
        request.engine,
        request.repository,
        request.branch,
        request.query.path(),
        request.name("upload_id"),
    )
    return answers.empty()
