"""Multipart uploads to the S3 gateway.

A repeated completion answers the same and writes nothing, so several tries count as one operation.
"""

import time
from collections.abc import Mapping
from functools import partial

from bench.torture.client import Client
from bench.torture.gateway import (
    ask,
    check,
    condition_of,
    described,
    found_in,
    key_of,
    new_write,
    outcome_of,
    put,
    send,
    wrote,
)
from bench.torture.history import Record
from bench.torture.http_client import Reply, UnsentError
from bench.torture.ledger import Content, checksum_of_parts, md5

# S3's minimum for all parts but the last.
_PART_BYTES_MIN = 5 * 1024 * 1024
# The pauses before the tries of a completion.
_PAUSES_S = (0.0, 0.3, 1.0, 2.0)


def s3_multipart(client: Client) -> Record:
    """Upload one part or two, and complete the upload, mostly."""
    kind = client.chance.choice(("write", "write", "write_if_absent"))
    name = "s3_complete_if_absent" if kind == "write_if_absent" else "s3_complete"
    record = new_write(client, name, kind)
    assert record.content is not None
    parts = [record.content.data]
    if client.chance.random() < 0.04:
        parts = [record.content.data.ljust(_PART_BYTES_MIN, b"x"), b"the rest"]
    record.content = Content(b"".join(parts), checksum=checksum_of_parts(parts))
    created = client.record("s3_create_upload", "", record.branch, record.paths[0])
    reply = ask(client, created, "POST", key_of(record), {"uploads": ""}, None, described(record))
    if created.outcome != "ok":
        return created
    upload_id = found_in(reply.body, "UploadId")
    for number, data in enumerate(parts, 1):
        part = client.record("s3_upload_part", "", record.branch, record.paths[0])
        query = {"partNumber": str(number), "uploadId": upload_id}
        if ask(client, part, "PUT", key_of(record), query, data).status != 200:
            return part
    if client.chance.random() < 0.1:
        aborted = client.record("s3_abort_upload", "", record.branch, record.paths[0])
        ask(client, aborted, "DELETE", key_of(record), {"uploadId": upload_id})
        return aborted
    client.world.ledger.writes(record.content)
    return _complete(client, record, upload_id, _completion(parts))


def _completion(parts: list[bytes]) -> bytes:
    rows = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{md5(data)}</ETag></Part>"
        for number, data in enumerate(parts, 1)
    )
    return f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()


def _complete(client: Client, record: Record, upload_id: str, document: bytes) -> Record:
    """Complete an upload. Every repetition must answer the same."""
    query = {"uploadId": upload_id}
    once = partial(send, client, "POST", key_of(record), query, document, condition_of(record))
    tries = 0

    def try_until_definite() -> Reply:
        nonlocal tries
        reply = Reply(0)
        for pause_s in _PAUSES_S:
            time.sleep(pause_s)
            try:
                reply = once()
            except UnsentError:
                if not tries:
                    raise
            tries += 1
            if not reply.is_unknown:
                break
        return reply

    def outcome(record: Record, reply: Reply) -> str:
        found = outcome_of(record, reply)
        # A try without an answer may take effect after another try was refused.
        return found if tries == 1 or found == "ok" else "unknown"

    reply = client.carry_out(record, try_until_definite, outcome)
    check(client, record, reply)
    if reply.status == 404 and "NoSuchUpload" in reply.message:
        client.world.ledger.problem(f"{record}, after {tries} tries: {reply.message}")
    if record.outcome == "ok":
        wrote(client, record, found_in(reply.body, "ETag").strip('"'))
        if client.chance.random() < 0.4:
            _complete_again(client, record, query, document)
    return record


def _complete_again(
    client: Client, record: Record, query: Mapping[str, str], document: bytes
) -> None:
    """Repeat an answered completion, perhaps after another write."""
    if client.chance.random() < 0.5:
        put(client, new_write(client, "s3_put", "write", record.branch, record.paths[0]))
    again = client.record("s3_complete_again", "", record.branch, record.paths[0])
    reply = ask(client, again, "POST", key_of(record), query, document, condition_of(record))
    assert record.content is not None
    if not reply.is_unknown and (
        reply.status != 200 or found_in(reply.body, "ETag").strip('"') != record.content.checksum
    ):
        client.world.ledger.problem(f"{again}, of {record}: {reply.status} {reply.message}")
