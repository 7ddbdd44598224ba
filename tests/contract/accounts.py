"""The account stores under test: the memory fake, and the real one on tables of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from graveler.aws.dynamodb.models import ACCOUNTS
from graveler.aws.dynamodb.tables import Raw, Tables
from graveler.errors import CorruptDataError
from graveler.ports import AccountStore


class ContextCipher:
    """No encryption at all, but as strict about contexts as a real one."""

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        return repr(sorted(context.items())).encode() + b"\0" + plaintext[::-1]

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        stored, _, reversed_plaintext = ciphertext.partition(b"\0")
        if stored != repr(sorted(context.items())).encode():
            raise CorruptDataError("encrypted in another context")
        return reversed_plaintext[::-1]


def stored(tables: Tables) -> list[Raw]:
    """Return the items of all accounts."""
    return [raw for page in tables.pages(tables.query(ACCOUNTS, "")) for raw in page]


@dataclass(frozen=True)
class World:
    """Two processes of one deployment."""

    first: AccountStore
    second: AccountStore
