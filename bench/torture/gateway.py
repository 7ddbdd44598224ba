"""The requests of clients to the S3 gateway, and their answers' meaning.

They are signed as boto3 signs them, and never repeated, except for the completion of an upload: a
repetition answers the same and writes nothing, so several tries count as one operation.
"""

import base64
import hashlib
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from bench.torture.client import Reply, UnsentError
from bench.torture.history import Record
from bench.torture.ledger import Content, Shown, checksum_of_parts, md5

if TYPE_CHECKING:
    from bench.torture.actions import Client

HOT = "hot/"
SOURCES = "sources"

_REGION = "us-east-1"
_EXPIRES_S = 600
# S3's minimum for all parts but the last.
_PART_BYTES_MIN = 5 * 1024 * 1024
# The pauses before the tries of a completion.
_PAUSES_S = (0.0, 0.3, 1.0, 2.0)
_METADATA = "x-amz-meta-m"
# What an If-None-Match or If-Match that does not hold means for the checker.
_UNMET = {
    "write_if_absent": "exists",
    "write_if_match": "mismatch",
    "delete_if_match": "mismatch",
}


# Sending


def _send(
    client: "Client",
    method: str,
    key: str,
    query: Mapping[str, str] | None = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Sign and send one request; some reads and writes are signed in the query."""
    path = f"/{client.world.repository}/{quote(key, safe='/~')}"
    text = urlencode(query or {}, quote_via=quote, safe="~")
    url = f"http://{client.http.address}{path}" + (f"?{text}" if text else "")
    credentials = Credentials(*client.world.key_pair)
    if method in ("GET", "PUT") and client.chance.random() < 0.2:
        # This signer takes a body for parameters, and signs none.
        request = AWSRequest(method, url, dict(headers or {}))
        S3SigV4QueryAuth(credentials, "s3", _REGION, expires=_EXPIRES_S).add_auth(request)
    else:
        request = AWSRequest(method, url, dict(headers or {}), body or b"")
        S3SigV4Auth(credentials, "s3", _REGION).add_auth(request)
    parts = urlsplit(str(request.url))
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return client.http.send(method, target, body, dict(request.headers), client.timeout_s)


def _ask(
    client: "Client",
    record: Record,
    method: str,
    key: str,
    query: Mapping[str, str] | None = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Send the request of a record, and record the answer."""
    send = partial(_send, client, method, key, query, body, headers)
    reply = client.carry_out(record, send, outcome_of)
    _check(client, record, reply)
    return reply


def _check(client: "Client", record: Record, reply: Reply) -> None:
    """Report answers that these requests never deserve."""
    is_unmet = reply.status == 412 and record.kind not in _UNMET
    if is_unmet or reply.status in (400, 409, 416, 500):
        client.world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")


def outcome_of(record: Record, reply: Reply) -> str:
    """Return the effect that an answer implies."""
    if reply.is_unknown:
        return "unknown"
    if reply.status < 300:
        return "ok"
    if reply.status == 412:
        return _UNMET.get(record.kind, "refused")
    return _not_found(record, reply.message) if reply.status == 404 else "refused"


def _not_found(record: Record, message: str) -> str:
    if record.kind == "read":
        return "ok" if not message or "no object" in message else "no_branch"
    if "branch" in message:
        return "no_branch"
    return _UNMET.get(record.kind, "refused")


def _found(body: bytes, name: str) -> str:
    """Return the text of the first element with the name, "" without one."""
    return ET.fromstring(body).findtext(f".//{{*}}{name}") or ""


def _key(record: Record, path: str = "") -> str:
    return f"{record.branch}/{path or record.paths[0]}"


def _etag(reply: Reply) -> str:
    return reply.headers.get("etag", "").strip('"')


# Writes


def s3_put(client: "Client") -> Record:
    return _put(client, _new_write(client, "s3_put"))


def s3_put_if_absent(client: "Client") -> Record:
    return _put(client, _new_write(client, "s3_put_if_absent", "write_if_absent"))


def s3_put_if_match(client: "Client") -> Record:
    read, required = _unique_checksum(client)
    if not required:
        return read
    record = _new_write(client, "s3_put_if_match", "write_if_match", read.branch, read.paths[0])
    record.required = required
    return _put(client, record)


def _unique_checksum(client: "Client") -> tuple[Record, str]:
    """Read a path; return the request, and the checksum if no other object has it."""
    read = s3_head(client)
    shown = read.seen.get(read.paths[0])
    if isinstance(shown, Shown) and client.world.ledger.with_checksum(shown.checksum):
        return read, shown.checksum
    return read, ""


def _new_write(
    client: "Client", name: str, kind: str = "write", branch: str = "", path: str = ""
) -> Record:
    """Return the record of a coming write of unique content, some with metadata."""
    record = client.record(name, kind, branch, path or client.a_path())
    record.content = Content(client.unique())
    record.text = f"m{record.id}" if client.chance.random() < 0.3 else ""
    return record


def _put(client: "Client", record: Record) -> Record:
    assert record.content is not None
    client.world.ledger.writes(record.content)
    headers = _condition(record) | _described(record)
    reply = _ask(client, record, "PUT", _key(record), body=record.content.data, headers=headers)
    return _wrote(client, record, _etag(reply))


def _condition(record: Record) -> dict[str, str]:
    if record.required:
        return {"If-Match": f'"{record.required}"'}
    return {"If-None-Match": "*"} if record.kind == "write_if_absent" else {}


def _described(record: Record) -> dict[str, str]:
    return {_METADATA: record.text} if record.text else {}


def _wrote(client: "Client", record: Record, checksum: str) -> Record:
    assert record.content is not None
    if record.outcome == "ok" and checksum != record.content.checksum:
        client.world.ledger.problem(f"{record} was answered the checksum {checksum!r}")
    return record


def s3_copy(client: "Client") -> Record:
    """Copy a new object of the branch of sources, whose objects nobody changes."""
    record = _new_write(client, "s3_copy")
    assert record.content is not None
    data = record.content.data
    source = client.record("s3_put_source", "", SOURCES, f"source/{record.id}")
    if _ask(client, source, "PUT", _key(source), body=data).status != 200:
        return source
    client.world.ledger.writes(record.content)
    headers = {"x-amz-copy-source": f"/{client.world.repository}/{_key(source)}"}
    if record.text:
        headers |= {"x-amz-metadata-directive": "REPLACE"} | _described(record)
    reply = _ask(client, record, "PUT", _key(record), headers=headers)
    if record.outcome == "refused":
        client.world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")
    return _wrote(client, record, _found(reply.body, "ETag").strip('"') if reply.body else "")


# Deletions


def s3_delete(client: "Client") -> Record:
    record = client.record("s3_delete", "delete", path=client.a_path())
    _ask(client, record, "DELETE", _key(record))
    return record


def s3_delete_if_match(client: "Client") -> Record:
    read, required = _unique_checksum(client)
    if not required:
        return read
    record = client.record("s3_delete_if_match", "delete_if_match", read.branch, read.paths[0])
    record.required = required
    _ask(client, record, "DELETE", _key(record), headers=_condition(record))
    return record


def s3_delete_objects(client: "Client") -> Record:
    record = client.record("s3_delete_objects", "tombstone")
    keys = "".join(f"<Object><Key>{_key(record, path)}</Key></Object>" for path in record.paths)
    document = f"<Delete>{keys}</Delete>".encode()
    reply = _ask(client, record, "POST", "", {"delete": ""}, document, _with_md5(document))
    if record.outcome == "ok":
        errors = ET.fromstring(reply.body).findall("{*}Error")
        codes = {each.findtext("{*}Code") for each in errors}
        if codes == {"NoSuchBucket"} and len(errors) == len(record.paths):
            record.outcome = "no_branch"
        keyed = {each.findtext("{*}Key") for each in errors}
        record.failed = tuple(path for path in record.paths if _key(record, path) in keyed)
    return record


def _with_md5(document: bytes) -> dict[str, str]:
    digest = hashlib.md5(document, usedforsecurity=False).digest()
    return {"Content-MD5": base64.b64encode(digest).decode()}


# Uploads of parts


def s3_multipart(client: "Client") -> Record:
    """Upload one part or two, and complete the upload, mostly."""
    kind = client.chance.choice(("write", "write", "write_if_absent"))
    name = "s3_complete_if_absent" if kind == "write_if_absent" else "s3_complete"
    record = _new_write(client, name, kind)
    assert record.content is not None
    parts = [record.content.data]
    if client.chance.random() < 0.04:
        parts = [record.content.data.ljust(_PART_BYTES_MIN, b"x"), b"the rest"]
    record.content = Content(b"".join(parts), checksum=checksum_of_parts(parts))
    created = client.record("s3_create_upload", "", record.branch, record.paths[0])
    reply = _ask(client, created, "POST", _key(record), {"uploads": ""}, None, _described(record))
    if created.outcome != "ok":
        return created
    upload_id = _found(reply.body, "UploadId")
    for number, data in enumerate(parts, 1):
        part = client.record("s3_upload_part", "", record.branch, record.paths[0])
        query = {"partNumber": str(number), "uploadId": upload_id}
        if _ask(client, part, "PUT", _key(record), query, data).status != 200:
            return part
    if client.chance.random() < 0.1:
        aborted = client.record("s3_abort_upload", "", record.branch, record.paths[0])
        _ask(client, aborted, "DELETE", _key(record), {"uploadId": upload_id})
        return aborted
    client.world.ledger.writes(record.content)
    return _complete(client, record, upload_id, _completion(parts))


def _completion(parts: list[bytes]) -> bytes:
    rows = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{md5(data)}</ETag></Part>"
        for number, data in enumerate(parts, 1)
    )
    return f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()


