"""Command lines of S3, unchanged: rclone, s5cmd and AWS's own copy, list, compare and delete."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lakefs
import pytest

from tests.acceptance.s3 import environment
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

MB = 1024**2
FILES = {
    "one.txt": b"1",
    "empty": b"",
    "folder/two words ä.txt": b"2",
    "folder/deep/large": os.urandom(MB) * 9,
}

Run = Callable[..., str]


@pytest.fixture
def run(stack: Stack, tmp_path: Path) -> Run:
    """Run a program of this environment; return what it prints."""
    programs = Path(sys.executable).parent
    rclone = {
        "RCLONE_CONFIG": str(tmp_path / "rclone.conf"),
        "RCLONE_CONFIG_LAKE_TYPE": "s3",
        "RCLONE_CONFIG_LAKE_PROVIDER": "Other",
        "RCLONE_CONFIG_LAKE_ENV_AUTH": "true",
        "RCLONE_CONFIG_LAKE_ENDPOINT": stack.endpoint,
        "RCLONE_CONFIG_LAKE_REGION": "us-east-1",
        "RCLONE_S3_UPLOAD_CUTOFF": "5Mi",
        "RCLONE_S3_CHUNK_SIZE": "5Mi",
    }
    path = f"{programs}:{os.environ['PATH']}"
    variables = {**os.environ, **environment(stack), **rclone, "PATH": path, "HOME": str(tmp_path)}

    def run_program(*command: str) -> str:
        done = subprocess.run(
            (str(programs / command[0]), *command[1:]),
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run_program


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with FILES."""
    folder = tmp_path / "source"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def bucket(repository: lakefs.Repository) -> str:
    return repository.id


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_rclone_copies_checks_and_syncs(
    run: Run, source: Path, bucket: str, tmp_path: Path
) -> None:
    place = f"lake:{bucket}/main/tree"
    run("rclone", "copy", str(source), place)
    listed = run("rclone", "lsf", "--recursive", "--files-only", place).splitlines()
    assert sorted(listed) == sorted(FILES)
    run("rclone", "check", str(source), place, "--download")
    (source / "one.txt").write_bytes(b"changed")
    (source / "empty").unlink()
    run("rclone", "sync", str(source), place)
    run("rclone", "sync", place, str(tmp_path / "back"))
    assert contents(tmp_path / "back") == contents(source)
    run("rclone", "moveto", f"{place}/one.txt", f"{place}/moved.txt")
    assert run("rclone", "cat", f"{place}/moved.txt") == "changed"
    run("rclone", "purge", place)
    assert run("rclone", "lsf", "--recursive", f"lake:{bucket}/main") == ""


def test_rclone_keeps_modification_times_so_a_second_copy_sends_nothing(
    run: Run, source: Path, bucket: str
) -> None:
    place = f"lake:{bucket}/main/tree"
    os.utime(source / "one.txt", (1_000_000_000, 1_000_000_000))
    run("rclone", "copy", str(source), place)
    assert "2001-09-09" in run("rclone", "lsl", f"{place}/one.txt")
    again = run("rclone", "copy", str(source), place, "--dry-run", "--combined", "-")
    assert [line for line in again.splitlines() if not line.startswith("=")] == []


def test_s5cmd_copies_lists_syncs_and_deletes(
    run: Run, source: Path, bucket: str, tmp_path: Path
) -> None:
    place = f"s3://{bucket}/main/tree"
    run("s5cmd", "cp", "--part-size", "5", f"{source}/", f"{place}/")
    listed = run("s5cmd", "ls", f"{place}/*").splitlines()
    assert len(listed) == len(FILES)
    run("s5cmd", "cp", f"{place}/*", f"{tmp_path}/back/")
    assert contents(tmp_path / "back") == FILES
    (source / "empty").unlink()
    run("s5cmd", "sync", "--delete", f"{source}/", f"{place}/")
    assert "empty" not in run("s5cmd", "ls", f"{place}/*")
    run("s5cmd", "mv", f"{place}/one.txt", f"{place}/moved.txt")
    assert run("s5cmd", "cat", f"{place}/moved.txt").strip() == "1"
    run("s5cmd", "rm", f"{place}/*")
    assert run("s5cmd", "ls", f"s3://{bucket}").split() == ["DIR", "main/"]


def test_the_aws_command_line_copies_syncs_and_deletes(
    run: Run, source: Path, bucket: str, tmp_path: Path
) -> None:
    place = f"s3://{bucket}/main/tree"
    run("aws", "s3", "sync", str(source), place)
    listed = run("aws", "s3", "ls", "--recursive", f"{place}/").splitlines()
    assert len(listed) == len(FILES)
    run("aws", "s3", "cp", "--recursive", place, str(tmp_path / "back"))
    assert contents(tmp_path / "back") == FILES
    run("aws", "s3", "mv", f"{place}/folder/deep/large", f"{place}/moved")
    run("aws", "s3", "sync", place, str(source), "--delete")
    assert contents(source).keys() == {"one.txt", "empty", "folder/two words ä.txt", "moved"}
    assert contents(source)["moved"] == FILES["folder/deep/large"]
    run("aws", "s3", "rm", "--recursive", place)
    assert "Contents" not in run(
        "aws", "s3api", "list-objects-v2", "--bucket", bucket, "--prefix", "main/"
    )


ODD_NAMES = [
    "a b",
    "a+b",
    "a%20b",
    "a%2Bb",
    "ä",
    "a&b=c",
    "a'b",
    'a"b',
    "a#b?c",
    "a++b  c",
    "[a]{b}",
]


def test_names_of_any_letters_are_copied_moved_and_synced(
    run: Run, bucket: str, tmp_path: Path
) -> None:
    source = tmp_path / "odd"
    source.mkdir()
    for name in ODD_NAMES:
        (source / name).write_text(name)
    odd = contents(source)
    place = f"s3://{bucket}/main"
    run("s5cmd", "cp", f"{source}/", f"{place}/a/")
    run("s5cmd", "cp", f"{place}/a/*", f"{place}/b/")
    run("s5cmd", "mv", f"{place}/b/*", f"{place}/c/")
    run("aws", "s3", "mv", "--recursive", f"{place}/c/", f"{place}/d/")
    run("rclone", "move", f"lake:{bucket}/main/d", f"lake:{bucket}/main/e")
    run("aws", "s3", "sync", f"{place}/e/", f"{place}/f/")
    run("s5cmd", "sync", f"{place}/f/*", f"{tmp_path}/back/")
    assert contents(tmp_path / "back") == odd
    assert run("s5cmd", "ls", f"{place}/").split() == ["DIR", "a/", "DIR", "e/", "DIR", "f/"]
