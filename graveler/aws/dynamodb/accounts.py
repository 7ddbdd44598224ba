"""The AccountStore on DynamoDB; a Cipher encrypts the secrets."""

import secrets
from collections.abc import Sequence
from uuid import uuid4

from graveler.access.policy import Policy
from graveler.access.standard import ADMINISTRATORS, policies_of
from graveler.aws.cipher import Cipher
from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CREDENTIAL,
    FIRST_ADMINISTRATOR,
    INSTALLATION,
    USER,
    CredentialItem,
    FirstAdministratorItem,
    InstallationItem,
    UserItem,
)
from graveler.aws.dynamodb.tables import Raw, Tables
from graveler.aws.errors import ConditionFailedError, TransactionCancelledError
from graveler.errors import AlreadyExistsError, UnknownOutcomeError
from graveler.ports import Credential, Installation, User

_SIGNING_KEY_BYTES = 32
_SIGNING_KEY_CONTEXT = {"purpose": "signing-key"}


class DynamoAccountStore:
    """`graveler.ports.AccountStore` over the accounts partition of the refs table."""

    def __init__(self, tables: Tables, cipher: Cipher) -> None:
        self._tables = tables
        self._cipher = cipher
        self._installation: Installation | None = None

    def installation(self) -> Installation:
        if self._installation is None:
            raw = self._tables.get(ACCOUNTS, INSTALLATION)
            if raw is None:
                raw = self._make_installation()
            self._installation = Installation(
                id=raw["id"]["S"],
                signing_key=self._cipher.decrypt(binary(raw["signing_key"]), _SIGNING_KEY_CONTEXT),
            )
        return self._installation

    def _make_installation(self) -> Raw:
        key = self._cipher.encrypt(secrets.token_bytes(_SIGNING_KEY_BYTES), _SIGNING_KEY_CONTEXT)
        item = InstallationItem(ACCOUNTS, INSTALLATION, id=str(uuid4()), signing_key=key)
        request = self._tables.put(item, InstallationItem.sort.does_not_exist())
        try:
            self._tables.dynamodb.call("PutItem", request)
        except (ConditionFailedError, UnknownOutcomeError) as error:
            problem: Exception | None = error
        else:
            problem = None
        # All processes use the record that was stored first, by this call or another.
        raw = self._tables.get(ACCOUNTS, INSTALLATION)
        if raw is None:
            raise problem or RuntimeError("the installation's record was deleted")
        return raw

    def is_set_up(self) -> bool:
        return self._tables.get(ACCOUNTS, FIRST_ADMINISTRATOR) is not None

    def set_up(self, user: User, credential: Credential) -> None:
        ciphertext = self._cipher.encrypt(
            credential.secret_access_key.encode(), _context(credential.access_key_id)
        )
        first = FirstAdministratorItem(
            ACCOUNTS, FIRST_ADMINISTRATOR, access_key_id=credential.access_key_id
        )
        user_item = UserItem(ACCOUNTS, USER + user.name, creation_date=user.creation_date)
        credential_item = CredentialItem(
            ACCOUNTS,
            CREDENTIAL + credential.access_key_id,
            user=credential.user,
            secret=ciphertext,
            creation_date=credential.creation_date,
        )
        put = self._tables.put
        writes = [
            {"Put": put(first, FirstAdministratorItem.sort.does_not_exist())},
            {"Put": put(user_item)},
            {"Put": put(credential_item)},
        ]
        try:
            self._tables.transact(writes)
        except TransactionCancelledError as error:
            if not self._is_first(credential):
                raise AlreadyExistsError("a first administrator already exists") from error
        except UnknownOutcomeError:
            if not self._is_first(credential):
                raise

    def _is_first(self, credential: Credential) -> bool:
        raw = self._tables.get(ACCOUNTS, FIRST_ADMINISTRATOR)
        return raw is not None and raw["access_key_id"]["S"] == credential.access_key_id

    def user(self, name: str) -> User | None:
        raw = self._tables.get(ACCOUNTS, USER + name)
        return None if raw is None else User(name, int(raw["creation_date"]["N"]))

    def credential(self, access_key_id: str) -> Credential | None:
        raw = self._tables.get(ACCOUNTS, CREDENTIAL + access_key_id)
        if raw is None:
            return None
        secret = self._cipher.decrypt(binary(raw["secret"]), _context(access_key_id))
        return Credential(
            access_key_id=access_key_id,
            secret_access_key=secret.decode(),
            user=raw["user"]["S"],
            creation_date=int(raw["creation_date"]["N"]),
        )

    def effective_policies(self, user: str) -> Sequence[Policy]:
        # The first administrator is the only user.
        found = self.user(user)
        return () if found is None else policies_of(ADMINISTRATORS, found.creation_date)


def _context(access_key_id: str) -> dict[str, str]:
    return {"access-key-id": access_key_id}
