"""Both stages synthesize, and pass the checks of AWS and of CloudFormation."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.conftest import ROOT, synthesize


def test_a_synth_passes_every_rule_that_is_not_broken_with_a_reason(deployment):
    report = json.loads((deployment.folder / "validation-report.json").read_text())
    found = {each["pluginName"]: each["conclusion"] for each in report["pluginReports"]}
    assert found["AwsSolutions"] == "success"


def test_templates_pass_cfn_lint(deployment):
    linter = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run(
        [linter, *deployment.template_files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.packages
def test_a_wrong_context_ends_the_synth_with_what_to_set(tmp_path):
    done = synthesize(tmp_path, "dev", repository_bucket="Company_Lake", log_days="15")
    assert done.returncode == 1
    assert "repository_bucket: 'Company_Lake' is not a valid bucket name" in done.stderr
    assert "log_days is 15: set it to one of" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.packages
def test_production_refuses_a_layer_without_bytecode_and_dev_warns(tmp_path):
    refused = synthesize(tmp_path, "prod", compiled=False, alarm_email="ops@example.com")
    assert refused.returncode == 1
    assert "has no bytecode" in refused.stderr
    assert "build it with `make layer`" in refused.stderr
    assert "Traceback" not in refused.stderr
    warned = synthesize(tmp_path, "dev", compiled=False)
    assert warned.returncode == 0, warned.stderr
    assert "warning: " in warned.stderr
    assert "has no bytecode" in warned.stderr


def test_the_account_is_asked_nothing(deployment):
    manifest = json.loads((deployment.folder / "manifest.json").read_text())
    assert not manifest.get("missing")
    environments = {
        artifact.get("environment")
        for artifact in manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    assert environments == {"aws://unknown-account/unknown-region"}
