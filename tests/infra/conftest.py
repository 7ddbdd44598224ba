import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from layers.graveler.archive import write_zip
from layers.graveler.build import FOLDER, copy_engine, layer_path
from tests.support.templates import Deployment

ROOT = Path(__file__).parents[2]

# Everything that a deployment may have, and a name of its own where it may have one.
PROD = {
    "alarm_email": "ops@example.com",
    "repository_bucket": "company-graveler",
    "namespaces": "s3://company-lake/lake/,s3://company-raw/r",
    "readable": "s3://company-source/in/",
    "exports": "s3://company-published/exports/",
    "bucket_keys": "arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000000",
    "domain_name": "lake.example.com",
    "certificate_arn": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000",
    "hosted_zone_id": "Z0123456789ABCDEFGHIJ",
    "cors_origins": "https://app.example.com",
    "gc_repositories": "lake,other",
    "gc_deletes": "false",
    "gc_outputs": "s3://company-reports/gc/",
    "dump_schedule": "rate(1 day)",
    "dump_place": "s3://company-backup/dumps/",
    "hook_functions": "check,arn:aws:lambda:eu-west-1:210987654321:function:theirs",
    "hook_buses": "lake-events",
    "hook_networks": "10.1.0.0/16,fd00::/8",
    "hook_secrets": "secrets-manager:lake/",
    "metrics": "operations",
}


# Fixtures behind which a synth stands.
_SYNTHS = {"deployment", "deployment_of"}


def synthesize(folder: Path, stage: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the app as `make synth` does, over a layer that holds no more than the engine."""
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(folder / "cdk.out"),
        "GRAVELER_BUILD": str(folder),
    }
    with tempfile.TemporaryDirectory() as layer:
        copy_engine(Path(layer) / FOLDER)
        write_zip(Path(layer), layer_path("arm64", folder))
    pairs = [f"{name}={value}" for name, value in given.items()]
    command = [sys.executable, "-m", "infra.synth", stage, *pairs]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs a synth, of many seconds, is not for the fast check."""
    for item in items:
        if _SYNTHS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.packages)


@pytest.fixture(scope="session")
def deployment_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., Deployment]:
    """A synth of a stage, made once for all workers of the test run."""
    if shutil.which("node") is None:
        pytest.fail("node is missing, and CDK runs on it; on Debian: apt install nodejs")
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent

    def made(stage: str, **given: str) -> Deployment:
        folder = shared / f"synth-{stage}-{crc32(json.dumps(given).encode()):08x}"
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done").exists():
                done = synthesize(folder, stage, **given)
                assert done.returncode == 0, done.stdout + done.stderr
                (folder / "done").touch()
        return Deployment(folder / "cdk.out", f"graveler-{stage}")

    return made


@pytest.fixture(scope="session")
def dev(deployment_of) -> Deployment:
    """The stage dev as cdk.json has it."""
    return deployment_of("dev")


@pytest.fixture(scope="session")
def prod(deployment_of) -> Deployment:
    """The stage prod with every setting set."""
    return deployment_of("prod", **PROD)


@pytest.fixture(params=["dev", "prod"])
def deployment(request) -> Deployment:
    """Either stage."""
    return request.getfixturevalue(request.param)
