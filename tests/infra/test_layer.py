"""The layer as it is deployed: the same bytes each time, small, and enough for every handler.

Built for this machine, so that it can be tried; `make layer` builds the same for Lambda.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import boto3
import pytest

from graveler.aws.dynamodb.tables import _refs_description, _staging_description
from infra.packages import function_code
from layers.graveler import build, service_models, wheels
from layers.graveler.archive import copy_sources, find_compiler, write_zip
from layers.jobs import build as jobs
from tests.infra.conftest import ROOT
from tests.infra.test_functions import FOLDERS
from tests.support.fakes.function_events import ANSWERS, EVENTS
from tests.support.servers.moto_server import empty_moto
from tests.support.servers.runtime import ARCHITECTURE, interpreter

pytestmark = pytest.mark.packages

PYTHON, VERSION = interpreter()

# What Lambda does: the function's code and the layer on the path, the handler by its name.
CALL = """
import importlib, json, sys, types
code, layer, event = sys.argv[1:]
sys.path[:0] = [code, layer]
name = sys.stdin.read()
module = importlib.import_module(f"graveler_functions.{name}.handler")
context = types.SimpleNamespace(
    function_name=name, memory_limit_in_mb=512, invoked_function_arn="arn", aws_request_id="r-1",
    get_remaining_time_in_millis=lambda: 100_000,
)
answer = module.handler(json.loads(event), context)
foreign = sorted(
    module.__file__ for module in list(sys.modules.values())
    if getattr(module, "__file__", None) and "site-packages" in module.__file__
)
print(json.dumps([answer, foreign]))
"""


@pytest.fixture(scope="module")
def unpacked(layer, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("opt")
    with zipfile.ZipFile(layer) as archive:
        archive.extractall(folder)
    return folder / build.FOLDER


# Another machine: other permissions, language, time zone, home, folder of temporary files, seed of
# hashes, and settings of Python and pip that change what they write.
ELSEWHERE = {
    "LC_ALL": "C",
    "TZ": "Asia/Tokyo",
    "PYTHONHASHSEED": "7",
    "PYTHONOPTIMIZE": "2",
    "PYTHONUTF8": "0",
    "PIP_COMPILE": "1",
}


def build_elsewhere(program, folder):
    temporary = folder / "a longer name of the folder of temporary files"
    temporary.mkdir()
    elsewhere = {"HOME": str(folder), "TMPDIR": str(temporary), "GRAVELER_BUILD": str(folder)}
    # Permissions of which nobody else may read anything.
    command = ["sh", "-c", 'umask 077; exec "$0" -c "$1"', sys.executable, program]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **ELSEWHERE, **elsewhere}, check=True)


def test_another_machine_builds_the_same_layer(layer, tmp_path):
    program = f"""
