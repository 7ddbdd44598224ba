"""Changes that once were lost without a word: each of these failed before it was mended."""

import os
import time
from pathlib import Path

import pytest

from cli.transfers import uploads
from tests.support.plain_lake import served
from tests.support.scripted_lake import running

BRANCH = "lakefs://my-repo/main"
PART_BYTES = 1 << 16


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
def in_small_parts(monkeypatch):
    """Files of a few hundred kB are large."""
    monkeypatch.setattr(uploads, "PARTS_BYTES_MIN", 2 * PART_BYTES)
    monkeypatch.setattr(uploads, "DIRECT_BYTES_MAX", PART_BYTES)
    monkeypatch.setattr(uploads, "part_size", lambda _: PART_BYTES)


def write_at(file: Path, text: str, mtime_ns: int) -> None:
    file.write_text(text)
    os.utime(file, ns=(mtime_ns, mtime_ns))


def test_a_change_within_the_second_of_a_commit_is_seen(graveler, tmp_path):
    """Times are compared in seconds: two versions of a second have the same one."""
    with served() as plain:
        graveler.environment["LAKECTL_SERVER_ENDPOINT_URL"] = plain.endpoint
        root = tmp_path / "folder"
        now_ns = time.time_ns() // 10**9 * 10**9
        plain.commit()
        graveler.prints("local", "init", "lakefs://lake/main/data/", str(root))
        write_at(root / "a", "one", now_ns + 100)
        graveler.prints("local", "commit", str(root), "-m", "1")
        write_at(root / "a", "two", now_ns + 200)
        assert "modified" in graveler.prints("local", "status", str(root))
        told = graveler.run("local", "pull", str(root)).stderr
        assert "1 uncommitted changes" in told
        graveler.prints("local", "commit", str(root), "-m", "2")
        assert plain.content == {"data/a": b"two"}
        assert "No diff found" in graveler.prints("local", "status", str(root))


def test_a_file_that_changed_but_kept_its_time_is_not_continued(user, lake, in_small_parts):
    """Encrypted containers are written in place, and keep their size and their time."""
    file = Path("a")
    file.write_bytes(b"1" * 8 * PART_BYTES)
    os.utime(file, (1, 1))
    lake.fails("PUT", "partNumber=5", 400)
    command = ("fs", "upload", "-s", "a", f"{BRANCH}/a", "-p", "1")
    user.fails(*command)
    with file.open("r+b") as stream:
        stream.write(b"2" * 8 * PART_BYTES)
    os.utime(file, (1, 1))
    user.prints(*command)
    assert lake.objects["a"].content == b"2" * 8 * PART_BYTES
