"""The clients that the tests of this folder use: SDK, boto3, the command line, plain HTTP."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakefs
import requests

from tests.acceptance import s3
from tests.acceptance.clients import connect
from tests.seeds.statements import ROOT
from tests.support.servers.stack import BUCKET, Stack

# Programs stand beside the interpreter once the project is installed.
PROGRAMS = Path(sys.executable).parent

Done = subprocess.CompletedProcess[str]


class Clients:
    """The clients of one user: the SDK's, boto3's at the gateway and at the store, programs."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.lakefs = connect(stack)
        self.gateway = s3.boto3_client(stack)
        self.store = stack.s3

    def run(self, program: str, *words: str, **variables: str) -> Done:
        """Run a program beside the interpreter; return its exit code and output."""
        return subprocess.run(
            [PROGRAMS / program, *words],
            env={
                "PATH": str(PROGRAMS),
                "PYTHONPATH": str(ROOT),  # this checkout's code, whichever one is installed
                "LAKECTL_SERVER_ENDPOINT_URL": self.stack.endpoint,
                "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": self.stack.access_key_id,
                "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": self.stack.secret_access_key,
                "GRAVELER_DATA": str(self.stack.data),
                **s3.environment(self.stack),
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def graveler(self, *words: str, **variables: str) -> str:
        """Return what `graveler` prints when it succeeds, which it must."""
        done = self.run("graveler", *words, **variables)
        assert (done.returncode, done.stderr) == (0, ""), words
        return done.stdout

    def http(self, method: str, path: str, **more: Any) -> requests.Response:
        """Return the answer of the API to a path under /repositories/."""
        return requests.request(
            method,
            f"{self.stack.endpoint}/api/v1/repositories/{path}".rstrip("/"),
            auth=(self.stack.access_key_id, self.stack.secret_access_key),
            timeout=300,
            **more,
        )

    def stored(self, prefix: str, bucket: str = BUCKET) -> dict[str, tuple[str, Any]]:
        """Return ETag and time of the objects in the object store, by what follows the prefix."""
        pages = self.store.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        found = (each for page in pages for each in page.get("Contents", []))
        return {
            each["Key"].removeprefix(prefix): (each["ETag"], each["LastModified"]) for each in found
        }

    def content(self, uri: str) -> bytes:
        """Return the bytes of an object in the object store."""
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        return bytes(self.store.get_object(Bucket=bucket, Key=key)["Body"].read())


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what goes on in the background."""
    ends = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.1)


def files(reference: lakefs.Reference, **listing: Any) -> dict[str, str]:
    """Return the contents of a ref's objects, as text, by path."""
    found = [each.path for each in reference.objects(**listing)]
    return {path: str(reference.object(path).reader("r").read()) for path in found}


def commit(branch: lakefs.Branch, message: str = "why", /, **changes: str | None) -> str:
    """Upload these texts, delete the paths that are None, and commit; return the commit's ID."""
    for path, text in changes.items():
        if text is None:
            branch.object(path).delete()
        else:
            branch.object(path).upload(text)
    return str(branch.commit(message, allow_empty=True).id)
