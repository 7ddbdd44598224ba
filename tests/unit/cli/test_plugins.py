"""Plugins: executables in PATH that are commands."""

import json

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that is all of PATH, and holds two plugins."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("graveler-hello", "lakectl-hello", "lakectl-other-one"):
        file = tmp_path / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/ran\nexit 7\n')
        file.chmod(0o755)
    (tmp_path / "lakectl-plain").write_text("no program")
    (tmp_path / "lakectl-folder").mkdir()
    return tmp_path


def ran(folder):
    return (folder / "ran").read_text()


def test_an_unknown_command_is_the_plugin_of_that_name(graveler, folder):
    words = ("hello", "--json", "-h", "--", "a b", "--x=1")
    assert graveler.run(*words).exit_code == 7
    assert ran(folder) == "graveler-hello --json -h -- a b --x=1\n"


def test_plugins_of_lakectl_work(graveler, folder):
    assert graveler.run("other-one").exit_code == 7
    assert ran(folder) == "lakectl-other-one \n"


def test_a_plugin_gets_the_program_s_options(graveler, folder):
    (folder / "lakectl-hello").write_text("")
    (folder / "graveler-hello").write_text(
        f'#!/bin/sh\necho "$LAKECTL_CONFIG_FILE $LAKECTL_BASE_URI" > {folder}/ran\n'
    )
    graveler.run("-c", "my.yaml", "--base-uri", "lakefs://foo/", "hello")
    assert ran(folder) == "my.yaml lakefs://foo/\n"


@pytest.mark.parametrize("name", ["none", "plain", "folder", "../hello"])
def test_what_is_no_plugin_is_no_command(graveler, folder, name):
    assert f"no such command '{name}'" in graveler.fails(name)
    assert not (folder / "ran").exists()


def test_plugins_do_not_replace_commands(graveler, folder, server):
    file = folder / "graveler-identity"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    server.will_answer({"user": {"id": "ada"}})
    assert "ada" in graveler.prints("identity")


def test_plugin_list_shows_plugins_by_name(graveler, folder):
    assert graveler.prints("plugin", "list") == "Available plugins:\n  hello\n  other-one\n"
    lines = graveler.prints("plugin", "list", "--json").splitlines()
    assert json.loads(lines[0]) == {"name": "hello", "path": str(folder / "graveler-hello")}


def test_a_plugin_s_own_flags_stay_as_they_are_written(graveler, folder):
    graveler.run("-c", "my.yaml", "--no-color=true", "hello", "--no-color=true", "--json=1")
    assert ran(folder) == "graveler-hello --no-color=true --json=1\n"


def test_plugin_list_without_plugins_says_so_on_standard_error(graveler, tmp_path):
    found = graveler.run("plugin", "list", PATH=str(tmp_path / "none"))
    assert (found.exit_code, found.stdout) == (0, "")
    assert found.stderr == "No plugins found in your PATH.\n"


def test_plugin_list_takes_no_argument(graveler):
    assert "extra" in graveler.fails("plugin", "list", "extra")
