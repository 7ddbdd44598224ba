"""All objects with a prefix: copies, moves, restores, deletions, totals. lakeFS has none of it."""

from msgspec.structs import replace

from graveler.access.actions import Action
from graveler.http.schemas import prefixes as schemas
from graveler.http.schemas.fields import cursor_of, path_of_cursor
from graveler.http.schemas.tasks import TaskCreated
from graveler.operations.prefixes.requests import IfExists, PrefixRequest, start_copy, start_move
from graveler.operations.prefixes.restoring import start_deletion, start_restore
from graveler.operations.prefixes.totals import total
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import AFTER, CHANGE, PREFIX, given_text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_OBJECTS = "/repositories/<repository>/branches/<branch>/objects"
# The destination may be the root.
_DESTINATION = given_text("dest_prefix")


@operations.add(
    "POST",
    f"{_OBJECTS}/copy_prefix",
    "copyPrefix",
    parameters=(_DESTINATION,),
    body=schemas.PrefixCopy,
    answers={202: TaskCreated},
    errors=CHANGE,
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.DESTINATION_PREFIX),
        On(Action.READ_OBJECT, named.SOURCE_PREFIX),
    )
)
def copy_prefix(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PrefixCopy)
    asked = replace(_prefix_request(request, body), source_ref=body.src_ref)
    task = start_copy(request.engine, request.repository, request.branch, asked, request.user)
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "POST",
    f"{_OBJECTS}/move_prefix",
    "movePrefix",
    parameters=(_DESTINATION,),
    body=schemas.PrefixMove,
    answers={202: TaskCreated},
    errors=CHANGE,
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.DESTINATION_PREFIX),
        On(Action.READ_OBJECT, named.SOURCE_PREFIX),
        On(Action.DELETE_OBJECT, named.SOURCE_PREFIX),
    )
)
def move_prefix(request: Request) -> ApiAnswer:
    asked = _prefix_request(request, request.decode(schemas.PrefixMove))
    task = start_move(request.engine, request.repository, request.branch, asked, request.user)
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "POST",
    f"{_OBJECTS}/restore_prefix",
    "restorePrefix",
    body=schemas.PrefixRestore,
    answers={202: TaskCreated},
    errors=CHANGE,
)
@checked(
    Needs(
        On(Action.WRITE_OBJECT, named.PREFIX),
        On(Action.DELETE_OBJECT, named.PREFIX),
        On(Action.READ_OBJECT, named.PREFIX),
    )
)
def restore_prefix(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PrefixRestore)
    task = start_restore(
        request.engine,
        request.repository,
        request.branch,
        body.prefix,
        request.user,
        ref=body.ref,
        force=body.force,
    )
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "POST",
    f"{_OBJECTS}/delete_prefix",
    "deletePrefix",
    body=schemas.PrefixDeletion,
    answers={202: TaskCreated},
    errors=CHANGE,
)
@checked(Needs.on(Action.DELETE_OBJECT, named.PREFIX))
def delete_prefix(request: Request) -> ApiAnswer:
    body = request.decode(schemas.PrefixDeletion)
    task = start_deletion(
        request.engine,
        request.repository,
        request.branch,
        body.prefix,
        request.user,
        force=body.force,
    )
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    "/repositories/<repository>/refs/<ref>/objects/total",
    "getPrefixTotal",
    parameters=(PREFIX, AFTER),
    answers={200: schemas.PrefixTotal},
)
@checked(Needs.on(Action.LIST_OBJECTS, named.REPOSITORY))
def get_prefix_total(request: Request) -> ApiAnswer:
    query = request.query
    found = total(
        request.engine,
        request.repository,
        request.name("ref"),
        query.text("prefix"),
        path_of_cursor(query.text("after")),
    )
    next_offset = cursor_of(found.next_after)
    return answers.of_json(
        schemas.PrefixTotal(found.objects, found.size_bytes, next_offset != "", next_offset)
    )


def _prefix_request(request: Request, body: schemas.PrefixMove) -> PrefixRequest:
    return PrefixRequest(
        source_prefix=body.src_prefix,
        destination_prefix=request.query.given_text(_DESTINATION.name),
        if_exists=IfExists(body.if_exists),
        force=body.force,
    )
