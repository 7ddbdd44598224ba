"""`make dist` writes a folder that is enough to make, change, delete and make again both stacks."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra.dist import ASSETS, CHECKSUMS
from tests.infra.conftest import ROOT
from tests.support.servers.formation import as_moto_knows
from tests.support.servers.synths import Synthesizer
from tests.support.worlds.shapes import PROD

BUCKET, PREFIX = "company-artefacts", "graveler/"
REGION: Final = "eu-west-1"
NAME = "graveler-prod"


def distribution(synths: Synthesizer, folder: Path, **more: str) -> Path:
    """Run what `make dist STAGE=prod` runs."""
    done = synths.run(folder, "prod", {**PROD, **more}, program="infra.dist")
    assert done.returncode == 0, done.stderr
    return folder / NAME


@pytest.fixture(scope="module")
def folder(synths, tmp_path_factory) -> Path:
    return distribution(synths, tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def changed(synths, tmp_path_factory) -> Path:
    return distribution(synths, tmp_path_factory.mktemp("second"), request_work_s="7")


def template(folder: Path, stack: str) -> dict[str, Any]:
    return json.loads((folder / f"{stack}.template.json").read_text())


def test_each_archive_that_a_template_names_is_in_the_folder_and_no_other(folder):
    texts = [path.read_text() for path in folder.glob("*.template.json")]
    assert len(texts) == 2
    named = set(re.findall(r"\$\{AssetsPrefix\}([0-9a-f]{64}\.\w+)", "".join(texts)))
    assert len(named) >= 10
    assert named == {path.name for path in (folder / ASSETS).iterdir()}
    for path in (folder / ASSETS).glob("*.zip"):
        assert zipfile.ZipFile(path).testzip() is None


def test_templates_name_nothing_of_cdk(folder):
    for path in folder.glob("*.template.json"):
        text = path.read_text()
        assert "hnb659fds" not in text
        assert "cdk-bootstrap" not in text
        assert not {"Rules", "BootstrapVersion"} & json.loads(text).keys()
    assert "Parameters" not in template(folder, f"{NAME}-storage")
    parameters = template(folder, NAME)["Parameters"]
    assert parameters.keys() == {"AssetsBucket", "AssetsPrefix"}
    pattern = parameters["AssetsPrefix"]["AllowedPattern"]
    assert all(re.fullmatch(pattern, prefix) for prefix in ("", "a/", "a/b-1/"))
    assert not re.fullmatch(pattern, "a")


def test_the_folder_differs_from_a_synth_only_in_the_place_of_archives(folder, prod):
    def comparable(found: dict[str, Any]) -> str:
        text = json.dumps(found["Resources"], sort_keys=True)
        text = text.replace("cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}", "${B}")
        text = text.replace('"Fn::Sub": "${AssetsPrefix}', '"Fn::Sub": "')
        return re.sub(
            r'\{"Fn::Sub": "([0-9a-f]{64}\.\w+)"\}',
            r'"\1"',
            text.replace("${AssetsBucket}", "${B}").replace("${AssetsPrefix}", ""),
        )

    assert comparable(template(folder, f"{NAME}-storage")) == comparable(prod.storage)
    kinds = {name: each["Type"] for name, each in template(folder, NAME)["Resources"].items()}
    named = re.compile(r"CurrentVersion[0-9A-F]{8}[0-9a-f]{32}$")  # it follows from all properties
    assert {named.sub("", name): kind for name, kind in kinds.items()} == {
        named.sub("", name): each["Type"] for name, each in prod.service["Resources"].items()
    }


def test_the_folder_can_be_checked_and_says_what_to_do(folder):
    for line in (folder / CHECKSUMS).read_text().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    text = (folder / "README.md").read_text()
    assert "@NAME@" not in text + (folder / "main.tf").read_text()
    for name in re.findall(r"--template-file (\S+)", text):
        assert (folder / name).is_file()
    assert (folder / "policies" / "bucket-company-lake.json").is_file()
    assert str(ROOT) not in "".join(path.read_text() for path in folder.glob("*.*"))


def test_commands_of_the_folder_are_what_a_shell_can_read(folder):
    text = (folder / "README.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 3
    for block in blocks:
        done = subprocess.run(
            ["bash", "-n"], input=block, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), block


def test_the_templates_pass_cfn_lint(folder):
    linter = Path(sys.executable).with_name("cfn-lint")
    templates = sorted(folder.glob("*.template.json"))
    done = subprocess.run(
        [linter, *templates], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_command_says_what_it_takes():
    command = [sys.executable, "-m", "infra.dist"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "usage: python -m infra.dist STAGE [NAME=VALUE …]\n",
    )


# The stacks by moto's CloudFormation, as far as it knows their resources.


class Account:
    """An account of moto with the uploads of a folder."""

    def __init__(self) -> None:
        self.formation = boto3.client("cloudformation", REGION)
        self.logs = boto3.client("logs", REGION)
        self._s3 = boto3.client("s3", REGION)
        self._s3.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )

    def upload(self, folder: Path, *, without_bucket_name: bool = False) -> None:
        for path in (folder / ASSETS).iterdir():
            self._s3.upload_file(str(path), BUCKET, PREFIX + path.name)
        for path in folder.glob("*.template.json"):
            found = as_moto_knows(json.loads(path.read_text()))
            if without_bucket_name and path.name.startswith(f"{NAME}-storage"):
                del found["Resources"]["RepositoriesCC43A267"]["Properties"]["BucketName"]
            self._s3.put_object(Bucket=BUCKET, Key=PREFIX + path.name, Body=json.dumps(found))

    def described(self, stack: str) -> dict[str, Any]:
        key = f"{PREFIX}{stack}.template.json"
        values = {"AssetsBucket": BUCKET, "AssetsPrefix": PREFIX} if stack == NAME else {}
        return {
            "StackName": stack,
            "TemplateURL": f"https://{BUCKET}.s3.{REGION}.amazonaws.com/{key}",
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
            "Parameters": [
                {"ParameterKey": name, "ParameterValue": value} for name, value in values.items()
            ],
        }

    def create(self, stack: str) -> None:
        self.formation.create_stack(**self.described(stack))
        assert self.status(stack) == "CREATE_COMPLETE"

    def status(self, stack: str) -> str:
        (found,) = self.formation.describe_stacks(StackName=stack)["Stacks"]
        return str(found["StackStatus"])

    def functions(self) -> dict[str, Any]:
        found = boto3.client("lambda", REGION).list_functions()["Functions"]
        return {each["FunctionName"]: each for each in found}

    def log_groups(self) -> set[str]:
        pages = self.logs.get_paginator("describe_log_groups").paginate()
        return {each["logGroupName"] for page in pages for each in page["logGroups"]}


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "c2VjcmV0IG9mIG5vYm9keQ")
    with mock_aws():
        yield Account()


def test_the_stacks_are_made_changed_deleted_and_made_again(account, folder, changed):
    account.upload(folder)
    account.create(f"{NAME}-storage")
    account.create(NAME)
    sizes = {path.stat().st_size for path in (folder / ASSETS).glob("*.zip")}
    functions = account.functions()
    assert len(functions) == 10
    # They were found where the parameters say.
    assert {each["CodeSize"] for each in functions.values()} <= sizes
    first = account.log_groups()
    assert len([name for name in first if name.startswith(f"/{NAME}-")]) == 4

    account.upload(changed)
    account.formation.update_stack(**account.described(NAME))
    assert account.status(NAME) == "UPDATE_COMPLETE"
    environment = account.functions()[f"{NAME}-api"]["Environment"]["Variables"]
    assert environment["GRAVELER_REQUEST_WORK_S"] == "7"
    assert account.log_groups() == first

    account.formation.delete_stack(StackName=NAME)
    assert account.functions() == {}
    assert boto3.client("iam", REGION).list_roles()["Roles"] == []
    assert account.log_groups() == first  # production keeps its logs

    account.create(NAME)
    again = account.log_groups()
    assert len(again) == 2 * len(first)
    assert again > first

    account.formation.delete_stack(StackName=NAME)
    account.formation.delete_stack(StackName=f"{NAME}-storage")
    tables = boto3.client("dynamodb", REGION).list_tables()["TableNames"]
    assert len(tables) == 2  # and its tables
    # A bucket of the user's name is kept as well. docs/deploy.md says how to go on.
    with pytest.raises(ClientError, match="BucketAlreadyExists"):
        account.create(f"{NAME}-storage")


def test_storage_whose_bucket_has_no_name_from_the_user_is_made_again(account, folder):
    account.upload(folder, without_bucket_name=True)
    for _ in range(2):
        account.create(f"{NAME}-storage")
        account.create(NAME)
        account.formation.delete_stack(StackName=NAME)
        account.formation.delete_stack(StackName=f"{NAME}-storage")
    assert len(boto3.client("dynamodb", REGION).list_tables()["TableNames"]) == 4
