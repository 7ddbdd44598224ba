"""Finds the gateway's requests where the API has the same port."""

from collections.abc import Sequence

from graveler.http.s3_requests import is_s3_request
from graveler_gateway.protocol.head import RequestHead

_API = "/api/v1/"
_FORM = "multipart/form-data"


def is_for_gateway(head: RequestHead, domains: Sequence[str]) -> bool:
    """Whether the request is signed for S3, sent to a host of the gateway, or a form for a bucket.

    A form's signature is among its fields.
    """
    headers = {name: head.header(name) or "" for name in ("authorization", "host")}
    if is_s3_request(headers, head.raw_query):
        return True
    host = headers["host"].rpartition("]")[2].partition(":")[0].lower()
    if any(host == domain or host.endswith(f".{domain}") for domain in domains):
        return True
    is_form = (head.header("content-type") or "").lower().startswith(_FORM)
    return head.method == "POST" and is_form and not head.raw_path.startswith(_API)