def _complete(client: "Client", record: Record, upload_id: str, document: bytes) -> Record:
    """Complete an upload; a repetition, after a lost answer or after all, must answer the same."""
    query = {"uploadId": upload_id}
    once = partial(_send, client, "POST", _key(record), query, document, _condition(record))
    tries = 0

    def send() -> Reply:
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
        # A try without an answer may take effect after the refusal of another.
        return found if tries == 1 or found == "ok" else "unknown"

    reply = client.carry_out(record, send, outcome)
    _check(client, record, reply)
    if reply.status == 404 and "NoSuchUpload" in reply.message:
        client.world.ledger.problem(f"{record}, after {tries} tries: {reply.message}")
    if record.outcome == "ok":
        _wrote(client, record, _found(reply.body, "ETag").strip('"'))
        if client.chance.random() < 0.4:
            _complete_again(client, record, query, document)
    return record


def _complete_again(
    client: "Client", record: Record, query: Mapping[str, str], document: bytes
) -> None:
    """Repeat an answered completion, perhaps after another write."""
    if client.chance.random() < 0.5:
        _put(client, _new_write(client, "s3_put", "write", record.branch, record.paths[0]))
    again = client.record("s3_complete_again", "", record.branch, record.paths[0])
    reply = _ask(client, again, "POST", _key(record), query, document, _condition(record))
    assert record.content is not None
    if not reply.is_unknown and (
        reply.status != 200 or _found(reply.body, "ETag").strip('"') != record.content.checksum
    ):
        client.world.ledger.problem(f"{again}, of {record}: {reply.status} {reply.message}")


