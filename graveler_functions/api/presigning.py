"""Presigned URLs, their expiry, and rows of objects that may have one."""

from graveler.branches.views import ObjectStat
from graveler.http import object_headers
from graveler.http.schemas.objects import ObjectStats, object_stats
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler_functions.api.request import Request


def presigned_get(request: Request, found: ObjectStat, *, as_stored: bool = False) -> str:
    """Return a URL from which anyone can read the object's content until it expires.

    S3 answers with the name and the type of the object; as_stored: with what it keeps itself.
    """
    return request.engine.objects.presign_get(
        found.physical_address,
        PRESIGNED_URL_LIFE_S,
        "" if as_stored else object_headers.file_name_of(found.path),
        "" if as_stored else object_headers.content_type_of(found.entry),
    )


def expiry_s(request: Request) -> int:
    """Return when a URL that is presigned now expires, in Unix seconds."""
    return request.engine.now_s() + PRESIGNED_URL_LIFE_S


def object_row(
    request: Request,
    found: ObjectStat,
    *,
    user_metadata: bool = True,
    presign: bool = False,
    as_stored: bool = False,
) -> ObjectStats:
    """Return the object's row in the API; with presign, its address is a presigned URL."""
    return object_stats(
        found.path,
        found.entry,
        presigned_get(request, found, as_stored=as_stored) if presign else found.physical_address,
        user_metadata=user_metadata,
        expiry=expiry_s(request) if presign else None,
    )
