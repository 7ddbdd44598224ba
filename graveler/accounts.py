"""Who may use a deployment: users, credentials, and the port to where they are kept."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, repr=False)
class Installation:
    """What one deployment is, made once: its ID and the key that signs its tokens and addresses.

    Never printed.
    """

    id: str
    signing_key: bytes


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may hold credentials."""

    name: str
    creation_date: int  # Unix seconds


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """An access key pair; never printed."""

    access_key_id: str
    secret_access_key: str
    user: str
    creation_date: int  # Unix seconds


class AccountStore(Protocol):
    """Users and their credentials; secrets are encrypted at rest."""

    def installation(self) -> Installation:
        """The deployment's identity, made by the first call anywhere."""

    def is_set_up(self) -> bool:
        """Whether a first administrator exists."""

    def set_up(self, user: User, credential: Credential) -> None:
        """Store the first administrator with a credential, atomically.

        Raises:
            AlreadyExistsError: there is one.
        """

    def user(self, name: str) -> User | None:
        """The user of that name."""

    def credential(self, access_key_id: str) -> Credential | None:
        """The key pair, its secret decrypted."""
