"""Direct writes of many objects in one request. lakeFS has no such operations."""

from functools import partial

from graveler.access.actions import Action
from graveler.data_headers import ENCRYPTION
from graveler.errors import GravelerError, InvalidInputError, TooLargeError
from graveler.http.schemas import staging as schemas
from graveler.http.schemas.objects import PathList
from graveler.limits import LINKS_BODY_BYTES_MAX
from graveler.operations import links
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import NeedsOneOf, On
from graveler_functions.api.authorization.deferred_checks import check_import
from graveler_functions.api.contract import CHANGE, FORCE, PRESIGN, header
from graveler_functions.api.many_objects import error_rows, split_by_right
from graveler_functions.api.presigning import object_row
from graveler_functions.api.request import Request
from graveler_functions.api.routes.staging import new_location, stored_data
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_STAGING = "/repositories/<repository>/branches/<branch>/staging"


@operations.add(
    "POST",
    f"{_STAGING}/addresses",
    "getPhysicalAddresses",
    parameters=(PRESIGN, FORCE, *map(header, ENCRYPTION)),
    body=PathList,
    answers={200: schemas.StorageLocations},
    errors=CHANGE,
)
@checked(NeedsOneOf(On(Action.WRITE_OBJECT, named.ADDRESSED_OBJECTS)))
def get_physical_addresses(request: Request) -> ApiAnswer:
    paths = request.decode(PathList).paths
    allowed, refused = split_by_right(request, Action.WRITE_OBJECT, paths)
    links.check_linkable(
        request.engine, request.repository, request.branch, force=request.query.flag("force")
    )
    located = [
        schemas.PathLocation(*new_location(request, path.encode()), path=path)
        for path in paths
        if path in allowed
    ]
    return answers.of_json(schemas.StorageLocations(located, refused))


@operations.add(
    "POST",
    f"{_STAGING}/links",
    "linkPhysicalAddresses",
    parameters=(FORCE,),
    body=schemas.PathDataList,
    answers={200: schemas.LinkedObjects},
    errors=CHANGE,
)
@checked(
    NeedsOneOf(
        On(Action.WRITE_OBJECT, named.LINKED_OBJECTS),
        then=f"`{Action.IMPORT_FROM_STORAGE}` as for linkPhysicalAddress",
    )
)
def link_physical_addresses(request: Request) -> ApiAnswer:
    if request.body_bytes_max > LINKS_BODY_BYTES_MAX:
        raise TooLargeError(
            f"links of more than {LINKS_BODY_BYTES_MAX} bytes in one request: link fewer objects"
        )
    if "if-match" in request.headers or "if-none-match" in request.headers:
        raise InvalidInputError(
            "If-Match and If-None-Match are about one object: link it with linkPhysicalAddress"
        )
    described = request.decode(schemas.PathDataList).objects
    allowed, refused = split_by_right(
        request, Action.WRITE_OBJECT, [each.path for each in described]
    )
    outcomes = links.link_each(
        request.engine,
        request.repository,
        request.branch,
        [(each.path.encode(), stored_data(each)) for each in described if each.path in allowed],
        force=request.query.flag("force"),
        check_foreign=partial(check_import, request),
    )
    failures = [(path, found) for path, found in outcomes if isinstance(found, GravelerError)]
    linked = [
        object_row(request, found) for _, found in outcomes if not isinstance(found, GravelerError)
    ]
    return answers.of_json(schemas.LinkedObjects(linked, refused + error_rows(failures)))
