"""New access key pairs, in the shape that `lakectl doctor` accepts."""

import base64
import secrets
import string

from graveler.http.schemas.credentials import AccessKey

_LETTERS = string.ascii_uppercase + string.digits


def generate() -> AccessKey:
    """Return a random pair: AKIA, I or J, 14 letters or digits, Q; and 40 base64 characters."""
    middle = "".join(secrets.choice(_LETTERS) for _ in range(14))
    access_key_id = f"AKIA{secrets.choice('IJ')}{middle}Q"
    return AccessKey(access_key_id, base64.b64encode(secrets.token_bytes(30)).decode())
