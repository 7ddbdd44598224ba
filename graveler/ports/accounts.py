"""The port to the users of a deployment and their credentials."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graveler.access.policy import Policy


@dataclass(frozen=True, slots=True, repr=False)
class Installation:
    """One deployment, created once: its ID, and the key that signs its tokens and addresses.

    It has no `repr`: the key must never be printed.
    """

    id: str
    signing_key: bytes


@dataclass(frozen=True, slots=True)
class User:
    """A user, who may hold credentials."""

    name: str
    creation_date: int  # Unix seconds


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """An access key pair; it has no `repr`, because the secret must never be printed."""

    access_key_id: str
    secret_access_key: str
    user: str
    creation_date: int  # Unix seconds


class AccountStore(Protocol):
    """Users and their credentials; secrets are encrypted at rest."""

    def installation(self) -> Installation:
        """Return the deployment's identity, which the first call anywhere creates."""

    def is_set_up(self) -> bool:
        """Return whether a first administrator exists."""

    def set_up(self, user: User, credential: Credential) -> None:
        """Store the first administrator with a credential, atomically.

        Raises:
            AlreadyExistsError: an administrator exists.
        """

    def user(self, name: str) -> User | None:
        """Return the user of that name."""

    def credential(self, access_key_id: str) -> Credential | None:
        """Return the key pair, its secret decrypted."""

    def effective_policies(self, user: str) -> Sequence[Policy]:
        """Return the policies of the user and of the user's groups; none of an unknown user.

        The first administrator of an installation without groups has those of all administrators.
        """
