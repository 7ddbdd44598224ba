"""Claims: old addresses that get another name, while a collection may overlook them.

Theory of operation. A collection reads staged entries and heads one after another, which is no
snapshot. A shallow copy, or staging by hand, lets a second path name an old address. If the
collection has passed that path, and the source is deleted before the collection reaches it, it sees
neither. So:

    writer                               collection
    claim the address                    read staged entries
    read the source: it names the        read heads, events and rules
      address now                        read claims: claimed addresses are alive
    stage the entry

A claim before the collection reads claims keeps the address alive. If the claim came later, the
source still named the address after the collection had read everything. So the collection saw it at
the source. If that name was new, it was claimed itself, and the same holds for its claim. A client
that stages by hand keeps the source until its request is answered. Only content that was no longer
alive can be missed, as by a revert (docs/garbage-collection.md).

An address less than PHYSICAL_ADDRESS_LIFE_S old needs no claim: whatever run lists it as a
candidate begins after the copy. The minimum age allows for clocks and stalls, as for links. The
name of a table's file does not say how old it is, so it is always claimed.
"""

from graveler.addresses import decode_xid, is_in_table_folder, is_own_address
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.model import Entry
from graveler.retention.liveness import address_in_namespace


def address_to_claim(namespace: str, entry: Entry, now_s: int) -> str | None:
    """Return the address to claim before another path names it; None if no collection deletes it.

    The address is a key under the namespace.
    """
    address = address_in_namespace(namespace, entry)
    if address is None or is_in_table_folder(address):
        return address
    if not is_own_address(address):
        return None
    name = address.rpartition("/")[2].partition(",")[0]
    age_s = now_s - int.from_bytes(decode_xid(name)[:4], "big")
    return None if 0 <= age_s < PHYSICAL_ADDRESS_LIFE_S else address
