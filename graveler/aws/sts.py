"""The IdentityService on AWS: sends requests that clients have signed to STS."""

import re
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlencode

from graveler.access.identity_tokens import SignedRequest
from graveler.aws import traces
from graveler.aws.retries import attempt_s
from graveler.errors import ThrottledError

_TIMEOUT_S = 7.0
_ANSWER_BYTES_MAX = 64 * 1024
_ARN = re.compile(rb"<Arn>(arn:[ -;=-~]{1,2048})</Arn>")


class Sts:
    """`graveler.ports.IdentityService`; redirects are not followed."""

    def caller_arn(self, request: SignedRequest) -> str | None:
        # The endpoint was checked against a pattern, and the certificate is checked here.
        connection = HTTPSConnection(request.host, 443, timeout=attempt_s(_TIMEOUT_S))
        try:
            with traces.call("STS", ""):
                connection.request(
                    "POST", f"/?{urlencode(request.query)}", b"", dict(request.headers)
                )
                answer = connection.getresponse()
                status, body = answer.status, answer.read(_ANSWER_BYTES_MAX)
        except (HTTPException, OSError):
            # Without the cause, whose message may quote the request.
            raise ThrottledError(f"{request.host} does not answer: retry later") from None
        finally:
            connection.close()
        if status == 429 or status >= 500:
            raise ThrottledError(f"{request.host} cannot serve this now: retry later")
        found = _ARN.search(body) if status == 200 else None
        return None if found is None else found[1].decode()
