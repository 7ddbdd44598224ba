"""Users in DynamoDB, and the deletion of their keys, principals and memberships."""

from pynamodb.expressions.condition import Condition

from graveler.aws.dynamodb.accounts.groups import GroupRecords
from graveler.aws.dynamodb.accounts.records import (
    TRIES_MAX,
    busy,
    has_uid,
    name_of,
    new_uid,
    references_of,
    split,
    uid_of,
)
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CREDENTIAL,
    ENDING_USER,
    KEY_OF,
    MEMBER_OF,
    PRINCIPAL,
    PRINCIPAL_OF,
    USER,
    EndingUserItem,
    UserItem,
)
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.errors import ConditionFailedError
from graveler.model import Page
from graveler.ports import User


def user_of(raw: Raw) -> User:
    """Return the user in the item."""
    sessions_from = int(raw["sessions_from"]["N"]) if "sessions_from" in raw else 0
    return User(name_of(raw, USER), int(raw["creation_date"]["N"]), uid_of(raw), sessions_from)


class UserRecords(GroupRecords):
    """The part of AccountStore that stores users."""

    __slots__ = ()

    def create_user(self, user: User) -> None:
        self._create(
            UserItem(ACCOUNTS, USER + user.name, creation_date=user.creation_date, uid=new_uid())
        )

    def user(self, name: str) -> User | None:
        raw = self._item(USER + name)
        return None if raw is None else user_of(raw)

    def users(self, prefix: str, after: str, amount: int) -> Page[User]:
        return self._page(ACCOUNTS, USER, prefix, after, amount, user_of)

    def end_sessions(self, name: str, before: int) -> None:
        is_later = UserItem.sessions_from.does_not_exist() | (UserItem.sessions_from < before)
        update = self.tables.update(
            key(ACCOUNTS, USER + name),
            [UserItem.sessions_from.set(before)],
            UserItem.sort.exists() & is_later,
        )
        try:
            self.tables.dynamodb.call("UpdateItem", update)
        except ConditionFailedError:
            # An earlier attempt of this request, or another request, has already ended them.
            self._required(USER + name)

    def delete_user(self, name: str) -> None:
        for _ in range(TRIES_MAX):
            [raw] = self._required(USER + name)
            if self._begin_deletion_of_user(raw):
                self._finish_deletions()
                return
        raise busy(f"user {name!r}")

    def _begin_deletion_of_user(self, raw: Raw) -> bool:
        """Delete the item that all log-ins need; return False if it has changed."""
        uid, groups = uid_of(raw), set(references_of(raw, "groups"))
        unchanged: Condition = has_uid(uid) & (
            (UserItem.groups == groups) if groups else UserItem.groups.does_not_exist()
        )
        delete = self.tables.delete(key(ACCOUNTS, raw["sort"]["S"]), unchanged)
        ending = EndingUserItem(
            ACCOUNTS,
            ENDING_USER + uid,
            name=name_of(raw, USER),
            groups=groups or None,
        )
        return self._transact([{"Delete": delete}], ending)

    def _finish_deletions(self) -> None:
        """Delete the items that deleted users and groups left, also by interrupted deletions."""
        for page in self.tables.pages(self.tables.query(ACCOUNTS, ENDING_USER)):
            for ending in page:
                self._drop_user(ending)
        self._finish_deletions_of_groups()

    def _drop_user(self, ending: Raw) -> None:
        uid = name_of(ending, ENDING_USER)
        for kind, owned in ((CREDENTIAL, KEY_OF), (PRINCIPAL, PRINCIPAL_OF)):
            prefix = f"{owned}{uid}/"
            for page in self.tables.pages(self.tables.query(ACCOUNTS, prefix)):
                for raw in page:
                    # Another user may have the principal now.
                    self._delete_of(uid, kind + name_of(raw, prefix))
                self._delete_batch([raw["sort"]["S"] for raw in page])
        for reference in references_of(ending, "groups"):
            group_uid, _ = split(reference)
            # A later user of the name may be a member now.
            self._delete_of(uid, f"{MEMBER_OF}{group_uid}/{ending['name']['S']}")
        self._delete_batch([ending["sort"]["S"]])
