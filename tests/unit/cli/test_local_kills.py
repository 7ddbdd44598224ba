"""`graveler local`, killed at its requests again and again: the next run continues."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.fakes.plain_lake import PlainLake, served

SOURCE = "lakefs://lake/main/data/"
ROOT = Path(__file__).parents[3]
COUNT = 40


@pytest.fixture
def lake() -> Iterator[PlainLake]:
    with served() as lake:
        lake.page_size = 10
        yield lake


class Killed:
    """Runs commands that are killed at a request, until one ends."""

    def __init__(self, lake: PlainLake) -> None:
        self._lake = lake
        self._random = random.Random(1)
        self._process: subprocess.Popen[str] | None = None
        self._left = 0
        lake.before = self._count
        self.kills = 0

    def does(self, *args: str) -> str:
        """Run a command until it ends, and return its output; each run gets further."""
        for run in range(1, 100):
            code, output = self._run(args, self._random.randint(4, 12) + 6 * run)
            if code != -signal.SIGKILL:
                assert code == 0, output
                return output
            self.kills += 1
        raise AssertionError("it does not end")

    def _run(self, args: tuple[str, ...], requests: int) -> tuple[int, str]:
        variables = {name: text for name, text in os.environ.items() if name[:7] != "LAKECTL"}
        variables |= {
            "LAKECTL_SERVER_ENDPOINT_URL": self._lake.endpoint,
            "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": "AKIAEXAMPLE",
            "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "secret",
            "PYTHONPATH": str(ROOT),
        }
        self._left = requests
        with subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from graveler_cli.__main__ import main; main()",
                "local",
                *args,
            ],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            self._process = process
            output, _ = process.communicate(timeout=60)
            return process.returncode, output

    def _count(self, _method: str, _path: str) -> None:
        self._left -= 1
        if self._left == 0 and self._process is not None:
            self._process.send_signal(signal.SIGKILL)


def files(root: Path) -> dict[str, bytes]:
    found = (each for each in root.rglob("*") if each.is_file())
    read = {each.relative_to(root).as_posix(): each.read_bytes() for each in found}
    del read[".lakefs_ref.yaml"]
    return read


def stored(lake: PlainLake) -> dict[str, bytes]:
    return {path.removeprefix("data/"): content for path, content in lake.content.items()}


def test_a_command_that_is_killed_again_and_again_gets_there(lake, tmp_path):
    lake.put({f"data/d{number % 7}/{number:02}": f"{number}" for number in range(COUNT)})
    killed = Killed(lake)
    root = tmp_path / "folder"
    killed.does("clone", SOURCE, str(root))
    assert files(root) == stored(lake)

    lake.put({f"data/d{number % 7}/{number:02}": None for number in range(0, COUNT, 3)})
    lake.put({f"data/d{number % 7}/{number:02}": "changed" for number in range(1, COUNT, 3)})
    lake.put({f"data/new/{number:02}": "new" for number in range(10)})
    killed.does("pull", str(root))
    assert files(root) == stored(lake)

    expected = files(root)
    for number, path in enumerate(sorted(expected)):
        if number % 3 == 0:
            (root / path).write_text("edited here")
            expected[path] = b"edited here"
        elif number % 3 == 1:
            (root / path).unlink()
            del expected[path]
    killed.does("commit", str(root), "-m", "x")
    assert files(root) == expected == stored(lake)

    killed.does("checkout", str(root), "--yes", "--ref", "lakefs://lake/c1")
    assert len(files(root)) == COUNT
    assert "No diff" in killed.does("status", str(root))
    assert killed.kills >= 4
    with suppress(FileNotFoundError):
        assert not any((root / ".graveler.partial").iterdir())
