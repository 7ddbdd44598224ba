"""External principals in DynamoDB."""

from graveler.aws.dynamodb.accounts.records import (
    AccountRecords,
    has_uid,
    name_of,
    new_uid,
    uid_of,
)
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    PRINCIPAL,
    PRINCIPAL_OF,
    USER,
    PrincipalItem,
    PrincipalOfItem,
)
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.errors import TransactionCancelledError
from graveler.errors import UnknownOutcomeError
from graveler.messages import Refusal
from graveler.model import Page
from graveler.ports import ExternalPrincipal


class PrincipalRecords(AccountRecords):
    """The part of AccountStore that stores external principals."""

    __slots__ = ()

    def create_principal(self, principal: ExternalPrincipal) -> None:
        [user] = self._required(USER + principal.user)
        known = self._item(PRINCIPAL + principal.id)
        if known is not None and self._owner_of(known) is not None:
            raise Refusal.ACCOUNT_EXISTS.error(repr(principal.id))
        uid = uid_of(user)
        attachment = new_uid()
        item = PrincipalItem(
            ACCOUNTS,
            PRINCIPAL + principal.id,
            user=principal.user,
            uid=uid,
            attachment=attachment,
        )
        # A deleted user may have left the item.
        unchanged = PrincipalItem.sort.does_not_exist() if known is None else has_uid(uid_of(known))
        listed = PrincipalOfItem(ACCOUNTS, f"{PRINCIPAL_OF}{uid}/{principal.id}")
        writes = [
            {"Put": self.tables.put(item, unchanged)},
            {"Put": self.tables.put(listed)},
            {"ConditionCheck": self.tables.check(key(ACCOUNTS, user["sort"]["S"]), has_uid(uid))},
        ]
        try:
            self.tables.transact(writes)
        except (TransactionCancelledError, UnknownOutcomeError) as error:
            found = self._item(PRINCIPAL + principal.id)
            if found is not None and _attachment_of(found) == attachment:
                return  # an earlier attempt of this request put it
            if isinstance(error, UnknownOutcomeError):
                raise
            self._required(USER + principal.user)
            raise Refusal.ACCOUNT_EXISTS.error(repr(principal.id)) from error

    def _owner_of(self, raw: Raw) -> Raw | None:
        """Return the item of the principal's user; None if that user was deleted."""
        user = self._item(USER + raw["user"]["S"])
        return user if user is not None and uid_of(user) == uid_of(raw) else None

    def principal(self, principal_id: str) -> ExternalPrincipal | None:
        raw = self._item(PRINCIPAL + principal_id)
        if raw is None or self._owner_of(raw) is None:
            return None
        return ExternalPrincipal(principal_id, raw["user"]["S"], uid_of(raw), _attachment_of(raw))

    def principals_of(
        self, user: str, prefix: str, after: str, amount: int
    ) -> Page[ExternalPrincipal]:
        holder = self._item(USER + user)
        if holder is None:
            return Page(())
        uid = uid_of(holder)
        kind = f"{PRINCIPAL_OF}{uid}/"
        return self._page(
            ACCOUNTS,
            kind,
            prefix,
            after,
            amount,
            lambda raw: ExternalPrincipal(name_of(raw, kind), user, uid),
        )

    def delete_principal(self, user: str, principal_id: str) -> None:
        found = self._items([USER + user, PRINCIPAL + principal_id])
        holder, raw = found.get(USER + user), found.get(PRINCIPAL + principal_id)
        if holder is None or raw is None or uid_of(raw) != uid_of(holder):
            raise Refusal.NOT_FOUND.error(f"principal {principal_id!r} of user {user!r}")
        uid = uid_of(holder)
        deletions = [
            self.tables.delete(key(ACCOUNTS, PRINCIPAL + principal_id), has_uid(uid)),
            self.tables.delete(key(ACCOUNTS, f"{PRINCIPAL_OF}{uid}/{principal_id}")),
        ]
        try:
            self.tables.transact([{"Delete": deletion} for deletion in deletions])
        except (TransactionCancelledError, UnknownOutcomeError):
            # Detached by another request, or by an earlier attempt of this one.
            now = self._item(PRINCIPAL + principal_id)
            if now is not None and uid_of(now) == uid:
                raise


def _attachment_of(raw: Raw) -> str:
    attachment: str = raw["attachment"]["S"] if "attachment" in raw else ""
    return attachment
