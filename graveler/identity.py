"""Digests that identify entries, records, files and commits.

There are two formulas. lakeFS's tagged hashing (pkg/ident/ident.go) gives entry identities and
commit IDs. So both systems agree on equal content and on the IDs of commits. Our own formula gives
the IDs of range and metarange files:

    record ID = h(h(key) || h(identity))        h = SHA-256
    file ID   = h(record ID 1 || ... || record ID n), in hex

In the second formula, the identity of an object's record is its whole stored value. That of a
range's record is the range's ID. The same records have the same ID, whatever the block size, the
compressor and the order of changes. `lakefs_file_id` is lakeFS's own formula for its files.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from graveler.model import Commit, CommitID, Entry, MetaRangeID

ID_LENGTH = 64  # hex digits of a SHA-256
_ID = re.compile(f"[0-9a-f]{{{ID_LENGTH}}}")


def is_id(text: str) -> bool:
    """Return whether the text has the form of a commit, range or metarange ID."""
    return _ID.fullmatch(text) is not None


def _int64(number: int) -> bytes:
    return b"\x02\x08" + number.to_bytes(8, "big", signed=True)


def _string(text: str) -> bytes:
    data = text.encode()
    return b"\x01" + _int64(len(data)) + data


def _mapping(mapping: Mapping[str, str]) -> bytes:
    items = sorted(mapping.items(), key=lambda item: item[0].encode())
    pairs = (_string(key) + _string(value) for key, value in items)
    return b"\x04" + _int64(len(items)) + b"".join(pairs)


def _nested(digest: bytes) -> bytes:
    return b"\x05\x00" + _int64(len(digest)) + digest


def _strings(texts: Sequence[str]) -> bytes:
    return b"\x03" + _int64(len(texts)) + b"".join(map(_string, texts))


def entry_identity(entry: Entry) -> bytes:
    """Return 32 bytes that are equal exactly for equal content; address and time do not count.

    Source: lakeFS pkg/catalog/entry.go.
    """
    parts = _int64(entry.size_bytes) + _string(entry.checksum) + _mapping(entry.metadata)
    if entry.content_type:
        parts += _string(entry.content_type)
    return sha256(parts).digest()


def commit_id(
    *,
    committer: str,
    message: str,
    metarange_id: MetaRangeID,
    creation_date: int,
    metadata: Mapping[str, str],
    parents: Sequence[CommitID],
) -> CommitID:
    """Return the ID of a commit with these fields; generation and version do not count.

    Source: lakeFS pkg/graveler/graveler.go, Commit.Identity.
    """
    fields = (
        _string("commit:v1")
        + _string(committer)
        + _string(message)
        + _string(metarange_id)
        + _int64(creation_date)
        + _mapping(metadata)
        + _nested(sha256(_strings(parents)).digest())
    )
    return CommitID(sha256(fields).hexdigest())


def make_commit(
    *,
    committer: str,
    message: str,
    metarange_id: MetaRangeID,
    creation_date: int,
    metadata: Mapping[str, str],
    parents: Sequence[CommitID],
    generation: int,
) -> Commit:
    """Return the commit with these fields and its ID."""
    identified = commit_id(
        committer=committer,
        message=message,
        metarange_id=metarange_id,
        creation_date=creation_date,
        metadata=metadata,
        parents=parents,
    )
    return Commit(
        id=identified,
        committer=committer,
        message=message,
        metarange_id=metarange_id,
        creation_date=creation_date,
        parents=tuple(parents),
        metadata=metadata,
        generation=generation,
    )


def key_hash(key: bytes) -> bytes:
    """Return h(key): part of a record's ID, and decides whether a range ends after the key."""
    return sha256(key).digest()


def record_id(hash_of_key: bytes, identity: bytes) -> bytes:
    """Return the ID of a record, from its key's hash and its identity."""
    return sha256(hash_of_key + sha256(identity).digest()).digest()


def record_ids(keys: Sequence[bytes], identities: Iterable[bytes]) -> list[bytes]:
    """Return the IDs of many records; key_hash and record_id are inlined."""
    return [
        sha256(sha256(key).digest() + sha256(identity).digest()).digest()
        for key, identity in zip(keys, identities, strict=True)
    ]


def lakefs_file_id(records: Iterable[tuple[bytes, bytes]], properties: Mapping[str, str]) -> str:
    """Return the ID that lakeFS gives to a file with these records and user properties.

    Source: lakeFS pkg/graveler/sstable/writer.go.
    """
    digest = sha256()
    for record in records:
        for part in record:
            digest.update(b"%d%b|" % (len(part), part))
    digest.update(_mapping(properties))
    return digest.hexdigest()
