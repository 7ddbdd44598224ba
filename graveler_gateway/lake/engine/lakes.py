"""The lake of a deployment over its stores, and the key pairs of its users."""

from graveler.access.actions import Action
from graveler.access.conditions import SOURCE_IP
from graveler.aws.s3.signed_requests import S3Requests
from graveler.branches.lookup import current_branch, known_repository
from graveler.cache import AgingCache
from graveler.engine import Engine
from graveler.errors import AuthenticationError, InvalidInputError, NotFoundError
from graveler.http.auth import Authenticator
from graveler.http.rights import Authorizer, RequestRights
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Page
from graveler.operations import branches, repositories
from graveler.ports import AccountStore
from graveler_gateway.lake.engine import rights
from graveler_gateway.lake.engine.deadline import in_time
from graveler_gateway.lake.engine.multipart_uploads import EngineUploads
from graveler_gateway.lake.engine.objects import EngineObjects
from graveler_gateway.lake.port import Bucket, ClientKeyPair, UserLake

# As for the API's key pairs: a withdrawn one works for so long at most.
KEY_PAIR_AGE_MAX_S = 5
_KEY_PAIRS_MAX = 10_000


class EngineLake(EngineObjects, EngineUploads):
    """`graveler_gateway.lake.port.UserLake` over an engine."""

    def __init__(self, engine: Engine, requests: S3Requests, access: RequestRights) -> None:
        self._engine = engine
        self._requests = requests
        self._access = access

    @in_time
    def repositories(self, prefix: str, after: str, amount: int) -> Page[Bucket]:
        self._access.require_somewhere(Action.LIST_REPOSITORIES)
        found: list[Bucket] = []
        while True:
            page = repositories.list_page(
                self._engine, prefix=prefix, after=after, amount=PAGE_AMOUNT_MAX
            )
            for row in page.results:
                if self._access.allows(rights.listing_repository(row.name)):
                    if len(found) == amount:
                        return Page(tuple(found), found[-1].name)
                    found.append(Bucket(row.name, row.creation_date))
            if not page.has_more:
                return Page(tuple(found))
            after = page.next_after

    @in_time
    def repository(self, name: str) -> Bucket:
        self._access.require(rights.reading_repository(name))
        found = repositories.get(self._engine, name)
        return Bucket(found.name, found.creation_date)

    def check_creation(self, name: str) -> None:
        self._access.require(rights.creating_repository(name))

    @in_time
    def branches(self, repository: str, prefix: str, after: str, amount: int) -> Page[str]:
        self._access.require(rights.listing_objects(repository))
        page = branches.list_page(
            self._engine, repository, prefix=prefix, after=after, amount=amount
        )
        return Page(tuple(branch.name for branch in page.results), page.next_after)

    @in_time
    def has_repository(self, name: str) -> bool:
        try:
            known_repository(self._engine, name)
        except (NotFoundError, InvalidInputError):
            return False
        return True

    @in_time
    def has_branch(self, repository: str, name: str) -> bool:
        try:
            current_branch(self._engine, repository, name)
        except (NotFoundError, InvalidInputError):
            return False
        return True


class EngineLakes:
    """`graveler_gateway.lake.port.Lakes` over an engine and its users; a process has one."""

    def __init__(
        self,
        engine: Engine,
        accounts: AccountStore,
        requests: S3Requests,
        sessions: Authenticator | None = None,
    ) -> None:
        """Open the lakes; sessions are those of browsers, where the API has the same origin."""
        self._engine = engine
        self._sessions = sessions
        self._accounts = accounts
        self._requests = requests
        self._authorizer = Authorizer(accounts, engine.clock)
        self._key_pairs = AgingCache[str, ClientKeyPair](
            engine.clock.moment, KEY_PAIR_AGE_MAX_S, _KEY_PAIRS_MAX
        )

    @in_time
    def key_pair(self, access_key_id: str) -> ClientKeyPair | None:
        return self._key_pairs.get_or_read(access_key_id, self._read_key_pair)

    def _read_key_pair(self, access_key_id: str) -> ClientKeyPair | None:
        found = self._accounts.key_pair(access_key_id)
        if found is None:
            return None
        return ClientKeyPair(found.access_key_id, found.secret_access_key, found.user)

    @in_time
    def session_user(self, cookies: str, address: str) -> str | None:
        if self._sessions is None:
            return None
        try:
            return self._sessions.user_of(None, cookies.split(";"), address)
        except (AuthenticationError, InvalidInputError):
            return None

    def lake(self, user: str, address: str) -> UserLake:
        access = self._authorizer.of_request(user, {SOURCE_IP: address})
        return EngineLake(self._engine, self._requests, access)

    def now_s(self) -> int:
        return self._engine.now_s()
