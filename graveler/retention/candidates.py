"""Which objects garbage collection may delete at all, whatever is alive.

Only names of the shape that `addresses.new_address` gives: what anybody else wrote stays. No object
has that shape under two namespaces, so collections of two repositories never meet, even where one
namespace lies inside the other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graveler.addresses import DATA_PREFIX, is_own_address
from graveler.layout import METADATA_FOLDER
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.ports import ListedObject

# A handed-out address may be linked for a day, and nothing records it before. Each hour is for one
# thing that can go wrong at the same time: the clock that dates the address is fast, the clock that
# checks the address is slow, the collection's clock is fast, and the request that links is frozen
# between its check and its write.
_MARGIN_S = 4 * 60 * 60
MINIMUM_AGE_S = PHYSICAL_ADDRESS_LIFE_S + _MARGIN_S


@dataclass(frozen=True, slots=True)
class Territory:
    """Objects of a namespace's own that are old enough.

    foreign are folders inside of `data/` that hold, or held, other repositories: nothing in them
    is a candidate.
    """

    namespace: str
    cutoff_ns: int
    foreign: tuple[str, ...] = ()

    @property
    def data_uri(self) -> str:
        """The folder of the namespace's data."""
        return f"{self.namespace}/{DATA_PREFIX}"

    def candidate(self, listed: ListedObject) -> str | None:
        """Return the object's address in the namespace, if it may be deleted."""
        if listed.last_modified_ns >= self.cutoff_ns:
            return None
        address = listed.uri.removeprefix(f"{self.namespace}/")
        return address if listed.uri != address and self.holds(address) else None

    def holds(self, address: str) -> bool:
        """Whether the address in the namespace has our shape, and lies in no foreign folder."""
        if not is_own_address(address):
            return False
        uri = f"{self.namespace}/{address}"
        return not any(uri.startswith(f"{folder}/") for folder in self.foreign)

    def candidates(
        self, listed_by_key: Iterable[ListedObject]
    ) -> Iterator[tuple[str, ListedObject]]:
        """Yield the candidates with their addresses, among all objects of some folders, by key.

        A folder that holds `_lakefs/` was a repository's namespace, and may be restored as one:
        it has no candidates.
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
            if address > metadata:  # smaller are only names of before 2012, so few are held
                yield from held
                held.clear()
        yield from held


def partition_of(address: str) -> str:
    """Return the folder of an address: `data/<partition>/`."""
    return "/".join(address.split("/")[:2]) + "/"


def namespaces_inside(namespace: str, others: Iterable[str]) -> tuple[str, ...]:
    """Those of the namespaces that lie inside the data of the first."""
    data_uri = f"{namespace}/{DATA_PREFIX}"
    return tuple(sorted({other for other in others if f"{other}/".startswith(data_uri)}))


def overlap(namespace: str, other: str) -> bool:
    """Return whether one of two different namespaces lies inside the other."""
    if namespace == other:
        return False
    return f"{namespace}/".startswith(f"{other}/") or f"{other}/".startswith(f"{namespace}/")
