"""Groups of users, and their members."""

from graveler.errors import InvalidInputError, NotFoundError
from graveler.limits import GROUP_DESCRIPTION_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import Page
from graveler.operations.accounts import users
from graveler.operations.accounts.users import check_name
from graveler.ports import AccountStore, Group, User


def create(accounts: AccountStore, name: str, description: str, now_s: int) -> Group:
    """Create a group without members and policies.

    Raises:
        InvalidInputError: the name is invalid, or the description is too long.
        AlreadyExistsError: a group has the name.
    """
    check_name("Group", name)
    if len(description.encode()) > GROUP_DESCRIPTION_BYTES_MAX:
        raise InvalidInputError(f"a description has at most {GROUP_DESCRIPTION_BYTES_MAX} bytes")
    group = Group(name, now_s, description)
    accounts.create_group(group)
    return group


def get(accounts: AccountStore, name: str) -> Group:
    """Return the group.

    Raises:
        NotFoundError: no group has the name.
    """
    group = accounts.group(name)
    if group is None:
        raise Refusal.GROUP_NOT_FOUND.error(repr(name))
    return group


def delete(accounts: AccountStore, name: str) -> None:
    """Delete the group; its members lose its policies.

    Raises:
        NotFoundError: no group has the name.
    """
    try:
        accounts.delete_group(name)
    except NotFoundError as error:
        raise Refusal.GROUP_NOT_FOUND.error(repr(name)) from error


def list_members(
    accounts: AccountStore, name: str, *, prefix: str, after: str, amount: int
) -> Page[User]:
    """Return a page of the group's members by name.

    Raises:
        NotFoundError: the group does not exist.
    """
    get(accounts, name)
    return accounts.members(name, prefix, after, amount)


def list_of_user(
    accounts: AccountStore, user: str, *, prefix: str, after: str, amount: int
) -> Page[Group]:
    """Return a page of the user's groups by name.

    Raises:
        NotFoundError: the user does not exist.
    """
    users.get(accounts, user)
    return accounts.groups_of(user, prefix, after, amount)
