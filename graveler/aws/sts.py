"""The IdentityService on AWS: sends requests that clients have signed to STS."""

import re
import ssl
from contextlib import closing
from functools import lru_cache
from http.client import HTTPException
from urllib.parse import urlencode

from graveler.access.identity_tokens import SignedRequest
from graveler.aws import traces
from graveler.aws.exchanges import Patience, opened
from graveler.errors import ThrottledError

_TIMEOUT_S = 5.0
_ANSWER_BYTES_MAX = 64 * 1024
_ARN = re.compile(rb"<Arn>(arn:[ -;=-~]{1,2048})</Arn>")


class Sts:
    """`graveler.ports.IdentityService`; redirects are not followed."""

    def caller_arn(self, request: SignedRequest) -> str | None:
        # The endpoint was checked against a pattern, and the certificate is checked here.
        try:
            with traces.call("STS", ""), closing(opened(request.host, 443, _tls())) as connection:
                connection.patience = Patience(_TIMEOUT_S)
                connection.request(
                    "POST", f"/?{urlencode(request.query)}", b"", dict(request.headers)
                )
                answer = connection.getresponse()
                status, body = answer.status, answer.read(_ANSWER_BYTES_MAX)
        except (HTTPException, OSError):
            # Without the cause, whose message may quote the request.
            raise ThrottledError(f"{request.host} does not answer: retry later") from None
        if status == 429 or status >= 500:
            raise ThrottledError(f"{request.host} cannot serve this now: retry later")
        found = _ARN.search(body) if status == 200 else None
        return None if found is None else found[1].decode()


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()  # checks certificates and host names
