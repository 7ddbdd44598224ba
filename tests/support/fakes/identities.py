"""Identity tokens as clients sign them, and an STS that checks their signatures as AWS does."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from lakefs.auth import _get_identity_token

from graveler.access.identity_tokens import SignedRequest

SERVER = "lake.example.com"
ARN = "arn:aws:sts::123456789012:assumed-role/Reader/session-1"
ROLE = "arn:aws:sts::123456789012:assumed-role/Reader"
KEY, SECRET = "ASIAEXAMPLEEXAMPLE00", "an AWS secret"
SESSION_TOKEN = "c2Vzc2lvbg=="


def token_of(
    server: str = SERVER,
    region: str = "eu-west-1",
    secret: str = SECRET,
    life_s: int = 60,
    headers: Mapping[str, str] | None = None,
) -> str:
    """Return the identity token that the official `lakefs` package makes."""
    session = boto3.Session(KEY, secret, SESSION_TOKEN, region_name=region)
    token: str = _get_identity_token(
        session, server, dict(headers) if headers is not None else None, life_s
    )
    return token


def changed(token: str, **parts: Any) -> str:
    """Return the token with other parts; None leaves one out."""
    known = {**json.loads(base64.b64decode(token)), **parts}
    content = {name: value for name, value in known.items() if value is not ...}
    return base64.b64encode(json.dumps(content).encode()).decode()


class CheckingSts:
    """An IdentityService that knows one secret, and checks signatures with AWS's own code."""

    def __init__(self, arn: str = ARN) -> None:
        self.arn = arn
        self.asked: list[SignedRequest] = []

    def caller_arn(self, request: SignedRequest) -> str | None:
        self.asked.append(request)
        query = dict(request.query)
        given = query.pop("X-Amz-Signature")
        return self.arn if given == _signature(request, query) else None


def _signature(request: SignedRequest, query: Mapping[str, str]) -> str:
    """Return what AWS computes over the request that arrives."""
    scope = query["X-Amz-Credential"].split("/")
    credentials = Credentials(KEY, SECRET, SESSION_TOKEN)
    signer = SigV4QueryAuth(credentials, "sts", scope[2], int(query["X-Amz-Expires"]))
    plain = {name: query[name] for name in ("Action", "Version")}
    signed = {name: value for name, value in request.headers.items() if name != "Host"}
    made = AWSRequest("POST", f"https://{request.host}/", headers=signed, params=plain, data=b"")
    made.context["timestamp"] = query["X-Amz-Date"]
    signer._modify_request_before_signing(made)  # type: ignore[attr-defined]
    canonical = signer.canonical_request(made)
    text = signer.string_to_sign(made, canonical)
    assert parse_qs(urlsplit(str(made.url)).query)["X-Amz-SignedHeaders"] == [
        query["X-Amz-SignedHeaders"]
    ]
    return str(signer.signature(text, made))
