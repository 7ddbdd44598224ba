"""AWS Signature Version 4 of a request in headers.

https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
"""

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import digest
from typing import Protocol


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
        self._scope_tail = f"{region}/{service}/aws4_request"
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
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._now_s()))
        result = {**headers, "x-amz-date": moment}
        if credentials.token:
            result["x-amz-security-token"] = credentials.token
        signing = sorted({**result, "host": host}.items())
        names = ";".join([name for name, _ in signing])
        lines = "".join([f"{name}:{value}\n" for name, value in signing])
        canonical = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{body_sha256}"
        scope = f"{moment[:8]}/{self._scope_tail}"
        hashed = sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashed}"
        key = self._key(credentials.secret_key, moment[:8])
        signature = digest(key, text.encode(), sha256).hex()
        result["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, "
            f"SignedHeaders={names}, Signature={signature}"
        )
        return result