# Reads


def s3_head(client: "Client") -> Record:
    return _read(client, "HEAD")


def s3_get(client: "Client") -> Record:
    return _read(client, "GET")


def _read(client: "Client", method: str) -> Record:
    record = client.record(f"s3_{method.lower()}", "read", path=client.a_path())
    reply = _ask(client, record, method, _key(record))
    if reply.status == 200:
        headers = reply.headers
        shown = Shown(_etag(reply), int(headers["content-length"]), headers.get(_METADATA, ""))
        data = reply.body if method == "GET" else None
        client.world.ledger.showed(shown, f"{record.id} {record.name}", data)
        record.seen[record.paths[0]] = shown
    _doubt(client, record)
    return record


def s3_list(client: "Client") -> Record:
    record = client.record("s3_list", "read")
    query = {"list-type": "2", "prefix": f"{record.branch}/{HOT}"}
    reply = _ask(client, record, "GET", "", query)
    if reply.status == 200:
        for row in ET.fromstring(reply.body).findall("{*}Contents"):
            checksum = (row.findtext("{*}ETag") or "").strip('"')
            shown = Shown(checksum, int(row.findtext("{*}Size") or -1))
            path = (row.findtext("{*}Key") or "").partition("/")[2]
            client.world.ledger.showed(shown, f"{record.id} s3_list")
            record.seen[path] = shown
    _doubt(client, record)
    return record


def _doubt(client: "Client", record: Record) -> None:
    """Drop the answer that there is nothing, if there may have been no branch.

    HEAD does not say what is missing, and a branch that does not exist has an empty listing.
    """
    is_empty = record.outcome == "ok" and not record.seen
    if is_empty and record.name != "s3_get" and record.branch in client.world.deleted_branches:
        record.outcome = "refused"


ACTIONS: Mapping[str, Callable[["Client"], Record]] = {
    action.__name__: action
    for action in (
        *(s3_put, s3_put_if_absent, s3_put_if_match, s3_copy, s3_multipart),
        *(s3_delete, s3_delete_if_match, s3_delete_objects, s3_head, s3_get, s3_list),
    )
}
