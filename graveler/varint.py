"""Variable-length integers as protobuf and Thrift have them: 7 bits a byte, lowest first.

Source: "Base 128 Varints" and "Signed Integers" of protobuf's encoding guide. Hot loops of tables
look small ones up instead (`graveler.sstable.format`).
"""


def varint(number: int) -> bytes:
    """Return the unsigned varint of a non-negative number."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag_varint(number: int) -> bytes:
    """Return the signed varint of a non-negative number."""
    return varint(number << 1)
