"""Direct writes: issue a physical address, link it when the client has stored its data there."""

from functools import partial

from functions.api import answers
from functions.api.access.late import check_import
from functions.api.answers import Answer
from functions.api.request import Request
from functions.api.routes.presigning import expiry_s, object_row
from functions.api.routing import Operations
from graveler.http import object_headers, requests, responses
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler.operations import links

operations = Operations()

_BACKING = "/repositories/<repository>/branches/<branch>/staging/backing"


@operations.add("GET", _BACKING, "getPhysicalAddress")
def get_physical_address(request: Request) -> Answer:
    presign = request.query.flag("presign")
    address = links.get_physical_address(
        request.engine, request.repository, request.branch, request.query.path()
    )
    if not presign:
        return answers.of_json(responses.StorageLocation(address, None))
    url = request.engine.objects.presign_put(address, PRESIGNED_URL_LIFE_S)
    return answers.of_json(responses.StorageLocation(address, url, expiry_s(request)))


@operations.add("PUT", _BACKING, "linkPhysicalAddress")
def link_physical_address(request: Request) -> Answer:
    path = request.query.path()
    body = request.decode(requests.StagingMetadata)
    stat = links.link(
        request.engine,
        request.repository,
        request.branch,
        path,
        links.StoredData(
            physical_address=body.staging.physical_address,
            checksum=body.checksum,
            size_bytes=body.size_bytes,
            content_type=body.content_type,
            metadata=body.user_metadata,
            mtime_s=body.mtime,
        ),
        if_absent=object_headers.requires_absence(request.headers),
        force=body.force,
        check_foreign=partial(check_import, request),
    )
    return answers.of_json(object_row(request, stat))
