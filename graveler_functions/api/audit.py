"""Records requests that change access or settings, and log-ins.

A change is recorded before anything is done, and again with its outcome. So no change is without a
record: if the first write fails, nothing is done. If the second one fails, or the process ends, the
outcome is missing.

Anybody may ask for a log-in. So it is recorded afterwards, if it succeeds or its secret was wrong.
The limit of failures bounds these records.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from graveler.errors import AuthenticationError, GravelerError
from graveler.http.errors import status_of
from graveler.model.audit import AuditRecord
from graveler_functions.api.authorization.checks import Needs, NeedsOfOthers
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Template
from graveler_functions.http.answers import ApiAnswer


def recorded(
    request: Request, template: Template, path: str, request_id: str, act: Callable[[], ApiAnswer]
) -> ApiAnswer:
    """Act, and keep a record of that; return the answer.

    Raises:
        GravelerError: the record cannot be stored; or whatever act raises.
    """
    engine, keep = request.engine, request.services.accounts.keep_audit
    record = AuditRecord(
        id=engine.names.new_uid(),
        time_ns=engine.clock.now_ns(),
        user=request.user,
        address=request.address,
        operation=template.name,
        path=path,
        request_id=request_id,
        resources=tuple(_resources(request, template)),
        access_key_id=_access_key_id(request, template),
    )
    if template.public:
        try:
            answer = act()
        except AuthenticationError as error:
            if template.name != "setup":  # which has no limit of failures
                keep(replace(record, status=status_of(error)))
            raise
        keep(replace(record, user=request.user, status=answer.status))
        return answer
    keep(record)
    status = 500
    try:
        answer = act()
        status = answer.status
    except GravelerError as error:
        status = status_of(error)
        raise
    finally:
        with suppress(GravelerError):
            keep(replace(record, status=status))
    return answer


def _resources(request: Request, template: Template) -> Iterator[str]:
    """Yield the resources on which the request needs rights; none if it does not name them."""
    needs = template.needs
    if isinstance(needs, NeedsOfOthers):
        needs = needs.needs
    with suppress(GravelerError):
        for each in needs.all_of if isinstance(needs, Needs) else ():
            yield from map(str, each.resources.of(request))


def _access_key_id(request: Request, template: Template) -> str:
    if template.name != "login":
        return ""
    from graveler.http.schemas.accounts import Login  # noqa: PLC0415 - few requests are log-ins

    try:
        return request.decode(Login).access_key_id
    except GravelerError:
        return ""
