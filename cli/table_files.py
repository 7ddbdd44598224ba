"""The bytes of files here or in S3, for commands that look into them."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

from cli.errors import CommandError, NotInstalledError, UsageError

_S3 = "s3://"


def read_file(name: str) -> bytes:
    """Return the content of a file, of an S3 object named s3://BUCKET/KEY, or of standard input.

    Raises:
        CommandError: it cannot be read.
    """
    if name == "-":
        return sys.stdin.buffer.read()
    if name.startswith(_S3):
        return _read_object(name)
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {name}: {(error.strerror or '').lower()}") from error


def _read_object(uri: str) -> bytes:
    """Return the content of an S3 object, with the credentials and the endpoint of the AWS SDK."""
    parts = urlsplit(uri, allow_fragments=False)
    key = uri.removeprefix(f"{_S3}{parts.netloc}/")
    if not parts.netloc or not key or key == uri:
        raise UsageError(f"{uri!r} does not name an object: write s3://BUCKET/KEY")
    # Imported late, because files need no AWS SDK.
    try:
        import boto3  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
    except ImportError as error:
        raise NotInstalledError(error, "server") from error
    try:
        answer = boto3.client("s3").get_object(Bucket=parts.netloc, Key=key)
        content: bytes = answer["Body"].read()
    except (BotoCoreError, ClientError, ValueError) as error:
        line = " ".join(str(error).split())
        raise CommandError(
            f"cannot read {uri}: {line}; check AWS_PROFILE and AWS_ENDPOINT_URL"
        ) from error
    return content
