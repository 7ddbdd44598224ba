"""Looks: views of what is alive, which expire, since a run deletes what its look does not show.

Only the object store's clock measures a look's age: each put returns the store's time. The machines
of driver and executors have clocks that may differ, jump or stop.
"""

from dataclasses import dataclass

from graveler.ports import ObjectData
from graveler.times import NS_PER_S

# The maximum age of a look when a request deletes by it.
LOOK_S = 10 * 60

# Successive looks without a single deletion after which a run gives up.
FRUITLESS_LOOKS_MAX = 3


@dataclass(frozen=True, slots=True)
class Look:
    """A look that began at began_ns of the object store's clock and expires after life_s.

    folder_uri is the folder of stamps: empty objects that are put to read the store's clock.
    """

    folder_uri: str
    number: int
    began_ns: int
    life_s: int

    def is_current(self, objects: ObjectData, name: str) -> bool:
        """Return whether the look has not expired; name is unique among concurrent callers."""
        age_ns = _now_ns(objects, f"{self.folder_uri}{self.number:04d}-{name}") - self.began_ns
        # If the clock was set back by more than the look's life, the age is unknown: count the look
        # as expired.
        return abs(age_ns) <= self.life_s * NS_PER_S


def begin_look(objects: ObjectData, folder_uri: str, number: int, life_s: int) -> Look:
    """Return a look that begins now; call this before the first read of the look."""
    began_ns = _now_ns(objects, f"{folder_uri}{number:04d}")
    return Look(folder_uri, number, began_ns, life_s)


def _now_ns(objects: ObjectData, stamp_uri: str) -> int:
    """Return the object store's time, to the second."""
    return objects.put(stamp_uri, b"", "text/plain").last_modified_ns
