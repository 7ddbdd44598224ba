"""`graveler fs upload` and `download` are killed; the same command again finishes the work."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graveler_cli.client import LakeClient
from graveler_cli.configuration import RequestRetries

pytestmark = pytest.mark.server

GRAVELER = Path(sys.executable).with_name("graveler")
SIZE_BYTES = 300_000_000
PARTS_TO_KEEP = 3


@pytest.fixture
def environment(stack, tmp_path):
    return {
        **os.environ,
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }


@pytest.fixture
def repository(stack):
    keys = (stack.access_key_id, stack.secret_access_key)
    server = LakeClient(f"{stack.endpoint}/api/v1", keys, RequestRetries())
    name = f"killed-{os.urandom(4).hex()}"
    body = {"name": name, "storage_namespace": f"s3://graveler/{name}", "default_branch": "main"}
    server.request("POST", "/repositories", {}, body)
    return name


def kill_amid(command, environment, folder, journal):
    """Kill a transfer after some parts; return the journal, None if it was too quick."""
    with subprocess.Popen(command, env=environment, cwd=folder) as process:
        while process.poll() is None:
            for file in folder.rglob(journal):
                if file.read_bytes().count(b"\n") > PARTS_TO_KEEP:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    return file
            time.sleep(0.002)
    return None


def test_a_killed_upload_and_a_killed_download_are_finished(environment, repository, tmp_path):
    content = os.urandom(SIZE_BYTES)
    (tmp_path / "data").write_bytes(content)
    uri = f"lakefs://{repository}/main/data"
    upload = [str(GRAVELER), "fs", "upload", "-s", "data", uri]
    download = [str(GRAVELER), "fs", "download", uri, "copy"]
    for command, pattern in ((upload, "*.parts"), (download, ".copy.graveler-parts")):
        journal = kill_amid(command, environment, tmp_path, pattern)
        assert journal is not None, "the transfer was over before it could be killed"
        stored = journal.read_bytes()
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
        assert stored.count(b"\n") > PARTS_TO_KEEP
        assert not journal.exists()
    assert (tmp_path / "copy").read_bytes() == content
    left = sorted(each.name for each in tmp_path.iterdir())
    assert left == ["cache", "copy", "data"]
