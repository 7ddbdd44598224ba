"""Which objects garbage collection may delete at all, whatever is alive."""

from collections.abc import Iterable
from dataclasses import dataclass

from graveler.addresses import DATA_PREFIX
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.ports import ListedObject

# Whoever was handed out an address may link what lies there for so long, and nothing tells of it
# before. The hour is for clocks that differ, and for a link that is being made.
MINIMUM_AGE_S = PHYSICAL_ADDRESS_LIFE_S + 60 * 60


@dataclass(frozen=True, slots=True)
class Territory:
    """What lies in a namespace's own data and is old enough.

    foreign are the namespaces of other repositories that lie inside of these data: all under them
    is theirs.
    """

    namespace: str
    cutoff_ns: int
    foreign: tuple[str, ...] = ()

    @property
    def data_uri(self) -> str:
        """The folder of the namespace's data."""
        return f"{self.namespace}/{DATA_PREFIX}"

    def candidate(self, listed: ListedObject) -> str | None:
        """The object's address in the namespace, if it may be deleted."""
        if listed.last_modified_ns >= self.cutoff_ns:
            return None
        address = listed.uri.removeprefix(f"{self.namespace}/")
        return address if listed.uri != address and self.holds(address) else None

    def holds(self, address: str) -> bool:
        """Whether the address in the namespace is an object's in its own data."""
        # What ends in a slash is no object's: consoles mark folders so.
        if not address.startswith(DATA_PREFIX) or address.endswith("/"):
            return False
        uri = f"{self.namespace}/{address}"
        return not any(uri.startswith(f"{namespace}/") for namespace in self.foreign)


def namespaces_inside(namespace: str, others: Iterable[str]) -> tuple[str, ...]:
    """Those of the namespaces that lie inside the data of the first."""
    data_uri = f"{namespace}/{DATA_PREFIX}"
    return tuple(sorted({other for other in others if f"{other}/".startswith(data_uri)}))
