"""The port to the users of a deployment: their groups, policies, key pairs and principals.

Names are unique among the users, the groups and the policies that exist. A deletion takes
memberships, attachments, key pairs and principals with it. None passes to a later one of the name.
Methods raise NotFoundError and AlreadyExistsError with lakeFS's messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from msgspec import Struct

from graveler.access.policy import Policy
from graveler.model import Page
from graveler.ports.audit import AuditStore
from graveler.ports.principals import PrincipalStore


@dataclass(frozen=True, slots=True, repr=False)
class Installation:
    """One deployment, created once: its ID, and the key that signs its tokens and addresses.

    It has no `repr`: the key must never be printed.
    """

    id: str
    signing_key: bytes


@dataclass(frozen=True, slots=True)
class User:
    """A user; the store gives the uid, which no later user of the name has.

    sessions_from: sessions that began before this time have ended.
    """

    name: str
    creation_date: int  # Unix seconds
    uid: str = field(default="", compare=False)
    sessions_from: int = 0  # Unix seconds


class Group(Struct, frozen=True):
    """A group of users, who have its policies."""

    name: str
    creation_date: int  # Unix seconds
    description: str = ""


class PolicyHolder(Struct, frozen=True):
    """A group or a user that has a policy attached."""

    kind: Literal["group", "user"]
    name: str

    @property
    def place(self) -> str:
        """Its place in listings of holders: groups come before users."""
        return f"{self.kind}/{self.name}"


class NewGroup(Struct, frozen=True):
    """A group to be made with the names of its policies."""

    group: Group
    policies: tuple[str, ...] = ()


class StandardAccess(Struct, frozen=True):
    """The policies and groups that set-up makes; administrators names the first users' group."""

    policies: tuple[Policy, ...] = ()
    groups: tuple[NewGroup, ...] = ()
    administrators: str = ""


NO_STANDARD_ACCESS = StandardAccess()


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """An access key pair; it has no `repr`, because the secret must never be printed."""

    access_key_id: str
    secret_access_key: str
    user: str
    creation_date: int  # Unix seconds


@dataclass(frozen=True, slots=True, repr=False)
class KeyPair:
    """A key pair as signatures are checked against it; like Credential, it has no `repr`."""

    access_key_id: str
    secret_access_key: str
    user: str
    user_uid: str


class ListedKey(Struct, frozen=True):
    """A key pair without its secret."""

    access_key_id: str
    creation_date: int  # Unix seconds


@dataclass(frozen=True, slots=True, repr=False)
class LoginKey:
    """A key pair as requests are checked against it (`graveler.access.digests`).

    The digest is empty if the pair is from before groups existed, or if the installation's signing
    key has changed since. `upgrade` makes it.
    """

    access_key_id: str
    user: str
    user_uid: str
    digest: bytes


class LookUp(Struct, frozen=True):
    """What one request finds about a presented key.

    user is the hinted one, if it exists. failures has the count of each counter, in order.
    """

    key: LoginKey | None
    user: User | None
    failures: tuple[int, ...]


class InstallationStore(Protocol):
    """The deployment's identity and its first users."""

    def installation(self) -> Installation:
        """Return the deployment's identity, which the first call anywhere creates."""

    def is_set_up(self) -> bool:
        """Return whether a first administrator exists."""

    def set_up(
        self, user: User, credential: Credential, standard: StandardAccess = NO_STANDARD_ACCESS
    ) -> None:
        """Store the first administrator with a credential, and the standard access, atomically.

        Standard policies and groups that exist are left as they are.

        Raises:
            AlreadyExistsError: an administrator, or a user of the name, exists.
        """

    def upgrade(self, standard: StandardAccess, access_key_id: str = "") -> None:
        """Bring users and key pairs from before groups existed to today's form.

        The standard access is stored once, atomically. Those users become administrators. The key
        pair gets a digest under the installation's present key. May be called at any time, by
        several processes at once.
        """


class UserStore(Protocol):
    """Users."""

    def create_user(self, user: User) -> None:
        """Store a new user.

        Raises:
            AlreadyExistsError: a user has the name.
        """

    def user(self, name: str) -> User | None:
        """Return the user of that name."""

    def users(self, prefix: str, after: str, amount: int) -> Page[User]:
        """Return a page of users by name."""

    def end_sessions(self, name: str, before: int) -> None:
        """End the user's sessions that began before the time, in Unix seconds, for good.

        Raises:
            NotFoundError: the user does not exist.
        """

    def delete_user(self, name: str) -> None:
        """Delete the user with everything that is the user's.

        The first step ends all log-ins. An interrupted deletion is finished by the next one.

        Raises:
            NotFoundError: the user does not exist.
        """


