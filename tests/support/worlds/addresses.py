"""Addresses as the engine gives them, that a test can name."""

from graveler.addresses import encode_xid, new_address

_BEGUN_S = 1_700_000_000


def address(number: int) -> str:
    """An address in the namespace; those of one hundred lie in one partition."""
    time_s = _BEGUN_S + number // 100 * 3600
    return new_address(encode_xid(time_s.to_bytes(4, "big") + number.to_bytes(8, "big")))


def partition(number: int) -> str:
    """The folder of that address, with its slash."""
    return address(number).rpartition("/")[0] + "/"
