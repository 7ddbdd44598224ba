"""A user sets rules and collects garbage of the running stack; what is gone answers 410."""

import os
import subprocess
import sys
import time
from typing import Any

import lakefs
import pytest
import requests
from botocore.exceptions import ClientError
from click.testing import CliRunner

from graveler_cli.main import app
from tests.support.servers.stack import BUCKET, Stack
from tests.support.worlds.server_world import Keys, s3_client

# Also tests/seeds/test_garbage_collection.py collects garbage of the running stack.
pytestmark = [pytest.mark.server, pytest.mark.long]

DAY_S = 24 * 60 * 60


def ask(stack: Stack, method: str, path: str, **more: Any) -> requests.Response:
    return requests.request(
        method,
        f"{stack.endpoint}/api/v1/repositories/{path}",
        auth=(stack.access_key_id, stack.secret_access_key),
        timeout=300,
        **more,
    )


def commit(stack: Stack, repository: str, age_days: int) -> None:
    body = {"message": "why", "date": int(time.time()) - age_days * DAY_S}
    ask(stack, "POST", f"{repository}/branches/main/commits", json=body).raise_for_status()


def put_directly(stack: Stack, repository: str, path: str, content: bytes) -> None:
    """Put the object where the API says, with the object store's own client, and link it."""
    backing = f"{repository}/branches/main/staging/backing"
    place = ask(stack, "GET", backing, params={"path": path}).json()
    bucket, _, key = place["physical_address"].removeprefix("s3://").partition("/")
    client = s3_client(stack.s3_endpoint, Keys(stack.access_key_id, stack.secret_access_key))
    checksum = client.put_object(Bucket=bucket, Key=key, Body=content)["ETag"]
    client.close()
    body = {"staging": place, "checksum": checksum, "size_bytes": len(content)}
    linked = ask(stack, "PUT", backing, params={"path": path}, json=body)
    assert linked.json()["physical_address"] == place["physical_address"]


def assert_gone_for_clients(stack: Stack, repository: str, ref: str, path: str) -> None:
    """Check what users of S3 and of the command line get of an object that was collected."""
    keys = Keys(stack.access_key_id, stack.secret_access_key)
    client = s3_client(stack.endpoint, keys)
    with pytest.raises(ClientError) as caught:
        client.get_object(Bucket=repository, Key=f"{ref}/{path}")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 410
    assert f"s3://{repository}/{ref}/{path} has no data" in str(caught.value)
    assert client.head_object(Bucket=repository, Key=f"{ref}/{path}")["ContentLength"] == 3
    client.close()
    environment = {
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": keys.access_key,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": keys.secret_key,
    }
    uri = f"lakefs://{repository}/{ref}/{path}"
    for pre_sign in ("--pre-sign", "--no-pre-sign"):
        done = CliRunner(env=environment).invoke(app, ["fs", "cat", uri, pre_sign])
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
        assert done.stderr.startswith(f"error: {uri}: its data are missing: garbage collection")


def collect(stack: Stack, *words: str) -> str:
    """What `make gc` shows."""
    done = subprocess.run(
        [sys.executable, "-m", "graveler_embedded.job", "garbage-collection", *words],
        env={**os.environ, "GRAVELER_DATA": str(stack.data)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def grow_old(stack: Stack, repository: str) -> None:
    """Make the data look as if it had been stored before the minimum age of garbage."""
    bucket = stack.data / "s3" / BUCKET
    for path in (bucket / repository / "data").rglob("*"):
        if path.is_file():
            os.utime(path, (0, 0))


def test_garbage_is_collected_by_the_rules(stack: Stack, repository: lakefs.Repository) -> None:
    name, main = repository.id, repository.branch("main")
    main.object("path").upload("old")
    put_directly(stack, name, "direct", b"old")
    commit(stack, name, age_days=30)
    main.object("path").upload("new")
    put_directly(stack, name, "direct", b"new")
    put_directly(stack, name, "staged directly", b"first")
    put_directly(stack, name, "staged directly", b"second")
    main.object("staged").upload("first")
    main.object("staged").upload("second")
    commit(stack, name, age_days=20)
    rules = {"default_retention_days": 7, "branches": []}
    ask(stack, "PUT", f"{name}/settings/gc_rules", json=rules).raise_for_status()
    grow_old(stack, name)

    # By the API, which looks first, and lets one run at a time.
    runs = f"{name}/gc/runs"
    started = ask(stack, "POST", runs, json={"dry_run": True})
    assert started.status_code == 202
    run_id = started.json()["run_id"]
    second = ask(stack, "POST", runs, json={"dry_run": False})
    assert second.status_code == 409
    assert run_id in second.json()["message"]
    while (run := ask(stack, "GET", f"{runs}/{run_id}").json())["state"] == "running":
        time.sleep(0.2)
    assert (run["state"], run["dry_run"], run["deleted_objects"]) == ("succeeded", True, 0), run
    assert run["requested_by"]
    assert "to be deleted       4 objects, 16 bytes" in run["text"]
    assert "marked only: nothing was deleted" in run["text"]
    old = f"{name}/refs/main~1/objects"
    for path in ("path", "direct"):
        assert ask(stack, "GET", old, params={"path": path}).content == b"old"

    # By hand.
    assert "deleted             4 objects, 16 bytes" in collect(stack, "--repository", name)
    for path in ("path", "direct"):
        gone = ask(stack, "GET", old, params={"path": path})
        assert (gone.status_code, gone.json()["message"]) == (410, "No data")
        described = ask(stack, "GET", f"{old}/stat", params={"path": path})
        assert described.json()["size_bytes"] == 3
        assert_gone_for_clients(stack, name, "main~1", path)
        assert main.object(path).reader().read() == b"new"
    for path in ("staged", "staged directly"):
        assert main.object(path).reader().read() == b"second"

    results = ask(stack, "GET", runs).json()["results"]
    assert [(run["dry_run"], run["marked_objects"], run["deleted_bytes"]) for run in results] == [
        (False, 4, 16),
        (True, 4, 0),
    ]
