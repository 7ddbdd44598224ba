"""Users."""

from msgspec import Struct

from graveler.ports import User


class UserCreation(Struct, frozen=True):
    id: str
    invite_user: bool = False


class UserRow(Struct, frozen=True, omit_defaults=True):
    id: str
    creation_date: int
    friendly_name: str | None = None


def user_row(user: User) -> UserRow:
    """Return the answer's form of a user."""
    return UserRow(user.name, user.creation_date)
