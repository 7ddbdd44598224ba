"""Which addresses are claimed before they get another name."""

from graveler.addresses import encode_xid, new_address
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.model import AddressType, Entry
from graveler.retention.claims import address_to_claim
from tests.support.checks.cases import for_each

NOW_S = 1_769_860_800
NAMESPACE = "s3://bucket/lake"


@for_each(
    ("age_s", "is_claimed"),
    [
        (0, False),
        (PHYSICAL_ADDRESS_LIFE_S - 1, False),
        (PHYSICAL_ADDRESS_LIFE_S, True),
        (-1, True),  # by a clock that is wrong: nobody knows how old it is
    ],
)
def test_an_address_is_claimed_unless_it_is_less_than_a_day_old(
    age_s: int, is_claimed: bool
) -> None:
    address = new_address(encode_xid((NOW_S - age_s).to_bytes(4, "big") + bytes(8)))
    entry = Entry(address, AddressType.RELATIVE, size_bytes=1, checksum="c", last_modified_ns=0)
    assert (address_to_claim(NAMESPACE, entry, NOW_S) == address) is is_claimed
    whole = Entry(f"{NAMESPACE}/{address}", AddressType.FULL, 1, "c", 0)
    assert (address_to_claim(NAMESPACE, whole, NOW_S) == address) is is_claimed
