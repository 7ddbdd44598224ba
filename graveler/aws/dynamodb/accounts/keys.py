"""Key pairs in DynamoDB, and the counters of failed log-ins."""

import hmac
from collections.abc import Sequence

from graveler.access.digests import secret_digest
from graveler.aws.dynamodb.accounts.records import AccountRecords, has_uid, name_of, uid_of
from graveler.aws.dynamodb.accounts.users import user_of
from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CREDENTIAL,
    KEY_OF,
    LOGIN_FAILURES,
    USER,
    CredentialItem,
    KeyOfItem,
    LoginFailuresItem,
)
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.errors import TransactionCancelledError
from graveler.errors import CorruptDataError, UnknownOutcomeError
from graveler.messages import Refusal
from graveler.model import Page
from graveler.ports import Credential, KeyPair, ListedKey, LoginKey, LookUp


def context_of(access_key_id: str) -> dict[str, str]:
    """Return the encryption context of a secret."""
    return {"access-key-id": access_key_id}


class KeyRecords(AccountRecords):
    """The part of AccountStore that stores key pairs."""

    __slots__ = ()

    def create_key(self, credential: Credential) -> None:
        [user] = self._required(USER + credential.user)
        uid = uid_of(user)
        pair, listed = self._items_of(credential, uid)
        absent = CredentialItem.sort.does_not_exist()
        writes = [
            {"Put": self.tables.put(pair, absent)},
            {"Put": self.tables.put(listed)},
            {"ConditionCheck": self.tables.check(key(ACCOUNTS, user["sort"]["S"]), has_uid(uid))},
        ]
        try:
            self.tables.transact(writes)
        except (TransactionCancelledError, UnknownOutcomeError) as error:
            found = self._item(pair.sort)
            if found is not None and binary(found["digest"]) == pair.digest:
                return  # an earlier attempt of this request put it
            if isinstance(error, UnknownOutcomeError):
                raise
            self._required(USER + credential.user)
            raise Refusal.ACCOUNT_EXISTS.error(credential.access_key_id) from error

    def _items_of(self, credential: Credential, uid: str) -> tuple[CredentialItem, KeyOfItem]:
        """Return the items of a new key pair of the user with the uid."""
        access_key_id, secret = credential.access_key_id, credential.secret_access_key
        pair = CredentialItem(
            ACCOUNTS,
            CREDENTIAL + access_key_id,
            user=credential.user,
            uid=uid,
            secret=self.cipher.encrypt(secret.encode(), context_of(access_key_id)),
            digest=self._digest(access_key_id, credential.user, uid, secret),
            installation=self.installation().id,
            creation_date=credential.creation_date,
        )
        return pair, key_of_item(uid, access_key_id, credential.creation_date)

    def _digest(self, access_key_id: str, user: str, uid: str, secret: str) -> bytes:
        signing_key = self.installation().signing_key
        return secret_digest(signing_key, access_key_id, user, uid, secret)

    def key_of(self, user: str, access_key_id: str) -> ListedKey | None:
        found = self._items([USER + user, CREDENTIAL + access_key_id])
        holder, pair = found.get(USER + user), found.get(CREDENTIAL + access_key_id)
        if holder is None or pair is None or not _is_of(pair, holder):
            return None
        return ListedKey(access_key_id, int(pair["creation_date"]["N"]))

    def keys_of(self, user: str, prefix: str, after: str, amount: int) -> Page[ListedKey]:
        holder = self._item(USER + user)
        if holder is None:
            return Page(())
        kind = f"{KEY_OF}{uid_of(holder)}/"

        def listed(raw: Raw) -> ListedKey:
            return ListedKey(name_of(raw, kind), int(raw["creation_date"]["N"]))

        return self._page(ACCOUNTS, kind, prefix, after, amount, listed)

    def delete_key(self, user: str, access_key_id: str) -> None:
        found = self._items([USER + user, CREDENTIAL + access_key_id])
        holder, pair = found.get(USER + user), found.get(CREDENTIAL + access_key_id)
        if holder is None or pair is None or not _is_of(pair, holder):
            raise Refusal.CREDENTIALS_NOT_FOUND.error(access_key_id)
        uid = uid_of(holder)
        deletions = [
            self.tables.delete(key(ACCOUNTS, CREDENTIAL + access_key_id), has_uid(uid)),
            self.tables.delete(key(ACCOUNTS, f"{KEY_OF}{uid}/{access_key_id}")),
        ]
        try:
            self.tables.transact([{"Delete": deletion} for deletion in deletions])
        except (TransactionCancelledError, UnknownOutcomeError):
            # Deleted by another request, or by an earlier attempt of this one.
            if self._item(CREDENTIAL + access_key_id) is not None:
                raise

    def look_up(self, access_key_id: str, counters: Sequence[str] = (), hint: str = "") -> LookUp:
        keys = [key(ACCOUNTS, CREDENTIAL + access_key_id)]
        keys += [key(LOGIN_FAILURES, counter) for counter in dict.fromkeys(counters)]
        if hint:
            keys.append(key(ACCOUNTS, USER + hint))
        found = {
            (raw["partition"]["S"], raw["sort"]["S"]): raw
            for raw in self.tables.get_batch(self.tables.refs, keys)
        }
        pair = found.get((ACCOUNTS, CREDENTIAL + access_key_id))
        user = found.get((ACCOUNTS, USER + hint))
        counts = (found.get((LOGIN_FAILURES, counter)) for counter in counters)
        return LookUp(
            None if pair is None else self._login_key(pair, access_key_id),
            None if user is None else user_of(user),
            tuple(0 if count is None else int(count["failures"]["N"]) for count in counts),
        )

    def key_pair(self, access_key_id: str) -> KeyPair | None:
        pair = self._item(CREDENTIAL + access_key_id)
        user = None if pair is None else self._item(USER + pair["user"]["S"])
        if pair is None or user is None or not _is_of(pair, user):
            return None
        ciphertext, context = binary(pair["secret"]), context_of(access_key_id)
        secret = self.cipher.decrypt(ciphertext, context).decode()
        name, uid = name_of(user, USER), uid_of(user)
        # The context does not name the user, but the digest does.
        if self._is_current(pair) and not hmac.compare_digest(
            binary(pair["digest"]), self._digest(access_key_id, name, uid, secret)
        ):
            raise CorruptDataError(
                f"the secret of key {access_key_id} was stored for another user: delete the key"
            )
        return KeyPair(access_key_id, secret, name, uid)

    def _login_key(self, raw: Raw, access_key_id: str) -> LoginKey:
        digest = binary(raw["digest"]) if self._is_current(raw) else b""
        return LoginKey(access_key_id, raw["user"]["S"], uid_of(raw), digest)

    def _is_current(self, raw: Raw) -> bool:
        """Whether the digest of a key pair was made with the installation's present key."""
        return "installation" in raw and bool(raw["installation"]["S"] == self.installation().id)

    def count_failure(self, counters: Sequence[str], expires_at: int) -> None:
        for counter in counters:
            update = self.tables.update(
                key(LOGIN_FAILURES, counter),
                [
                    LoginFailuresItem.failures.add(1),
                    LoginFailuresItem.expires_at.set(expires_at),
                ],
            )
            self.tables.dynamodb.call("UpdateItem", update)


def key_of_item(uid: str, access_key_id: str, creation_date: int) -> KeyOfItem:
    """Return the item that lists the key pair among its user's."""
    return KeyOfItem(ACCOUNTS, f"{KEY_OF}{uid}/{access_key_id}", creation_date=creation_date)


def _is_of(pair: Raw, user: Raw) -> bool:
    return pair["user"]["S"] == name_of(user, USER) and uid_of(pair) == uid_of(user)
