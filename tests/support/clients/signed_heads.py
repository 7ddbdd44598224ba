"""Heads of requests as clients sign them, and the time and key of AWS's published examples."""

import hmac
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import urlsplit

from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from graveler.aws.signing import ALGORITHM, authorization, derived_key
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.version4 import canonical_request

ACCESS_KEY_ID = "AKIAIOSFODNN7EXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
CREDENTIALS = Credentials(ACCESS_KEY_ID, SECRET)
EXAMPLE_TIME = "20130524T000000Z"
EXAMPLE_TIME_S = int(datetime(2013, 5, 24, tzinfo=UTC).timestamp())
SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def head(
    method: str, target: str, host: str = "examplebucket.s3.amazonaws.com", **headers: str
) -> RequestHead:
    """Return a head; underscores in names of headers become hyphens."""
    path, _, query = target.partition("?")
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return RequestHead(method, path, query, [("host", host), *named])


def version4_header(scope: str, signed_headers: str, signature: str) -> str:
    """Return an Authorization header of Version 4."""
    return (
        f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY_ID}/{scope},"
        f"SignedHeaders={signed_headers},Signature={signature}"
    )


def example_head(target: str, signed_headers: str, signature: str, **headers: str) -> RequestHead:
    """Return a GET of AWS's examples of 24 May 2013, signed in its header."""
    return head(
        "GET",
        target,
        authorization=version4_header(
            "20130524/us-east-1/s3/aws4_request", signed_headers, signature
        ),
        x_amz_content_sha256=SHA256_OF_NOTHING,
        x_amz_date=EXAMPLE_TIME,
        **headers,
    )


def signed_head(
    head: RequestHead, credentials: Credentials, region: str, moment: str, content_sha256: str
) -> RequestHead:
    """Return the head with a signature over all that it says, however odd it is."""
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    names = sorted({name for name, _ in head.headers})
    canonical = canonical_request(head, names, content_sha256).encode("latin-1", "replace")
    text = f"{ALGORITHM}\n{moment}\n{scope}\n{sha256(canonical).hexdigest()}"
    key = derived_key(credentials.secret_key, scope)
    made = hmac.digest(key, text.encode(), sha256).hex()
    value = authorization(credentials.access_key, scope, ";".join(names), made)
    return replace(head, headers=(*head.headers, ("authorization", value)))


def sent(request: AWSRequest) -> RequestHead:
    """Return the head that a client sends for botocore's request."""
    url = urlsplit(request.prepare().url)
    headers = [(name.lower(), _text(value)) for name, value in request.headers.items()]
    if "host" not in dict(headers):
        headers.append(("host", url.netloc))
    return RequestHead(str(request.method), url.path, url.query, headers)


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
