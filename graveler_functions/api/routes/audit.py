"""The audit of access, settings and log-ins. lakeFS has no such operation."""

from difflib import get_close_matches
from functools import cache

from graveler.access.actions import Action
from graveler.errors import InvalidInputError
from graveler.http.schemas import audit as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.model.audit import OUTCOMES
from graveler.operations.accounts import auditing
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.contract import AFTER, AMOUNT, choice, text, unix_time
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()


@operations.add(
    "GET",
    "/auth/audit",
    "listAuditRecords",
    parameters=(
        AFTER,
        AMOUNT,
        text("user"),
        text("operation"),
        choice("outcome", *OUTCOMES),
        unix_time("since"),
        unix_time("until"),
    ),
    answers={200: Listing[schemas.AuditRow]},
)
@checked(Needs(On(Action.LIST_USERS, named.EVERYTHING), On(Action.LIST_POLICIES, named.EVERYTHING)))
def list_audit_records(request: Request) -> ApiAnswer:
    query = request.query
    page = auditing.list_page(
        request.engine,
        request.services.accounts,
        auditing.AuditQuery(
            query.text("user"),
            _recorded(query.text("operation")),
            query.choice("outcome", OUTCOMES, default=""),
            query.unix_time("since"),
            query.unix_time("until"),
        ),
        query.text("after"),
        query.amount(),
    )
    rows = [schemas.audit_row(record) for record in page.results]
    return answers.of_json(listing(rows, page.next_after))


def _recorded(operation: str) -> str:
    """Return the operation, or "" for all.

    Raises:
        InvalidInputError: no request for it is ever recorded.
    """
    known = _operations()
    if operation and operation not in known:
        near = get_close_matches(operation, known, n=3)
        remedy = f"did you mean {', '.join(near)}?" if near else f"one of {', '.join(known)}"
        raise InvalidInputError(f"no operation {operation[:80]!r} is recorded", remedy)
    return operation


@cache
def _operations() -> list[str]:
    from graveler_functions.api.all_operations import TEMPLATES  # noqa: PLC0415 - it imports this

    return sorted({each.name for each in TEMPLATES if each.is_audited})
