"""What an operation needs: a check, and its words. A route's declaration names it.

The needs are those of lakeFS's controller. An operation that lakeFS does not have needs the nearest
action that lakeFS has. `app.py` checks them after authentication and before the route. Where they
say `then`, the route checks more, with a function of `deferred_checks.py`.

A check finds its resources in the path, the query or the body, exactly as the route will read them.
So a request cannot name one resource to the check and another one to the route. Permissions are
checked in order, so the body is read only for a user who has those of the path.
"""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.needs import Permission
from graveler_functions.api.authorization.named_resources import NamedResources
from graveler_functions.api.request import Request


class On(Struct, frozen=True):
    """An action on the resources that a request names in one place."""

    action: Action
    resources: NamedResources

    def permissions(self, request: Request) -> Iterator[Permission]:
        for resource in self.resources.of(request):
            yield Permission(self.action, resource)

    def __str__(self) -> str:
        return f"`{self.action}` on {' and '.join(f'`{form}`' for form in self.resources.forms)}"


class Check(Protocol):
    """What an operation needs: a check, and its words for docs/access.md."""

    def check(self, request: Request) -> None:
        """Check that the request's user may do what it asks.

        Raises:
            AccessDeniedError: the user may not.
            InvalidInputError: the request lacks the name of a resource.
        """

    def __str__(self) -> str: ...


class Public(Struct, frozen=True):
    """No credential is needed."""

    def check(self, request: Request) -> None:
        pass

    def __str__(self) -> str:
        return "nothing; public"


class SignedIn(Struct, frozen=True):
    """A credential of any user is needed, and no permission."""

    def check(self, request: Request) -> None:
        pass

    def __str__(self) -> str:
        return "nothing; any user"


class Needs:
    """All of the permissions, in this order; `then` describes what the route checks as well."""

    def __init__(self, *all_of: On, then: str = "") -> None:
        self.all_of = all_of
        self.then = then

    @classmethod
    def on(cls, action: Action, resources: NamedResources) -> "Needs":
        """Return the need of one permission."""
        return cls(On(action, resources))

    def check(self, request: Request) -> None:
        for each in self.all_of:
            for permission in each.permissions(request):
                request.rights.require(permission)

    def __str__(self) -> str:
        return " and ".join([*map(str, self.all_of), *([self.then] if self.then else [])])


class NeedsOfOthers:
    """The needs if the path names another user; nothing if it names the user of the request."""

    def __init__(self, needs: "Needs") -> None:
        self.needs = needs

    def check(self, request: Request) -> None:
        if request.name("user_id") != request.user:
            self.needs.check(request)

    def __str__(self) -> str:
        return f"{self.needs}; nothing for oneself"


class NeedsOneOf(Struct, frozen=True):
    """The permission for one of the resources at least; the route leaves out the others.

    then: the needs that the route checks itself, in words.
    """

    each: On
    then: str = ""

    def check(self, request: Request) -> None:
        request.rights.allows_each(self.each.permissions(request))

    def __str__(self) -> str:
        words = f"{self.each}; others are reported as errors"
        return f"{words}; {self.then}" if self.then else words


class NeedsSomewhere(Struct, frozen=True):
    """The action on any resource at all; the route leaves out the resources without it."""

    action: Action

    def check(self, request: Request) -> None:
        request.rights.require_somewhere(self.action)

    def __str__(self) -> str:
        return f"`{self.action}` on any resource; others are left out"
