"""Physical addresses: the keys of object data, and the signatures that allow to link them.

An address is `data/<partition>/<name>` under the storage namespace. The name is an xid: 12 bytes as
20 characters of base32hex. The first four bytes are the time in big-endian seconds. The partition
is an xid whose time runs backwards, so that newer partitions are listed first (lakeFS
pkg/upload/path_provider.go).

An address issued for a direct upload ends in `,` and a signature over repository, branch, path and
address. It can be linked for 24 hours from the time in its name, and is not recorded anywhere. The
signature is part of the key: clients write to exactly the issued address.

A file of an Iceberg table is in the table's folder, `_iceberg/<uuid>/`, under a name that the
client chose (`graveler.iceberg.places`).
"""

import json
import re
from base64 import b32hexdecode, b32hexencode, urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest, digest

from graveler.errors import InvalidInputError
from graveler.layout import TABLES_FOLDER
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.messages import Refusal
from graveler.model import AddressType, Entry
from graveler.times import NS_PER_S

DATA_PREFIX = "data/"

# The folders of a namespace that hold what a garbage collection may delete.
COLLECTED_FOLDERS = (DATA_PREFIX, TABLES_FOLDER)

_XID_LENGTH = 20

# The last character holds one bit of the 96: it is `0` or `g`. RE2 and Python read it alike.
_XID = "[0-9a-v]{19}[0g]"
# 32 bytes in base64: the last character holds four bits of the 256.
_SIGNATURE = "[0-9A-Za-z_-]{42}[AEIMQUYcgkosw048]"
PARTITION_PATTERN = f"{DATA_PREFIX}{_XID}/"
OWN_ADDRESS_PATTERN = f"{PARTITION_PATTERN}{_XID}(?:,{_SIGNATURE})?"
_PARTITION = re.compile(PARTITION_PATTERN)
_OWN_ADDRESS = re.compile(OWN_ADDRESS_PATTERN)

# RFC 9562 leaves all but the version, 8, and the variant to the maker.
TABLE_UUID_PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_TABLE_FOLDER = f"{TABLES_FOLDER}{TABLE_UUID_PATTERN}/"
_IN_TABLE_FOLDER = re.compile(_TABLE_FOLDER)

# Iceberg's Java library refuses metadata files of other names.
METADATA_FILE_MARK = ".metadata.json"
METADATA_FILE_PATTERN = rf"{_TABLE_FOLDER}(?:.*/)?[^/]*{re.escape(METADATA_FILE_MARK)}[^/]*"

# Of S3: an MD5 digest or of that form, with the number of parts.
_ETAG = re.compile("[0-9a-f]{32}(?:-[0-9]+)?")

# lakeFS's constant, the year 4000: a partition's time is this minus the real time.
_PARTITION_EPOCH_S = 64_060_588_800
_PARTITION_LIFE_S = 60 * 60


def encode_xid(raw: bytes) -> str:
    """Return 12 bytes as an xid of 20 characters."""
    return b32hexencode(raw).decode("ascii").rstrip("=").lower()


def first_xid(time_s: int) -> str:
    """Return the smallest xid of the time, in Unix seconds."""
    return encode_xid(time_s.to_bytes(4, "big") + bytes(8))


def decode_xid(text: str) -> bytes:
    """Return the 12 bytes of an xid.

    Raises:
        InvalidInputError: the text is no xid.
    """
    if len(text) == _XID_LENGTH and text.isascii() and text == text.lower():
        try:
            return b32hexdecode(text.upper() + "====")
        except ValueError:
            pass
    raise InvalidInputError(f"{text!r} is not an xid of {_XID_LENGTH} characters")


def new_address(uid: str) -> str:
    """Return a new address, relative to the namespace, for an object named by the xid uid.

    The partition depends on the process and the hour in uid, so it changes every hour.
    """
    raw = decode_xid(uid)
    time_s = int.from_bytes(raw[:4], "big") // _PARTITION_LIFE_S * _PARTITION_LIFE_S
    partition = encode_xid(_backwards(time_s) + raw[4:9] + bytes(3))
    return f"{DATA_PREFIX}{partition}/{uid}"


