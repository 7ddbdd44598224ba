"""Which objects of a storage namespace an entry keeps alive."""

from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError

from graveler.addresses import DATA_PREFIX, physical_uri
from graveler.entries import value_data, value_entry
from graveler.errors import CorruptDataError
from graveler.model import AddressType, Entry
from graveler.proto import stored_pb2 as messages


def address_in_namespace(namespace: str, entry: Entry) -> str | None:
    """Return the entry's physical address as a key under the namespace; None if it lies elsewhere.

    An entry may name its data in full and still mean the namespace's own.
    """
    uri = physical_uri(namespace, entry)
    prefix = f"{namespace}/"
    return uri.removeprefix(prefix) if uri.startswith(prefix) else None


def live_addresses(namespace: str, values: Iterable[bytes]) -> Iterator[str]:
    """Yield the addresses in the namespace's data that stored values keep alive.

    Raises:
        CorruptDataError: a value is no entry's.
    """
    # Nearly all entries are relative; a collection reads every one, so these take the short way.
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
        if address is not None and address.startswith(DATA_PREFIX):
            yield address
