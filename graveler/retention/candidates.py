"""Candidates: the objects that garbage collection may delete if nothing needs them.

Only names that `addresses.new_address` makes are candidates, so other writers' objects stay. No
object has such a name under two namespaces. So collections of two repositories never overlap, even
if one namespace is inside the other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graveler.addresses import DATA_PREFIX, is_own_address
from graveler.layout import METADATA_FOLDER
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.ports import ListedObject

# An issued address may be linked for a day, and is not recorded before. Each hour covers one fault,
# and all can occur at once. The clock that dates the address is fast. The clock that checks it is
# slow. The collection's clock is fast. The request that links is frozen between its check and its
# write.
_MARGIN_S = 4 * 60 * 60
MINIMUM_AGE_S = PHYSICAL_ADDRESS_LIFE_S + _MARGIN_S


@dataclass(frozen=True, slots=True)
class Territory:
    """Where a run may delete: objects of the namespace that are older than the cutoff.

    foreign are folders under `data/` that hold, or held, other repositories: they contain no
    candidates.
    """

    namespace: str
    cutoff_ns: int
    foreign: tuple[str, ...] = ()

    @property
    def data_uri(self) -> str:
        """The folder of the namespace's data."""
        return f"{self.namespace}/{DATA_PREFIX}"

    def candidate(self, listed: ListedObject) -> str | None:
        """Return the object's address in the namespace if it is a candidate, else None."""
        if listed.last_modified_ns >= self.cutoff_ns:
            return None
        address = listed.uri.removeprefix(f"{self.namespace}/")
        return address if listed.uri != address and self.holds(address) else None

    def holds(self, address: str) -> bool:
        """Return whether the address has the engine's form and is in no foreign folder."""
        if not is_own_address(address):
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
    """Return the folder of an address: `data/<partition>/`."""
    return "/".join(address.split("/")[:2]) + "/"


def namespaces_inside(namespace: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return those of the other namespaces that are inside the namespace's data."""
    data_uri = f"{namespace}/{DATA_PREFIX}"
    return tuple(sorted({other for other in others if f"{other}/".startswith(data_uri)}))


def overlap(namespace: str, other: str) -> bool:
    """Return whether one of two different namespaces is inside the other."""
    if namespace == other:
        return False
    return f"{namespace}/".startswith(f"{other}/") or f"{other}/".startswith(f"{namespace}/")
