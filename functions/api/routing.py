"""Tables of operations: a route module declares each of its operations with a decorator.

`app.py` registers the tables with the resolver. A template's path is relative to /api/v1 and has
parameters as `<name>`. A template's name is the operationId of lakeFS's specification.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from functions.api.answers import Answer
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
    """A template and the function that serves it."""

    template: Template
    route: Route


class Operations:
    """The operations of one resource, in the order in which they are matched."""

    def __init__(self) -> None:
        self.table: list[Operation] = []

    def add(
        self, method: str, path: str, name: str, *, public: bool = False
    ) -> Callable[[Route], Route]:
        """Return a decorator that declares the function as the operation's route."""

        def declare(route: Route) -> Route:
            self.table.append(Operation(Template(method, path, name, public), route))
            return route

        return declare
