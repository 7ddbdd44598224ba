"""What an operation takes and answers, as data beside its route.

`openapi.py` describes these contracts to clients. Tests compare them with what routes read, decode
and answer. The kind of a query parameter is the method of `Query` with which the route reads it.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import Struct

from graveler.http.errors import ErrorBody
from graveler.limits import PAGE_AMOUNT_MAX


class ParameterKind(Enum):
    """How a parameter is read: the name of a method of `Query`, or a header."""

    TEXT = "text"
    GIVEN_TEXT = "given_text"
    REQUIRED_TEXT = "required_text"
    PATH = "path"
    REPEATED = "all"
    FLAG = "flag"
    INTEGER = "integer"
    AMOUNT = "amount"
    CHOICE = "choice"
    UNIX_TIME = "unix_time"
    HEADER = "header"


_SCHEMAS: Mapping[ParameterKind, Mapping[str, object]] = {
    ParameterKind.TEXT: {"type": "string"},
    ParameterKind.GIVEN_TEXT: {"type": "string"},
    ParameterKind.REQUIRED_TEXT: {"type": "string", "minLength": 1},
    ParameterKind.PATH: {"type": "string", "minLength": 1},
    ParameterKind.REPEATED: {"type": "array", "items": {"type": "string", "minLength": 1}},
    ParameterKind.FLAG: {"type": "boolean"},
    ParameterKind.INTEGER: {"type": "integer"},
    ParameterKind.AMOUNT: {"type": "integer", "minimum": -1, "maximum": PAGE_AMOUNT_MAX},
    ParameterKind.CHOICE: {"type": "string"},
    ParameterKind.UNIX_TIME: {"type": "string", "format": "date-time"},
    ParameterKind.HEADER: {"type": "string"},
}


class Parameter(Struct, frozen=True):
    """A parameter of the query, or a header; `values` are the allowed ones if they are few."""

    name: str
    kind: ParameterKind
    values: tuple[str, ...] = ()

    @property
    def is_required(self) -> bool:
        return self.kind in {
            ParameterKind.GIVEN_TEXT,
            ParameterKind.REQUIRED_TEXT,
            ParameterKind.PATH,
        }

    @property
    def place(self) -> str:
        return "header" if self.kind is ParameterKind.HEADER else "query"

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the value."""
        allowed = {"enum": list(self.values)} if self.values else {}
        return {**_SCHEMAS[self.kind], **allowed}


def text(name: str, *values: str) -> Parameter:
    return Parameter(name, ParameterKind.TEXT, values)


def choice(name: str, *values: str) -> Parameter:
    return Parameter(name, ParameterKind.CHOICE, values)


def given_text(name: str) -> Parameter:
    return Parameter(name, ParameterKind.GIVEN_TEXT)


def required_text(name: str) -> Parameter:
    return Parameter(name, ParameterKind.REQUIRED_TEXT)


def repeated(name: str) -> Parameter:
    return Parameter(name, ParameterKind.REPEATED)


def flag(name: str) -> Parameter:
    return Parameter(name, ParameterKind.FLAG)


def integer(name: str) -> Parameter:
    return Parameter(name, ParameterKind.INTEGER)


def unix_time(name: str) -> Parameter:
    return Parameter(name, ParameterKind.UNIX_TIME)


def header(name: str) -> Parameter:
    return Parameter(name, ParameterKind.HEADER)


# The parameters of many operations.
PATH = Parameter("path", ParameterKind.PATH)
PREFIX = text("prefix")
AFTER = text("after")
AMOUNT = Parameter("amount", ParameterKind.AMOUNT)
PAGE = (PREFIX, AFTER, AMOUNT)
FORCE = flag("force")
PRESIGN = flag("presign")
# `write_conditions.required_checksum` reads it; `requirement_of` those of an object's write.
IF_MATCH = header("If-Match")
WRITE_CONDITIONS = (header("If-None-Match"), IF_MATCH)


class RawContent(Struct, frozen=True):
    """Content that is not JSON; a body may come as any of the media types."""

    media_types: tuple[str, ...]
    is_binary: bool = False


# An object's content has the object's type.
BYTES = RawContent(("*/*",), is_binary=True)
FORM_OR_BYTES = RawContent(("multipart/form-data", "*/*"), is_binary=True)
TEXT = RawContent(("text/plain",))
HTML = RawContent(("text/html",))

# The content of a body: a msgspec type for JSON, other content, None for nothing, or a tuple of
# these. The request's headers choose one of a tuple.
Shape = object
Answers = Mapping[int, Shape]

# A change may be refused by protection and read-only repositories, lost races and conditions.
CHANGE = (403, 409)
# Hooks guard the operation (docs/api.md, "Action files").
GUARDED = (403, 409, 412)
# The operation leaves long work to a task, and the request waits (docs/api.md, "Tasks").
WAITING: Answers = {307: ErrorBody}


# Every operation may answer these errors. 400 and 413 concern the query and the sizes of request
# and answer. 429 and 503 come from stores and API Gateway, 500 from damaged data and bugs.
COMMON_ERRORS = (400, 413, 429, 500, 503)


class Contract(Struct, frozen=True):
    """What one operation takes and answers.

    Attributes:
        answers: the content of answers that are not errors, by status.
        parameters: those of the query, and headers; `Template` has those of the path.
        body: the content of the request's body.
        is_body_optional: whether the body may be empty.
        errors: statuses of `ErrorBody` beyond those that `error_statuses` adds.
    """

    answers: Answers
    parameters: Sequence[Parameter] = ()
    body: Shape = None
    is_body_optional: bool = False
    errors: Sequence[int] = ()

    def error_statuses(
        self, *, public: bool, is_change: bool, has_path_parameters: bool
    ) -> frozenset[int]:
        """Return the statuses with which the operation may answer an error.

        Operations that need credentials answer 401, and paths with parameters 404. Changes answer
        403: a page of another site may not make them with a session.
        """
        found = {*COMMON_ERRORS, *self.errors}
        if not public:
            found.add(401)
        if is_change and not public:
            found.add(403)
        if has_path_parameters:
            found.add(404)
        return frozenset(found - self.answers.keys())
