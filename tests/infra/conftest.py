import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from layers.graveler.archive import compile_sources, write_zip
from layers.graveler.build import FOLDER, copy_engine, layer_path
from layers.jobs.build import copy_jobs, jobs_path
from tests.support.templates import Deployment

ROOT = Path(__file__).parents[2]

# Everything that a deployment may have, and a name of its own where it may have one.
PROD = {
    "alarm_email": "ops@example.com",
    "repository_bucket": "company-graveler",
    "namespaces": "s3://company-lake/lake/,s3://company-raw/r",
    "readable": "s3://company-source/in/",
    "exports": "s3://company-published/exports/",
    "bucket_keys": (
        "arn:aws:kms:eu-west-1:210987654321:key/0a1b2c3d-0000-0000-0000-000000000000,"
        "arn:aws:kms:us-east-1:210987654321:key/mrk-0a1b2c3d000000000000000000000000"
    ),
    "asset_key": "arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000001",
    "domain_name": "lake.example.com",
    "certificate_arn": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000",
    "hosted_zone_id": "Z0123456789ABCDEFGHIJ",
    "cors_origins": "https://app.example.com",
    "bucket_origins": "https://elsewhere.s3.us-west-2.amazonaws.com",
    "gc_repositories": "lake,other",
    "gc_deletes": "false",
    "gc_deletions_max": "0",
    "gc_outputs": "s3://company-reports/gc/",
    "dump_schedule": "rate(1 day)",
    "dump_place": "s3://company-backup/dumps/",
    "hook_functions": "check,arn:aws:lambda:eu-west-1:210987654321:function:theirs",
    "hook_buses": "lake-events",
    "hook_networks": "10.1.0.0/16,fd00::/8",
    "hook_secrets": "secrets-manager:lake/",
    "metrics": "operations",
    "monthly_budget_usd": "100",
    "vpc_subnets": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
    "vpc_security_groups": "sg-0123456789abcdef0",
    "provisioned_concurrency": "3",
    "tags": "team=lake,cost centre=42",
    "permissions_boundary": "arn:aws:iam::123456789012:policy/company-boundary",
}

# The S3 gateway, with all that it may have in a VPC of its own.
GATEWAY = {
    "gateway": "public",
    "gateway_domain": "s3.example.com",
    "gateway_certificate_arn": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000001",
    "gateway_clients": "192.0.2.0/24,2001:db8::/32",
    "gateway_cpu": "2048",
    "gateway_tasks_min": "3",
    "gateway_tasks_max": "12",
}

# Fixtures behind which a synth stands.
_SYNTHS = {"deployment", "deployment_of"}


def make_archives(folder: Path, *, compiled: bool = True) -> None:
    """Make the archives of a synth: a layer with no more than the engine, and the jobs."""
    with tempfile.TemporaryDirectory() as layer:
        copy_engine(Path(layer) / FOLDER)
        if compiled:
            compile_sources(Path(layer), "/opt", sys.executable)
        write_zip(Path(layer), layer_path("arm64", folder))
    with tempfile.TemporaryDirectory() as jobs:
        copy_jobs(Path(jobs))
        write_zip(Path(jobs), jobs_path(folder))


def synthesize(
    folder: Path, stage: str, module: str = "infra.synth", *, compiled: bool = True, **given: str
) -> subprocess.CompletedProcess[str]:
    """Run the app as `make synth` does, over archives that hold no more than this checkout's code."""
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(folder / "cdk.out"),
        "GRAVELER_BUILD": str(folder),
    }
    make_archives(folder, compiled=compiled)
    pairs = [f"{name}={value}" for name, value in given.items()]
    command = [sys.executable, "-m", module, stage, *pairs]
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

    def made(stage: str, **given: Any) -> Deployment:
        folder = shared / f"synth-{stage}-{crc32(json.dumps(given).encode()):08x}"
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "done").exists():
                done = synthesize(folder, stage, **given)
                assert done.returncode == 0, done.stdout + done.stderr
                (folder / "done").touch()
        return Deployment(folder / "cdk.out", given.get("name", f"graveler-{stage}"))

    return made


@pytest.fixture(scope="session")
def dev(deployment_of) -> Deployment:
    """The stage dev as cdk.json has it."""
    return deployment_of("dev")


@pytest.fixture(scope="session")
def prod(deployment_of) -> Deployment:
    """The stage prod with every setting set, and the S3 gateway."""
    return deployment_of("prod", **PROD, **GATEWAY)


@pytest.fixture(params=["dev", "prod"])
def deployment(request) -> Deployment:
    """Either stage."""
    return request.getfixturevalue(request.param)
