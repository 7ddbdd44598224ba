"""What an operation needs: permissions, joined by "all of" and "any of"."""

from msgspec import Struct

from graveler.access.resources import Below


class Permission(Struct, frozen=True):
    """The right to do an action to a resource.

    resource: an ARN, or `*`, or all resources below a prefix.
    """

    action: str
    resource: str | Below

    def __str__(self) -> str:
        return f"{self.action} on {self.resource}"


class AllOf(Struct, frozen=True):
    """Needs that must all be met. No needs are met."""

    needs: tuple["Need", ...]


class AnyOf(Struct, frozen=True):
    """Needs of which one must be met, and none denied. No needs are not met."""

    needs: tuple["Need", ...]


Need = Permission | AllOf | AnyOf
