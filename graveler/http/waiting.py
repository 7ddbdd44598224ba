"""How clients wait for work that outlasts their request.

The request is soon answered 307. The location is its own URL below WAITS, with the task's ID. The
Go and Java clients and the Python SDK follow it with the same method and body. So they wait there,
and take no place of requests that work. The SDK follows three, and the request after the last one
is answered 503 with Retry-After. lakectl repeats such a request by itself, and other clients report
it. The repeated request joins the task by its digest.
"""

from urllib.parse import quote, unquote_plus

from graveler.errors import StillRunningError
from graveler.http.query import Query
from graveler.operations.tasks.waiting import ClientWait

# The path of a request that waits: this, and the path of the request before it.
WAITS = "/waits"
_WAITING = f"{WAITS}/api/v1/repositories/"

# The query parameter of a request after such a redirect: the ID of the task whose outcome it wants,
# a colon, and the number of the redirect.
_PARAMETER = "graveler-task"
_REDIRECTS_MAX = 3


def client_wait_of(query: Query) -> ClientWait:
    """Return how the client that sent the query waits."""
    task_id, number = _parts(query.text(_PARAMETER))
    return ClientWait(task_id, is_last=number >= _REDIRECTS_MAX, is_first=number == 0)


def is_waiting(path: str) -> bool:
    """Whether a request to the path follows such a redirect."""
    return path.startswith(_WAITING)


def asked_path(path: str) -> str:
    """Return the path that the client of the request asked for first."""
    return path.removeprefix(WAITS) if is_waiting(path) else path


def location_of(error: StillRunningError, path: str, raw_query: str) -> str | None:
    """Return the location at which the client of a request to the path has to ask again.

    Returns:
        A reference relative to the request's URL; None after the last redirect.
    """
    parts = [part for part in raw_query.split("&") if part]
    kept = [part for part in parts if unquote_plus(part.partition("=")[0]) != _PARAMETER]
    _, number = _parts(Query(raw_query).text(_PARAMETER))
    if number >= _REDIRECTS_MAX:
        return None
    named = quote(error.task_id) if error.is_outcome else ""
    to_root = "../" * (path.count("/") - 1)  # a deployment may be below a prefix
    place = "" if is_waiting(path) else f"{to_root}{WAITS[1:]}{path}"
    return place + "?" + "&".join([*kept, f"{_PARAMETER}={named}:{number + 1}"])


def _parts(text: str) -> tuple[str, int]:
    task_id, _, number = text.partition(":")
    is_number = number.isascii() and number.isdigit() and len(number) < 3
    return task_id, int(number) if is_number else 0
