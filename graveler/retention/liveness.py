"""What a collection keeps: the objects that entries keep alive, and looks at them.

A look is a reading of all that keeps objects alive. A run deletes what its look does not show, so a
look expires. Only the object store's clock measures its age: each put returns the store's time. The
machines of driver and executors have clocks that may differ, jump or stop.
"""

from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError
from msgspec import Struct

from graveler.addresses import COLLECTED_FOLDERS, physical_uri
from graveler.entries import value_data, value_entry
from graveler.errors import CorruptDataError
from graveler.model import AddressType, Entry
from graveler.ports import ObjectData
from graveler.proto import stored_pb2 as messages
from graveler.times import NS_PER_S

# The maximum age of a look when a request deletes by it.
LOOK_S = 10 * 60

# Successive looks without a single deletion after which a run gives up.
FRUITLESS_LOOKS_MAX = 3


def address_in_namespace(namespace: str, entry: Entry) -> str | None:
    """Return the entry's physical address as a key under the namespace; None if it is outside.

    An entry with a full URI may be inside the namespace, too.
    """
    uri = physical_uri(namespace, entry)
    prefix = f"{namespace}/"
    return uri.removeprefix(prefix) if uri.startswith(prefix) else None


def live_addresses(namespace: str, values: Iterable[bytes]) -> Iterator[str]:
    """Yield the addresses of data and of tables' files that stored values name in the namespace.

    Raises:
        CorruptDataError: a value holds no entry.
    """
    # A collection reads every entry, and nearly all are relative: they skip the general decoding.
    relative = int(AddressType.RELATIVE)
    parse = messages.Entry.FromString
    for value in values:
        try:
            message = parse(value_data(value))
        except DecodeError as error:
            raise CorruptDataError(f"a stored value holds no Entry: {error}") from error
        if message.address_type == relative:
            address: str | None = message.address
        else:
            address = address_in_namespace(namespace, value_entry(value))
        if address is not None and address.startswith(COLLECTED_FOLDERS):
            yield address


class Look(Struct, frozen=True):
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
        # If the clock was set back by more than the look's life, count the look as expired.
        return abs(age_ns) <= self.life_s * NS_PER_S


def begin_look(objects: ObjectData, folder_uri: str, number: int, life_s: int) -> Look:
    """Return a look that begins now; call this before the first read of the look."""
    began_ns = _now_ns(objects, f"{folder_uri}{number:04d}")
    return Look(folder_uri, number, began_ns, life_s)


def _now_ns(objects: ObjectData, stamp_uri: str) -> int:
    """Return the object store's time, to the second."""
    return objects.put(stamp_uri, b"", "text/plain").last_modified_ns
