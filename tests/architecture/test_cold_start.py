"""A start of a function imports what frequent requests need, and no more.

Users wait for it: `python -m bench.layer` measures it, and docs/deploy.md has the figures.
"""

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from tests.architecture.test_portability import ROOT

# What a handler imports. Those behind the HTTP API also connect to the stores.
MODULES = {
    "api": "graveler_functions.api.app, graveler_functions.http.rest_api, graveler_functions.api.settings, graveler.aws.wiring",
    "iceberg": "graveler_functions.iceberg.app, graveler_functions.http.rest_api, graveler_functions.iceberg.settings, graveler.aws.wiring",
    **{
        name: f"graveler_functions.{name}.handler"
        for name in ("cleanup", "events", "export", "slices", "tasks")
    },
}
# Of all packages together, with the standard library. More is a decision: raise it knowingly.
MODULES_MAX = {
    "api": 830,
    "cleanup": 570,
    "events": 570,
    "export": 680,
    "iceberg": 780,
    "slices": 600,
    "tasks": 740,
}

# What libraries import if they are imported another way: boto3 brings in S3 transfers, which bring
# in multiprocessing.
UNUSED = {
    "boto3",
    "s3transfer",
    "multiprocessing",
    "xml.sax",
    "pydantic",
    "aws_xray_sdk",
    "requests",
}
RARE = {
    "graveler_functions.api.openapi",
    "graveler_functions.api.all_operations",
    "graveler_functions.api.routes.dumps",
    "graveler_functions.api.routes.policies",
    "graveler.http.schemas.exports",
    "graveler.http.schemas.imports",
    "graveler.http.schemas.policies",
    "graveler.dump.files",
    "graveler.operations.exports.run",
    "graveler.operations.imports",
}
PROGRAM = """
import gc, json, sys
sys.modules["backports.zstd"] = None  # the jobs' alone, but urllib3 would take it
before = len(sys.modules)
from graveler_functions.cold_start import without_garbage_collection
phases = []
with without_garbage_collection():
    gc.callbacks.append(lambda phase, _: phases.append(phase))
    import {modules}
collections = len(phases)
modules = sorted(sys.modules)
kept = [[] for _ in range(10_000)]
print(json.dumps([modules, len(modules) - before, collections, len(phases), gc.get_freeze_count()]))
"""


@cache
def start(name: str) -> tuple[set[str], int, int, int, int]:
    """The imported modules, their number, collections of the start and after, frozen objects."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    program = PROGRAM.format(modules=MODULES[name])
    command = [sys.executable, "-X", "utf8", "-c", program]
    found = json.loads(subprocess.check_output(command, env=environment, cwd=ROOT))
    return set(found[0]), *found[1:]


@pytest.mark.parametrize("name", MODULES)
def test_a_start_imports_no_library_that_nothing_uses(name: str) -> None:
    assert start(name)[0] & UNUSED == set()


def test_a_start_of_the_api_leaves_rare_operations_until_they_are_asked_for() -> None:
    modules = start("api")[0]
    assert "aws_lambda_powertools.utilities.batch" not in modules
    assert modules & RARE == set()
    assert {"graveler_functions.api.routes.objects", "graveler.operations.commits"} <= modules


@pytest.mark.parametrize("name", MODULES)
def test_a_start_imports_few_modules(name: str) -> None:
    assert start(name)[1] <= MODULES_MAX[name]


@pytest.mark.parametrize("name", MODULES)
def test_a_start_collects_no_garbage_but_its_requests_do(name: str) -> None:
    _, _, during, after, frozen = start(name)
    assert during == 0
    assert after > 0
    assert frozen > 10_000


def test_the_web_page_starts_with_the_standard_library_alone() -> None:
    """Its archive has no layer, and a first visit waits for its start."""
    program = "import sys; import graveler_functions.web.handler; print(*sys.modules)"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-S", "-c", program]
    modules = subprocess.check_output(command, env=environment, cwd=ROOT, text=True).split()
    roots = {name.partition(".")[0] for name in modules}
    assert roots - sys.stdlib_module_names <= {"__main__", "graveler_functions", "graveler"}
    ours = {name for name in modules if name.startswith(("functions.", "graveler."))}
    beside = {name for name in ours if not name.startswith("graveler_functions.web")}
    assert beside == {"graveler.http", "graveler.http.s3_requests"}
    assert len(modules) < 200


def test_what_is_named_here_exists() -> None:
    known = {name.split(".")[0] for name in RARE}
    assert known == {"graveler_functions", "graveler"}
    for name in RARE:
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").is_file() or path.is_dir(), name
