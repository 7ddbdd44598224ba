"""Presigned multipart uploads: clients send the parts straight to the object store.

The server keeps no record of them; `recorded_uploads.py` has those of which it does.
"""

from graveler.access.actions import Action
from graveler.data_headers import ENCRYPTION, DataHeaders, encryption_of
from graveler.http.byte_range import parse as parse_byte_range
from graveler.http.query import bounded_integer
from graveler.http.schemas import uploads as schemas
from graveler.http.schemas.objects import ObjectStats, object_stats
from graveler.http.write_conditions import requirement_of
from graveler.limits import INT64_MAX, INT64_MIN, UPLOAD_PARTS_MAX
from graveler.messages import Refusal
from graveler.operations import objects, presigned_uploads
from graveler.ports import UploadedPart
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import CHANGE, FORCE, PATH, WRITE_CONDITIONS, header, integer
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_UPLOADS = "/repositories/<repository>/branches/<branch>/staging/pmpu"
_UPLOAD = f"{_UPLOADS}/<upload_id>"
_PART = f"{_UPLOAD}/parts/<part_number>"


@operations.add(
    "POST",
    _UPLOADS,
    "createPresignMultipartUpload",
    parameters=(PATH, integer("parts"), *map(header, ENCRYPTION)),
    answers={201: schemas.MultipartUploadRow},
    errors=CHANGE,
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def create_upload(request: Request) -> ApiAnswer:
    parts = request.query.integer("parts", default=0, minimum=INT64_MIN, maximum=INT64_MAX)
    upload = presigned_uploads.create(
        request.engine,
        request.repository,
        request.branch,
        request.query.path(),
        parts=parts,
        headers=DataHeaders(encryption=encryption_of(request.headers)),
    )
    row = schemas.MultipartUploadRow(
        upload.upload_id, upload.physical_address, upload.presigned_urls or None
    )
    return answers.of_json(row, 201)


@operations.add(
    "PUT",
    _PART,
    "uploadPart",
    parameters=(PATH,),
    body=schemas.UploadAddress,
    answers={200: schemas.UploadTo},
    errors=(403,),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def upload_part(request: Request) -> ApiAnswer:
    path = request.query.path()
    part_number = number_of_part(request)
    url = presigned_uploads.presign_part(
        request.engine,
        request.repository,
        request.branch,
        path,
        request.name("upload_id"),
        part_number,
        physical_address=request.decode(schemas.UploadAddress).physical_address,
    )
    return answers.of_json(schemas.UploadTo(url))


@operations.add(
    "PUT",
    f"{_PART}/copy",
    "uploadPartCopy",
    parameters=(PATH,),
    body=schemas.UploadPartCopy,
    answers={204: None},
    errors=(403, 410, 416, 501),
)
@checked(Needs(On(Action.WRITE_OBJECT, named.OBJECT), On(Action.READ_OBJECT, named.SOURCE_OF_PART)))
def upload_part_copy(request: Request) -> ApiAnswer:
    path = request.query.path()
    part_number = number_of_part(request)
    body = request.decode(schemas.UploadPartCopy)
    source = body.copy_source
    if source.repository != request.repository:
        raise Refusal.NOT_SERVED.error("parts of another repository; copy from the same one")
    source_path = source.path.encode()
    byte_range = None
    if source.range:
        found = objects.stat(request.engine, request.repository, source.ref, source_path)
        byte_range = parse_byte_range(source.range, found.entry.size_bytes)
    copied = presigned_uploads.copy_part(
        request.engine,
        request.repository,
        request.branch,
        path,
        request.name("upload_id"),
        part_number,
        physical_address=body.physical_address,
        source_ref=source.ref,
        source_path=source_path,
        byte_range=byte_range,
    )
    return answers.empty(204, {"ETag": f'"{copied.checksum}"', **copied.headers})


@operations.add(
    "PUT",
    _UPLOAD,
    "completePresignMultipartUpload",
    parameters=(PATH, FORCE, *WRITE_CONDITIONS),
    body=schemas.UploadCompletion,
    answers={200: ObjectStats},
    errors=(403, 409, 412, 501),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def complete_upload(request: Request) -> ApiAnswer:
    path = request.query.path()
    body = request.decode(schemas.UploadCompletion)
    if not body.parts:
        raise Refusal.NO_PARTS.error("list the uploaded parts")
    stat = presigned_uploads.complete(
        request.engine,
        request.repository,
        request.branch,
        path,
        request.name("upload_id"),
        physical_address=body.physical_address,
        parts=[UploadedPart(part.part_number, part.etag.strip('"')) for part in body.parts],
        content_type=body.content_type,
        metadata=body.user_metadata,
        requirement=requirement_of(request.headers),
        force=request.query.flag("force"),
    )
    # As in lakeFS, this answer's address is relative to the namespace.
    return answers.of_json(object_stats(path, stat.entry, stat.entry.address))


@operations.add(
    "DELETE",
    _UPLOAD,
    "abortPresignMultipartUpload",
    parameters=(PATH,),
    body=schemas.UploadAddress,
    answers={204: None},
    errors=(403,),
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def abort_upload(request: Request) -> ApiAnswer:
    path = request.query.path()
    presigned_uploads.abort(
        request.engine,
        request.repository,
        request.branch,
        path,
        request.name("upload_id"),
        physical_address=request.decode(schemas.UploadAddress).physical_address,
    )
    return answers.empty()


def number_of_part(request: Request) -> int:
    """Return the number of the part that the path names."""
    number = request.name("part_number")
    refusal = Refusal.BAD_PATH_PARAMETER
    return bounded_integer(number, 1, UPLOAD_PARTS_MAX, refusal, "partNumber")
