"""Every error the engine raises, grouped by what a caller would do about it.

    GravelerError
    ├ NotFoundError            the named thing does not exist
    ├ InvalidInputError        the request can never succeed as it is
    ├ AuthenticationError      no valid credential, or no policy that allows it
    ├ ForbiddenError           protected branch, read-only repository, default branch
    ├ AlreadyExistsError       a name is taken
    ├ ConflictError            the histories disagree
    │ └ MergeConflictError     a merge found objects changed on both sides
    ├ GoneError                it existed; its data do not any more
    ├ PreconditionFailedError  If-Match or If-None-Match did not hold, or a hook guards the change
    ├ RangeNotSatisfiableError the byte range lies outside the object
    ├ TooLargeError            more bytes than a request or an answer can carry
    ├ UnsupportedError         a part of lakeFS's API that this system does not serve
    ├ ContentionError          too many lost races; try again later
    │ └ StaleVersionError      lost one compare-and-swap; retried inside the engine
    ├ ThrottledError           the store asks for fewer requests; try again later
    ├ UnknownOutcomeError      a write may have landed: read back, never guess
    └ CorruptDataError         stored bytes are not what was written: alarm, never retry

`graveler.http.errors` maps each leaf to an HTTP status. Messages name the thing and the remedy.
Where scripts compare the whole message of lakeFS, it stands alone, and the details say the rest.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class GravelerError(Exception):
    """Root of every error that the engine raises on purpose."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __str__(self) -> str:
        return f"{self.message}: {self.details}" if self.details else self.message


class NotFoundError(GravelerError):
    """The named thing does not exist."""


class InvalidInputError(GravelerError):
    """The request can never succeed as it is."""


class AuthenticationError(GravelerError):
    """No valid credential was presented, or no policy allows the action."""


class ForbiddenError(GravelerError):
    """The repository's own rules refuse the change."""


class AlreadyExistsError(GravelerError):
    """The name is taken."""


class ConflictError(GravelerError):
    """The request disagrees with the history it would change."""


class MergeConflictError(ConflictError):
    """A merge found objects that both sides changed differently."""


class GoneError(GravelerError):
    """The thing existed, and its data do not exist any more."""


class PreconditionFailedError(GravelerError):
    """A condition that the caller or the repository's action files set does not hold."""


class RangeNotSatisfiableError(GravelerError):
    """The byte range lies outside the object; size_bytes is the object's size, None if unknown."""

    def __init__(self, details: str, size_bytes: int | None = None) -> None:
        super().__init__("Requested Range Not Satisfiable", details)
        self.size_bytes = size_bytes


class TooLargeError(GravelerError):
    """The request or the answer has more bytes than can pass."""


class UnsupportedError(GravelerError):
    """This part of lakeFS's API is not served."""


class ContentionError(GravelerError):
    """Too many writers raced for one branch; trying again later can succeed."""


class StaleVersionError(ContentionError):
    """Another writer changed the record since it was read; read again and retry."""


class ThrottledError(GravelerError):
    """A store asked for fewer requests; trying again later can succeed."""


class UnknownOutcomeError(GravelerError):
    """A write may or may not have landed; read back before deciding."""


class CorruptDataError(GravelerError):
    """Stored bytes differ from what was written; the message names file and offset."""


@contextmanager
def in_file(name: str) -> Iterator[None]:
    """Begin the message of every engine error with the file's name, unless it has the name."""
    try:
        yield
    except GravelerError as error:
        if name in error.message:
            raise
        raise type(error)(f"{name}: {error.message}", error.details) from error
