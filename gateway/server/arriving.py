"""The body of a request, as operations read it."""

from gateway.protocol.errors import Code, S3Error
from gateway.server.http.body import Body, SlowBodyError
from gateway.server.http.chunks import BrokenBodyError


class Arriving:
    """A body that arrives while it is read."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def read(self) -> bytes:
        """Return the bytes that have arrived, b"" at the end.

        Raises:
            S3Error: the client stopped sending, or the framing is broken.
        """
        try:
            return self._body.read()
        except SlowBodyError as error:
            raise S3Error(Code.REQUEST_TIMEOUT) from error
        except BrokenBodyError as error:
            raise S3Error(Code.INCOMPLETE_BODY) from error
