"""A request to the catalogue: what it names, and what its user may do."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from msgspec import Struct

from graveler.access.actions import Action
from graveler.access.conditions import SOURCE_IP
from graveler.access.needs import Permission
from graveler.access.resources import catalog_namespace_arn, catalog_table_arn
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.http.auth import AuthenticatedUser, Authenticator
from graveler.http.rights import Authorizer, RequestRights
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Page
from graveler_functions.http.answers import ApiAnswer
from graveler_functions.http.events import Event
from graveler_functions.http.request import EventRequest
from graveler_functions.iceberg.catalog import Catalog, CatalogPlace, levels_of
from graveler_functions.iceberg.settings import IcebergSettings

T = TypeVar("T")


class Vend(Protocol):
    """Makes credentials of the object store."""

    def __call__(
        self, location: str, who: AuthenticatedUser, /, *, can_write: bool
    ) -> Mapping[str, str]:
        """Return those for the files below the URI, as properties of a FileIO; {} if it has none.

        Without can_write, they may only read the files.
        """


NOBODY = AuthenticatedUser("", None)


class IcebergServices(Struct, frozen=True):
    """The services that routes use; built once per process. Without vend, none are given."""

    engine: Engine
    authenticator: Authenticator
    authorizer: Authorizer
    settings: IcebergSettings
    vend: Vend | None = None


class IcebergRequest(EventRequest):
    """A request of an authenticated user; who is NOBODY for a request of a token."""

    def __init__(
        self,
        event: Event,
        services: IcebergServices,
        catalog: Catalog,
        parameters: Mapping[str, str],
        who: AuthenticatedUser,
    ) -> None:
        super().__init__(event)
        self.services = services
        self.engine = services.engine
        self.catalog = catalog
        self.who = who
        self._parameters = parameters

    @cached_property
    def rights(self) -> RequestRights:
        """What the user may do in this request."""
        return self.services.authorizer.of_request(self.who.user, {SOURCE_IP: self.address})

    @cached_property
    def levels(self) -> Sequence[str]:
        """The levels of the namespace in the path."""
        return levels_of(self._parameters["namespace"])

    @property
    def place(self) -> CatalogPlace:
        """What the namespace in the path names."""
        return self.catalog.place(self.levels)

    @property
    def table_place(self) -> CatalogPlace:
        """The namespace in the path, which may have tables."""
        return self.catalog.table_place(self.levels)

    @property
    def table(self) -> str:
        """The table in the path."""
        return self._parameters["table"]

    def require_on_namespace(self, action: Action, place: CatalogPlace) -> None:
        """Check that the user may do the action to the namespace.

        Raises:
            AccessDeniedError: the user may not.
        """
        arn = catalog_namespace_arn(place.repository, place.namespace)
        self.rights.require(Permission(action, arn))

    def may_on_namespace(self, action: Action, place: CatalogPlace) -> bool:
        """Whether the user may do the action to the namespace; for what is not refused."""
        arn = catalog_namespace_arn(place.repository, place.namespace)
        return self.rights.allows(Permission(action, arn))

    def require_on_table(self, action: Action, place: CatalogPlace, table: str) -> None:
        """Check that the user may do the action to the table.

        Raises:
            AccessDeniedError: the user may not.
        """
        arn = catalog_table_arn(place.repository, place.namespace, table)
        self.rights.require(Permission(action, arn))

    def may_on_table(self, action: Action, place: CatalogPlace, table: str) -> bool:
        """Whether the user may do the action to the table; for what is not refused."""
        arn = catalog_table_arn(place.repository, place.namespace, table)
        return self.rights.allows(Permission(action, arn))

    def pages(self, read: Callable[[str, int], Page[T]]) -> tuple[list[T], str | None]:
        """Return the items of a listing, and the token of the next page, None if there is none.

        read returns the page behind a token, "" for the first one. A client that sends no
        pageToken does not know pages, and gets all items.

        Raises:
            InvalidInputError: the size of the page is no number from 1 on.
        """
        token = self.query.optional_text("pageToken")
        if token is None:
            items: list[T] = []
            page = read("", PAGE_AMOUNT_MAX)
            while True:
                items += page.results
                if not page.has_more:
                    return items, None
                page = read(page.next_after, PAGE_AMOUNT_MAX)
        size = self.query.text("pageSize") or str(PAGE_AMOUNT_MAX)
        if not (size.isascii() and size.isdigit() and len(size) < 10 and int(size)):
            raise InvalidInputError(f"pageSize {size[:20]!r} is not a number from 1 on")
        page = read(token, min(int(size), PAGE_AMOUNT_MAX))
        return list(page.results), page.next_after or None


Route = Callable[[IcebergRequest], ApiAnswer]
