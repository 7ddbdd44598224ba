"""The two forms of the catalogue's address, and the places that namespaces name there.

`/iceberg/api` has all repositories: a namespace is `<repository>`, `<repository>.<ref>`, or
`<repository>.<ref>.<namespace>`. `/iceberg/relative_to/<repository>.<ref>/api` has the tables of
one ref, for clients that know namespaces of one level only. Both are lakeFS's.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

from msgspec import Struct

from graveler.errors import InvalidInputError, NotFoundError
from graveler.iceberg.places import SYSTEM_NAMESPACE, Namespace

# A client separates the levels of a namespace in paths and queries by this.
SEPARATOR = "\x1f"

# Clients add `v1` to their address, and some the prefix `lakefs`. A second `v1` was in the address.
_PATH = re.compile(
    r"/iceberg(?:/relative_to/(?P<repository>[^./]+)\.(?P<ref>[^/]+))?"
    r"/api/v1/(?!v1/)(?:lakefs/)?(?P<rest>.+)"
)


class CatalogPlace(Struct, frozen=True):
    """What a namespace names: a ref's namespace, a ref, a repository, or the root of all."""

    repository: str = ""
    ref: str = ""
    namespace: Namespace = ()

    @property
    def parts(self) -> tuple[str, str, Namespace]:
        """The repository, the ref and the namespace, as operations take them."""
        return self.repository, self.ref, self.namespace

    @property
    def is_in_ref(self) -> bool:
        """Whether it is a namespace of a ref, () included."""
        return bool(self.ref)

    @property
    def is_system(self) -> bool:
        """Whether it is the namespace of tables that describe the ref."""
        return self.namespace == SYSTEM_NAMESPACE


class Catalog(Struct, frozen=True):
    """A form of the catalogue; root: the repository and the ref of one, or nothing."""

    root: tuple[str, ...] = ()

    def place(self, levels: Sequence[str]) -> CatalogPlace:
        """Return what the levels of a namespace name."""
        named = (*self.root, *levels)
        repository, ref = (*named, "", "")[:2]
        return CatalogPlace(repository, ref, named[2:])

    def table_place(self, levels: Sequence[str]) -> CatalogPlace:
        """Return the namespace of a table.

        Raises:
            NotFoundError: the levels name none.
        """
        place = self.place(levels)
        if not place.namespace:
            missing = "a namespace" if self.root else "the repository, the ref and a namespace"
            raise NotFoundError(f"namespace {'.'.join(levels)!r} has no tables: name {missing}")
        return place


def parsed(encoded_path: str) -> tuple[Catalog, str] | None:
    """Return the catalogue, and the path below its `v1`, still encoded; None for other paths."""
    found = _PATH.fullmatch(encoded_path)
    if found is None:
        return None
    if found["repository"] is None:
        return Catalog(), found["rest"]
    return Catalog((unquote(found["repository"]), unquote(found["ref"]))), found["rest"]


def levels_of(text: str) -> list[str]:
    """Return the levels of a namespace, as a path or a query has it, decoded.

    Raises:
        InvalidInputError: one is empty.
    """
    levels = text.split(SEPARATOR)
    if not all(levels):
        raise InvalidInputError(f"namespace {quote(text)!r} has an empty level")
    return levels
