"""The rules for names of users, groups and policies. They are lakeFS's, with a limit."""

import re

from graveler.limits import ACCOUNT_NAME_BYTES_MAX, PRINCIPAL_ID_BYTES_MAX
from graveler.messages import Refusal

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")

# Clients remove these from an address, so they would ask for, or delete, something else.
_DOTS = frozenset({".", ".."})


def check_name(kind: str, name: str) -> None:
    """Check a new name; kind is `User`, `Group` or `Policy`.

    Raises:
        InvalidInputError: the name is invalid.
    """
    if "%" in name:
        raise Refusal.PERCENT_IN_NAME.error(kind=kind)
    if not name:
        raise Refusal.EMPTY_NAME.error()
    if "/" in name:
        raise Refusal.DELIMITER_IN_NAME.error(repr(name))
    if name in _DOTS:
        raise Refusal.BAD_ACCOUNT_NAME.error(f"{name!r}: no client can name it in an address")
    if _CONTROL.search(name):
        raise Refusal.BAD_ACCOUNT_NAME.error(f"{name!r}: a name has no control characters")
    if len(name.encode()) > ACCOUNT_NAME_BYTES_MAX:
        raise Refusal.BAD_ACCOUNT_NAME.error(f"a name has at most {ACCOUNT_NAME_BYTES_MAX} bytes")


def check_principal(principal_id: str) -> None:
    """Check the ID of a new external principal.

    Raises:
        InvalidInputError: it is invalid.
    """
    if _CONTROL.search(principal_id):
        raise Refusal.BAD_ACCOUNT_NAME.error(f"{principal_id!r}: an ID has no control characters")
    if len(principal_id.encode()) > PRINCIPAL_ID_BYTES_MAX:
        raise Refusal.BAD_ACCOUNT_NAME.error(f"an ID has at most {PRINCIPAL_ID_BYTES_MAX} bytes")
