"""Copies and moves of all objects with a prefix. lakeFS has no such operations."""

from dataclasses import replace

from graveler.access.actions import Action
from graveler.http.schemas import prefixes as schemas
from graveler.http.schemas.tasks import TaskCreated
from graveler.operations.prefixes.requests import IfExists, PrefixRequest, start_copy, start_move
from graveler_functions.api import answers
from graveler_functions.api.answers import ApiAnswer
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import CHANGE, given_text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked

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


def _prefix_request(request: Request, body: schemas.PrefixMove) -> PrefixRequest:
    return PrefixRequest(
        source_prefix=body.src_prefix,
        destination_prefix=request.query.given_text(_DESTINATION.name),
        if_exists=IfExists(body.if_exists),
        force=body.force,
    )