from layers.graveler import build
build.build({ARCHITECTURE!r}, None, {VERSION!r}, {PYTHON!r})
"""
    build_elsewhere(program, tmp_path)
    assert build.layer_path(ARCHITECTURE, tmp_path).read_bytes() == layer.read_bytes()


def test_another_machine_packs_the_same_functions(tmp_path):
    archives = {name: Path(function_code(name)).read_bytes() for name in FOLDERS}
    program = f"from infra.packages import function_code; [function_code(n) for n in {FOLDERS!r}]"
    build_elsewhere(program, tmp_path)
    for name, content in archives.items():
        assert (tmp_path / f"graveler-function-{name}.zip").read_bytes() == content, name


@pytest.mark.long
def test_another_machine_builds_the_same_archive_of_the_jobs(jobs_archive, tmp_path):
    program = (
        "import platform; from layers.jobs import build; build.build(None, platform.machine())"
    )
    build_elsewhere(program, tmp_path)
    assert jobs.jobs_path(tmp_path).read_bytes() == jobs_archive.read_bytes()


def test_functions_have_bytecode_of_their_runtime_that_names_where_they_run():
    if find_compiler(build.PYTHON) is None:
        pytest.skip(f"python{build.PYTHON} is not installed")
    with zipfile.ZipFile(function_code("api")) as archive:
        names = set(archive.namelist())
        sources = [name for name in names if name.endswith(".py")]
        for name in sources:
            folder, _, module = name.rpartition("/")
            compiled = f"{folder}/__pycache__/{module.removesuffix('.py')}.cpython-313.pyc"
            content = archive.read(compiled)
            assert content[4:8] == (1).to_bytes(4, "little"), name  # by hash, unchecked
            assert f"/var/task/{name}".encode() in content


def test_any_reader_unpacks_an_archive(layer):
    """The archives are written by code of our own, because builds of zlib differ."""
    with zipfile.ZipFile(layer) as archive:
        assert archive.testzip() is None
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {each.external_attr >> 16 for each in archive.infolist()} == {0o100644}
        names = archive.namelist()
    assert names == sorted(names)


@pytest.mark.parametrize("architecture", build.ARCHITECTURES)
def test_the_layer_for_lambda_is_small_and_compiled_for_its_processor(
    architecture, layer, tmp_path
):
    if (architecture, VERSION) != (ARCHITECTURE, build.PYTHON):
        build.build(architecture, tmp_path)
        layer = build.layer_path(architecture, tmp_path)
    with zipfile.ZipFile(layer) as archive:
        assert sum(each.file_size for each in archive.infolist()) < build.UNPACKED_BYTES_MAX
        libraries = [name for name in archive.namelist() if name.endswith(".so")]
        listed = archive.read(f"{build.FOLDER}/{wheels.LICENCES}").decode().splitlines()
        machines = {
            int.from_bytes(archive.read(name)[18:20], "little")  # e_machine of ELF
            for name in libraries
        }
    assert machines == {{"arm64": 183, "x86_64": 62}[architecture]}
    modules = {name.split("/")[1].partition(".")[0] for name in libraries}
    assert modules == {
        *("_cffi_backend", "cramjam", "cryptography", "google", "google_crc32c"),
        *("httptools", "msgspec", "re2", "yaml"),
    }
    assert all(".cpython-313-" in name or ".abi3." in name for name in libraries)
    pinned = re.findall(r"^([a-z0-9-]+)==", wheels.REQUIREMENTS.read_text(), re.MULTILINE)
    assert {re.sub("[_.]", "-", line.split()[0]).lower() for line in listed} == set(pinned)
    assert not [line for line in listed if line.endswith("unknown")]


def test_the_layer_has_the_text_of_each_licence(unpacked):
    assert (unpacked / "graveler" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    packages = list(unpacked.glob("*.dist-info"))
    assert len(packages) > 10
    texts = {folder.name: list(folder.rglob("LICEN[CS]E*")) for folder in packages}
    assert [name for name, found in texts.items() if not found] == []


def test_the_layer_has_only_services_that_are_called(unpacked):
    data = unpacked / "botocore" / "data"
    assert {path.name for path in data.iterdir() if path.is_dir()} == service_models.SERVICES
    assert not (unpacked / "bin").exists()
    assert not list(unpacked.glob("pyspark*"))


# What requests depend on: each service's endpoints, operations, and the shapes of both ways.
KNOWN = """
import json, sys
sys.path[:0] = sys.argv[1:]
from botocore.session import Session

def of(shape, depth=0):
    if shape is None or depth > 3:
        return None
    inner = getattr(shape, "members", {}) if shape.type_name == "structure" else {}
    names = {name: of(member, depth + 1) for name, member in inner.items()}
    return [shape.type_name, shape.serialization, shape.metadata, names]

session, known = Session(), {}
for service in sys.stdin.read().split():
    for region in ("us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1"):
        client = session.create_client(
            service, region_name=region, aws_access_key_id="a", aws_secret_access_key="b"
        )
        known[f"{service} in {region}"] = [
            client.meta.endpoint_url, client._request_signer._signing_name, client.meta.region_name
        ]
    parameters = client.meta.service_model.client_context_parameters
    known[service] = [(each.name, each.type) for each in parameters]
    for name in client.meta.service_model.operation_names:
        operation = client.meta.service_model.operation_model(name)
        shapes = [of(operation.input_shape), of(operation.output_shape)]
        known[f"{service}.{name}"] = [operation.http, operation.has_streaming_output, shapes]
