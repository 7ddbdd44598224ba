"""Groups and their members in DynamoDB."""

from collections.abc import Sequence
from contextlib import suppress

from graveler.aws.dynamodb.accounts.records import (
    TRIES_MAX,
    AccountRecords,
    busy,
    has_uid,
    holds_fewer,
    name_of,
    new_uid,
    not_found,
    page_of,
    reference_to,
    references_of,
    uid_of,
)
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    ENDING_GROUP,
    GROUP,
    MEMBER_OF,
    USER,
    EndingGroupItem,
    GroupItem,
    HolderItem,
    MemberItem,
    UserItem,
)
from graveler.aws.dynamodb.tables import Raw, Request, key
from graveler.aws.errors import ConditionFailedError, TransactionCancelledError
from graveler.errors import InvalidInputError, UnknownOutcomeError
from graveler.limits import GROUPS_OF_USER_MAX
from graveler.messages import Refusal
from graveler.model import Page
from graveler.ports import Group, User


def group_of(raw: Raw) -> Group:
    """Return the group in the item."""
    return Group(
        name_of(raw, GROUP), int(raw["creation_date"]["N"]), raw["description"].get("S", "")
    )


class GroupRecords(AccountRecords):
    """The part of AccountStore that stores groups."""

    __slots__ = ()

    def create_group(self, group: Group) -> None:
        self._create(group_item(group, new_uid()))

    def group(self, name: str) -> Group | None:
        raw = self._item(GROUP + name)
        return None if raw is None else group_of(raw)

    def groups(self, prefix: str, after: str, amount: int) -> Page[Group]:
        return self._page(ACCOUNTS, GROUP, prefix, after, amount, group_of)

    def delete_group(self, name: str) -> None:
        [raw] = self._required(GROUP + name)
        uid = uid_of(raw)
        delete = self.tables.delete(key(ACCOUNTS, GROUP + name), has_uid(uid))
        ending = EndingGroupItem(ACCOUNTS, ENDING_GROUP + uid, name=name)
        if not self._transact([{"Delete": delete}], ending):
            raise not_found(GROUP + name)
        self._finish_deletions_of_groups()

    def _finish_deletions_of_groups(self) -> None:
        for page in self.tables.pages(self.tables.query(ACCOUNTS, ENDING_GROUP)):
            for ending in page:
                self._drop_group(ending)

    def _drop_group(self, ending: Raw) -> None:
        uid = name_of(ending, ENDING_GROUP)
        prefix = f"{MEMBER_OF}{uid}/"
        reference = f"{uid}/{ending['name']['S']}"
        for page in self.tables.pages(self.tables.query(ACCOUNTS, prefix)):
            for raw in page:
                self._drop_references(
                    USER + name_of(raw, prefix), uid_of(raw), "groups", [reference]
                )
            self._delete_batch([raw["sort"]["S"] for raw in page])
        self._delete_batch([ending["sort"]["S"]])

    # Members

    def add_member(self, group: str, user: str) -> None:
        for attempt in range(TRIES_MAX):
            user_raw, group_raw = self._required(USER + user, GROUP + group)
            reference = reference_to(group_raw, GROUP)
            groups = references_of(user_raw, "groups")
            if reference in groups:
                raise Refusal.ACCOUNT_EXISTS.error(f"user {user!r} in group {group!r}")
            if len(groups) >= GROUPS_OF_USER_MAX and (
                attempt or not self._drop_dead(user_raw, "groups", GROUP)
            ):
                raise InvalidInputError(
                    f"user {user!r} is in {GROUPS_OF_USER_MAX} groups, the most that are possible"
                )
            if self._add_member(user_raw, group_raw, reference):
                return
        raise busy(f"user {user!r}")

    def _add_member(self, user: Raw, group: Raw, reference: str) -> bool:
        """Store the membership; return False if the user or the group has changed."""
        uid = uid_of(user)
        fits = UserItem.groups.does_not_exist() | (
            ~UserItem.groups.contains(reference) & holds_fewer(UserItem.groups, GROUPS_OF_USER_MAX)
        )
        update = self.tables.update(
            key(ACCOUNTS, user["sort"]["S"]),
            [UserItem.groups.add({reference})],
            has_uid(uid) & fits,
        )
        member = member_item(uid_of(group), name_of(user, USER), uid)
        check = self.tables.check(key(ACCOUNTS, group["sort"]["S"]), has_uid(uid_of(group)))
        writes = [{"Update": update}, {"Put": self.tables.put(member)}, {"ConditionCheck": check}]
        return self._change(writes, user["sort"]["S"], "groups", reference)

    def remove_member(self, group: str, user: str) -> None:
        user_raw, group_raw = self._required(USER + user, GROUP + group)
        update = self._dropping(
            USER + user, uid_of(user_raw), "groups", [reference_to(group_raw, GROUP)]
        )
        member = key(ACCOUNTS, f"{MEMBER_OF}{uid_of(group_raw)}/{user}")
        # One transaction: a membership that is added between two writes would not be listed.
        with suppress(TransactionCancelledError):
            self.tables.transact([{"Update": update}, {"Delete": self.tables.delete(member)}])

    def members(self, group: str, prefix: str, after: str, amount: int) -> Page[User]:
        raw = self._item(GROUP + group)
        if raw is None:
            return Page(())
        kind, reference = f"{MEMBER_OF}{uid_of(raw)}/", reference_to(raw, GROUP)
        members: list[User] = []
        while True:
            wanted = amount - len(members)
            page = self._page(
                ACCOUNTS, kind, prefix, after, wanted, lambda found: name_of(found, kind)
            )
            found = self._items(USER + name for name in page.results)
            # Dead members are omitted, so another page may be needed.
            members += [
                User(
                    name, int(found[USER + name]["creation_date"]["N"]), uid_of(found[USER + name])
                )
                for name in page.results
                if reference in references_of(found.get(USER + name, {}), "groups")
            ]
            after = page.next_after
            if not after or len(members) == amount:
                return Page(tuple(members), after)

    def groups_of(self, user: str, prefix: str, after: str, amount: int) -> Page[Group]:
        raw = self._item(USER + user)
        references = [] if raw is None else references_of(raw, "groups")
        found = [group_of(each) for each in self._referenced(references, GROUP)]
        return page_of(found, lambda group: group.name, prefix, after, amount)

    # References

    def _change(self, writes: Sequence[Raw], holder: str, attribute: str, reference: str) -> bool:
        """Do the writes that add the reference; return False if a condition failed."""
        try:
            self.tables.transact(writes)
        except TransactionCancelledError:
            return False
        except UnknownOutcomeError:
            raw = self._item(holder)
            if raw is None or reference not in references_of(raw, attribute):
                raise
        return True

    def _drop_references(
        self, holder: str, uid: str, attribute: str, references: Sequence[str]
    ) -> None:
        """Remove references from the user or group, unless another one has the name now."""
        with suppress(ConditionFailedError):
            self.tables.dynamodb.call(
                "UpdateItem", self._dropping(holder, uid, attribute, references)
            )

    def _dropping(
        self, holder: str, uid: str, attribute: str, references: Sequence[str]
    ) -> Request:
        """Return the update that removes references from the user or group with the uid."""
        return self.tables.update(
            key(ACCOUNTS, holder),
            [getattr(UserItem, attribute).delete(set(references))],
            HolderItem.sort.exists() & has_uid(uid),
        )

    def _drop_dead(self, holder: Raw, attribute: str, kind: str) -> bool:
        """Remove dead references; return whether there were any."""
        references = references_of(holder, attribute)
        live = {reference_to(raw, kind) for raw in self._referenced(references, kind)}
        dead = [reference for reference in references if reference not in live]
        if dead:
            self._drop_references(holder["sort"]["S"], uid_of(holder), attribute, dead)
        return bool(dead)

    def _delete_of(self, uid: str, sort: str) -> None:
        """Delete an item if its user has the uid."""
        with suppress(ConditionFailedError):
            request = self.tables.delete(key(ACCOUNTS, sort), HolderItem.uid == uid)
            self.tables.dynamodb.call("DeleteItem", request)

    def _delete_batch(self, sorts: Sequence[str]) -> None:
        writes = [{"DeleteRequest": {"Key": key(ACCOUNTS, sort)}} for sort in sorts]
        self.tables.write_batch(self.tables.refs, writes)


def group_item(group: Group, uid: str, policies: Sequence[str] = ()) -> GroupItem:
    """Return the item of a group with references to its policies."""
    return GroupItem(
        ACCOUNTS,
        GROUP + group.name,
        creation_date=group.creation_date,
        description=group.description,
        uid=uid,
        policies=set(policies) or None,
    )


def member_item(group_uid: str, user: str, user_uid: str) -> MemberItem:
    """Return the item that lists the user among the group's members."""
    return MemberItem(ACCOUNTS, f"{MEMBER_OF}{group_uid}/{user}", uid=user_uid)
