"""The actions of clients at the S3 gateway."""

import base64
import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping

from bench.torture.client import Client
from bench.torture.gateway import (
    METADATA,
    ask,
    condition_of,
    described,
    etag_of,
    found_in,
    key_of,
    new_write,
    put,
    wrote,
)
from bench.torture.gateway_uploads import s3_multipart
from bench.torture.history import Record
from bench.torture.ledger import Shown
from bench.torture.world import HOT, SOURCES

# Writes


def s3_put(client: Client) -> Record:
    return put(client, new_write(client, "s3_put"))


def s3_put_if_absent(client: Client) -> Record:
    return put(client, new_write(client, "s3_put_if_absent", "write_if_absent"))


def s3_put_if_match(client: Client) -> Record:
    read, required = _unique_checksum(client)
    if not required:
        return read
    record = new_write(client, "s3_put_if_match", "write_if_match", read.branch, read.paths[0])
    record.required = required
    return put(client, record)


def _unique_checksum(client: Client) -> tuple[Record, str]:
    """Read a path; return the request, and the checksum if no other object has it."""
    read = s3_head(client)
    shown = read.seen.get(read.paths[0])
    if isinstance(shown, Shown) and client.world.ledger.with_checksum(shown.checksum):
        return read, shown.checksum
    return read, ""


def s3_copy(client: Client) -> Record:
    """Copy a new object of the branch of sources, whose objects do not change."""
    record = new_write(client, "s3_copy")
    assert record.content is not None
    data = record.content.data
    source = client.record("s3_put_source", "", SOURCES, f"source/{record.id}")
    if ask(client, source, "PUT", key_of(source), body=data).status != 200:
        return source
    client.world.ledger.writes(record.content)
    headers = {"x-amz-copy-source": f"/{client.world.repository}/{key_of(source)}"}
    if record.text:
        headers |= {"x-amz-metadata-directive": "REPLACE"} | described(record)
    reply = ask(client, record, "PUT", key_of(record), headers=headers)
    if record.outcome == "refused":
        client.world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")
    return wrote(client, record, found_in(reply.body, "ETag").strip('"') if reply.body else "")


# Deletions


def s3_delete(client: Client) -> Record:
    record = client.record("s3_delete", "delete", path=client.a_path())
    ask(client, record, "DELETE", key_of(record))
    return record


def s3_delete_if_match(client: Client) -> Record:
    read, required = _unique_checksum(client)
    if not required:
        return read
    record = client.record("s3_delete_if_match", "delete_if_match", read.branch, read.paths[0])
    record.required = required
    ask(client, record, "DELETE", key_of(record), headers=condition_of(record))
    return record


def s3_delete_objects(client: Client) -> Record:
    record = client.record("s3_delete_objects", "tombstone")
    keys = "".join(f"<Object><Key>{key_of(record, path)}</Key></Object>" for path in record.paths)
    document = f"<Delete>{keys}</Delete>".encode()
    reply = ask(client, record, "POST", "", {"delete": ""}, document, _with_md5(document))
    if record.outcome == "ok":
        errors = ET.fromstring(reply.body).findall("{*}Error")
        codes = {each.findtext("{*}Code") for each in errors}
        if codes == {"NoSuchBucket"} and len(errors) == len(record.paths):
            record.outcome = "no_branch"
        keyed = {each.findtext("{*}Key") for each in errors}
        record.failed = tuple(path for path in record.paths if key_of(record, path) in keyed)
    return record


def _with_md5(document: bytes) -> dict[str, str]:
    digest = hashlib.md5(document, usedforsecurity=False).digest()
    return {"Content-MD5": base64.b64encode(digest).decode()}


# Reads


def s3_head(client: Client) -> Record:
    return _read(client, "HEAD")


def s3_get(client: Client) -> Record:
    return _read(client, "GET")


def _read(client: Client, method: str) -> Record:
    record = client.record(f"s3_{method.lower()}", "read", path=client.a_path())
    reply = ask(client, record, method, key_of(record))
    if reply.status == 200:
        headers = reply.headers
        shown = Shown(etag_of(reply), int(headers["content-length"]), headers.get(METADATA, ""))
        data = reply.body if method == "GET" else None
        client.world.ledger.showed(shown, f"{record.id} {record.name}", data)
        record.seen[record.paths[0]] = shown
    _doubt(client, record)
    return record


def s3_list(client: Client) -> Record:
    record = client.record("s3_list", "read")
    query = {"list-type": "2", "prefix": f"{record.branch}/{HOT}"}
    reply = ask(client, record, "GET", "", query)
    if reply.status == 200:
        for row in ET.fromstring(reply.body).findall("{*}Contents"):
            checksum = (row.findtext("{*}ETag") or "").strip('"')
            shown = Shown(checksum, int(row.findtext("{*}Size") or -1))
            path = (row.findtext("{*}Key") or "").partition("/")[2]
            client.world.ledger.showed(shown, f"{record.id} s3_list")
            record.seen[path] = shown
    _doubt(client, record)
    return record


def _doubt(client: Client, record: Record) -> None:
    """Drop an empty answer, if there may have been no branch.

    HEAD does not distinguish a missing branch from a missing object, and a missing branch has an
    empty listing.
    """
    is_empty = record.outcome == "ok" and not record.seen
    if is_empty and record.name != "s3_get" and record.branch in client.world.deleted_branches:
        record.outcome = "refused"


ACTIONS: Mapping[str, Callable[[Client], Record]] = {
    action.__name__: action
    for action in (
        *(s3_put, s3_put_if_absent, s3_put_if_match, s3_copy, s3_multipart),
        *(s3_delete, s3_delete_if_match, s3_delete_objects, s3_head, s3_get, s3_list),
    )
}
