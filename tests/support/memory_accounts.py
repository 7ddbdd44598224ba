"""Users and their credentials in memory."""

import threading
from collections.abc import Sequence

from graveler.access.policy import Policy
from graveler.access.standard import ADMINISTRATORS, policies_of
from graveler.errors import AlreadyExistsError
from graveler.ports import Credential, Installation, User


class MemoryAccountStore:
    """AccountStore in dictionaries."""

    def __init__(self, installation_id: str = "00000000-0000-4000-8000-000000000000") -> None:
        self._installation = Installation(installation_id, b"\x01" * 32)
        self._users: dict[str, User] = {}
        self._credentials: dict[str, Credential] = {}
        self._lock = threading.Lock()

    def installation(self) -> Installation:
        return self._installation

    def is_set_up(self) -> bool:
        with self._lock:
            return bool(self._users)

    def set_up(self, user: User, credential: Credential) -> None:
        with self._lock:
            if self._users:
                raise AlreadyExistsError("the installation is set up already")
            self._users[user.name] = user
            self._credentials[credential.access_key_id] = credential

    def user(self, name: str) -> User | None:
        with self._lock:
            return self._users.get(name)

    def credential(self, access_key_id: str) -> Credential | None:
        with self._lock:
            return self._credentials.get(access_key_id)

    def effective_policies(self, user: str) -> Sequence[Policy]:
        with self._lock:
            found = self._users.get(user)
            return () if found is None else policies_of(ADMINISTRATORS, found.creation_date)
