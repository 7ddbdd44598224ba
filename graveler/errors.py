"""Every error that the engine raises, grouped by how a caller handles it.

    GravelerError
    ├ NotFoundError            the named thing does not exist
    │ ├ UploadNotFoundError    a multipart upload is not open: never begun, aborted, completed
    │ ├ NoRulesError           a repository has no garbage collection rules
    │ └ NoTableError           a ref has no Iceberg table of the name
    ├ InvalidInputError        the request can never succeed as it is
    │ ├ NoChangesError         nothing is left to do
    │ ├ BucketRefusedError     the object store's bucket does not exist or refuses us
    │ └ BadPartsError          the parts of a multipart upload cannot be joined
    ├ AuthenticationError      no valid credential
    │ └ AccessDeniedError      no policy allows it, or one denies it
    ├ ForbiddenError           protected branch, read-only repository, default branch
    ├ AlreadyExistsError       a name is taken
    ├ ConflictError            the histories disagree
    │ ├ MergeConflictError     a merge found objects changed on both sides
    │ └ NotEmptyError          a namespace of tables is to be dropped, and has some
    ├ GoneError                it existed, but its data is deleted
    ├ PreconditionFailedError  If-Match or If-None-Match did not hold
    │ ├ ObjectMissingError     If-Match needs an object, and the path has none
    │ └ HookFailedError        a hook failed, and so stops the change that it guards
    ├ RangeNotSatisfiableError the byte range lies outside the object
    ├ TooLargeError            more bytes than a request or an answer can carry
    ├ UnsupportedError         a part of lakeFS's API that this system does not serve
    ├ TooManyAttemptsError     too many failed log-ins; try again later
    ├ TooManyWaitsError        a user waits for too many tasks; try again later
    ├ ContentionError          too many lost races; try again later
    │ └ StaleVersionError      lost one compare-and-swap; retried inside the engine
    │   └ StaleTaskError       the same for the task that a transaction would end
    ├ ThrottledError           the store asks for fewer requests; try again later
    │ └ StillRunningError      a task does the work, and has not ended; repeat the request to join
    ├ UnknownOutcomeError      a write may have landed: read back, never guess
    └ CorruptDataError         stored bytes are not what was written: alarm, never retry

`graveler.http.errors` maps each leaf to an HTTP status. A message names the thing and the remedy.
If lakeFS refuses the same, the message is lakeFS's alone, because scripts compare it; the details
have the rest.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Self


class GravelerError(Exception):
    """The root of all errors that the engine raises on purpose.

    `code` names the class in logs and traces, and never changes. Every class has its own.
    """

    code: ClassVar[str] = "graveler"

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def within(self, step: str) -> Self:
        """Return the same error with a message that begins with the step."""
        # Without __init__, whose arguments differ between classes.
        error = type(self).__new__(type(self), *self.args)
        vars(error).update(vars(self), message=f"{step}: {self.message}")
        return error

    def __str__(self) -> str:
        return f"{self.message}: {self.details}" if self.details else self.message


class NotFoundError(GravelerError):
    """The named thing does not exist."""

    code = "not_found"


class UploadNotFoundError(NotFoundError):
    """The multipart upload is not open: it never was, or it was aborted or completed."""

    code = "upload_not_found"


class NoRulesError(NotFoundError):
    """The repository has no garbage collection rules.

    checksum: what If-Match requires so that it still has none; None if that was not read.
    """

    code = "no_rules"
    checksum: str | None = None

    def __init__(self, message: str, details: str = "", *, checksum: str | None = None) -> None:
        super().__init__(message, details)
        self.checksum = checksum


class NoTableError(NotFoundError):
    """The ref has no Iceberg table of the name."""

    code = "no_table"


class InvalidInputError(GravelerError):
    """The request can never succeed as it is."""

    code = "invalid_input"


class NoChangesError(InvalidInputError):
    """Nothing is left to do: all that the request asks for is there."""

    code = "no_changes"


class BadPartsError(InvalidInputError):
    """The parts of a multipart upload cannot be joined; reason is the code of S3's error."""

    code = "bad_parts"

    reason = "InvalidPart"

    def __init__(self, message: str, details: str = "", *, reason: str = reason) -> None:
        super().__init__(message, details)
        self.reason = reason


class BucketRefusedError(InvalidInputError):
    """A bucket of the object store does not exist, or refuses us."""

    code = "bucket_refused"


class AuthenticationError(GravelerError):
    """No valid credential was presented."""

    code = "authentication"


