"""All shapes synthesize, and pass the checks of AWS and of CloudFormation."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.conftest import ROOT, make_archives
from tests.support.worlds.shapes import SHAPES

# Those that have all kinds of resources, in every form that settings give them.
CHECKED = (
    "dev",
    "prod",
    "economy",
    "economy-gateway",
    "wide",
    "private",
    "guarded",
    "cloudfront",
    "other",
)


@pytest.mark.parametrize("name", SHAPES)
def test_a_synth_passes_every_rule_that_is_not_broken_with_a_reason(deployment_of, name):
    report = json.loads((deployment_of(name).folder / "validation-report.json").read_text())
    found = {each["pluginName"]: each["conclusion"] for each in report["pluginReports"]}
    assert found["AwsSolutions"] == "success"


def test_templates_pass_cfn_lint(deployment_of):
    templates = [path for name in CHECKED for path in deployment_of(name).template_files]
    # Shapes of one stage have the same storage.
    different = {path.read_bytes(): path for path in templates}.values()
    linter = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run(
        [linter, *different], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_a_wrong_context_ends_the_synth_with_what_to_set(synths, tmp_path):
    done = synths.run(tmp_path, "dev", {"repository_bucket": "Company_Lake", "log_days": "15"})
    assert done.returncode == 1
    assert "repository_bucket: 'Company_Lake' is not a valid bucket name" in done.stderr
    assert "log_days is 15: set it to one of" in done.stderr
    assert "Traceback" not in done.stderr


def test_production_refuses_a_layer_without_bytecode_and_dev_warns(synths, tmp_path):
    make_archives(tmp_path, compiled=False)
    alarms = {"alarm_email": "ops@example.com"}
    refused = synths.run(tmp_path / "cdk.out", "prod", alarms, archives=tmp_path)
    assert refused.returncode == 1
    assert "has no bytecode" in refused.stderr
    assert "build it with `make layer`" in refused.stderr
    assert "Traceback" not in refused.stderr
    warned = synths.run(tmp_path / "cdk.out", "dev", {}, archives=tmp_path)
    assert warned.returncode == 0, warned.stderr
    assert "warning: " in warned.stderr
    assert "has no bytecode" in warned.stderr


def test_a_misspelled_setting_ends_the_synth_with_the_nearest_name(synths, tmp_path):
    done = synths.run(tmp_path, "dev", {"gc_delete": "false"})
    assert done.returncode == 1
    assert "gc_delete is no setting" in done.stderr
    assert "did you mean gc_deletes?" in done.stderr
    assert not list(tmp_path.glob("*.template.json"))


@pytest.mark.packages
def test_without_a_stage_the_app_has_what_cdk_bootstrap_needs_and_nothing_can_be_deployed(tmp_path):
    settings = json.loads((ROOT / "cdk.json").read_text())
    context = json.dumps(settings["context"])
    environment = {"CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": context}
    _, *arguments = shlex.split(settings["app"])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "stage is missing: set it with `-c stage=dev`" in done.stderr
    artifacts = json.loads((tmp_path / "manifest.json").read_text())["artifacts"]
    (stack,) = (each for each in artifacts.values() if each["type"] == "aws:cloudformation:stack")
    assert stack["displayName"] == "without-stage"
    # CDK's command line deploys no stack with an error.
    metadata = json.loads((tmp_path / "without-stage.metadata.json").read_text())
    kinds = {each["type"] for each in metadata["/without-stage"]}
    assert "aws:cdk:error" in kinds


@pytest.mark.long
def test_cdk_bootstrap_gets_past_the_app_without_a_stage():
    command = ROOT / "node_modules" / ".bin" / "cdk"
    without_account = {
        name: value for name, value in os.environ.items() if not name.startswith("AWS_")
    }
    done = subprocess.run(
        [command, "bootstrap", "aws://123456789012/eu-west-1"],
        cwd=ROOT,
        env={**without_account, "AWS_EC2_METADATA_DISABLED": "true", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Bootstrapping environment aws://123456789012/eu-west-1" in done.stdout + done.stderr


def test_the_account_is_asked_nothing(deployment):
    manifest = json.loads((deployment.folder / "manifest.json").read_text())
    assert not manifest.get("missing")
    environments = {
        artifact.get("environment")
        for artifact in manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    assert environments == {"aws://unknown-account/unknown-region"}


@pytest.mark.long
def test_the_command_writes_the_same_and_judges_nothing_that_an_earlier_synth_left(
    dev, archives, tmp_path
):
    earlier = tmp_path / "without-stage.template.json"
    earlier.write_text('{"Resources": {"Nothing": {"Type": "AWS::New::Thing", "Properties": {}}}}')
    done = subprocess.run(
        [sys.executable, "-m", "infra.synth", "dev"],
        cwd=ROOT,
        env={**os.environ, "CDK_OUTDIR": str(tmp_path), "GRAVELER_BUILD": str(archives)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "AWS::New::Thing" not in done.stderr
    assert not earlier.exists()
    for path in dev.template_files:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
