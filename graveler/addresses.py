"""Physical addresses: where object data live, and who may link to them.

An address is `data/<partition>/<name>` under the storage namespace. The name is an xid: 12 bytes,
of which the first four are the time in big-endian seconds, as 20 characters of base32hex. The
partition is an xid of a time that runs backwards, so that newer partitions are listed first
(lakeFS pkg/upload/path_provider.go).

An address that is handed out for a direct upload ends in `,` and a signature over what it is for.
It can be linked for 24 hours from the time in its name; nothing about it is stored. The signature
is part of the key: clients write to exactly the address that they get.
"""

import json
import re
from base64 import b32hexdecode, b32hexencode, urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest, digest

from graveler.errors import InvalidInputError
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.model import AddressType, Entry

DATA_PREFIX = "data/"

_XID_LENGTH = 20

# The last character holds one bit of the 96: it is `0` or `g`. RE2 and Python read it alike.
_XID = "[0-9a-v]{19}[0g]"
# 32 bytes in base64: the last character holds four bits of the 256.
_SIGNATURE = "[0-9A-Za-z_-]{42}[AEIMQUYcgkosw048]"
PARTITION_PATTERN = f"{DATA_PREFIX}{_XID}/"
OWN_ADDRESS_PATTERN = f"{PARTITION_PATTERN}{_XID}(?:,{_SIGNATURE})?"
_PARTITION = re.compile(PARTITION_PATTERN)
_OWN_ADDRESS = re.compile(OWN_ADDRESS_PATTERN)

# lakeFS's constant: the year 4000, minus which the time of a partition runs backwards.
_PARTITION_EPOCH_S = 64_060_588_800
_PARTITION_LIFE_S = 60 * 60


def encode_xid(raw: bytes) -> str:
    """Return the 20 characters of 12 bytes."""
    return b32hexencode(raw).decode("ascii").rstrip("=").lower()


def decode_xid(text: str) -> bytes:
    """Return the 12 bytes of 20 characters.

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
    """Return a fresh address, relative to the namespace, for an object named by the xid uid.

    The partition depends on the name's process and hour, so that it changes every hour.
    """
    raw = decode_xid(uid)
    time_s = int.from_bytes(raw[:4], "big") // _PARTITION_LIFE_S * _PARTITION_LIFE_S
    partition = encode_xid(_backwards(time_s) + raw[4:9] + bytes(3))
    return f"{DATA_PREFIX}{partition}/{uid}"


def is_own_address(address: str) -> bool:
    """Whether the address, relative to a namespace, has a shape that the engine gives, or lakeFS.

    That is what `new_address` returns, with a signature or without. Keys of any other shape were
    written by somebody else. Since the shape fixes the last three segments of a key, no object has
    it under two namespaces.
    """
    return _OWN_ADDRESS.fullmatch(address) is not None


def is_partition(folder: str) -> bool:
    """Whether the folder, relative to a namespace and with its slash, can hold own addresses."""
    return _PARTITION.fullmatch(folder) is not None


def newest_first(uid: str) -> str:
    """Return the xid of which newer ones sort first, made of the xid uid."""
    raw = decode_xid(uid)
    return encode_xid(_backwards(int.from_bytes(raw[:4], "big")) + raw[4:])


def _backwards(time_s: int) -> bytes:
    return ((_PARTITION_EPOCH_S - time_s) % 2**32).to_bytes(4, "big")


def physical_uri(namespace: str, entry: Entry) -> str:
    """Return the whole URI of an entry's data."""
    relative = entry.address_type is AddressType.RELATIVE or (
        entry.address_type is AddressType.BY_PREFIX_DEPRECATED and "://" not in entry.address
    )
    return f"{namespace}/{entry.address}" if relative else entry.address


def relative_address(namespace: str, uri: str) -> tuple[str, AddressType]:
    """How an entry writes the URI: relative inside the namespace, in full outside."""
    prefix = namespace + "/"
    if uri.startswith(prefix):
        return uri[len(prefix) :], AddressType.RELATIVE
    return uri, AddressType.FULL


def _signature(key: bytes, repository: str, branch: str, path: bytes, address: str) -> str:
    claim = {
        "Repository": repository,
        "Branch": branch,
        "Path": path.decode("utf-8", "surrogateescape"),
        # Not lakeFS's `PhysicalAddress`, which versions signed that linked the address without
        # its signature: an upload that began with one of them must not be linked by this one.
        "LinkedAddress": address,
    }
    mac = digest(key, json.dumps(claim, separators=(",", ":")).encode(), sha256)
    return urlsafe_b64encode(mac).decode("ascii").rstrip("=")


def sign_address(key: bytes, repository: str, branch: str, path: bytes, address: str) -> str:
    """The relative address with a signature that lets this path of this branch link to it."""
    return f"{address},{_signature(key, repository, branch, path, address)}"


def verify_address(
    key: bytes, repository: str, branch: str, path: bytes, signed: str, now_s: int
) -> None:
    """Check that this deployment signed the address for this use less than 24 hours ago.

    Raises:
        InvalidInputError: forged, meant for something else, or expired.
    """
    address, _, signature = signed.partition(",")
    expected = _signature(key, repository, branch, path, address)
    if not compare_digest(signature.encode(), expected.encode()):
        raise InvalidInputError(
            f"physical address {address!r} was not issued for this path: link address is invalid"
        )
    issued_s = int.from_bytes(decode_xid(address.rpartition("/")[2])[:4], "big")
    if now_s - issued_s > PHYSICAL_ADDRESS_LIFE_S:
        raise InvalidInputError(
            f"physical address {address!r} has expired: get a new one and upload again"
        )
