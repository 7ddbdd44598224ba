"""Users, their key pairs, and the external principals that log in as them."""

from graveler.errors import NotFoundError
from graveler.messages import Refusal
from graveler.model import Page
from graveler.operations.accounts.naming import check_name, check_principal
from graveler.ports import AccountStore, Credential, ExternalPrincipal, ListedKey, User


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
        NotFoundError: there is none of the name.
    """
    user = accounts.user(name)
    if user is None:
        raise Refusal.USER_NOT_FOUND.error(repr(name))
    return user


def end_sessions(accounts: AccountStore, name: str, now_s: int) -> None:
    """End all sessions that the user has begun, those of this very second included.

    Key pairs stay. A session that is begun in the same second ends as well: log in again.

    Raises:
        NotFoundError: there is none of the name.
    """
    try:
        accounts.end_sessions(name, now_s + 1)
    except NotFoundError as error:
        raise Refusal.USER_NOT_FOUND.error(repr(name)) from error


def delete(accounts: AccountStore, name: str) -> None:
    """Delete the user with all key pairs, memberships, attachments and principals.

    Raises:
        NotFoundError: there is none of the name.
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
