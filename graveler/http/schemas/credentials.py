"""Key pairs of users."""

from typing import Annotated

from msgspec import Meta, Struct

from graveler.ports import ListedKey


class AccessKey(Struct, frozen=True):
    access_key_id: Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[!-9;-~]+\Z")]
    secret_access_key: Annotated[str, Meta(min_length=1, max_length=1024)]

    __repr__ = object.__repr__  # shows no secret


class NewAccessKey(AccessKey, frozen=True):
    # Addresses name the key pair, so it has no `/`, no `%`, and not dots alone.
    access_key_id: Annotated[
        str, Meta(min_length=1, max_length=128, pattern=r"^(?!\.{1,2}\Z)[!-$&-.0-9;-~]+\Z")
    ]


class CredentialsWithSecret(Struct, frozen=True):
    access_key_id: str
    secret_access_key: str
    creation_date: int

    __repr__ = object.__repr__  # shows no secret


class KeyRow(Struct, frozen=True):
    access_key_id: str
    creation_date: int


def key_row(key: ListedKey) -> KeyRow:
    """Return the answer's form of a key pair, without its secret."""
    return KeyRow(key.access_key_id, key.creation_date)
