"""Candidates: the objects that garbage collection may delete if nothing needs them.

In `data/`, only names that `addresses.new_address` makes are candidates, so other writers' objects
stay. No object has such a name under two namespaces. So collections of two repositories never
overlap, even if one namespace is inside the other. In `_iceberg/`, all files in the folders of
tables are candidates.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from graveler.addresses import COLLECTED_FOLDERS, is_in_table_folder, is_own_address, is_partition
from graveler.layout import METADATA_FOLDER, TABLES_FOLDER
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.ports import ListedObject

# An issued address may be linked for a day, and is not recorded before. Each hour covers one fault,
# and all can occur at once. The clock that dates the address is fast. The clock that checks it is
# slow. The collection's clock is fast. The request that links is frozen between its check and its
# write.
_MARGIN_S = 4 * 60 * 60
MINIMUM_AGE_S = PHYSICAL_ADDRESS_LIFE_S + _MARGIN_S

# No table names a file before its writer commits. Iceberg's own procedure waits as long.
TABLES_MINIMUM_AGE_S = 3 * 24 * 60 * 60


class Territory(Struct, frozen=True):
    """Where a run may delete: objects of the namespace that are older than the cutoff.

    foreign are folders under `data/` or `_iceberg/` that hold, or held, other repositories: they
    contain no candidates. Files of tables have a cutoff of their own.
    """

    namespace: str
    cutoff_ns: int
    tables_cutoff_ns: int
    foreign: tuple[str, ...] = ()

    @property
    def uris(self) -> tuple[str, ...]:
        """The folders that hold candidates."""
        return tuple(f"{self.namespace}/{folder}" for folder in COLLECTED_FOLDERS)

    def candidate(self, listed: ListedObject) -> str | None:
        """Return the object's address in the namespace if it is a candidate, else None."""
        address = listed.uri.removeprefix(f"{self.namespace}/")
        if listed.uri == address or not self.is_old(address, listed.last_modified_ns):
            return None
        return address if self.holds(address) else None

    def is_old(self, address: str, stored_ns: int) -> bool:
        """Return whether the object at the address, stored at that time, is old enough."""
        is_table_s = address.startswith(TABLES_FOLDER)
        return stored_ns < (self.tables_cutoff_ns if is_table_s else self.cutoff_ns)

    def holds(self, address: str) -> bool:
        """Return whether the address is the engine's or a table's, and in no foreign folder."""
        if not (is_own_address(address) or is_in_table_folder(address)):
            return False
        uri = f"{self.namespace}/{address}"
        return not any(uri.startswith(f"{folder}/") for folder in self.foreign)

    def candidates(
        self, listed_by_key: Iterable[ListedObject]
    ) -> Iterator[tuple[str, ListedObject]]:
        """Yield the candidates with their addresses among all objects of some folders, by key.

        A folder that holds `_lakefs/` was a repository's namespace, and may be restored as one. It
        has no candidates.
        """
        folder, is_namespace = "", False
        held: list[tuple[str, ListedObject]] = []
        for listed in listed_by_key:
            address = listed.uri.removeprefix(f"{self.namespace}/")
            if not folder or not address.startswith(folder):
                yield from held
                held.clear()
                folder, is_namespace = partition_of(address), False
            metadata = folder + METADATA_FOLDER
            if address.startswith(metadata):
                held.clear()
                is_namespace = True
            if is_namespace or self.candidate(listed) is None:
                continue
            held.append((address, listed))
            if address > metadata:  # only names made before 2012 are smaller, so few are held
                yield from held
                held.clear()
        yield from held


def partition_of(address: str) -> str:
    """Return the folder of an address: `data/<partition>/`, or the table's."""
    return "/".join(address.split("/")[:2]) + "/"


def holds_candidates(folder: str) -> bool:
    """Return whether the folder, with its slash, is a partition of data or a table's folder."""
    return is_partition(folder) or is_in_table_folder(folder)


def namespaces_inside(namespace: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return those of the other namespaces that are inside the namespace's collected folders."""
    uris = tuple(f"{namespace}/{folder}" for folder in COLLECTED_FOLDERS)
    return tuple(sorted({other for other in others if f"{other}/".startswith(uris)}))


def overlap(namespace: str, other: str) -> bool:
    """Return whether one of two different namespaces is inside the other."""
    if namespace == other:
        return False
    return f"{namespace}/".startswith(f"{other}/") or f"{other}/".startswith(f"{namespace}/")
