"""The AccountStore in dictionaries."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from graveler.access.digests import secret_digest
from graveler.access.policy import Policy
from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.limits import GROUPS_OF_USER_MAX, POLICIES_ATTACHED_MAX
from graveler.messages import Refusal
from graveler.model import Page
from graveler.model.audit import AuditRecord
from graveler.model.settings import check_unchanged
from graveler.ports import (
    NO_STANDARD_ACCESS,
    Credential,
    ExternalPrincipal,
    Group,
    Installation,
    KeyPair,
    ListedKey,
    LoginKey,
    LookUp,
    PolicyHolder,
    StandardAccess,
    User,
)
from graveler.times import month_of

T = TypeVar("T")


class MemoryAccountStore:
    """AccountStore in dictionaries; a lock makes each method one step."""

    def __init__(self, installation_id: str = "00000000-0000-4000-8000-000000000000") -> None:
        self._installation = Installation(installation_id, b"\x01" * 32)
        self._users: dict[str, User] = {}
        self._groups: dict[str, Group] = {}
        self._policies: dict[str, Policy] = {}
        self._members: set[tuple[str, str]] = set()  # group, user
        self._of_users: set[tuple[str, str]] = set()  # user, policy
        self._of_groups: set[tuple[str, str]] = set()  # group, policy
        self._keys: dict[str, Credential] = {}
        self._principals: dict[str, ExternalPrincipal] = {}
        self._failures: Counter[str] = Counter()
        self.audit: dict[str, AuditRecord] = {}
        self._uids = map("{:032x}".format, itertools.count(1))
        self._is_set_up = self._has_access = False
        self._lock = threading.RLock()

    def keep_audit(self, record: AuditRecord) -> None:
        with self._lock:
            self.audit[record.id] = record

    def audit_of_month(self, month: str, before: str) -> Iterator[AuditRecord]:
        with self._lock:
            kept = sorted(self.audit.values(), key=lambda record: record.id, reverse=True)
        for record in kept:
            if month_of(record.time_ns) == month and (not before or record.id < before):
                yield record

    def installation(self) -> Installation:
        return self._installation

    def is_set_up(self) -> bool:
        return self._is_set_up

    def set_up(
        self, user: User, credential: Credential, standard: StandardAccess = NO_STANDARD_ACCESS
    ) -> None:
        with self._lock:
            if self._is_set_up:
                raise AlreadyExistsError("a first administrator already exists")
            self._is_set_up = self._has_access = True
            self._store_standard(standard)
            if user.name not in self._users:
                self.create_user(user)
            self._keys[credential.access_key_id] = credential
            if standard.administrators:
                self._members.add((standard.administrators, user.name))

    def _store_standard(self, standard: StandardAccess) -> None:
        for policy in standard.policies:
            self._policies.setdefault(policy.name, policy)
        for new in standard.groups:
            if new.group.name not in self._groups:
                self._groups[new.group.name] = new.group
                self._of_groups |= {(new.group.name, policy) for policy in new.policies}

    def forget_access(self) -> None:
        """Bring the users to the form that they had before groups existed."""
        with self._lock:
            self._has_access = False
            for records in (self._members, self._of_users, self._of_groups):
                records.clear()
            self._groups.clear()
            self._policies.clear()
            self._users = {name: replace(user, uid="") for name, user in self._users.items()}

    def upgrade(
        self,
        standard: StandardAccess,
        access_key_id: str = "",  # noqa: ARG002 - digests are never old
    ) -> None:
        with self._lock:
            if self._is_set_up and not self._has_access:
                self._has_access = True
                self._store_standard(standard)
            for name, user in self._users.items():
                if not user.uid:
                    self._users[name] = replace(user, uid=next(self._uids))
                    if standard.administrators in self._groups:
                        self._members.add((standard.administrators, name))

    # Users

    def create_user(self, user: User) -> None:
        with self._lock:
            _absent(self._users, user.name)
            self._users[user.name] = replace(user, uid=next(self._uids))

    def user(self, name: str) -> User | None:
        return self._users.get(name)

    def users(self, prefix: str, after: str, amount: int) -> Page[User]:
        return self._page(self._users.values(), _name, prefix, after, amount)

    def end_sessions(self, name: str, before: int) -> None:
        with self._lock:
            _required(self._users, name, "user")
            user = self._users[name]
            latest = max(before, user.sessions_from)
            self._users[name] = replace(user, sessions_from=latest)

    def delete_user(self, name: str) -> None:
        with self._lock:
            _required(self._users, name, "user")
            del self._users[name]
            self._members = {pair for pair in self._members if pair[1] != name}
            self._of_users = {pair for pair in self._of_users if pair[0] != name}
            self._keys = {id_: key for id_, key in self._keys.items() if key.user != name}
            self._principals = {
                id_: principal
                for id_, principal in self._principals.items()
                if principal.user != name
            }

    # Groups

    def create_group(self, group: Group) -> None:
        with self._lock:
            _absent(self._groups, group.name)
            self._groups[group.name] = group

    def group(self, name: str) -> Group | None:
        return self._groups.get(name)

    def groups(self, prefix: str, after: str, amount: int) -> Page[Group]:
        return self._page(self._groups.values(), _name, prefix, after, amount)

    def delete_group(self, name: str) -> None:
        with self._lock:
            _required(self._groups, name, "group")
            del self._groups[name]
            self._members = {pair for pair in self._members if pair[0] != name}
            self._of_groups = {pair for pair in self._of_groups if pair[0] != name}

    def add_member(self, group: str, user: str) -> None:
        with self._lock:
            _required(self._users, user, "user")
            _required(self._groups, group, "group")
            _absent(self._members, (group, user))
            if sum(each == user for _, each in self._members) >= GROUPS_OF_USER_MAX:
                raise InvalidInputError(f"user {user!r} is in {GROUPS_OF_USER_MAX} groups")
            self._members.add((group, user))

    def remove_member(self, group: str, user: str) -> None:
        with self._lock:
            _required(self._users, user, "user")
            _required(self._groups, group, "group")
            self._members.discard((group, user))

    def members(self, group: str, prefix: str, after: str, amount: int) -> Page[User]:
        with self._lock:
            found = [self._users[user] for each, user in self._members if each == group]
        return self._page(found, _name, prefix, after, amount)

    def groups_of(self, user: str, prefix: str, after: str, amount: int) -> Page[Group]:
        with self._lock:
            found = [self._groups[group] for group, each in self._members if each == user]
        return self._page(found, _name, prefix, after, amount)

    # Policies

    def create_policy(self, policy: Policy) -> None:
        with self._lock:
            _absent(self._policies, policy.name)
            self._policies[policy.name] = policy

    def policy(self, name: str) -> Policy | None:
        return self._policies.get(name)

    def policies(self, prefix: str, after: str, amount: int) -> Page[Policy]:
        return self._page(self._policies.values(), _name, prefix, after, amount)

    def update_policy(self, policy: Policy, if_match: str | None = None) -> None:
        with self._lock:
            known = self._matching(policy.name, if_match)
            self._policies[policy.name] = structs.replace(known, statements=policy.statements)

    def _matching(self, name: str, if_match: str | None) -> Policy:
        _required(self._policies, name, "policy")
        check_unchanged(f"policy {name!r}", self._policies[name], if_match)
        return self._policies[name]

    def delete_policy(self, name: str, if_match: str | None = None) -> None:
        with self._lock:
            self._matching(name, if_match)
            del self._policies[name]
            self._of_users = {pair for pair in self._of_users if pair[1] != name}
            self._of_groups = {pair for pair in self._of_groups if pair[1] != name}

    def attach_to_user(self, policy: str, user: str) -> None:
        with self._lock:
            _required(self._users, user, "user")
            self._attach(self._of_users, user, policy)

    def attach_to_group(self, policy: str, group: str) -> None:
        with self._lock:
            _required(self._groups, group, "group")
            self._attach(self._of_groups, group, policy)

    def _attach(self, attached: set[tuple[str, str]], holder: str, policy: str) -> None:
        _required(self._policies, policy, "policy")
        _absent(attached, (holder, policy))
        if sum(each == holder for each, _ in attached) >= POLICIES_ATTACHED_MAX:
            raise InvalidInputError(f"{holder!r} has {POLICIES_ATTACHED_MAX} policies")
        attached.add((holder, policy))

    def detach_from_user(self, policy: str, user: str) -> None:
        with self._lock:
            _required(self._users, user, "user")
            _required(self._policies, policy, "policy")
            self._of_users.discard((user, policy))

    def detach_from_group(self, policy: str, group: str) -> None:
        with self._lock:
            _required(self._groups, group, "group")
            _required(self._policies, policy, "policy")
            self._of_groups.discard((group, policy))

    def policies_of_user(self, user: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        return self._page(self._attached(self._of_users, user), _name, prefix, after, amount)

    def policies_of_group(self, group: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        return self._page(self._attached(self._of_groups, group), _name, prefix, after, amount)

    def _attached(self, attached: set[tuple[str, str]], holder: str) -> list[Policy]:
        with self._lock:
            return [self._policies[policy] for each, policy in attached if each == holder]

    def holders_of(self, policy: str, prefix: str, after: str, amount: int) -> Page[PolicyHolder]:
        with self._lock:
            found = [
                PolicyHolder("group", name) for name, each in self._of_groups if each == policy
            ]
            found += [PolicyHolder("user", name) for name, each in self._of_users if each == policy]
        named = [holder for holder in found if holder.name.startswith(prefix)]
        return self._page(named, lambda holder: holder.place, "", after, amount)

    def effective_policies(self, user: str) -> Sequence[Policy]:
        with self._lock:
            found = self._attached(self._of_users, user)
            for group, each in self._members:
                if each == user:
                    found += self._attached(self._of_groups, group)
        return tuple({policy.name: policy for policy in sorted(found, key=_name)}.values())

    # Key pairs

    def create_key(self, credential: Credential) -> None:
        with self._lock:
            _required(self._users, credential.user, "user")
            _absent(self._keys, credential.access_key_id)
            self._keys[credential.access_key_id] = credential

    def key_of(self, user: str, access_key_id: str) -> ListedKey | None:
        found = self._keys.get(access_key_id)
        return None if found is None or found.user != user else _listed(found)

    def keys_of(self, user: str, prefix: str, after: str, amount: int) -> Page[ListedKey]:
        with self._lock:
            found = [_listed(key) for key in self._keys.values() if key.user == user]
        return self._page(found, lambda key: key.access_key_id, prefix, after, amount)

    def delete_key(self, user: str, access_key_id: str) -> None:
        with self._lock:
            if self.key_of(user, access_key_id) is None:
                raise Refusal.CREDENTIALS_NOT_FOUND.error(access_key_id)
            del self._keys[access_key_id]

    def look_up(self, access_key_id: str, counters: Sequence[str] = (), hint: str = "") -> LookUp:
        with self._lock:
            key = self._keys.get(access_key_id)
            login_key = None if key is None else self._login_key(key)
            failures = tuple(self._failures[counter] for counter in counters)
            return LookUp(login_key, self._users.get(hint), failures)

    def key_pair(self, access_key_id: str) -> KeyPair | None:
        with self._lock:
            key = self._keys.get(access_key_id)
            if key is None:
                return None
            uid = self._users[key.user].uid
            return KeyPair(access_key_id, key.secret_access_key, key.user, uid)

    def _login_key(self, key: Credential) -> LoginKey:
        uid = self._users[key.user].uid
        digest = secret_digest(
            self._installation.signing_key,
            key.access_key_id,
            key.user,
            uid,
            key.secret_access_key,
        )
        return LoginKey(key.access_key_id, key.user, uid, digest if uid else b"")

    def count_failure(self, counters: Sequence[str], expires_at: int) -> None:  # noqa: ARG002
        with self._lock:
            self._failures.update(counters)

    # Principals

    def create_principal(self, principal: ExternalPrincipal) -> None:
        with self._lock:
            _required(self._users, principal.user, "user")
            _absent(self._principals, principal.id)
            uid = self._users[principal.user].uid
            self._principals[principal.id] = replace(
                principal, user_uid=uid, attachment=next(self._uids)
            )

    def principal(self, principal_id: str) -> ExternalPrincipal | None:
        return self._principals.get(principal_id)

    def principals_of(
        self, user: str, prefix: str, after: str, amount: int
    ) -> Page[ExternalPrincipal]:
        with self._lock:
            found = [each for each in self._principals.values() if each.user == user]
        return self._page(found, lambda principal: principal.id, prefix, after, amount)

    def delete_principal(self, user: str, principal_id: str) -> None:
        with self._lock:
            found = self._principals.get(principal_id)
            if found is None or found.user != user:
                raise Refusal.NOT_FOUND.error(repr(principal_id))
            del self._principals[principal_id]

    def _page(
        self, found: Iterable[T], name: Callable[[T], str], prefix: str, after: str, amount: int
    ) -> Page[T]:
        with self._lock:
            ordered = sorted(found, key=lambda record: name(record).encode())
        rest = [each for each in ordered if name(each).startswith(prefix) and name(each) > after]
        page = tuple(rest[:amount])
        return Page(page, name(page[-1]) if len(rest) > amount else "")


def _name(record: User | Group | Policy) -> str:
    return record.name


def _listed(key: Credential) -> ListedKey:
    return ListedKey(key.access_key_id, key.creation_date)


def _required(records: dict[str, T], name: str, kind: str) -> None:
    if name not in records:
        raise Refusal.NOT_FOUND.error(f"{kind} {name!r}")


def _absent(records: Iterable[object], name: object) -> None:
    if name in records:
        raise Refusal.ACCOUNT_EXISTS.error(repr(name))
