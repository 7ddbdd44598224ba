"""The port to the external principals of a deployment, which log in as its users."""

from dataclasses import dataclass, field
from typing import Protocol

from graveler.model import Page


@dataclass(frozen=True, slots=True)
class ExternalPrincipal:
    """An identity of another system, such as an IAM role's ARN, that logs in as a user.

    attachment: unique each time that it is attached; "" in a record from before that was stored.
    """

    id: str
    user: str
    user_uid: str = field(default="", compare=False)
    attachment: str = field(default="", compare=False)


class PrincipalStore(Protocol):
    """External principals; one logs in as one user."""

    def create_principal(self, principal: ExternalPrincipal) -> None:
        """Attach the principal to the user.

        Raises:
            NotFoundError: the user does not exist.
            AlreadyExistsError: it is attached to a user.
        """

    def principal(self, principal_id: str) -> ExternalPrincipal | None:
        """Return the principal; None if it is attached to no user that exists."""

    def principals_of(
        self, user: str, prefix: str, after: str, amount: int
    ) -> Page[ExternalPrincipal]:
        """Return a page of the user's principals by ID; none if the user does not exist."""

    def delete_principal(self, user: str, principal_id: str) -> None:
        """Detach the principal from the user.

        Raises:
            NotFoundError: it is not attached to the user.
        """
