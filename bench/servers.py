"""DynamoDB Local and S3Proxy for a measurement, and a deployment on them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from graveler.aws.connect import Clients
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.settings import DeploymentSettings
from graveler_embedded.stores import start_dynamodb, start_s3proxy
from graveler_embedded.tcp_ports import free_port
from graveler_functions.api import key_pairs
from graveler_jobs.session import JobDeployment, deployment

_REGION = "us-east-1"


@contextmanager
def servers() -> Iterator[JobDeployment]:
    """A deployment on its own servers, with its data in a temporary folder."""
    with servers_in() as (made, _):
        yield made


@contextmanager
def servers_in(
    parent: Path | None = None, *, in_memory: bool = True
) -> Iterator[tuple[JobDeployment, Path]]:
    """As `servers`, with the temporary folder in parent; also the folder of the buckets.

    Unless in_memory, DynamoDB Local stores its data as that of the embedded stack does.
    """
    keys = key_pairs.generate()
    with TemporaryDirectory(prefix="bench-", dir=parent) as name:
        folder = Path(name)
        data = None if in_memory else folder / "dynamodb"
        dynamodb = start_dynamodb(free_port(), data, folder / "dynamodb.log")
        s3 = start_s3proxy(free_port(), folder / "objects", keys, folder / "s3proxy.log")
        try:
            dynamodb.wait_until_ready()
            s3.wait_until_ready()
            os.environ["AWS_ACCESS_KEY_ID"] = keys.access_key_id
            os.environ["AWS_SECRET_ACCESS_KEY"] = keys.secret_access_key
            settings = DeploymentSettings(
                region=_REGION,
                refs_table="refs",
                staging_table="staging",
                dynamodb_endpoint=dynamodb.endpoint,
                s3_endpoint=s3.endpoint,
                file_cache_folder=str(folder / "cache"),
            )
            Tables("refs", "staging", Clients(settings).dynamodb()).create()
            yield deployment(settings), folder / "objects"
        finally:
            dynamodb.child.kill()
            s3.child.kill()
