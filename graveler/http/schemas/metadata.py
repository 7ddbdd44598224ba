"""The files of committed data."""

from msgspec import Struct


class FileLocation(Struct, frozen=True):
    location: str
