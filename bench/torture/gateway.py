"""The requests of clients to the S3 gateway, and the effects that their answers imply.

They have boto3's signatures, and are never repeated.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from functools import partial
from urllib.parse import quote, urlencode, urlsplit

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from bench.torture.client import Client
from bench.torture.history import Record
from bench.torture.http_client import Reply
from bench.torture.ledger import Content

_REGION = "us-east-1"
_EXPIRES_S = 600
METADATA = "x-amz-meta-m"
# The checker's outcome of a failed If-None-Match or If-Match.
_UNMET = {
    "write_if_absent": "exists",
    "write_if_match": "mismatch",
    "delete_if_match": "mismatch",
}


def send(
    client: Client,
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
        # This signer would take a body for parameters, and does not sign one.
        request = AWSRequest(method, url, dict(headers or {}))
        S3SigV4QueryAuth(credentials, "s3", _REGION, expires=_EXPIRES_S).add_auth(request)
    else:
        request = AWSRequest(method, url, dict(headers or {}), body or b"")
        S3SigV4Auth(credentials, "s3", _REGION).add_auth(request)
    parts = urlsplit(str(request.url))
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return client.http.send(method, target, body, dict(request.headers), client.timeout_s)


def ask(
    client: Client,
    record: Record,
    method: str,
    key: str,
    query: Mapping[str, str] | None = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Send the request of a record, and record the answer."""
    once = partial(send, client, method, key, query, body, headers)
    reply = client.carry_out(record, once, outcome_of)
    check(client, record, reply)
    return reply


def check(client: Client, record: Record, reply: Reply) -> None:
    """Report answers that these requests must never get."""
    is_unmet = reply.status == 412 and record.kind not in _UNMET
    is_lost = reply.status == 404 and "repository" in reply.message
    if is_unmet or is_lost or reply.status in (400, 409, 416, 500):
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


def found_in(body: bytes, name: str) -> str:
    """Return the text of the first element with the name, "" without one."""
    return ET.fromstring(body).findtext(f".//{{*}}{name}") or ""


def key_of(record: Record, path: str = "") -> str:
    return f"{record.branch}/{path or record.paths[0]}"


def etag_of(reply: Reply) -> str:
    return reply.headers.get("etag", "").strip('"')


def new_write(
    client: Client, name: str, kind: str = "write", branch: str = "", path: str = ""
) -> Record:
    """Return the record of a coming write of unique content, some with metadata."""
    record = client.record(name, kind, branch, path or client.a_path())
    record.content = Content(client.unique())
    record.text = f"m{record.id}" if client.chance.random() < 0.3 else ""
    return record


def put(client: Client, record: Record) -> Record:
    """Put the record's content at its path."""
    assert record.content is not None
    client.world.ledger.writes(record.content)
    headers = condition_of(record) | described(record)
    reply = ask(client, record, "PUT", key_of(record), body=record.content.data, headers=headers)
    return wrote(client, record, etag_of(reply))


def condition_of(record: Record) -> dict[str, str]:
    if record.required:
        return {"If-Match": f'"{record.required}"'}
    return {"If-None-Match": "*"} if record.kind == "write_if_absent" else {}


def described(record: Record) -> dict[str, str]:
    return {METADATA: record.text} if record.text else {}


def wrote(client: Client, record: Record, checksum: str) -> Record:
    """Compare the checksum in the answer with that of the record's content."""
    assert record.content is not None
    if record.outcome == "ok" and checksum != record.content.checksum:
        client.world.ledger.problem(f"{record} was answered the checksum {checksum!r}")
    return record
