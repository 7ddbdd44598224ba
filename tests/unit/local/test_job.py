"""LocalGlue started by hand find the running stack, or say why not."""

import fcntl
import sys
from pathlib import Path

import msgspec
import pytest

from graveler_embedded.config import ENVIRONMENT
from graveler_embedded.job import command, environment_of_stack
from graveler_embedded.processes import StartError


def test_a_job_gets_its_words() -> None:
    words = command(["garbage-collection", "--repository", "lake"])
    expected = [sys.executable, "-m", "graveler_jobs.garbage_collection", "--repository", "lake"]
    assert words == expected


def test_a_job_without_spark_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graveler_embedded.job.find_spec", lambda _name: None)
    with pytest.raises(StartError, match="pip install"):
        command(["export", "--repository", "lake"])


@pytest.mark.parametrize("words", [[], ["garbage_collection"], ["../x"], ["--help"]])
def test_an_unknown_job_names_those_that_there_are(words: list[str]) -> None:
    with pytest.raises(StartError, match=r"export\|garbage-collection"):
        command(words)


def test_the_environment_is_that_of_the_running_stack(tmp_path: Path) -> None:
    (tmp_path / ENVIRONMENT).write_bytes(msgspec.json.encode({"NAME": "value"}))
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert environment_of_stack(tmp_path) == {"NAME": "value"}


def test_a_stack_that_was_killed_does_not_run(tmp_path: Path) -> None:
    (tmp_path / ENVIRONMENT).write_bytes(b"{}")
    with pytest.raises(StartError, match="graveler serve"):
        environment_of_stack(tmp_path)


def test_a_starting_stack_is_not_found_yet(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StartError, match="graveler serve"):
            environment_of_stack(tmp_path)