class GroupStore(Protocol):
    """Groups and their members."""

    def create_group(self, group: Group) -> None:
        """Store a new group.

        Raises:
            AlreadyExistsError: a group has the name.
        """

    def group(self, name: str) -> Group | None:
        """Return the group of that name."""

    def groups(self, prefix: str, after: str, amount: int) -> Page[Group]:
        """Return a page of groups by name."""

    def delete_group(self, name: str) -> None:
        """Delete the group; its members lose its policies at once.

        Raises:
            NotFoundError: the group does not exist.
        """

    def add_member(self, group: str, user: str) -> None:
        """Add the user to the group.

        Raises:
            NotFoundError: the group or the user does not exist.
            AlreadyExistsError: the user is a member.
            InvalidInputError: the user is in GROUPS_OF_USER_MAX groups.
        """

    def remove_member(self, group: str, user: str) -> None:
        """Remove the user from the group; a user who is no member stays none.

        Raises:
            NotFoundError: the group or the user does not exist.
        """

    def members(self, group: str, prefix: str, after: str, amount: int) -> Page[User]:
        """Return a page of the group's members by name; none if it does not exist."""

    def groups_of(self, user: str, prefix: str, after: str, amount: int) -> Page[Group]:
        """Return a page of the user's groups by name; none if the user does not exist."""


class PolicyStore(Protocol):
    """Policies, and whom they are attached to."""

    def create_policy(self, policy: Policy) -> None:
        """Store a new policy.

        Raises:
            AlreadyExistsError: a policy has the name.
        """

    def policy(self, name: str) -> Policy | None:
        """Return the policy of that name."""

    def policies(self, prefix: str, after: str, amount: int) -> Page[Policy]:
        """Return a page of policies by name."""

    def update_policy(self, policy: Policy, if_match: str | None = None) -> None:
        """Replace the statements of the policy of that name; it stays attached.

        if_match: the checksum that the stored policy must have (`model.settings`); None: any.

        Raises:
            NotFoundError: the policy does not exist.
            PreconditionFailedError: it has another checksum.
        """

    def delete_policy(self, name: str, if_match: str | None = None) -> None:
        """Delete the policy; users and groups lose it.

        if_match and errors are those of `update_policy`.
        """

    def attach_to_user(self, policy: str, user: str) -> None:
        """Attach the policy to the user.

        Raises:
            NotFoundError: the policy or the user does not exist.
            AlreadyExistsError: it is attached.
            InvalidInputError: the user has POLICIES_ATTACHED_MAX policies.
        """

    def detach_from_user(self, policy: str, user: str) -> None:
        """Detach the policy from the user; one that is not attached stays so.

        Raises:
            NotFoundError: the policy or the user does not exist.
        """

    def attach_to_group(self, policy: str, group: str) -> None:
        """Attach the policy to the group; the errors are those of `attach_to_user`."""

    def detach_from_group(self, policy: str, group: str) -> None:
        """Detach the policy from the group; the errors are those of `detach_from_user`."""

    def policies_of_user(self, user: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        """Return a page of the policies attached to the user itself; none without the user."""

    def policies_of_group(self, group: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        """Return a page of the policies attached to the group; none without the group."""

    def holders_of(self, policy: str, prefix: str, after: str, amount: int) -> Page[PolicyHolder]:
        """Return a page of the groups and users with the policy attached, by place.

        A page reads HOLDERS_READ_MAX groups and users with the prefix. So it may have fewer results
        than there are, or none, and next_after says where the next page continues.
        """

    def effective_policies(self, user: str) -> Sequence[Policy]:
        """Return the policies of the user and of the user's groups, each once, by name.

        A user who does not exist has none. The first call for a user takes up to three requests. A
        later one takes one, unless the user's groups or policies have changed.
        """


class KeyStore(Protocol):
    """Key pairs. Secrets are stored encrypted; only checks of signatures read them again."""

    def create_key(self, credential: Credential) -> None:
        """Store a new key pair of the user.

        Raises:
            NotFoundError: the user does not exist.
            AlreadyExistsError: a key pair has the ID.
        """

    def key_of(self, user: str, access_key_id: str) -> ListedKey | None:
        """Return the user's key pair of that ID; None if it is another user's."""

    def keys_of(self, user: str, prefix: str, after: str, amount: int) -> Page[ListedKey]:
        """Return a page of the user's key pairs by ID; none if the user does not exist."""

    def delete_key(self, user: str, access_key_id: str) -> None:
        """Delete the user's key pair.

        Raises:
            NotFoundError: the user has no such key pair.
        """

    def look_up(self, access_key_id: str, counters: Sequence[str] = (), hint: str = "") -> LookUp:
        """Return the key pair, the hinted user, and the counts, by one request."""

    def key_pair(self, access_key_id: str) -> KeyPair | None:
        """Return the key pair with its secret; None if it or its user does not exist.

        Raises:
            CorruptDataError: the secret is not the one that was stored for this key and user.
        """

    def count_failure(self, counters: Sequence[str], expires_at: int) -> None:
        """Add one to each counter; it is deleted some time after expires_at, in Unix seconds."""


class AccountStore(
    InstallationStore,
    UserStore,
    GroupStore,
    PolicyStore,
    KeyStore,
    PrincipalStore,
    AuditStore,
    Protocol,
):
    """Users and what they may do; secrets are encrypted at rest."""
