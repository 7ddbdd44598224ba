"""The IdentityService on AWS: sends requests that clients have signed to STS."""

import re
from urllib.parse import urlencode

from graveler.access.identity_tokens import SignedRequest
from graveler.aws import traces
from graveler.aws.exchanges.connection import Host, opened
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.errors import ThrottledError

_TIMEOUT_S = 5.0
_ANSWER_BYTES_MAX = 64 * 1024
_ARN = re.compile(rb"<Arn>(arn:[ -;=-~]{1,2048})</Arn>")


class Sts:
    """`graveler.ports.IdentityService`; redirects are not followed."""

    def caller_arn(self, request: SignedRequest) -> str | None:
        # The endpoint was checked against a pattern, and the certificate is checked here.
        try:
            with (
                traces.call("STS", ""),
                opened(Host("https", request.host, 443)) as connection,
            ):
                connection.budget = TimeBudget(_TIMEOUT_S)
                headers = {**request.headers, "content-length": "0"}
                connection.send("POST", f"/?{urlencode(request.query)}", headers)
                answer = connection.answer()
                status, body = answer.status, answer.read_all(_ANSWER_BYTES_MAX)
        except OSError:
            # Without the cause, whose message may quote the request.
            raise ThrottledError(f"{request.host} does not answer: retry later") from None
        if status == 429 or status >= 500:
            raise ThrottledError(f"{request.host} cannot serve this now: retry later")
        found = _ARN.search(body) if status == 200 else None
        return None if found is None else found[1].decode()
