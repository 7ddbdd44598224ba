"""Users, their key pairs, and the external principals that log in as them.

The rules for names of users, groups and policies are lakeFS's, with a limit.
"""

import re

from graveler.errors import NotFoundError
from graveler.limits import ACCOUNT_NAME_BYTES_MAX, PRINCIPAL_ID_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import Page
from graveler.ports import AccountStore, Credential, ExternalPrincipal, ListedKey, User

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


def create(accounts: AccountStore, name: str, now_s: int) -> User:
    """Create a user without any rights.

    Raises:
        InvalidInputError: the name is invalid.
        AlreadyExistsError: a user has the name.
    """
    check_name("User", name)
    user = User(name, now_s)
    accounts.create_user(user)
    return user


def get(accounts: AccountStore, name: str) -> User:
    """Return the user.

    Raises:
        NotFoundError: no user has the name.
    """
    user = accounts.user(name)
    if user is None:
        raise Refusal.USER_NOT_FOUND.error(repr(name))
    return user


def end_sessions(accounts: AccountStore, name: str, now_s: int) -> None:
    """End all sessions of the user, those of the current second included.

    Key pairs stay. A session that begins in the same second ends as well: log in again.

    Raises:
        NotFoundError: no user has the name.
    """
    try:
        accounts.end_sessions(name, now_s + 1)
    except NotFoundError as error:
        raise Refusal.USER_NOT_FOUND.error(repr(name)) from error


def delete(accounts: AccountStore, name: str) -> None:
    """Delete the user with all key pairs, memberships, attachments and principals.

    Raises:
        NotFoundError: no user has the name.
    """
    try:
        accounts.delete_user(name)
    except NotFoundError as error:
        raise Refusal.USER_NOT_FOUND.error(repr(name)) from error


# Key pairs


def create_key(accounts: AccountStore, credential: Credential) -> None:
    """Store a new key pair of its user.

    Raises:
        NotFoundError: the user does not exist.
    """
    accounts.create_key(credential)


def list_keys(
    accounts: AccountStore, user: str, *, prefix: str, after: str, amount: int
) -> Page[ListedKey]:
    """Return a page of the user's key pairs by ID, without secrets.

    Raises:
        NotFoundError: the user does not exist.
    """
    get(accounts, user)
    return accounts.keys_of(user, prefix, after, amount)


def get_key(accounts: AccountStore, user: str, access_key_id: str) -> ListedKey:
    """Return the user's key pair without its secret.

    Raises:
        NotFoundError: the user has no such key pair.
    """
    found = accounts.key_of(user, access_key_id)
    if found is None:
        raise Refusal.CREDENTIALS_NOT_FOUND.error(f"{access_key_id} of user {user!r}")
    return found


# External principals


def create_principal(accounts: AccountStore, user: str, principal_id: str) -> None:
    """Let the principal log in as the user.

    Raises:
        InvalidInputError: the ID is invalid.
        NotFoundError: the user does not exist.
        AlreadyExistsError: the principal logs in as a user already.
    """
    check_principal(principal_id)
    accounts.create_principal(ExternalPrincipal(principal_id, user))


def get_principal(accounts: AccountStore, principal_id: str) -> ExternalPrincipal:
    """Return the principal.

    Raises:
        NotFoundError: it logs in as no user.
    """
    found = accounts.principal(principal_id)
    if found is None:
        raise Refusal.NOT_FOUND.error(f"principal {principal_id!r}")
    return found


def list_principals(
    accounts: AccountStore, user: str, *, prefix: str, after: str, amount: int
) -> Page[ExternalPrincipal]:
    """Return a page of the user's principals by ID.

    Raises:
        NotFoundError: the user does not exist.
    """
    get(accounts, user)
    return accounts.principals_of(user, prefix, after, amount)
