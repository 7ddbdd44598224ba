"""The objects of a storage namespace that entries keep alive."""

from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError

from graveler.addresses import DATA_PREFIX, physical_uri
from graveler.entries import value_data, value_entry
from graveler.errors import CorruptDataError
from graveler.model import AddressType, Entry
from graveler.proto import stored_pb2 as messages


def address_in_namespace(namespace: str, entry: Entry) -> str | None:
    """Return the entry's physical address as a key under the namespace; None if it is outside.

    An entry with a full URI may be inside the namespace, too.
    """
    uri = physical_uri(namespace, entry)
    prefix = f"{namespace}/"
    return uri.removeprefix(prefix) if uri.startswith(prefix) else None


def live_addresses(namespace: str, values: Iterable[bytes]) -> Iterator[str]:
    """Yield the addresses in the namespace's data that stored values keep alive.

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
        if address is not None and address.startswith(DATA_PREFIX):
            yield address
