"""Tables of operations: a route module declares each of its operations with a decorator.

`app.py` registers the tables with the resolver. A template's path is relative to /api/v1 and has
parameters as `<name>`. A template's name is the operationId of lakeFS's specification. The rest of
a declaration is the operation's contract, which `openapi.py` describes to clients.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from functions.api.answers import Answer
from functions.api.contract import Answers, Contract, Parameter, Shape
from functions.api.request import Request

Route = Callable[[Request], Answer]


# Parameters that lakeFS's specification writes with an underscore; it writes others as `uploadId`.
_WITH_UNDERSCORE = frozenset({"hook_run_id", "meta_range", "object_id", "pull_request", "run_id"})


def _lakefs_name(parameter: str) -> str:
    first, *others = parameter.split("_")
    if parameter in _WITH_UNDERSCORE:
        return parameter
    return first + "".join(other.title() for other in others)


@dataclass(frozen=True)
class Template:
    """One operation's method and path; a public one needs no credentials."""

    method: str
    path: str
    name: str
    public: bool = False

    @cached_property
    def _segments(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))

    @cached_property
    def path_parameters(self) -> Mapping[str, str]:
        """The parameters of the path, and lakeFS's names for them."""
        names = (segment[1:-1] for segment in self._segments if segment.startswith("<"))
        return {name: _lakefs_name(name) for name in names}

    def missing_parameter(self, segments: list[str]) -> str | None:
        """Return lakeFS's name of the first parameter that is empty in a path that matches."""
        for ours, theirs in zip(self._segments, segments, strict=True):
            if ours.startswith("<") and not theirs:
                return _lakefs_name(ours[1:-1])
        return None

    def matches(self, segments: list[str]) -> bool:
        """Whether the template describes a path, given as its segments between slashes."""
        return len(segments) == len(self._segments) and all(
            ours.startswith("<") or ours == theirs
            for ours, theirs in zip(self._segments, segments, strict=True)
        )


@dataclass(frozen=True)
class Operation:
    """A template, the function that serves it, and what it takes and answers."""

    template: Template
    route: Route
    contract: Contract


class Operations:
    """The operations of one resource, in the order in which they are matched."""

    def __init__(self) -> None:
        self.table: list[Operation] = []

    def add(
        self,
        method: str,
        path: str,
        name: str,
        *,
        answers: Answers,
        public: bool = False,
        parameters: Sequence[Parameter] = (),
        body: Shape = None,
        is_body_optional: bool = False,
        errors: Sequence[int] = (),
    ) -> Callable[[Route], Route]:
        """Return a decorator that declares the function as the operation's route.

        A public operation needs no credentials. `Contract` describes the other arguments.
        """
        contract = Contract(answers, parameters, body, is_body_optional, errors)

        def declare(route: Route) -> Route:
            template = Template(method, path, name, public)
            self.table.append(Operation(template, route, contract))
            return route

        return declare
