"""Shared by the records of accounts: items by name, references with uids, the signing key."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from uuid import uuid4

from msgspec import Struct
from pynamodb.attributes import UnicodeSetAttribute
from pynamodb.expressions.condition import Condition, size

from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    GROUP,
    INSTALLATION,
    POLICY,
    USER,
    HolderItem,
    InstallationItem,
    RefsItem,
)
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.errors import ConditionFailedError
from graveler.errors import ContentionError, UnknownOutcomeError
from graveler.messages import Refusal
from graveler.model import Page
from graveler.ports import Installation

T = TypeVar("T")

# A change that loses so many races in a row fails.
TRIES_MAX = 10

_SIGNING_KEY_BYTES = 32
_SIGNING_KEY_CONTEXT = {"purpose": "signing-key"}
_KINDS = {USER: "user", GROUP: "group", POLICY: "policy"}


class Cipher(Protocol):
    """Encrypts small secrets under a key that the tables do not hold.

    The context names the record of the secret. Decrypting under another context fails, so a secret
    cannot be moved to another record.
    """

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """Return ciphertext that only `decrypt` under an equal context can decrypt."""

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        """Return the plaintext.

        Raises:
            CorruptDataError: these bytes were not encrypted under this key and context.
        """


class Memo(Struct):
    """A process's memory: the installation, and the records that decide each user's policies."""

    installation: Installation | None = None
    holdings: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class AccountRecords(RefsRecords):
    """Access to the accounts partition."""

    cipher: Cipher
    memo: Memo = field(default_factory=Memo, init=False, repr=False)

    def installation(self) -> Installation:
        if self.memo.installation is None:
            raw = self._item(INSTALLATION)
            if raw is None:
                raw = self._make_installation()
            self.memo.installation = Installation(
                id=raw["id"]["S"],
                signing_key=self.cipher.decrypt(binary(raw["signing_key"]), _SIGNING_KEY_CONTEXT),
            )
        return self.memo.installation

    def _make_installation(self) -> Raw:
        signing_key = self.cipher.encrypt(
            secrets.token_bytes(_SIGNING_KEY_BYTES), _SIGNING_KEY_CONTEXT
        )
        item = InstallationItem(ACCOUNTS, INSTALLATION, id=str(uuid4()), signing_key=signing_key)
        request = self.tables.put(item, InstallationItem.sort.does_not_exist())
        try:
            self.tables.dynamodb.call("PutItem", request)
        except (ConditionFailedError, UnknownOutcomeError) as error:
            problem: Exception | None = error
        else:
            problem = None
        # All processes use the record that was stored first, by this call or another.
        raw = self._item(INSTALLATION)
        if raw is None:
            raise problem or RuntimeError("the installation's record was deleted")
        return raw

    # Items

    def _item(self, sort: str) -> Raw | None:
        return self.tables.get(ACCOUNTS, sort)

    def _items(self, sorts: Iterable[str]) -> dict[str, Raw]:
        """Return the items that exist among the distinct sort keys."""
        keys = [key(ACCOUNTS, sort) for sort in dict.fromkeys(sorts)]
        return {raw["sort"]["S"]: raw for raw in self.tables.get_batch(self.tables.refs, keys)}

    def _required(self, *sorts: str) -> tuple[Raw, ...]:
        """Return the items of users, groups or policies.

        Raises:
            NotFoundError: one does not exist.
        """
        found = self._items(sorts)
        for sort in sorts:
            if sort not in found:
                raise not_found(sort)
        return tuple(found[sort] for sort in sorts)

    def _create(self, item: RefsItem) -> None:
        """Put a new item, which has a new uid.

        Raises:
            AlreadyExistsError: an item of the name exists.
        """
        put = self.tables.put(item, RefsItem.sort.does_not_exist())
        try:
            self.tables.dynamodb.call("PutItem", put)
        except (ConditionFailedError, UnknownOutcomeError) as error:
            found = self._item(item.sort)
            if found is not None and uid_of(found) == item.serialize()["uid"]["S"]:
                return  # an earlier attempt of this request put it
            if found is None and isinstance(error, UnknownOutcomeError):
                raise
            raise Refusal.ACCOUNT_EXISTS.error(_shown(item.sort)) from error

    def _live(self, references: Sequence[str], kind: str, found: dict[str, Raw]) -> list[Raw]:
        """Return the found items whose uids the references have, ordered by name."""
        live = []
        for reference in references:
            uid, name = split(reference)
            raw = found.get(kind + name)
            if raw is not None and uid_of(raw) == uid:
                live.append(raw)
        return sorted(live, key=lambda raw: raw["sort"]["S"].encode())

    def _referenced(self, references: Sequence[str], kind: str) -> list[Raw]:
        found = self._items(kind + split(reference)[1] for reference in references)
        return self._live(references, kind, found)


def not_found(sort: str) -> Exception:
    """Return the error for a user, group or policy that does not exist."""
    return Refusal.NOT_FOUND.error(_shown(sort))


def busy(what: str) -> Exception:
    """Return the error of a change that lost every race."""
    return ContentionError(f"too many concurrent updates of {what}: retry")


def _shown(sort: str) -> str:
    kind, mark, name = sort.partition("#")
    return f"{_KINDS.get(kind + mark, kind)} {name!r}"


def new_uid() -> str:
    """Return a new unique uid."""
    return uuid4().hex


def uid_of(raw: Raw) -> str:
    """Return the uid in an item; "" in an item that is older than groups."""
    uid: str = raw["uid"]["S"] if "uid" in raw else ""
    return uid


def has_uid(uid: str) -> Condition:
    """Return the condition that the item has the uid."""
    return HolderItem.uid == uid if uid else HolderItem.uid.does_not_exist()


def holds_fewer(references: UnicodeSetAttribute, most: int) -> Condition:
    """Return the condition that the set has fewer than `most` references."""
    return size(references) < most  # type: ignore[no-untyped-call, no-any-return] # PynamoDB's


def references_of(raw: Raw, attribute: str) -> list[str]:
    """Return a holder's references, each `<uid>/<name>`."""
    return list(raw[attribute]["SS"]) if attribute in raw else []


def reference_to(raw: Raw, kind: str) -> str:
    """Return the reference to a group or a policy."""
    return f"{uid_of(raw)}/{name_of(raw, kind)}"


def split(reference: str) -> tuple[str, str]:
    """Return the uid and the name of a reference."""
    uid, _, name = reference.partition("/")
    return uid, name


def name_of(raw: Raw, kind: str) -> str:
    """Return the name in the sort key of an item."""
    return str(raw["sort"]["S"]).removeprefix(kind)


def page_of(
    found: Sequence[T], name: Callable[[T], str], prefix: str, after: str, amount: int
) -> Page[T]:
    """Return a page of records in memory, which are ordered by name."""
    rest = [
        record
        for record in found
        if name(record).startswith(prefix) and (not after or name(record) > after)
    ]
    page = tuple(rest[:amount])
    return Page(page, name(page[-1]) if len(rest) > amount else "")
