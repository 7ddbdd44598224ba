"""Servers for tests: started once per session on free loopback ports, gone when it ends.

A test that uses one of these fixtures carries `@pytest.mark.server`.
"""

from collections.abc import Iterator

import pytest

from graveler.http.requests import AccessKey
from local.ports import free_port
from local.stores import BUCKET, start_dynamodb, start_s3proxy

__all__ = ["BUCKET", "KEYS"]

# What `s3_endpoint` accepts. DynamoDB Local takes any key.
KEYS = AccessKey("AKIAITESTTESTTEST00Q", "dGhlIHNlY3JldCBvZiB0aGUgdGVzdCBzZXJ2ZXJz")


@pytest.fixture(scope="session")
def dynamodb_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty DynamoDB Local that keeps its data in memory."""
    log = tmp_path_factory.mktemp("dynamodb") / "dynamodb.log"
    server = start_dynamodb(free_port(), data=None, log=log)
    server.child.wait_until_listening(server.port)
    yield server.endpoint
    server.child.kill()


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3Proxy that accepts KEYS and holds the empty bucket BUCKET."""
    folder = tmp_path_factory.mktemp("s3")
    server = start_s3proxy(free_port(), folder / "objects", KEYS, folder / "s3proxy.log")
    server.child.wait_until_listening(server.port)
    yield server.endpoint
    server.child.kill()
