"""Stored values: an identity, which decides equality, and data.

A stored value is `varint(len(identity)) identity varint(len(data)) data`, with zigzag varints
(lakeFS pkg/graveler/committed/value.go). In a range, the data is an Entry message, and the identity
is the entry's. In a metarange, the data is a RangeData message, and the identity is the range's ID
as hex text. `graveler/proto/stored.proto` has the messages.

The engine passes stored values as bytes and decodes them only where it must.
"""

from google.protobuf.message import DecodeError

from graveler.errors import CorruptDataError
from graveler.identity import entry_identity
from graveler.model import AddressType, Entry, RangeHeader, RangeID, Record
from graveler.proto import stored_pb2 as messages
from graveler.times import NS_PER_S
from graveler.varint import zigzag_varint

# A look-up: calling the Enum would take as long as decoding a message.
_ADDRESS_TYPES = {int(each): each for each in AddressType}
_parse_entry = messages.Entry.FromString

# The prefix of every value whose identity is a SHA-256: zigzag varint of 32.
_DIGEST_PREFIX = b"\x40"
_DIGEST_END = 33


def _read_part(stored: bytes, position: int) -> tuple[bytes, int]:
    """Return the length-prefixed part at position, and the position after it."""
    length = shift = 0
    while True:
        if position >= len(stored) or shift > 63:
            raise CorruptDataError(f"a stored value of {len(stored)} bytes ends inside a length")
        byte = stored[position]
        position += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    length = (length >> 1) ^ -(length & 1)
    if not 0 <= length <= len(stored) - position:
        raise CorruptDataError(f"a stored value of {len(stored)} bytes claims a part of {length}")
    return stored[position : position + length], position + length


def join_value(identity: bytes, data: bytes) -> bytes:
    """Return the stored value of identity and data."""
    return zigzag_varint(len(identity)) + identity + zigzag_varint(len(data)) + data


def split_value(stored: bytes) -> tuple[bytes, bytes]:
    """Return identity and data of a stored value; as in lakeFS, bytes behind them are ignored.

    Raises:
        CorruptDataError: the bytes are no stored value.
    """
    identity, position = _read_part(stored, 0)
    data, _ = _read_part(stored, position)
    return identity, data


def value_identity(stored: bytes) -> bytes:
    """Return the identity of a stored value: equal exactly for values of the same content.

    Raises:
        CorruptDataError: the bytes are no stored value.
    """
    if stored[:1] == _DIGEST_PREFIX and len(stored) > _DIGEST_END:
        return stored[1:_DIGEST_END]
    return split_value(stored)[0]


def value_data(stored: bytes) -> bytes:
    """Return the data of a stored value.

    Raises:
        CorruptDataError: the bytes are no stored value.
    """
    if len(stored) > 35 and stored[0] == 0x40:
        # The length of most entries is a positive zigzag varint of two bytes: decode it in line.
        low, high = stored[33], stored[34]
        if low > 0x7F > high and not low & 1:
            end = 35 + (low - 0x80 >> 1 | high << 6)
            if end <= len(stored):
                return stored[35:end]
    return split_value(stored)[1]


def object_size(stored: bytes) -> int:
    """Return the bytes of the object that a stored value describes.

    Raises:
        CorruptDataError: the bytes are no stored value of an entry.
    """
    try:
        return _parse_entry(value_data(stored)).size
    except DecodeError as e:
        raise CorruptDataError(f"{len(stored)} bytes do not hold an Entry message: {e}") from e


def same_content(one: bytes, other: bytes) -> bool:
    """Return whether two stored values have equal identities."""
    return one == other or value_identity(one) == value_identity(other)


def same_record(one: bytes | None, other: bytes | None) -> bool:
    """Return whether two stored values have equal identities, or both are missing."""
    if one is None or other is None:
        return one is other
    return same_content(one, other)


def encode_entry(entry: Entry) -> bytes:
    """Return the Entry message; metadata in key order, so that equal entries give equal bytes."""
    message = messages.Entry(
        address=entry.address,
        size=entry.size_bytes,
        e_tag=entry.checksum,
        metadata=entry.metadata,
        address_type=entry.address_type.name,
        content_type=entry.content_type,
    )
    seconds, nanos = divmod(entry.last_modified_ns, NS_PER_S)
    message.last_modified.SetInParent()  # a zero time is stored as well
    message.last_modified.seconds = seconds
    message.last_modified.nanos = nanos
    return message.SerializeToString(deterministic=True)


def decode_entry(data: bytes) -> Entry:
    """Return the entry of an Entry message.

    Raises:
        CorruptDataError: the bytes are no Entry message.
    """
    try:
        message = _parse_entry(data)
        modified, metadata = message.last_modified, message.metadata
        return Entry(  # by position, which a page of entries notices
            message.address,
            _ADDRESS_TYPES[message.address_type],
            message.size,
            message.e_tag,
            modified.seconds * NS_PER_S + modified.nanos,
            message.content_type,
            dict(metadata) if metadata else {},
        )
    except (DecodeError, KeyError) as e:
        raise CorruptDataError(f"{len(data)} bytes are not an Entry message: {e}") from e


def entry_value(entry: Entry) -> bytes:
    """Return the stored value of an entry."""
    return join_value(entry_identity(entry), encode_entry(entry))


def value_entry(stored: bytes) -> Entry:
    """Return the entry in a stored value.

    Raises:
        CorruptDataError: the bytes hold no entry.
    """
    return decode_entry(value_data(stored))


def encode_range(header: RangeHeader) -> bytes:
    """Return the RangeData message of a range."""
    return messages.RangeData(
        min_key=header.min_key,
        max_key=header.max_key,
        estimated_size=header.size_bytes,
        count=header.count,
    ).SerializeToString()


def range_record(header: RangeHeader) -> Record:
    """Return the record of a range in its metarange; its key is the range's last key."""
    return header.max_key, join_value(header.id.encode(), encode_range(header))


def record_range(stored: bytes) -> RangeHeader:
    """Return the range that a metarange's stored value describes.

    Raises:
        CorruptDataError: the bytes describe no range.
    """
    identity, data = split_value(stored)
    try:
        message = messages.RangeData.FromString(data)
        return RangeHeader(
            id=RangeID(identity.decode("ascii")),
            min_key=message.min_key,
            max_key=message.max_key,
            count=message.count,
            size_bytes=message.estimated_size,
        )
    except (DecodeError, UnicodeDecodeError) as e:
        raise CorruptDataError(f"{len(data)} bytes are not a RangeData message: {e}") from e
