"""Tables of operations: a route module declares each of its operations with a decorator.

`app.py` binds the tables to an engine, and a `RouteTable` finds the operation of a request. A
template's path is relative to /api/v1 and has parameters as `<name>`. A template's name is the
operationId of lakeFS's specification. The rest of a declaration is the operation's contract, which
`openapi.py` describes to clients.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from graveler_functions.api.authorization.checks import Check, Public
from graveler_functions.api.contract import Answers, Contract, Parameter, Shape
from graveler_functions.api.request import Request
from graveler_functions.http.answers import ApiAnswer

Route = Callable[[Request], ApiAnswer]

# Changes of refs and of content have events.
_AUDITED = re.compile(
    r"/auth/(?!check_policy$)|/user/|/setup_lakefs$"
    r"|/repositories/<repository>/(settings/|branch_protection|gc/rules|metadata$)"
    r"|.*/continuous-export$"
)

# Parameters that lakeFS's specification writes with an underscore; it writes others as `uploadId`.
_WITH_UNDERSCORE = frozenset({"hook_run_id", "meta_range", "object_id", "pull_request", "run_id"})


def _lakefs_name(parameter: str) -> str:
    first, *others = parameter.split("_")
    if parameter in _WITH_UNDERSCORE:
        return parameter
    return first + "".join(other.title() for other in others)


class Template(Struct, frozen=True, dict=True):
    """One operation's method and path, and what it needs."""

    method: str
    path: str
    name: str
    needs: Check

    @property
    def public(self) -> bool:
        """Whether it needs no credentials."""
        return isinstance(self.needs, Public)

    @property
    def is_audited(self) -> bool:
        """Whether its requests are recorded: log-ins, and changes of access and of settings."""
        return self.method != "GET" and _AUDITED.match(self.path) is not None

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


class CheckedRoute(Struct, frozen=True):
    """A route, and what its requests need."""

    needs: Check
    route: Route


def checked(needs: Check) -> Callable[[Route], CheckedRoute]:
    """Return a decorator that declares what the route's requests need."""
    return lambda route: CheckedRoute(needs, route)


class ApiOperation(Struct, frozen=True):
    """A template, the function that serves it, and what it takes and answers."""

    template: Template
    route: Route
    contract: Contract


class Operations:
    """The operations of one resource, in the order in which they are matched."""

    def __init__(self) -> None:
        self.table: list[ApiOperation] = []

    def add(
        self,
        method: str,
        path: str,
        name: str,
        *,
        answers: Answers,
        parameters: Sequence[Parameter] = (),
        body: Shape = None,
        is_body_optional: bool = False,
        errors: Sequence[int] = (),
    ) -> Callable[[CheckedRoute], CheckedRoute]:
        """Return a decorator that declares the function as the operation's route.

        `Contract` describes the arguments after the name.
        """
        contract = Contract(answers, parameters, body, is_body_optional, errors)

        def declare(checked_route: CheckedRoute) -> CheckedRoute:
            template = Template(method, path, name, checked_route.needs)
            self.table.append(ApiOperation(template, checked_route.route, contract))
            return checked_route

        return declare
