"""The first administrator, and the standard groups and policies, in DynamoDB."""

from collections.abc import Iterator
from contextlib import suppress

from pynamodb.expressions.update import Action

from graveler.aws.dynamodb.accounts.groups import group_item, member_item
from graveler.aws.dynamodb.accounts.keys import KeyRecords, context_of, key_of_item
from graveler.aws.dynamodb.accounts.policies import policy_item
from graveler.aws.dynamodb.accounts.records import has_uid, name_of, new_uid, uid_of
from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CREDENTIAL,
    FIRST_ADMINISTRATOR,
    GROUP,
    POLICY,
    USER,
    CredentialItem,
    FirstAdministratorItem,
    RefsItem,
    UserItem,
)
from graveler.aws.dynamodb.tables import Raw, Request, key
from graveler.aws.errors import TransactionCancelledError
from graveler.errors import AlreadyExistsError, UnknownOutcomeError
from graveler.ports import NO_STANDARD_ACCESS, Credential, StandardAccess, User


class InstallationRecords(KeyRecords):
    """The part of AccountStore that sets up and upgrades an installation."""

    __slots__ = ()

    def is_set_up(self) -> bool:
        return self._item(FIRST_ADMINISTRATOR) is not None

    def set_up(
        self, user: User, credential: Credential, standard: StandardAccess = NO_STANDARD_ACCESS
    ) -> None:
        items, administrators = self._standard_items(standard)
        access, known = new_uid(), self._item(USER + user.name)
        uid = (uid_of(known) if known else "") or new_uid()
        first = FirstAdministratorItem(
            ACCOUNTS, FIRST_ADMINISTRATOR, access_key_id=credential.access_key_id, access=access
        )
        absent = RefsItem.sort.does_not_exist()
        puts = [self.tables.put(item, absent) for item in (first, *items)]
        puts += [self.tables.put(item, absent) for item in self._items_of(credential, uid)]
        if administrators:
            member = member_item(administrators.partition("/")[0], user.name, uid)
            puts.append(self.tables.put(member))
        writes = [{"Update": self._first_user(user, known, uid, administrators)}]
        writes += [{"Put": put} for put in puts]
        try:
            self.tables.transact(writes)
        except TransactionCancelledError as error:
            if not self._access_is(access):
                raise AlreadyExistsError("a first administrator already exists") from error
        except UnknownOutcomeError:
            if not self._access_is(access):
                raise

    def _first_user(self, user: User, known: Raw | None, uid: str, administrators: str) -> Request:
        """Return the update that makes the user, or promotes an existing one.

        A user exists if the mark of a completed set-up was deleted, to set up once more.
        """
        date = UserItem.creation_date
        actions: list[Action] = [date.set(date | user.creation_date), UserItem.uid.set(uid)]
        if administrators:
            actions.append(UserItem.groups.add({administrators}))
        unchanged = (
            RefsItem.sort.does_not_exist()
            if known is None
            else RefsItem.sort.exists() & has_uid(uid_of(known))
        )
        return self.tables.update(key(ACCOUNTS, USER + user.name), actions, unchanged)

    def _access_is(self, access: str) -> bool:
        raw = self._item(FIRST_ADMINISTRATOR)
        return raw is not None and "access" in raw and bool(raw["access"]["S"] == access)

    def _standard_items(self, standard: StandardAccess) -> tuple[list[RefsItem], str]:
        """Return the items that do not exist yet, and the reference to the administrators."""
        found = self._items(
            [
                *(POLICY + policy.name for policy in standard.policies),
                *(GROUP + new.group.name for new in standard.groups),
            ]
        )
        uids = {sort: uid_of(raw) for sort, raw in found.items()}

        def reference(kind: str, name: str) -> str:
            return f"{uids.setdefault(kind + name, new_uid())}/{name}"

        items: list[RefsItem] = []
        for policy in standard.policies:
            uid = reference(POLICY, policy.name).partition("/")[0]
            items.append(policy_item(policy, uid))
        for new in standard.groups:
            uid = reference(GROUP, new.group.name).partition("/")[0]
            policies = [reference(POLICY, name) for name in new.policies]
            items.append(group_item(new.group, uid, policies))
        administrators = standard.administrators
        return (
            [item for item in items if item.sort not in found],
            reference(GROUP, administrators) if administrators else "",
        )

    # Upgrades of records that are older than groups

    def upgrade(self, standard: StandardAccess, access_key_id: str = "") -> None:
        first = self._item(FIRST_ADMINISTRATOR)
        if first is not None and "access" not in first:
            self._store_standard(standard)
        group = self._item(GROUP + standard.administrators) if standard.administrators else None
        for raw in self._without("uid", USER):
            self._upgrade_user(raw, group)
        for raw in self._without("digest", CREDENTIAL):
            self._upgrade_key(raw)
        pair = self._item(CREDENTIAL + access_key_id) if access_key_id else None
        if pair is not None and not self._is_current(pair):
            self._upgrade_key(pair)  # the installation's key was replaced

    def _store_standard(self, standard: StandardAccess) -> None:
        """Store the groups and policies with a mark, unless another process has stored them."""
        items, _ = self._standard_items(standard)
        absent = RefsItem.sort.does_not_exist()
        mark = self.tables.update(
            key(ACCOUNTS, FIRST_ADMINISTRATOR),
            [FirstAdministratorItem.access.set(new_uid())],
            FirstAdministratorItem.sort.exists() & FirstAdministratorItem.access.does_not_exist(),
        )
        writes = [{"Put": self.tables.put(item, absent)} for item in items]
        try:
            self.tables.transact([{"Update": mark}, *writes])
        except (TransactionCancelledError, UnknownOutcomeError):
            first = self._item(FIRST_ADMINISTRATOR)
            if first is None or "access" not in first:
                raise

    def _without(self, attribute: str, kind: str) -> Iterator[Raw]:
        for page in self.tables.pages(self.tables.query(ACCOUNTS, kind)):
            yield from (raw for raw in page if attribute not in raw)

    def _upgrade_user(self, raw: Raw, group: Raw | None) -> None:
        """Give the user a uid, and make it a member of the administrators."""
        uid = new_uid()
        actions: list[Action] = [UserItem.uid.set(uid)]
        writes = []
        if group is not None:
            group_uid, name = uid_of(group), name_of(group, GROUP)
            actions.append(UserItem.groups.add({f"{group_uid}/{name}"}))
            member = member_item(group_uid, name_of(raw, USER), uid)
            writes.append({"Put": self.tables.put(member)})
        update = self.tables.update(
            key(ACCOUNTS, raw["sort"]["S"]),
            actions,
            UserItem.sort.exists() & UserItem.uid.does_not_exist(),
        )
        # Another process may have upgraded the user, or the user may be deleted.
        with suppress(TransactionCancelledError):
            self.tables.transact([{"Update": update}, *writes])

    def _upgrade_key(self, raw: Raw) -> None:
        """Give the key pair its user's uid and the digest of its secret."""
        access_key_id, user = name_of(raw, CREDENTIAL), raw["user"]["S"]
        holder = self._item(USER + user)
        if holder is None or not uid_of(holder):
            return  # the user was deleted by hand, so the key pair does not work
        uid, since = uid_of(holder), int(raw["creation_date"]["N"])
        if uid_of(raw) not in ("", uid) or since < int(holder["creation_date"]["N"]):
            return  # the key pair of a deleted user of the name
        secret = self.cipher.decrypt(binary(raw["secret"]), context_of(access_key_id)).decode()
        listed = key_of_item(uid, access_key_id, since)
        update = self.tables.update(
            key(ACCOUNTS, raw["sort"]["S"]),
            [
                CredentialItem.uid.set(uid),
                CredentialItem.digest.set(self._digest(access_key_id, user, uid, secret)),
                CredentialItem.installation.set(self.installation().id),
            ],
            CredentialItem.secret == binary(raw["secret"]),
        )
        unchanged = self.tables.check(key(ACCOUNTS, USER + user), has_uid(uid))
        # Another process may have upgraded it, or the user or the key pair may be deleted.
        with suppress(TransactionCancelledError):
            self.tables.transact(
                [
                    {"Update": update},
                    {"Put": self.tables.put(listed)},
                    {"ConditionCheck": unchanged},
                ]
            )
