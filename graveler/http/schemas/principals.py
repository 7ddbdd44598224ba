"""External principals, and their log-in."""

from typing import Any

from msgspec import Struct

from graveler.ports import ExternalPrincipal


class PrincipalCreation(Struct, frozen=True):
    """The settings have no effect; lakeFS passes them to another server."""

    settings: dict[str, Any] | list[Any] | None = None


class IdentityRequest(Struct, frozen=True):
    identity_token: str

    __repr__ = object.__repr__  # shows no signature


class ExternalLogin(Struct, frozen=True, rename={"identity_request": "identityRequest"}):
    identity_request: IdentityRequest
    token_expiration_duration: int | None = None


class PrincipalRow(Struct, frozen=True):
    id: str
    user_id: str


def principal_row(principal: ExternalPrincipal) -> PrincipalRow:
    """Return the answer's form of an external principal."""
    return PrincipalRow(principal.id, principal.user)
