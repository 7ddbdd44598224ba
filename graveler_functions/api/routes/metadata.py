"""The files of committed data, for clients that read them from the object store, as Spark does."""

from graveler.access.actions import Action
from graveler.errors import InvalidInputError
from graveler.http import untrusted
from graveler.http.schemas import metadata as schemas
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler.operations import committed_files
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import BYTES, PRESIGN
from graveler_functions.api.request import Request
from graveler_functions.api.routes.content import CONTENT_BYTES_MAX
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_LISTED = Needs(
    On(Action.LIST_OBJECTS, named.REPOSITORY), On(Action.READ_REPOSITORY, named.REPOSITORY)
)

_METADATA = "/repositories/<repository>/metadata"


@operations.add(
    "GET",
    f"{_METADATA}/meta_range/<meta_range>",
    "getMetaRange",
    answers={200: schemas.FileLocation},
)
@checked(_LISTED)
def get_metarange(request: Request) -> ApiAnswer:
    return _location(request, "meta_range")


@operations.add(
    "GET", f"{_METADATA}/range/<range>", "getRange", answers={200: schemas.FileLocation}
)
@checked(_LISTED)
def get_range(request: Request) -> ApiAnswer:
    return _location(request, "range")


def _location(request: Request, parameter: str) -> ApiAnswer:
    """Answer with the file's key under the storage namespace."""
    found = committed_files.find(request.engine, request.repository, request.name(parameter))
    return answers.of_json(schemas.FileLocation(found.key), headers={"Location": found.key})


@operations.add(
    "GET",
    f"{_METADATA}/object/<type>/<object_id>",
    "getMetadataObject",
    parameters=(PRESIGN,),
    answers={200: BYTES, 302: None},
)
@checked(_LISTED)
def get_metadata_object(request: Request) -> ApiAnswer:
    kind = request.name("type")
    # Ranges and metaranges share one folder, so the ID alone selects the file.
    if kind not in {"range", "meta_range"}:
        raise InvalidInputError(f"type {kind!r} is unknown: use `range` or `meta_range`")
    found = committed_files.find(request.engine, request.repository, request.name("object_id"))
    if request.query.flag("presign") or found.size_bytes > CONTENT_BYTES_MAX:
        file_name = found.key.rpartition("/")[2]
        url = request.engine.objects.presign_get(found.uri, PRESIGNED_URL_LIFE_S, file_name)
        return answers.empty(302, {"Location": url, "Cache-Control": "no-store"})
    headers = {
        "Content-Type": "application/octet-stream",
        "X-Frame-Options": "SAMEORIGIN",
        **untrusted.HEADERS,
    }
    return answers.of_bytes(request.engine.objects.get(found.uri), 200, headers)
