"""What once lost data, hung or told a key: each of these failed before it was mended."""

import os
import threading
from pathlib import Path

import pytest

from cli.client import Server
from cli.configuration import Retries
from cli.errors import CommandError
from cli.local.folder import Folder
from cli.transfers.engine import Engine
from cli.transfers.jobs import Download, Options
from tests.support.scripted_lake import running

BRANCH = "lakefs://my-repo/main"


@pytest.fixture
def lake():
    with running() as lake:
        yield lake


@pytest.fixture
def user(graveler, lake, tmp_path, monkeypatch):
    """The command line with this lake, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    graveler.environment["LAKECTL_SERVER_ENDPOINT_URL"] = lake.endpoint
    graveler.environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    return graveler


@pytest.fixture
def server(lake):
    return Server(f"{lake.endpoint}/api/v1", ("key", "secret"), Retries())


def test_a_run_whose_output_nobody_reads_does_not_end_as_if_all_were_done(lake, server, tmp_path):
    for number in range(50):
        lake.has(f"d/{number:02}", b"1")

    def done(_job, _stats):
        raise BrokenPipeError

    engine = Engine(server, "my-repo", "main", Options(4), warn=print)
    with pytest.raises(BrokenPipeError):
        engine.run((Download(f"d/{n:02}", tmp_path / f"{n}") for n in range(50)), done)


def test_a_folder_that_cannot_be_made_is_a_failure_of_its_file(tmp_path, monkeypatch):
    folder = Folder(tmp_path, keeps_folders=False)
    file = folder.partial("a/b", "x")
    file.write_bytes(b"1")

    def mkdir(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(CommandError, match="cannot change .*a: Permission denied"):
        folder.place(file, "a/b")


def test_a_folder_that_became_a_link_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    folder = Folder(root, keeps_folders=False)
    file = folder.partial("a/b", "x")
    file.write_bytes(b"1")
    made = Path.mkdir

    def mkdir(self, *arguments, **named):
        if self.name == "a":  # another thread was faster
            self.symlink_to(tmp_path / "outside")
        made(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(CommandError, match="is a link"):
        folder.place(file, "a/b")
    assert os.listdir(tmp_path / "outside") == []
