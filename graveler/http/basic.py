"""Credentials of HTTP Basic authentication (RFC 7617)."""

import base64
import binascii


def basic_pair(encoded: str) -> tuple[str, str] | None:
    """Return the name and the secret behind the scheme's word; None if they are malformed."""
    try:
        name, colon, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return (name, secret) if colon else None
