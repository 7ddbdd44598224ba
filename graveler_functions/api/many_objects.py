"""Requests on many objects: the rights to each of them, and its error in the answer."""

from collections.abc import Iterable, Sequence
from itertools import compress

from graveler.access.actions import Action
from graveler.access.needs import Permission
from graveler.access.resources import object_arn
from graveler.errors import GravelerError, UnknownOutcomeError
from graveler.http import errors
from graveler.http.schemas.fields import text_of
from graveler.http.schemas.objects import ObjectError
from graveler_functions.api.request import Request


def split_by_right(
    request: Request, action: Action, paths: Sequence[str]
) -> tuple[set[str], list[ObjectError]]:
    """Return the paths that the user may act on, and the errors of the others."""
    needs = [Permission(action, object_arn(request.repository, path)) for path in paths]
    allowed = set(compress(paths, request.rights.allows_each(needs)))
    refused = [ObjectError(401, "Unauthorized", path) for path in paths if path not in allowed]
    return allowed, refused


def error_rows(failures: Iterable[tuple[bytes, GravelerError]]) -> list[ObjectError]:
    """Return the rows of errors. The status of an unknown outcome is 500; 503 is without effect."""
    return [
        ObjectError(
            500 if isinstance(error, UnknownOutcomeError) else errors.status_of(error),
            error.message,
            text_of(path),
        )
        for path, error in failures
    ]
