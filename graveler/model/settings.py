"""Settings that users change after they have read them, compared by checksum (ETag, If-Match)."""

from hashlib import sha256

import msgspec

from graveler.messages import Refusal


def checksum_of(setting: object) -> str:
    """Return the checksum of all that a reader of the setting sees; "" without a setting."""
    return sha256(msgspec.json.encode(setting)).hexdigest() if setting else ""


def check_unchanged(name: str, setting: object, if_match: str | None) -> None:
    """Check that the setting has the checksum; None stands for any.

    Raises:
        PreconditionFailedError: it has another checksum.
    """
    if if_match not in {None, checksum_of(setting)}:
        raise changed(name)


def changed(name: str) -> Exception:
    """Return the error of a change whose setting is not the one that its user read."""
    return Refusal.CHANGED.error(f"{name} has changed since it was read: read it again")
