"""Time-outs of boto3's clients, which end with the work in hand.

boto3 fixes the time-outs of a client when it is made. Below it, urllib3 copies them for each
request: there the time that is left is known.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from urllib3.util import Timeout

from graveler.aws.retries import attempt_s

_read_s: ContextVar[float | None] = ContextVar("read_s", default=None)


class _Bounded(Timeout):
    """Time-outs of which each request gets those of the moment."""

    def clone(self) -> Timeout:
        connect_s, read_s = self.connect_timeout, _read_s.get() or self.read_timeout
        assert isinstance(connect_s, float)
        assert isinstance(read_s, float)
        return Timeout(connect=attempt_s(connect_s), read=attempt_s(read_s))


def bounded(client: Any) -> Any:  # noqa: ANN401 - of any service
    """Return the client, whose requests now end with the work in hand."""
    config = client.meta.config
    session = client._endpoint.http_session  # noqa: SLF001 - botocore has no such setting
    timeout = _Bounded(connect=float(config.connect_timeout), read=float(config.read_timeout))
    session._timeout = timeout  # noqa: SLF001 - of connections through proxies, made later
    session._manager.connection_pool_kw["timeout"] = timeout  # noqa: SLF001
    return client


@contextmanager
def reading_for(limit_s: float) -> Iterator[None]:
    """Let answers to requests in the block take so long, or what is left."""
    token = _read_s.set(limit_s)
    try:
        yield
    finally:
        _read_s.reset(token)
