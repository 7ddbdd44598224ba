"""Presigned URLs of many objects. lakeFS has no such operation."""

from graveler.access.actions import Action
from graveler.http.schemas import presigned as schemas
from graveler.http.schemas.fields import cursor_of, path_of_cursor, text_of
from graveler.http.schemas.listings import Pagination
from graveler.operations import matching_objects
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import AFTER, AMOUNT, required_text
from graveler_functions.api.presigning import expiry_s, presigned_get
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()


@operations.add(
    "GET",
    "/repositories/<repository>/refs/<ref>/objects/presigned",
    "presignObjects",
    parameters=(required_text("glob"), AFTER, AMOUNT),
    answers={200: schemas.PresignedObjects},
)
@checked(Needs.on(Action.READ_OBJECT, named.GLOB))
def presign_objects(request: Request) -> ApiAnswer:
    query = request.query
    commit_id, page = matching_objects.list_page(
        request.engine,
        request.repository,
        request.name("ref"),
        query.required_text("glob"),
        path_of_cursor(query.text("after")),
        query.amount(),
    )
    expiry = expiry_s(request)
    rows = [
        schemas.PresignedObject(
            text_of(found.path),
            found.entry.size_bytes,
            found.entry.checksum,
            presigned_get(request, found),
            expiry,
        )
        for found in page.results
    ]
    next_offset = cursor_of(page.next_after)
    pagination = Pagination(next_offset != "", next_offset, len(rows))
    return answers.of_json(schemas.PresignedObjects(commit_id, pagination, rows))
