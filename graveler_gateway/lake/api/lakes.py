"""The lake of one key pair, over the HTTP API of a deployment.

The gateway's clients sign with the one key pair that the gateway itself uses for the API. So the
API checks the user's rights, and the gateway only signatures.
"""

import threading
import time
from collections.abc import Callable

from graveler.errors import AccessDeniedError, InvalidInputError, NotFoundError
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Page
from graveler_gateway.lake.api.multipart_uploads import ApiUploads
from graveler_gateway.lake.api.objects import ApiObjects, branch_of
from graveler_gateway.lake.api.requests import Requests, amount_of
from graveler_gateway.lake.api.rows import BranchRow, CurrentUser, Listing, RepositoryRow
from graveler_gateway.lake.port import Bucket, ClientKeyPair, ObjectPlace, UserLake


class ApiLake(ApiObjects, ApiUploads):
    """`graveler_gateway.lake.port.UserLake` over the API."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Bucket]:
        found: list[Bucket] = []
        while True:
            query = {"prefix": prefix, "after": after, "amount": amount_of(PAGE_AMOUNT_MAX)}
            page = self._requests.ask(Listing[RepositoryRow], "GET", ("repositories",), query)
            found += [Bucket(row.id, row.creation_date) for row in page.results]
            if len(found) > amount:
                shown = found[:amount]
                return Page(tuple(shown), shown[-1].name if shown else "")
            if not page.pagination.has_more:
                return Page(tuple(found))
            after = page.pagination.next_offset

    def repository(self, name: str) -> Bucket:
        row = self._requests.ask(RepositoryRow, "GET", ("repositories", name))
        return Bucket(row.id, row.creation_date)

    def check_creation(self, name: str) -> None:
        """Do nothing: nothing is created here, and the API checks the right elsewhere."""

    def branches(self, repository: str, prefix: str, after: str, amount: int) -> Page[str]:
        query = {"prefix": prefix, "after": after, "amount": amount_of(amount)}
        segments = ("repositories", repository, "branches")
        page = self._requests.ask(Listing[BranchRow], "GET", segments, query)
        next_after = page.pagination.next_offset if page.pagination.has_more else ""
        return Page(tuple(row.id for row in page.results), next_after)

    def has_repository(self, name: str) -> bool:
        return self._exists(("repositories", name))

    def has_branch(self, repository: str, name: str) -> bool:
        return self._exists(branch_of(ObjectPlace(repository, name, b"")))

    def _exists(self, segments: tuple[str, ...]) -> bool:
        """Whether it exists; True if the user may not know that."""
        try:
            self._requests.send("GET", segments)
        except (NotFoundError, InvalidInputError):
            return False
        except AccessDeniedError:
            return True
        return True


class ApiLakes:
    """`graveler_gateway.lake.port.Lakes` of one key pair; a process has one."""

    def __init__(
        self,
        requests: Requests,
        access_key_id: str,
        secret_access_key: str,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._requests = requests
        self._now_s = now_s
        self._access_key_id = access_key_id
        self._secret_access_key = secret_access_key
        self._lock = threading.Lock()
        self._user = ""

    def key_pair(self, access_key_id: str) -> ClientKeyPair | None:
        if (
            access_key_id != self._access_key_id
        ):  # an ID is no secret, so the comparison may take any time
            return None
        return ClientKeyPair(self._access_key_id, self._secret_access_key, self.user())

    def user(self) -> str:
        """Return the name of the key pair's user, which the API is asked for once.

        Raises:
            AuthenticationError: the API does not know the key pair.
        """
        with self._lock:
            if not self._user:
                self._user = self._requests.ask(CurrentUser, "GET", ("user",)).user.id
            return self._user

    def session_user(self, cookies: str, address: str) -> None:
        """Return None: no browser has a session with this machine's gateway."""

    def lake(self, user: str, address: str) -> UserLake:  # noqa: ARG002 - there is one user, and the API sees the gateway's address
        return ApiLake(self._requests)

    def now_s(self) -> int:
        return int(self._now_s())
