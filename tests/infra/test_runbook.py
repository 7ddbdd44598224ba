"""The runbook pages agree with the deployment: alarms, names in commands, restored tables."""

import json
import re
import subprocess
import textwrap

import pytest

from infra.alarms import EFFECTS
from tests.infra.conftest import ROOT
from tests.support.checks.cases import for_each
from tests.support.worlds.shapes import STREAM, TABLE

RUNBOOK = (ROOT / "docs" / "operations.md").read_text()
# Pages whose commands use the runbook's variables and functions.
PAGES = (
    RUNBOOK,
    *((ROOT / "docs" / f"{name}.md").read_text() for name in ("repairs", "backup", "deploy")),
)


@pytest.fixture(scope="module")
def restored(deployment_of):
    """Synthesize the stage dev on restored tables."""
    return deployment_of("restored")


def section(title: str) -> str:
    """Return the runbook's text under a heading of the second level."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", RUNBOOK, re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def blocks() -> list[str]:
    """Return the shell blocks of all pages, including those in lists."""
    found = re.findall(r"^ *```sh\n(.*?)^ *```", "\n".join(PAGES), re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(each) for each in found]


def code() -> str:
    """Return all shell blocks as one text."""
    return "\n".join(blocks())


def outputs(deployment) -> set[str]:
    """Return the names of outputs without the hashes that CDK appends to some of them."""
    stacks = (deployment.storage, deployment.service, deployment.gateway)
    names = {name for stack in stacks for name in stack["Outputs"]}
    return {re.sub(r"[0-9A-F]{8}$", "", name) for name in names}


def test_every_alarm_has_its_section_and_every_section_its_alarm(deployment):
    alarms = {
        each["AlarmName"].removeprefix(f"{deployment.name}-")
        for each in deployment.resources("AWS::CloudWatch::Alarm").values()
    }
    headings = re.findall(r"^### (.*)$", section("Alarms"), re.MULTILINE)
    named = {name for heading in headings for name in re.findall(r"`([a-z-]+)`", heading)}
    if not deployment.gateway["Resources"]:
        named = {name for name in named if not name.startswith("gateway-")}
    if deployment.name == "graveler-dev":
        named -= EFFECTS.keys()
    assert named == alarms


def test_every_alarm_says_what_to_look_at_what_to_do_and_when_it_is_over():
    _, *parts = re.split(r"^### ", section("Alarms"), flags=re.MULTILINE)
    for part in parts:
        for word in ("**Means**", "**Look**", "**Do**", "**Over**"):
            assert word in part, (word, part.splitlines()[0])


def test_functions_jobs_alarms_and_the_bus_that_commands_name_exist(deployment):
    physical = set()
    for kind, name in (
        ("AWS::Lambda::Function", "FunctionName"),
        ("AWS::Glue::Job", "Name"),
        ("AWS::CloudWatch::Alarm", "AlarmName"),
        ("AWS::Events::EventBus", "Name"),
        ("AWS::CloudWatch::Dashboard", "DashboardName"),
    ):
        physical |= {each[name] for each in deployment.resources(kind).values()}
    # The gateway's stack, cluster and service have one name; dev has none of them.
    stacks = {deployment.name, f"{deployment.name}-storage", f"{deployment.name}-gateway"}
    named = set(re.findall(r"\$D(?:-[a-z]+)*(?![\w-])", code()))
    assert len(named) > 5
    for name in named:
        assert name.replace("$D", deployment.name) in physical | stacks, name


@for_each("block", blocks())
def test_commands_are_what_a_shell_can_read(block):
    done = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_outputs_that_commands_ask_for_exist(deployment):
    named = set(re.findall(r"\$\(output (\w+)\)", code()))
    assert len(named) > 5
    of_prod = set() if "AccessLog" in outputs(deployment) else {"AccessLog"}
    assert named <= outputs(deployment) | of_prod


def test_every_queue_can_be_found_by_an_output_that_the_runbook_names(deployment):
    urls = {name for name in outputs(deployment) if name.endswith("Url")}
    assert len(urls) == len(deployment.resources("AWS::SQS::Queue"))
    for url in urls:
        assert any(url in page for page in PAGES), url


def test_on_restored_tables_nothing_that_computes_names_the_old_ones(restored):
    template = json.dumps(restored.service)
    assert "Refs48288B5D" not in template
    assert "Staging12D1754E" not in template
    mappings = restored.resources("AWS::Lambda::EventSourceMapping").values()
    assert STREAM in [each["EventSourceArn"] for each in mappings]
    for name in ("api", "events", "export", "iceberg", "tasks", "hooks", "slices", "cleanup"):
        variables = next(
            each["Environment"]["Variables"]
            for each in restored.resources("AWS::Lambda::Function").values()
            if each["FunctionName"] == f"graveler-dev-{name}"
        )
        assert variables["GRAVELER_REFS_TABLE"] == "refs-restored"
        assert variables["GRAVELER_STAGING_TABLE"] == "staging-restored"
    allowed = {
        resource
        for each in restored.statements("api")
        for resource in each["Resource"]
        if "dynamodb" in resource
    }
    index = f"{TABLE}/refs-restored/index/commits-by-generation"
    assert allowed == {f"{TABLE}/refs-restored", f"{TABLE}/staging-restored", index}


def test_the_storage_exports_the_same_before_a_restore_and_after(dev, restored):
    """An export that the other stack still uses cannot be removed, as the stacks deploy in turn."""

    def exports(deployment):
        return {
            name: deployment.flat(each["Value"])
            for name, each in deployment.storage["Outputs"].items()
            if "Export" in each
        }

    assert exports(restored) == exports(dev)
    assert set(restored.storage["Resources"]) == set(dev.storage["Resources"])
