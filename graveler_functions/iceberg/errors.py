"""The catalogue's errors: Iceberg's types and statuses, by which clients decide what to do.

A commit that answered 409 can be repeated, and one that answered 504 may have taken effect. Clients
take 500, 502 and 503 for unknown as well. So a request that is throttled, and has changed nothing,
answers 429.
"""

from collections.abc import Mapping

from graveler import errors
from graveler.http.errors import headers_of, status_of
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

# The status and the type of each class of errors; the nearest ancestor counts.
_TYPES: Mapping[type[errors.GravelerError], tuple[int, str]] = {
    errors.NoTableError: (404, "NoSuchTableException"),
    errors.NotFoundError: (404, "NoSuchNamespaceException"),
    errors.InvalidInputError: (400, "BadRequestException"),
    errors.AuthenticationError: (401, "NotAuthorizedException"),
    errors.AccessDeniedError: (403, "ForbiddenException"),
    errors.ForbiddenError: (403, "ForbiddenException"),
    errors.AlreadyExistsError: (409, "AlreadyExistsException"),
    errors.NotEmptyError: (409, "NamespaceNotEmptyException"),
    errors.ConflictError: (409, "CommitFailedException"),
    errors.ThrottledError: (429, "TooManyRequestsException"),
    errors.UnknownOutcomeError: (504, "CommitStateUnknownException"),
    errors.UnsupportedError: (406, "UnsupportedOperationException"),
}


def of_error(error: errors.GravelerError) -> ApiAnswer:
    """Return the answer to a request that failed."""
    status, kind = next(
        (_TYPES[each] for each in type(error).__mro__ if each in _TYPES),
        (status_of(error), f"{type(error).__name__.removesuffix('Error')}Exception"),
    )
    return of_fault(status, kind, str(error), headers_of(error))


def of_fault(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> ApiAnswer:
    """Return an error answer of that status and type."""
    body = {"error": {"message": message, "type": kind, "code": status}}
    return answers.of_json(body, status, headers)
