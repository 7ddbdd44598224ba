"""How long a look at what is alive may be used: what it does not see may be deleted by it.

The object store's clock alone measures a look's age. Driver and executors run on machines whose
clocks may differ, step or stop; the store answers every put with its own time.
"""

from dataclasses import dataclass

from graveler.ports import ObjectData
from graveler.times import NS_PER_S

# How old a look may be when a request deletes by it.
LOOK_S = 10 * 60

# Looks that may follow each other without a single deletion, before a run gives up.
FRUITLESS_LOOKS_MAX = 3


@dataclass(frozen=True, slots=True)
class Look:
    """A look that began at that time of the object store's clock, and may be used for life_s.

    folder_uri is for the stamps: small objects that are put to learn the store's time.
    """

    folder_uri: str
    number: int
    began_ns: int
    life_s: int

    def is_current(self, objects: ObjectData, name: str) -> bool:
        """Whether the look may still be used; name tells those apart who ask at the same time."""
        age_ns = _now_ns(objects, f"{self.folder_uri}{self.number:04d}-{name}") - self.began_ns
        # A clock that was set back proves nothing either.
        return abs(age_ns) <= self.life_s * NS_PER_S


def begin_look(objects: ObjectData, folder_uri: str, number: int, life_s: int) -> Look:
    """Return a look that begins now: whoever looks does so after this."""
    began_ns = _now_ns(objects, f"{folder_uri}{number:04d}")
    return Look(folder_uri, number, began_ns, life_s)


def _now_ns(objects: ObjectData, stamp_uri: str) -> int:
    """Return the object store's time, to the second."""
    return objects.put(stamp_uri, b"", "text/plain").last_modified_ns
