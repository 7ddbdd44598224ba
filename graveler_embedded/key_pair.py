"""The key pair of the embedded stack, created once and kept in a private file."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from graveler.http.schemas.credentials import AccessKey
from graveler_embedded.files import write_private
from graveler_embedded.processes import StartError
from graveler_functions.api import key_pairs

ACCESS_KEY_ID = "GRAVELER_ACCESS_KEY_ID"
SECRET_ACCESS_KEY = "GRAVELER_SECRET_ACCESS_KEY"  # noqa: S105 - a variable's name


def key_pair(path: Path, environment: Mapping[str, str]) -> AccessKey:
    """Return the environment's pair, else the stored one, else a new one.

    The first start stores the pair, so that the next start needs no variables.

    Raises:
        StartError: the environment has half a pair, or one that no client could send.
    """
    given = _given(environment)
    if not path.exists():
        write_private(path, msgspec.json.encode(given or key_pairs.generate()))
    return given or msgspec.json.decode(path.read_bytes(), type=AccessKey)


def _given(environment: Mapping[str, str]) -> AccessKey | None:
    values = (environment.get(ACCESS_KEY_ID, ""), environment.get(SECRET_ACCESS_KEY, ""))
    if not any(values):
        return None
    if not all(values):
        raise StartError(f"set both {ACCESS_KEY_ID} and {SECRET_ACCESS_KEY}, or neither")
    try:
        return msgspec.convert(
            dict(zip(AccessKey.__struct_fields__, values, strict=True)), AccessKey
        )
    except msgspec.ValidationError as error:
        raise StartError(
            f"{ACCESS_KEY_ID} and {SECRET_ACCESS_KEY} are not a key pair: {error}"
        ) from error
