"""AWS Signature Version 4, and a signer of requests to DynamoDB.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from hmac import digest
from typing import Protocol

ALGORITHM = "AWS4-HMAC-SHA256"


class SigningCredentials(Protocol):
    """An access key, with the session token of a temporary one."""

    @property
    def access_key(self) -> str: ...

    @property
    def secret_key(self) -> str: ...

    @property
    def token(self) -> str | None: ...


class Signer:
    """Signs requests in one region with the current credentials."""

    def __init__(
        self,
        region: str,
        credentials: Callable[[], SigningCredentials],
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._scope_suffix = f"{region}/dynamodb/aws4_request"
        self._credentials = credentials
        self._now_s = now_s
        # The last derived key and its sources, replaced as one value so that threads may race.
        self._derived: tuple[tuple[str, str], bytes] = (("", ""), b"")

    def signed(self, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Return the headers with date, token and signature added; all headers are signed.

        Header names are in lower case and include Host. The request is a POST to `/`.
        """
        credentials = self._credentials()
        moment = moment_of(int(self._now_s()))
        result = {**headers, "x-amz-date": moment}
        if credentials.token:
            result["x-amz-security-token"] = credentials.token
        names = ";".join(sorted(result))
        lines = "".join([f"{name}:{result[name]}\n" for name in sorted(result)])
        canonical = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
        scope = f"{moment[:8]}/{self._scope_suffix}"
        made = signature(self._key(credentials.secret_key, moment[:8]), moment, scope, canonical)
        result["authorization"] = authorization(credentials.access_key, scope, names, made)
        return result

    def _key(self, secret: str, date: str) -> bytes:
        source, key = self._derived
        if source != (secret, date):
            key = derived_key(secret, f"{date}/{self._scope_suffix}")
            self._derived = ((secret, date), key)
        return key


@lru_cache(maxsize=8)
def moment_of(now_s: int) -> str:
    """Return a Unix time as signatures have it: YYYYMMDDTHHMMSSZ."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_s))


def signature(key: bytes, moment: str, scope: str, canonical: str) -> str:
    """Return the signature, in hex, of a canonical request under the scope's derived key."""
    hashed = sha256(canonical.encode()).hexdigest()
    return digest(key, f"{ALGORITHM}\n{moment}\n{scope}\n{hashed}".encode(), sha256).hex()


def authorization(access_key: str, scope: str, signed_headers: str, made: str) -> str:
    """Return the Authorization header of a signature."""
    return (
        f"{ALGORITHM} Credential={access_key}/{scope}, "
        f"SignedHeaders={signed_headers}, Signature={made}"
    )


def derived_key(secret_key: str, scope: str) -> bytes:
    """Return the key that signs in one scope: `date/region/service/aws4_request`."""
    key = b"AWS4" + secret_key.encode()
    for part in scope.split("/"):
        key = digest(key, part.encode(), sha256)
    return key
