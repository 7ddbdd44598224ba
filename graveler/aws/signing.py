"""AWS Signature Version 4, of a request in its headers and of a URL in its query.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import digest
from typing import Protocol
from urllib.parse import quote

_ALGORITHM = "AWS4-HMAC-SHA256"

# The body's digest in a presigned request: who signs does not know the body.
UNSIGNED = "UNSIGNED-PAYLOAD"


class Credentials(Protocol):
    """An access key, with the session token of a temporary one."""

    @property
    def access_key(self) -> str: ...

    @property
    def secret_key(self) -> str: ...

    @property
    def token(self) -> str | None: ...


class Signer:
    """Signs requests to one service in one region with whatever the credentials are by then."""

    def __init__(
        self,
        service: str,
        region: str,
        credentials: Callable[[], Credentials],
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._region = region
        self._credentials = credentials
        self._now_s = now_s
        # The last derived key and what it was derived from; replaced whole, so threads may race.
        self._derived: tuple[tuple[str, str], bytes] = (("", ""), b"")

    def _key(self, secret: str, date: str) -> bytes:
        source, key = self._derived
        if source != (secret, date):
            key = digest(b"AWS4" + secret.encode(), date.encode(), sha256)
            for part in (self._region, self._service, "aws4_request"):
                key = digest(key, part.encode(), sha256)
            self._derived = ((secret, date), key)
        return key

    def signed(
        self,
        method: str,
        host: str,
        path: str,
        query: str,
        headers: Mapping[str, str],
        body_sha256: str,
    ) -> dict[str, str]:
        """The headers with date, token and signature added; all of them and Host are signed.

        Path and query are as they go on the wire, query parameters sorted, header names lower case.
        """
        credentials = self._credentials()
        moment = self._moment()
        result = {**headers, "x-amz-date": moment}
        if credentials.token:
            result["x-amz-security-token"] = credentials.token
        signing = sorted({**result, "host": host}.items())
        names = ";".join([name for name, _ in signing])
        lines = "".join([f"{name}:{value}\n" for name, value in signing])
        canonical = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{body_sha256}"
        signature = self._signature(credentials.secret_key, moment, canonical)
        result["authorization"] = (
            f"{_ALGORITHM} Credential={credentials.access_key}/{self._scope(moment)}, "
            f"SignedHeaders={names}, Signature={signature}"
        )
        return result

    def presigned_query(
        self, method: str, host: str, path: str, parameters: Mapping[str, str], expires_s: int
    ) -> str:
        """The query that lets whoever holds it do this one request, with any body, for a time."""
        credentials = self._credentials()
        moment = self._moment()
        signing = {
            **parameters,
            "X-Amz-Algorithm": _ALGORITHM,
            "X-Amz-Credential": f"{credentials.access_key}/{self._scope(moment)}",
            "X-Amz-Date": moment,
            "X-Amz-Expires": str(expires_s),
            "X-Amz-SignedHeaders": "host",
        }
        if credentials.token:
            signing["X-Amz-Security-Token"] = credentials.token
        query = query_of(signing)
        canonical = f"{method}\n{path}\n{query}\nhost:{host}\n\nhost\n{UNSIGNED}"
        signature = self._signature(credentials.secret_key, moment, canonical)
        return f"{query}&X-Amz-Signature={signature}"

    def _moment(self) -> str:
        return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._now_s()))

    def _scope(self, moment: str) -> str:
        return f"{moment[:8]}/{self._region}/{self._service}/aws4_request"

    def _signature(self, secret: str, moment: str, canonical: str) -> str:
        hashed = sha256(canonical.encode()).hexdigest()
        text = f"{_ALGORITHM}\n{moment}\n{self._scope(moment)}\n{hashed}"
        return digest(self._key(secret, moment[:8]), text.encode(), sha256).hex()


def query_of(parameters: Mapping[str, str]) -> str:
    """The parameters as they stand in a canonical query: encoded, and sorted by name."""
    return "&".join([f"{_quoted(name)}={_quoted(parameters[name])}" for name in sorted(parameters)])


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")