class AccessDeniedError(AuthenticationError):
    """No policy of the user allows the action, or one denies it; 401 as in lakeFS."""

    code = "access_denied"


class ForbiddenError(GravelerError):
    """The repository's own rules refuse the change."""

    code = "forbidden"


class AlreadyExistsError(GravelerError):
    """The name is taken."""

    code = "already_exists"


class ConflictError(GravelerError):
    """The request conflicts with the history that it would change."""

    code = "conflict"


class MergeConflictError(ConflictError):
    """A merge found objects that both sides changed differently."""

    code = "merge_conflict"


class NotEmptyError(ConflictError):
    """A namespace of Iceberg tables is to be dropped, and has tables or namespaces."""

    code = "not_empty"


class GoneError(GravelerError):
    """The thing existed, but its data is deleted."""

    code = "gone"


class DataReplacedError(GoneError):
    """Others have replaced the object's data since they were recorded."""

    code = "data_replaced"


class PreconditionFailedError(GravelerError):
    """A condition of the caller, or of the repository's action files, does not hold."""

    code = "precondition_failed"


class ObjectMissingError(PreconditionFailedError):
    """If-Match needs an object, and the path has none: S3 answers 404, RFC 9110 asks for 412."""

    code = "object_missing"


class HookFailedError(PreconditionFailedError):
    """A hook failed. If it runs before a change, the change is not made."""

    code = "hook_failed"


class RangeNotSatisfiableError(GravelerError):
    """The byte range is outside the object; size_bytes is the object's size, None if unknown."""

    code = "range_not_satisfiable"

    def __init__(self, details: str, size_bytes: int | None = None) -> None:
        super().__init__("Requested Range Not Satisfiable", details)
        self.size_bytes = size_bytes


class TooLargeError(GravelerError):
    """The request or the response is too large."""

    code = "too_large"


class UnsupportedError(GravelerError):
    """This part of lakeFS's API is not served."""

    code = "unsupported"


class TooManyAttemptsError(GravelerError):
    """A key or an address has failed to log in too often; retry_after_s says when to retry."""

    code = "too_many_attempts"

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(
            "Too many attempts, try again later",
            f"too many failed log-ins with this key or from this address: wait {retry_after_s} s",
        )
        self.retry_after_s = retry_after_s


class TooManyWaitsError(GravelerError):
    """A user waits for too many tasks, which go on; retry_after_s says when to retry."""

    code = "too_many_waits"
    retry_after_s = 5


class ContentionError(GravelerError):
    """Too many concurrent updates of one record; retry later."""

    code = "contention"


class StaleVersionError(ContentionError):
    """Another writer changed the record since it was read; read it again and retry."""

    code = "stale_version"


class StaleTaskError(StaleVersionError):
    """Another writer changed the task whose end is part of the transaction."""

    code = "stale_task"


class ThrottledError(GravelerError):
    """A store throttles requests; retry later."""

    code = "throttled"


class StillRunningError(ThrottledError):
    """A task does what the request asks, and goes on.

    task_id names it. is_outcome says whether its outcome is the request's, or comes before that.
    """

    code = "still_running"

    def __init__(self, task_id: str, *, is_outcome: bool = True) -> None:
        super().__init__(
            f"task {task_id} is doing this and has not ended yet: repeat the same request to wait "
            "for it, nothing is done twice"
        )
        self.task_id = task_id
        self.is_outcome = is_outcome


class UnknownOutcomeError(GravelerError):
    """A write may or may not have landed; read back to decide."""

    code = "unknown_outcome"

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message, details or "it may have taken effect: read before you repeat it")


class CorruptDataError(GravelerError):
    """Stored bytes differ from the written ones; the message names file and offset."""

    code = "corrupt_data"


@contextmanager
def in_file(name: str) -> Iterator[None]:
    """Prefix the messages of engine errors with the file's name, unless they contain it."""
    try:
        yield
    except GravelerError as error:
        if name in error.message:
            raise
        raise error.within(name) from error


def error_of_code(code: str, message: str, details: str = "") -> GravelerError:
    """Return the error of the class with that code; an unknown code gives the root class."""
    pending: list[type[GravelerError]] = [GravelerError]
    kind = GravelerError
    while pending:
        each = pending.pop()
        pending += each.__subclasses__()
        if each.code == code:
            kind = each
    # Without __init__, whose arguments differ between classes.
    error = kind.__new__(kind, message)
    error.message, error.details = message, details
    return error
