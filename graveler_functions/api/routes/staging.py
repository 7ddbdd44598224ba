"""Direct writes: issue a physical address, link it when the client has stored its data there."""

from functools import partial

from graveler.access.actions import Action
from graveler.data_headers import ENCRYPTION, encryption_of
from graveler.http.schemas import staging as schemas
from graveler.http.schemas.objects import ObjectStats
from graveler.http.write_conditions import requirement_of
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler.operations import links
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import check_import
from graveler_functions.api.contract import CHANGE, PATH, PRESIGN, WRITE_CONDITIONS, header
from graveler_functions.api.presigning import expiry_s, object_row
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_BACKING = "/repositories/<repository>/branches/<branch>/staging/backing"


@operations.add(
    "GET",
    _BACKING,
    "getPhysicalAddress",
    parameters=(PATH, PRESIGN, *map(header, ENCRYPTION)),
    answers={200: schemas.StorageLocation},
    errors=CHANGE,
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT))
def get_physical_address(request: Request) -> ApiAnswer:
    return answers.of_json(schemas.StorageLocation(*new_location(request, request.query.path())))


def new_location(request: Request, path: bytes) -> tuple[str, str | None, int | None]:
    """Return a new address for the path's data; a URL to it and its expiry, if it is asked for."""
    presign = request.query.flag("presign")
    address = links.get_physical_address(request.engine, request.repository, request.branch, path)
    if not presign:
        return address, None, None
    signed = encryption_of(request.headers)
    url = request.engine.objects.presign_put(address, PRESIGNED_URL_LIFE_S, signed)
    return address, url, expiry_s(request)


def stored_data(body: schemas.DescribedData) -> links.StoredData:
    """Return the data that a body describes."""
    return links.StoredData(
        physical_address=body.staging.physical_address,
        checksum=body.checksum,
        size_bytes=body.size_bytes,
        content_type=body.content_type,
        metadata=body.user_metadata,
        mtime_s=body.mtime,
    )


@operations.add(
    "PUT",
    _BACKING,
    "linkPhysicalAddress",
    parameters=(PATH, *WRITE_CONDITIONS),
    body=schemas.StagingMetadata,
    answers={200: ObjectStats},
    errors=(403, 409, 412, 501),
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.OBJECT),
        then=f"`{Action.IMPORT_FROM_STORAGE}` on `arn:lakefs:fs:::namespace/{{physical address}}`, "
        "if the address is outside of the repository's data",
    )
)
def link_physical_address(request: Request) -> ApiAnswer:
    path = request.query.path()
    body = request.decode(schemas.StagingMetadata)
    stat = links.link(
        request.engine,
        request.repository,
        request.branch,
        path,
        stored_data(body),
        requirement=requirement_of(request.headers),
        force=body.force,
        check_foreign=partial(check_import, request),
    )
    return answers.of_json(object_row(request, stat))
