"""The first administrator, and users from before groups existed."""

from graveler.access.policy import Policy
from graveler.access.standard import ADMINISTRATORS, GROUPS, POLICIES
from graveler.ports import AccountStore, Credential, Group, NewGroup, StandardAccess, User


def standard_access(now_s: int) -> StandardAccess:
    """Return the groups and policies that every installation begins with."""
    return StandardAccess(
        policies=tuple(Policy(name, statements, now_s) for name, statements in POLICIES.items()),
        groups=tuple(NewGroup(Group(name, now_s), policies) for name, policies in GROUPS.items()),
        administrators=ADMINISTRATORS,
    )


def set_up(accounts: AccountStore, user: User, credential: Credential) -> None:
    """Store the first administrator with the standard groups and policies.

    Raises:
        AlreadyExistsError: the installation is set up.
    """
    accounts.set_up(user, credential, standard_access(user.creation_date))


def upgrade(accounts: AccountStore, now_s: int, access_key_id: str) -> None:
    """Add the standard groups and policies to an installation from before groups existed.

    Its users become administrators. A log-in that finds a key pair in the old form calls this; then
    no such key pair is left.
    """
    accounts.upgrade(standard_access(now_s), access_key_id)
