"""boto3's clients, whose exchanges end in time.

boto3 fixes a client's time-outs when the client is made, and they bound the silence between bytes
only. Below it, urllib3 makes connections by classes that botocore names: here they are ours
(`exchanges/for_urllib3.py`). Proxies, certificates and pools stay botocore's.
"""

import socket
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.awsrequest import (
    AWSConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnectionPool,
)
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from graveler.aws.exchanges.connecting import connected
from graveler.aws.exchanges.for_urllib3 import Connection

if TYPE_CHECKING:
    from botocore.client import BaseClient

Client = TypeVar("Client", bound="BaseClient")


class _ToAddress:
    """Connects in time; urllib3's own method gives each address of a host the whole time-out."""

    def _new_conn(self: Any) -> socket.socket:
        try:
            return connected(self._dns_host, self.port, self.socket_options or ())
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"cannot connect to {self.host} in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"cannot connect to {self.host}: {error}") from error


class _Plain(AWSConnection, _ToAddress, Connection, HTTPConnection):  # type: ignore[misc] # as botocore's own
    """botocore's connection without TLS, in time."""


class _Tls(AWSConnection, _ToAddress, Connection, HTTPSConnection):  # type: ignore[misc]
    """botocore's connection over TLS, in time."""


class _PlainPool(AWSHTTPConnectionPool):
    ConnectionCls = _Plain  # type: ignore[assignment] # not of a subclass of botocore's


class _TlsPool(AWSHTTPSConnectionPool):
    ConnectionCls = _Tls  # type: ignore[assignment]


def bounded(client: Client) -> Client:
    """Return the client, whose exchanges now end in time."""
    endpoint: Any = client._endpoint  # type: ignore[attr-defined] # noqa: SLF001 - there is no setting
    # The pools of all hosts, and those of proxies, are made by it later.
    classes: dict[str, type] = endpoint.http_session._pool_classes_by_scheme  # noqa: SLF001
    classes.update(http=_PlainPool, https=_TlsPool)
    return client
