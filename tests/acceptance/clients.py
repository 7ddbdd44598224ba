"""How users reach the stack: with the official clients and their own key pair."""

from typing import Any
from uuid import uuid4

import lakefs
from lakefs_spec import LakeFSFileSystem

from tests.support.servers.stack import BUCKET, Stack

KeyPair = dict[str, Any]


def key_pair(stack: Stack) -> KeyPair:
    """What every official client takes: the endpoint and a key pair."""
    return {
        "host": stack.endpoint,
        "username": stack.access_key_id,
        "password": stack.secret_access_key,
    }


def connect(stack: Stack) -> lakefs.Client:
    """A client of the `lakefs` package."""
    return lakefs.Client(**key_pair(stack))


def file_system(stack: Stack) -> LakeFSFileSystem:
    """A file system of lakefs-spec that remembers no listing, and nothing between tests."""
    return LakeFSFileSystem(**key_pair(stack), use_listings_cache=False, skip_instance_cache=True)


def create_repository(client: lakefs.Client) -> lakefs.Repository:
    """A new, empty repository with a name of its own."""
    name = f"acceptance-{uuid4().hex[:12]}"
    return lakefs.Repository(name, client).create(f"s3://{BUCKET}/{name}")