def is_own_address(address: str) -> bool:
    """Return whether the address, relative to a namespace, has the form of lakeFS's and ours.

    That is the form of `new_address`, with or without a signature. Keys of any other form belong to
    other writers. The form fixes the last three segments of a key, so no object has it under two
    namespaces.
    """
    return _OWN_ADDRESS.fullmatch(address) is not None


def is_partition(folder: str) -> bool:
    """Return whether the folder, relative to a namespace and with its slash, is a partition."""
    return _PARTITION.fullmatch(folder) is not None


def is_in_table_folder(address: str) -> bool:
    """Return whether the address, relative to a namespace, is a table's folder or in one."""
    return _IN_TABLE_FOLDER.match(address) is not None


def newest_first(uid: str) -> str:
    """Return the xid uid with its time running backwards, so that newer ones sort first."""
    raw = decode_xid(uid)
    return encode_xid(_backwards(int.from_bytes(raw[:4], "big")) + raw[4:])


def oldest_first(uid: str, time_ns: int) -> str:
    """Return the xid uid with the Unix time to the nanosecond, so that newer ones sort last.

    As it is made, an xid has the time to the second.
    """
    time_s, part_ns = divmod(time_ns, NS_PER_S)
    return encode_xid(time_s.to_bytes(4, "big") + part_ns.to_bytes(4, "big") + decode_xid(uid)[8:])


def _backwards(time_s: int) -> bytes:
    return ((_PARTITION_EPOCH_S - time_s) % 2**32).to_bytes(4, "big")


def physical_uri(namespace: str, entry: Entry) -> str:
    """Return the complete URI of an entry's data."""
    relative = entry.address_type is AddressType.RELATIVE or (
        entry.address_type is AddressType.BY_PREFIX_DEPRECATED and "://" not in entry.address
    )
    return f"{namespace}/{entry.address}" if relative else entry.address


def etag_to_match(namespace: str, uri: str, checksum: str) -> str:
    """Return the ETag that an entry's data at the URI must have; "" if there is none to compare.

    Others can replace only data outside of the namespace. A checksum of another form is no ETag.
    """
    is_outside = not uri.startswith(f"{namespace}/")
    return checksum if is_outside and _ETAG.fullmatch(checksum) else ""


def relative_address(namespace: str, uri: str) -> tuple[str, AddressType]:
    """Return the URI in the form of an entry: relative inside the namespace, else complete."""
    prefix = namespace + "/"
    if uri.startswith(prefix):
        return uri[len(prefix) :], AddressType.RELATIVE
    return uri, AddressType.FULL


def _signature(key: bytes, repository: str, branch: str, path: bytes, address: str) -> str:
    claim = {
        "Repository": repository,
        "Branch": branch,
        "Path": path.decode("utf-8", "surrogateescape"),
        # Not lakeFS's `PhysicalAddress`: older versions signed it and linked the address without
        # its signature. An upload that began with such a version must not be linked by this one.
        "LinkedAddress": address,
    }
    mac = digest(key, json.dumps(claim, separators=(",", ":")).encode(), sha256)
    return urlsafe_b64encode(mac).decode("ascii").rstrip("=")


def sign_address(key: bytes, repository: str, branch: str, path: bytes, address: str) -> str:
    """Return the relative address, signed so that this path of this branch can link to it."""
    return f"{address},{_signature(key, repository, branch, path, address)}"


def verify_address(
    key: bytes, repository: str, branch: str, path: bytes, signed: str, now_s: int
) -> None:
    """Check that this deployment signed the address for this use less than 24 hours ago.

    Raises:
        InvalidInputError: it is forged, issued for another use, or expired.
    """
    address, comma, signature = signed.partition(",")
    if not comma:
        raise Refusal.UNSIGNED_ADDRESS.error(f"{address!r} was not issued by getPhysicalAddress")
    expected = _signature(key, repository, branch, path, address)
    if not compare_digest(signature.encode(), expected.encode()):
        raise Refusal.ADDRESS_OF_ANOTHER_USE.error(f"{address!r} was not issued for this path")
    issued_s = int.from_bytes(decode_xid(address.rpartition("/")[2])[:4], "big")
    if now_s - issued_s > PHYSICAL_ADDRESS_LIFE_S:
        raise Refusal.EXPIRED_ADDRESS.error(f"{address!r}: get a new address and upload again")
