"""How clients of S3 reach the stack: one endpoint, path style, `<repository>/<ref>/<path>`."""

from typing import Any

import boto3
from botocore.config import Config

from tests.support.servers.stack import Stack

# The stubs of boto3 take no keyword arguments from a dict.
S3Client = Any

REGION = "us-east-1"


def boto3_client(
    stack: Stack,
    access_key_id: str = "",
    secret_access_key: str = "",
    **settings: Any,
) -> S3Client:
    """A client of boto3, of the administrator unless a key pair is given."""
    return boto3.client(
        "s3",
        endpoint_url=stack.endpoint,
        region_name=REGION,
        aws_access_key_id=access_key_id or stack.access_key_id,
        aws_secret_access_key=secret_access_key or stack.secret_access_key,
        config=Config(
            s3={"addressing_style": "path"}, retries={"total_max_attempts": 2}, **settings
        ),
    )


def environment(stack: Stack) -> dict[str, str]:
    """The variables from which programs take the endpoint and the key pair."""
    return {
        "AWS_ACCESS_KEY_ID": stack.access_key_id,
        "AWS_SECRET_ACCESS_KEY": stack.secret_access_key,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": stack.endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "S3_ENDPOINT_URL": stack.endpoint,
    }
