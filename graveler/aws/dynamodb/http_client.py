"""Requests to one endpoint, over kept connections.

An exchange has DYNAMODB_ATTEMPT_S and the time for its bytes, or less if the work in hand ends
earlier (`graveler.aws.exchanges`).
"""

from collections.abc import Mapping

from graveler.aws.exchanges.buffered import Pending, begin
from graveler.aws.exchanges.connection import Host
from graveler.aws.exchanges.pool import Pool
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.aws.retries import DYNAMODB_ATTEMPT_S


class DynamoDBHttpClient:
    """Sends to one endpoint; shared by all threads."""

    def __init__(self, endpoint: str) -> None:
        self._host = Host.of(endpoint)
        self._pool = Pool(lambda: TimeBudget(DYNAMODB_ATTEMPT_S))
        # The value of the Host header, which is signed.
        self.host = self._host.header

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        """Post the body to `/`; headers include Host.

        Raises:
            RequestNotSentError: no connection could be made.
            ResponseLostError: the connection failed while sending.
        """
        sent = {**headers, "content-length": str(len(body))}
        return begin(self._pool, self._host, "POST", "/", sent, body)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def __del__(self) -> None:
        self.close()
