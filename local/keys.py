"""The key pair of the embedded stack: lakeFS's shape, made once, kept in a private file."""

import base64
import json
import os
import secrets
import string
from dataclasses import dataclass
from pathlib import Path

_KEY_LETTERS = string.ascii_uppercase + string.digits


@dataclass(frozen=True, slots=True, repr=False)
class KeyPair:
    """An access key ID and its secret; never printed by accident."""

    access_key_id: str
    secret_access_key: str


def new_key_pair() -> KeyPair:
    """A fresh pair in the shape that `lakectl doctor` expects: AKIAI + 14 + Q, 40 of base64."""
    middle = "".join(secrets.choice(_KEY_LETTERS) for _ in range(14))
    return KeyPair(f"AKIAI{middle}Q", base64.b64encode(secrets.token_bytes(30)).decode())


def stored_key_pair(path: Path) -> KeyPair:
    """The pair in the file; the first call makes one and stores it for the owner's eyes only."""
    if path.exists():
        return KeyPair(**json.loads(path.read_text()))
    keys = new_key_pair()
    content = {
        "access_key_id": keys.access_key_id,
        "secret_access_key": keys.secret_access_key,
    }
    write_private(path, json.dumps(content).encode())
    return keys


def write_private(path: Path, content: bytes) -> None:
    """Store content in a file of mode 0600, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
