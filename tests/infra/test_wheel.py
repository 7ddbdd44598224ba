"""What the wheel installs: the command line, and with the extra `serve` the whole system."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from graveler.version import VERSION
from graveler_embedded.fetching import fetch
from graveler_embedded.jars import SERVED, cache_folder
from graveler_embedded.processes import Child
from graveler_embedded.tcp_ports import free_port
from layers import requirements
from layers.graveler import wheels
from tests.architecture.test_portability import tracked_files
from tests.infra.conftest import ROOT

PACKAGES = (
    "graveler",
    "graveler_cli",
    "graveler_embedded",
    "graveler_functions",
    "graveler_gateway",
    "graveler_jobs",
)
SERVER_ONLY = (
    "boto3",
    "botocore",
    "pynamodb",
    "google.protobuf",
    "cramjam",
    "aws_lambda_powertools",
)


def names(lines) -> set[str]:
    return {line.partition("=")[0].partition(">")[0].partition("[")[0] for line in lines}


def test_the_layers_requirements_are_those_of_the_server_alone():
    pinned = names(wheels.REQUIREMENTS.read_text().splitlines())
    assert names(requirements.of_extra("server")) <= pinned
    assert pinned & {"click", "rich", "pydantic", "lakefs", "lakefs-sdk"} == set()


def test_the_gateway_has_what_the_server_has_and_more():
    more = set(requirements.of_extra("gateway")) - set(requirements.of_extra("server"))
    assert names(more) == {"anycrc"}


def test_documents_name_the_wheel_that_make_wheel_builds():
    pages = {name: (ROOT / name).read_text() for name in tracked_files() if name.endswith(".md")}
    wheel = re.compile(r"graveler-([\d.]+)-py3-none-any\.whl")
    named = {page: set(wheel.findall(text)) for page, text in pages.items() if wheel.search(text)}
    assert named
    assert {page for page, versions in named.items() if versions != {VERSION}} == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, because setuptools writes beside its sources.
    source = folder / "source"
    for name in PACKAGES:
        no_bytecode = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=no_bytecode)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder]
    subprocess.run([*pip, source], check=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel, tmp_path_factory) -> Path:
    """The program `graveler` in an environment that has the wheel, and no extra."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    return folder / "bin" / "graveler"


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The URL of a server that has one branch."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = json.dumps(
                {
                    "pagination": {"has_more": False, "next_offset": "", "results": 1},
                    "results": [{"id": "main", "commit_id": "c1"}],
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def run(program: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # Not in the checkout, whose packages would be found first.
    return subprocess.run(
        [program, *args],
        cwd=program.parent,
        env={"PATH": os.environ["PATH"], "HOME": str(program.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.packages
def test_the_wheel_has_what_a_client_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
        names = set(archive.namelist())
    assert {each for each in folders if not each.endswith(".dist-info")} == set(PACKAGES)
    data = (
        "graveler_functions/web/page/index.html",
        "graveler_embedded/jars.txt",
        "graveler_embedded/launcher/launcher.jar",
    )
    assert names >= set(data)


@pytest.mark.packages
def test_the_wheel_has_the_licence_and_the_version_of_the_program(wheel, program):
    with zipfile.ZipFile(wheel) as archive:
        folder = f"graveler-{VERSION}.dist-info"
        licence = archive.read(f"{folder}/licenses/LICENSE")
        about = archive.read(f"{folder}/METADATA").decode().splitlines()
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert "License-Expression: Apache-2.0" in about
    assert run(program, "--version").stdout == f"graveler version: {VERSION}\n"


@pytest.mark.packages
def test_the_program_works_without_the_packages_of_a_server(program, endpoint):
    python = program.with_name("python")
    for name in SERVER_ONLY:
        found = subprocess.run([python, "-c", f"import {name}"], check=False, capture_output=True)
        assert b"ModuleNotFoundError" in found.stderr
    assert "branch" in run(program, "--help").stdout
    listed = run(
        program,
        *("branch", "list", "lakefs://lake"),
        LAKECTL_SERVER_ENDPOINT_URL=endpoint,
        LAKECTL_CREDENTIALS_ACCESS_KEY_ID="key",
        LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY="secret",
    )
    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "main\tc1\n\n", "")


@pytest.mark.packages
def test_action_files_are_checked_without_the_packages_of_a_server(program, tmp_path):
    file = tmp_path / "action.yaml"
    file.write_text("name: gate\non: {pre-commit: {branches: [m*]}}\n")
    ended = run(program, "actions", "validate", str(file))
    assert (ended.stdout, ended.stderr) == (f"File validated successfully: '{file}'\n", "")


@pytest.mark.packages
def test_the_wheel_has_a_plugin_that_is_lakectl_s_command_export(program):
    ended = run(program.with_name("lakectl-export"), "get", "lake")
    assert ended.returncode == 1
    assert "lake" in ended.stderr
    assert ended.stderr == run(program, "export", "get", "lake").stderr


@pytest.mark.packages
@pytest.mark.parametrize(
    ("args", "extra"),
    [
        (("gateway",), "gateway"),
        (("doctor", "--deployment", "x"), "server"),
        (("serve",), "serve"),
    ],
)
def test_a_command_that_needs_more_says_what_to_install(program, args, extra):
    ended = run(program, *args)
    assert ended.returncode == 1
    remedy = f"install the extra '{extra}' (docs/cli.md, Installation)"
    assert ended.stderr.endswith(f" is not installed: {remedy}\n")
    assert ended.stderr.count("\n") == 1


@pytest.mark.packages
@pytest.mark.server
def test_the_whole_system_runs_from_the_wheel_without_java_checkout_or_network(wheel, tmp_path):
    fetch(SERVED, print)
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pinned = ("--constraint", ROOT / "requirements.txt")
    # -I, so that pip sees no package of this process.
    pip = [folder / "bin" / "python", "-I", "-m", "pip", "install", "--quiet", *pinned]
    subprocess.run([*pip, f"{wheel}[serve]"], check=True)
    # Nothing of the folder that it starts in is imported, whatever its name is.
    started_in = tmp_path / "of the user"
    started_in.mkdir()
    for name in (*PACKAGES, "json", "logging"):
        (started_in / f"{name}.py").write_text("raise SystemExit('a module of the user')")
    port = free_port()
    log = tmp_path / "log"
    command = (folder / "bin" / "graveler", "serve", "--data", "data", "--port", str(port))
    stack = Child(
        "graveler serve",
        (*command, "--s3-port", "0"),
        log,
        {
            "PATH": str(tmp_path),
            "HOME": str(tmp_path),
            "GRAVELER_JARS": str(cache_folder()),
            "GRAVELER_MAVEN_URL": "http://127.0.0.1:1",
        },
        started_in,
    )
    try:
        stack.wait_until(lambda: "Graveler is ready." in log.read_text())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
            assert b"<html" in page.read()
        exported = re.findall(r"(\w+)=(\S+)", log.read_text())
        listed = run(folder / "bin" / "graveler", "repo", "list", **dict(exported))
        assert (listed.returncode, listed.stderr) == (0, "")
        assert (started_in / "data" / "keys.json").exists()
    finally:
        assert stack.stop(timeout_s=60) == 0
