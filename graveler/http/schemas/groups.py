"""Groups of users."""

from msgspec import Struct

from graveler.ports import Group


class GroupCreation(Struct, frozen=True):
    id: str
    description: str = ""


class GroupRow(Struct, frozen=True):
    id: str
    name: str
    creation_date: int
    description: str


def group_row(group: Group) -> GroupRow:
    """Return the answer's form of a group."""
    return GroupRow(group.name, group.name, group.creation_date, group.description)
