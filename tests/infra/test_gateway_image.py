"""What the Dockerfile of the S3 gateway runs, without Docker: the same commands in a new venv."""

import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import boto3
import pytest

from graveler.aws.dynamodb.tables import _refs_description, _staging_description
from graveler_embedded.tcp_ports import free_port
from graveler_gateway.server.settings import ServerSettings
from layers.gateway.build import DOCKERFILE, REQUIREMENTS, write_folder
from layers.graveler.archive import find_compiler
from layers.graveler.build import PYTHON
from layers.graveler.wheels import REQUIREMENTS as OF_FUNCTIONS
from tests.support.servers.moto_server import empty_moto

TEXT = DOCKERFILE.read_text()

_START_MAX_S = 60


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", TEXT, re.MULTILINE)


def pinned(requirements: Path) -> set[str]:
    return set(re.findall(r"^[\w.-]+==\S+", requirements.read_text(), re.MULTILINE))


def test_the_image_has_the_python_of_the_functions():
    assert instructions("FROM") == [f"python:{PYTHON}-slim-bookworm"]


def test_the_image_has_the_wheels_of_the_functions_and_those_of_the_gateway():
    more = {each.partition("==")[0] for each in pinned(REQUIREMENTS) - pinned(OF_FUNCTIONS)}
    assert pinned(OF_FUNCTIONS) <= pinned(REQUIREMENTS)
    assert more == {"anycrc"}


def test_wheels_are_installed_by_their_hashes_alone():
    install = instructions("RUN")[0].split()
    assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} <= set(install)
    for line in REQUIREMENTS.read_text().splitlines():
        assert line.startswith("    --hash=sha256:") or line.endswith(" \\"), line


def test_the_program_is_nobodys():
    (user,) = instructions("USER")
    assert user.partition(":")[0] not in {"0", "root"}
    # After all that writes to the image.
    assert TEXT.index("USER ") > max(TEXT.rindex("RUN "), TEXT.rindex("COPY "))


def test_docker_asks_the_port_at_which_the_program_listens():
    (asks,) = instructions("HEALTHCHECK")
    port = ServerSettings.from_environment({}).port
    assert f"http://127.0.0.1:{port}/_health" in asks
    assert instructions("EXPOSE") == [str(port)]


def test_the_image_is_built_of_the_same_files_each_time(tmp_path):
    def files(folder: Path) -> dict[str, bytes]:
        write_folder(folder)
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert "graveler_gateway/__main__.py" in files(tmp_path / "one")


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> tuple[Path, Path]:
    """The folder of the image, after its commands ran, and the Python that ran them."""
    root = tmp_path_factory.mktemp("image")
    folder = root / "folder"
    write_folder(folder)
    creator = find_compiler(PYTHON) or sys.executable
    subprocess.run([creator, "-m", "venv", root / "venv"], check=True)
    python = root / "venv" / "bin" / "python"
    for command in instructions("RUN"):
        words = shlex.split(command)
        assert words[0] == "python"
        subprocess.run([python, *words[1:]], cwd=folder, check=True, capture_output=True)
    return folder, python


@pytest.fixture
def stores() -> Iterator[str]:
    """The endpoint of a DynamoDB that has both tables, and of a Secrets Manager with a secret."""
    with empty_moto() as endpoint:
        session = boto3.Session("AKIATEST", "test", region_name="eu-west-1")
        dynamodb = session.client("dynamodb", endpoint_url=endpoint)
        dynamodb.create_table(**_refs_description("refs"))
        dynamodb.create_table(**_staging_description("staging"))
        secrets = session.client("secretsmanager", endpoint_url=endpoint)
        secrets.create_secret(
            Name="cipher", SecretString="a secret of the tests: not chosen at random"
        )
        yield endpoint
        dynamodb.close()
        secrets.close()


def health(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/_health")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@pytest.mark.packages
def test_the_installed_program_answers_and_ends_when_it_is_asked_to(image, stores, tmp_path):
    folder, python = image
    port = free_port()
    environment = {
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL_SECRETS_MANAGER": stores,
        "GRAVELER_CIPHER_SECRET_ARN": "cipher",
        "GRAVELER_DYNAMODB_ENDPOINT": stores,
        "GRAVELER_FILE_CACHE_FOLDER": str(tmp_path / "cache"),
        "GRAVELER_REFS_TABLE": "refs",
        "GRAVELER_STAGING_TABLE": "staging",
        "GRAVELER_GATEWAY_PORT": str(port),
        "PYTHONUNBUFFERED": "1",
    }
    log = (tmp_path / "log").open("w+")
    program = subprocess.Popen(
        [python, "-m", "graveler_gateway"], cwd=folder, env=environment, stdout=log, stderr=log
    )
    try:
        for _ in range(_START_MAX_S * 10):
            if health(port) == 200 or program.poll() is not None:
                break
            time.sleep(0.1)
        assert health(port) == 200, (tmp_path / "log").read_text()
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=30) == 0
    finally:
        program.kill()
        program.wait()
        log.close()


@pytest.mark.packages
def test_the_installed_code_has_bytecode_that_needs_no_sources_times(image):
    folder, _ = image
    for package in ("graveler", "graveler_gateway"):
        compiled = list((folder / package).rglob("*.pyc"))
        assert len(compiled) == len(list((folder / package).rglob("*.py")))
        # PEP 552: the flags say that the file is by hash, and is not checked.
        assert {path.read_bytes()[4:8] for path in compiled} == {b"\x01\x00\x00\x00"}