print(json.dumps(known, sort_keys=True, default=str))
"""


def test_clients_of_the_layer_know_what_those_of_the_whole_botocore_know(unpacked):
    def known(*path: Path) -> dict[str, Any]:
        command = [sys.executable, "-c", KNOWN, *map(str, path)]
        wanted = " ".join(sorted(service_models.SERVICES))
        return json.loads(subprocess.check_output(command, input=wanted, text=True))

    cut, whole = known(unpacked), known()
    assert cut.keys() == whole.keys()
    assert [name for name in whole if cut[name] != whole[name]] == []
    assert len(whole) > 900


def test_the_layer_has_no_documentation_of_services(unpacked):
    data = unpacked / "botocore" / "data"
    models = [path.read_text() for path in data.glob("*/*/service-2.json")]
    assert len(models) >= len(service_models.SERVICES)
    assert not [text[:100] for text in models if re.search(r'"documentation":"[^"]', text)]
    endpoints = json.loads((data / "endpoints.json").read_text())
    named = {name for each in endpoints["partitions"] for name in each["services"]}
    assert named <= service_models.SERVICES


def test_the_layers_bytecode_names_its_installed_path(unpacked):
    sources = {path.stem for path in (unpacked / "graveler").glob("*.py")}
    compiled = list((unpacked / "graveler" / "__pycache__").glob("*.pyc"))
    assert {path.name.split(".")[0] for path in compiled} == sources
    assert b"/opt/python/graveler/" in compiled[0].read_bytes()
    flags = compiled[0].read_bytes()[4:8]
    assert flags == (1).to_bytes(4, "little")  # by hash, unchecked


@pytest.fixture(scope="module")
def aws():
    """Moto's DynamoDB and KMS, with the tables and the key of a deployment."""
    with empty_moto() as endpoint:
        yield _deployed(endpoint)


def _deployed(endpoint: str) -> dict[str, str]:
    """Create the tables and the key; return the environment of the functions."""
    keys = {
        "AWS_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "c2VjcmV0IG9mIG5vYm9keQ",
    }
    session = boto3.Session(
        keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"], region_name="eu-west-1"
    )
    dynamodb = session.client("dynamodb", endpoint_url=endpoint)
    dynamodb.create_table(**_refs_description("refs"))
    dynamodb.create_table(**_staging_description("staging"))
    key = session.client("kms", endpoint_url=endpoint).create_key()["KeyMetadata"]["KeyId"]
    return {
        **keys,
        "GRAVELER_REFS_TABLE": "refs",
        "GRAVELER_STAGING_TABLE": "staging",
        "GRAVELER_KMS_KEY_ID": key,
        "GRAVELER_EVENT_BUS": "graveler",
        "GRAVELER_HOOK_QUEUE_URL": f"{endpoint}/hooks",
        "GRAVELER_DYNAMODB_ENDPOINT": endpoint,
        "AWS_ENDPOINT_URL_KMS": endpoint,
    }


@pytest.mark.parametrize("name", FOLDERS)
def test_a_handler_answers_its_trigger_with_the_layer_and_its_code_alone(
    name, aws, unpacked, tmp_path
):
    with zipfile.ZipFile(function_code(name)) as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(
        [PYTHON, "-I", "-S", "-c", CALL, tmp_path, unpacked, json.dumps(EVENTS[name])],
        input=name,
        env={**aws, "GRAVELER_FILE_CACHE_FOLDER": str(tmp_path / "cache")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer, foreign = json.loads(done.stdout.splitlines()[-1])
    assert ANSWERS[name](answer), (answer, done.stdout)
    assert foreign == []


def test_every_client_works_with_the_services_left_in_botocore(unpacked):
    program = """
import sys
sys.path[:0] = [sys.argv[1]]
from functools import cached_property
from graveler.aws.connect import Clients
from graveler.aws.settings import DeploymentSettings
settings = DeploymentSettings(region="eu-west-1", refs_table="refs", staging_table="staging")
clients = Clients(settings)
clients.dynamodb()
clients.hook_functions(1.0)
members = [name for name, each in vars(Clients).items() if isinstance(each, cached_property)]
assert len(members) > 8, members
for name in members:
    getattr(clients, name)
"""
    environment = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "x"}
    command = [PYTHON, "-I", "-S", "-c", program, unpacked]
    subprocess.run(command, env=environment, check=True)


def test_a_layer_of_other_sources_is_noticed(tmp_path):
    build.copy_engine(tmp_path / build.FOLDER)
    layer = tmp_path / "layer.zip"
    write_zip(tmp_path / build.FOLDER, tmp_path / "wrong.zip")
    assert not build.is_current(tmp_path / "wrong.zip")
    (tmp_path / "wrong.zip").unlink()
    write_zip(tmp_path, layer)
    assert build.is_current(layer)
    copy_sources(Path(__file__), tmp_path / build.FOLDER / "graveler" / "new.py")
    layer.unlink()
    write_zip(tmp_path, layer)
    assert not build.is_current(layer)


def test_a_missing_interpreter_is_not_found():
    assert find_compiler(VERSION) is not None
    assert find_compiler("2.6") is None
