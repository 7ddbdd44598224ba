"""Which objects of a storage namespace an entry keeps alive."""

from graveler.addresses import physical_uri
from graveler.model import Entry


def address_in_namespace(namespace: str, entry: Entry) -> str | None:
    """The entry's physical address as a key under the namespace; None if it lies elsewhere.

    An entry may name its data in full and still mean the namespace's own.
    """
    uri = physical_uri(namespace, entry)
    prefix = f"{namespace}/"
    return uri.removeprefix(prefix) if uri.startswith(prefix) else None
