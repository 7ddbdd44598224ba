"""Tags."""

from msgspec import Struct


class TagCreation(Struct, frozen=True):
    id: str
    ref: str
    force: bool = False
