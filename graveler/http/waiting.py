"""How clients wait for work that outlasts their request.

The request is answered 307 with its own URL and the task's ID. The Go and Java clients and the
Python SDK follow it with the same method and body. So they wait again. The SDK follows three, and
the request after the last one is answered 503 with Retry-After. lakectl repeats such a request by
itself, and other clients report it. The repeated request joins the task by its digest.
"""

from urllib.parse import quote, unquote_plus

from graveler.errors import StillRunningError
from graveler.http.query import Query
from graveler.operations.tasks.waiting import ClientWait

# The query parameter of a request after such a redirect: the ID of the task whose outcome it wants,
# a colon, and the number of the redirect.
_PARAMETER = "graveler-task"
_REDIRECTS_MAX = 3


def client_wait_of(query: Query) -> ClientWait:
    """Return how the client that sent the query waits."""
    task_id, number = _parts(query.text(_PARAMETER))
    return ClientWait(task_id, is_last=number >= _REDIRECTS_MAX)


def location_of(error: StillRunningError, raw_query: str) -> str | None:
    """Return the location at which the client of a request with that query has to ask again.

    Returns:
        A reference relative to the request's URL; None after the last redirect.
    """
    parts = [part for part in raw_query.split("&") if part]
    kept = [part for part in parts if unquote_plus(part.partition("=")[0]) != _PARAMETER]
    _, number = _parts(Query(raw_query).text(_PARAMETER))
    if number >= _REDIRECTS_MAX:
        return None
    named = quote(error.task_id) if error.is_outcome else ""
    return "?" + "&".join([*kept, f"{_PARAMETER}={named}:{number + 1}"])


def _parts(text: str) -> tuple[str, int]:
    task_id, _, number = text.partition(":")
    is_number = number.isascii() and number.isdigit() and len(number) < 3
    return task_id, int(number) if is_number else 0
