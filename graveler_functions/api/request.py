"""The request that routes get: the parts of an event, and what its path names."""

from collections.abc import Callable, Mapping
from functools import cached_property
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from graveler.access.conditions import SOURCE_IP
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.http import waiting
from graveler.http.auth import Authenticator
from graveler.http.rights import Authorizer, RequestRights
from graveler.names import decoded_again
from graveler.operations.tasks.waiting import ClientWait
from graveler.ports import AccountStore, IdentityService
from graveler_functions.api.settings import ApiSettings
from graveler_functions.http.events import Event
from graveler_functions.http.request import EventRequest

# Path parameters that can name a tag. Names of other kinds have no `%`.
_REFS = frozenset({"tag", "ref", "commit_id", "left_ref", "right_ref", "source_ref"})


class ApiServices(Struct, frozen=True):
    """The services that routes use; built once per process."""

    engine: Engine
    accounts: AccountStore
    authenticator: Authenticator
    authorizer: Authorizer
    settings: ApiSettings
    identities: IdentityService | None = None
    secret_of: Callable[[str], str] | None = None

    def setup_token(self) -> str:
        """Return the secret with which a client creates the first administrator; "" for none."""
        if self.settings.setup_token_arn and self.secret_of:
            return self.secret_of(self.settings.setup_token_arn)
        return self.settings.setup_token


class Request(EventRequest):
    """A request of an authenticated user; user is "" on public operations, until one knows it."""

    def __init__(
        self, event: Event, services: ApiServices, path_parameters: Mapping[str, str], user: str
    ) -> None:
        super().__init__(event)
        self._path_parameters = path_parameters
        self.services = services
        self.engine = services.engine
        self.user = user

    def name(self, parameter: str) -> str:
        """Return a path parameter, percent-decoded twice: lakectl encodes it twice.

        lakeFS decodes twice as well, and so cannot find the tag `%41` for clients that encode once.

        Raises:
            InvalidInputError: the parameter is not UTF-8.
        """
        name = self._path_parameters[parameter]
        if "%" not in name:
            return name
        try:
            name = unquote_to_bytes(name).decode()
            if parameter in _REFS:
                return decoded_again(name)
            return unquote_to_bytes(name).decode()
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"path parameter `{parameter}` is not valid UTF-8") from error

    @cached_property
    def rights(self) -> RequestRights:
        """What the user may do in this request."""
        return self.services.authorizer.of_request(self.user, {SOURCE_IP: self.address})

    @cached_property
    def repository(self) -> str:
        return self.name("repository")

    @cached_property
    def branch(self) -> str:
        return self.name("branch")

    @cached_property
    def client_wait(self) -> ClientWait:
        """How the client waits for an outcome: the redirect that it follows says so."""
        return waiting.client_wait_of(self.query)
