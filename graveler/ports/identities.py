"""The port to the service that knows who signed a request."""

from typing import Protocol

from graveler.access.identity_tokens import SignedRequest


class IdentityService(Protocol):
    """AWS's Security Token Service."""

    def caller_arn(self, request: SignedRequest) -> str | None:
        """Return the ARN of the identity that signed the request; None if it is refused.

        Raises:
            ThrottledError: the service does not answer, or cannot now.
        """
