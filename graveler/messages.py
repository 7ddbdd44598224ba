"""lakeFS's error messages, word for word, because scripts and clients compare them.

A name or a remedy that lakeFS does not give is in the error's details. Clients get these beside the
message. The error's class decides the HTTP status (`graveler.http.errors`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from graveler.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    GoneError,
    GravelerError,
    HookFailedError,
    InvalidInputError,
    MergeConflictError,
    NoChangesError,
    NotFoundError,
    PreconditionFailedError,
    UnsupportedError,
)


class Refusal(Enum):
    """The errors with lakeFS's messages: each row has the error's class and its message."""

    REPOSITORY_NOT_FOUND = NotFoundError, "repository not found"
    BRANCH_NOT_FOUND = NotFoundError, "branch not found"
    BRANCH_OF_UPLOAD_NOT_FOUND = NotFoundError, "branch '{branch}' not found"
    TAG_NOT_FOUND = NotFoundError, "tag not found"
    COMMIT_NOT_FOUND = NotFoundError, "commit not found"
    PULL_REQUEST_NOT_FOUND = NotFoundError, "pull request not found"
    NOT_FOUND = NotFoundError, "not found"  # an object, a ref, rules, a task
    RUN_NOT_FOUND = NotFoundError, "not found: not found"

    USER_NOT_FOUND = NotFoundError, "user not found"
    GROUP_NOT_FOUND = NotFoundError, "group not found"
    POLICY_NOT_FOUND = NotFoundError, "policy not found"
    CREDENTIALS_NOT_FOUND = NotFoundError, "credentials not found"
    NOTHING_ALLOWED = AccessDeniedError, "insufficient permissions"
    NOT_ALLOWED = AccessDeniedError, "insufficient permissions: not allowed to {actions}"
    DENIED = AccessDeniedError, "insufficient permissions: denied permission to {actions}"

    BAD_PARAMETER = InvalidInputError, 'parameter "{name}" in query has an error: {problem}'
    BAD_PATH_PARAMETER = InvalidInputError, 'parameter "{name}" in path has an error: {problem}'
    BAD_HEADER = InvalidInputError, 'parameter "{name}" in header has an error: {problem}'
    BAD_BODY = InvalidInputError, "request body has an error: {problem}"
    BAD_REPOSITORY_NAME = (
        InvalidInputError,
        "argument repository: repository id: invalid value: validation error",
    )
    BAD_BRANCH_NAME = (
        InvalidInputError,
        "argument branch: branch id: invalid value: validation error",
    )
    BAD_NAME_OF_NEW_BRANCH = (
        InvalidInputError,
        (
            "argument branch: branch id: invalid value: validation error: branch id must consist "
            "of letters, digits, underscores and dashes, and cannot start with a dash"
        ),
    )
    BAD_SOURCE_BRANCH_NAME = (
        InvalidInputError,
        "argument src: branch id: invalid value: validation error",
    )
    BAD_DESTINATION_BRANCH_NAME = (
        InvalidInputError,
        "argument dest: branch id: invalid value: validation error",
    )
    BAD_TAG_NAME = InvalidInputError, "argument tagID: tag id: invalid value: validation error"
    BAD_REF = InvalidInputError, "ref: invalid value: validation error"
    BAD_MODIFIER = (
        InvalidInputError,
        "could not parse modifier {modifier}: ref: invalid value: validation error",
    )
    STAGING_IS_NO_COMMIT = (
        InvalidInputError,
        "reference '{ref}': reference to staging area with $ is not a commit",
    )
    NO_PATH = InvalidInputError, "argument path: missing path: required value: validation error"
    LONG_PATH = (
        InvalidInputError,
        "argument path: invalid value: validation error: {size} is above maximum length ({most})",
    )
    TOO_MANY_PATHS = InvalidInputError, "request size exceeded, max paths is set to {most}"
    TOO_MANY_PARTS = InvalidInputError, "parts can be between 0 and {most}"
    NO_PARTS = InvalidInputError, "parts are required"
    FOREIGN_ADDRESS = (
        InvalidInputError,
        "physical address must be relative to the storage namespace",
    )
    UNSIGNED_ADDRESS = InvalidInputError, "address is not signed: link address invalid"
    ADDRESS_OF_ANOTHER_USE = InvalidInputError, "invalid address signature: invalid address"
    EXPIRED_ADDRESS = InvalidInputError, "link address expired"
    NAMESPACE_OF_ANOTHER_STORE = (
        InvalidInputError,
        "failed to match required regex ^s3://: invalid namespace",
    )
    NAMESPACE_WITHOUT_ACCESS = (
        InvalidInputError,
        "failed to create repository: failed to access storage",
    )
    NAMESPACE_IN_USE = (
        InvalidInputError,
        (
            "failed to create repository: found lakeFS objects in the storage (:{namespace}) "
            "key(_lakefs/dummy): storage namespace already in use"
        ),
    )

    IMPORT_FROM_NAMESPACE = (
        InvalidInputError,
        (
            "import path ({path}) in repository namespace ({namespace}) is prohibited: "
            "invalid import source"
        ),
    )
    IMPORT_OVER_NAMESPACE = (
        InvalidInputError,
        ("prefix ({path}) contains repository namespace: ({namespace}), invalid import source"),
    )

    DIRTY_BRANCH = InvalidInputError, "uncommitted changes (dirty branch)"
    METARANGE_OVER_CHANGES = (
        InvalidInputError,
        "cannot use source MetaRange on a branch with uncommitted changes",
    )
    NOTHING_TO_COMMIT = NoChangesError, "commit: no changes"
    NOTHING_TO_MERGE = NoChangesError, "update branch {branch}: no changes"
    NOTHING_TO_REPEAT = NoChangesError, "update branch: no changes"
    PERCENT_IN_NAME = InvalidInputError, "{kind} name cannot contain '%'"
    EMPTY_NAME = InvalidInputError, "empty name: validation error"
    DELIMITER_IN_NAME = InvalidInputError, "name contains delimiter /: validation error"
    BAD_ACCOUNT_NAME = InvalidInputError, "validation error"
    POLICY_RENAMED = InvalidInputError, "can't update policy id"
    SAME_BRANCH = (
        InvalidInputError,
        "source and destination branches are the same: same branch validation error",
    )
    BAD_PULL_REQUEST_ID = (
        InvalidInputError,
        "argument pullRequestID: pull request id: invalid value: validation error",
    )
    BAD_PULL_REQUEST_STATUS = InvalidInputError, "invalid pull request status: validation error"
    PULL_REQUEST_NOT_OPEN = InvalidInputError, "bad pull request status"
    BAD_STRATEGY = InvalidInputError, "argument strategy: invalid value: validation error"
    REVERT_BEYOND_PARENTS = (
        InvalidInputError,
        "given commit does not have the given parent number: parent {number}",
    )
    PICK_BEYOND_PARENTS = (
        InvalidInputError,
        "parent {number}: given commit does not have the given parent number",
    )
    PICK_WITHOUT_PARENT = (
        InvalidInputError,
        "must specify 1-based parent number for cherry-picking merge commit",
    )
    REVERT_WITHOUT_PARENT = (
        ConflictError,
        "must specify 1-based parent number for reverting merge commit",
    )
    CONFLICT_FOUND = MergeConflictError, "update branch: conflict found"
    MERGE_CONFLICT = MergeConflictError, "update branch {branch}: conflict found"

    PROTECTED_FROM_WRITES = ForbiddenError, "cannot write to protected branch"
    PROTECTED_FROM_COMMITS = ForbiddenError, "cannot commit to protected branch"
    PROTECTED_FROM_RESETS = ForbiddenError, "protected branch"
    PROTECTED_FROM_DELETION = ForbiddenError, "cannot delete protected branch"
    READ_ONLY = ForbiddenError, "read-only repository"
    DEFAULT_BRANCH = ForbiddenError, "cannot delete repository default branch"

    IMPORT_ENDED = ConflictError, "conflict found"

    ACCOUNT_EXISTS = AlreadyExistsError, "Already exists"  # a user, an attachment, a principal
    REPOSITORY_EXISTS = AlreadyExistsError, "error creating repository: not unique"
    BRANCH_EXISTS = AlreadyExistsError, "branch already exists: not unique"
    TAG_EXISTS = AlreadyExistsError, "tag already exists: not unique"
    NAME_OF_BRANCH = AlreadyExistsError, "branch name {name}: conflict found"
    NAME_OF_TAG = AlreadyExistsError, "tag ID {name}: conflict found"
    NAME_OF_COMMIT = AlreadyExistsError, "commit ID {name}: conflict found"

    NO_DATA = GoneError, "No data"
    PATH_EXISTS = PreconditionFailedError, "path already exists"
    CHANGED = PreconditionFailedError, "Precondition failed"  # since the client read it
    NOT_SERVED = UnsupportedError, "Not Implemented"

    def __init__(self, kind: type[GravelerError], words: str) -> None:
        self.kind = kind
        self.words = words

    def error(self, details: str = "", /, **names: object) -> GravelerError:
        """Return the row's error, its message formatted with names, and with details."""
        return self.kind(self.words.format(**names), details)


@contextmanager
def within(step: str) -> Iterator[None]:
    """Prefix the messages of InvalidInputError, NotFoundError and HookFailedError with the step.

    An empty step changes nothing.
    """
    try:
        yield
    except (InvalidInputError, NotFoundError, HookFailedError) as error:
        if not step:
            raise
        raise error.within(step) from error
