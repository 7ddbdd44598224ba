"""The encodings of an SSTable's parts: handles, varints, sealed blocks, footer.

docs/formats/sstable.md has the whole format. Source: RocksDB's block-based table, as pebble writes
it. The encodings are stored: do not change them. Decoders raise ValueError for invalid bytes;
`graveler.sstable.open_table` turns it into CorruptDataError, which names file and offset.
"""

from typing import Final, NamedTuple

import cramjam
import google_crc32c

# A stored key is an internal key: the user's key, then `sequence << 8 | kind` in 8 bytes,
# little-endian.
TRAILER_BYTES: Final = 8
RECORD_TRAILER: Final = b"\x01" + bytes(7)  # sequence 0, kind 1: a plain value
SEPARATOR_TRAILER: Final = b"\x11" + b"\xff" * 7  # highest sequence, kind 17: bounds a block
EMPTY_TRAILER: Final = b"\xff" + bytes(7)  # kind 255: the index entry of a table without records

BLOCK_TRAILER_BYTES: Final = 5  # type, checksum
_RAW: Final = 0
_SNAPPY: Final = 1
# A copy of at most 64 bytes takes 3.
_SNAPPY_GROWTH_MAX: Final = 22

FOOTER_BYTES: Final = 53
_FOOTER_HANDLES_END: Final = 41
_CHECKSUM_CRC32C: Final = 1
_MASK_DELTA: Final = 0xA282EAD8
_BAD_CHECKSUM: Final = "the checksum does not match"
_FOOTER_END: Final = (2).to_bytes(4, "little") + bytes.fromhex("f7cff485b741e288")  # version, magic

PROPERTIES_BLOCK: Final = b"rocksdb.properties"  # its name in the metaindex

INDEX_TYPE_SINGLE: Final = 0
INDEX_TYPE_TWO_LEVEL: Final = 2


class Handle(NamedTuple):
    """The position and length of a block's payload, without the 5 bytes of trailer behind it."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        """The offset after the block and its trailer."""
        return self.offset + self.length + BLOCK_TRAILER_BYTES

    def encode(self) -> bytes:
        return VARINT[self.offset] + VARINT[self.length]


class _Varints(dict[int, bytes]):
    """The unsigned varint of each number; those of small numbers are look-ups in hot loops."""

    def __missing__(self, number: int) -> bytes:
        if number >= 1 << 14:
            return _VARINT_START[number & 0x3FFF] + self[number >> 14]
        low, high = number & 0x7F, number >> 7
        encoded = self[number] = bytes((low | 0x80, high)) if high else bytes((low,))
        return encoded


class _VarintStarts(dict[int, bytes]):
    """The first two bytes of longer varints, by the number's lowest 14 bits."""

    def __missing__(self, low: int) -> bytes:
        encoded = self[low] = bytes((low & 0x7F | 0x80, low >> 7 | 0x80))
        return encoded


VARINT: Final = _Varints()
_VARINT_START: Final = _VarintStarts()


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the unsigned varint at position, and the position after it.

    Raises:
        ValueError: the data ends inside the varint, or it has more than 64 bits.
    """
    number = shift = 0
    while True:
        if position >= len(data):
            raise ValueError("the data ends inside a varint")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
        if shift > 63:
            raise ValueError("a varint is longer than 64 bits")


def read_handle(data: bytes, position: int = 0) -> tuple[Handle, int]:
    """Return the handle at position, and the position after it.

    Raises:
        ValueError: there is no handle.
    """
    offset, position = read_varint(data, position)
    length, position = read_varint(data, position)
    return Handle(offset, length), position


def _checksum(payload_and_type: bytes) -> bytes:
    """Return the CRC32C, masked because a CRC of bytes that contain CRCs is weak."""
    crc: int = google_crc32c.value(payload_and_type)
    masked = ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
    return masked.to_bytes(4, "little")


def seal_block(raw: bytes, *, compress: bool) -> bytes:
    """Return the stored block: payload, type, checksum; Snappy only if it saves an eighth."""
    sealed = raw + b"\x00"
    if compress:
        compressed = bytes(cramjam.snappy.compress_raw(raw))
        if len(compressed) < len(raw) - len(raw) // 8:
            sealed = compressed + b"\x01"
    return sealed + _checksum(sealed)


def is_sealed(stored: bytes) -> bool:
    """Return whether the block's checksum matches."""
    crc: int = google_crc32c.value(stored[:-4])
    masked = ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
    return masked == int.from_bytes(stored[-4:], "little")


def verify_block(stored: bytes) -> None:
    """Check the block's checksum.

    Raises:
        ValueError: the checksum does not match.
    """
    if not is_sealed(stored):
        raise ValueError(_BAD_CHECKSUM)


def open_block(stored: bytes) -> bytes:
    """Return the raw block that was sealed.

    Raises:
        ValueError: the checksum does not match, or the block is compressed in an unknown way.
    """
    if not is_sealed(stored):
        raise ValueError(_BAD_CHECKSUM)
    kind, payload = stored[-BLOCK_TRAILER_BYTES], stored[:-BLOCK_TRAILER_BYTES]
    if kind == _RAW:
        return payload
    if kind != _SNAPPY:
        raise ValueError(f"block type {kind} is neither raw nor Snappy")
    try:
        claimed = cramjam.snappy.decompress_raw_len(payload)
        # The decoder allocates the claimed size first, and a failed allocation ends the process.
        if claimed > len(payload) * _SNAPPY_GROWTH_MAX:
            raise ValueError(f"not Snappy: {len(payload)} bytes cannot become {claimed}")
        return bytes(cramjam.snappy.decompress_raw(payload))
    except cramjam.DecompressionError as e:
        raise ValueError(f"not Snappy: {e}") from e


def encode_footer(metaindex: Handle, index: Handle) -> bytes:
    """Return the footer: the last 53 bytes of a table."""
    handles = bytes([_CHECKSUM_CRC32C]) + metaindex.encode() + index.encode()
    return handles.ljust(_FOOTER_HANDLES_END, b"\x00") + _FOOTER_END


def decode_footer(footer: bytes) -> tuple[Handle, Handle]:
    """Return the handles of metaindex and index.

    Raises:
        ValueError: these are not the last 53 bytes of a table of format version 2.
    """
    if footer[-8:] != _FOOTER_END[-8:]:
        raise ValueError("not an SSTable: wrong magic number at the end")
    if footer[_FOOTER_HANDLES_END:] != _FOOTER_END:
        version = int.from_bytes(footer[_FOOTER_HANDLES_END:-8], "little")
        raise ValueError(f"format version {version} is not 2")
    if footer[0] != _CHECKSUM_CRC32C:
        raise ValueError(f"checksum type {footer[0]} is not CRC32C")
    metaindex, position = read_handle(footer, 1)
    index, position = read_handle(footer, position)
    if position > _FOOTER_HANDLES_END:
        raise ValueError("the footer's handles are too long")
    return metaindex, index
