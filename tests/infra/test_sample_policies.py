"""The samples for owners of buckets and keys allow what the roles do there, and no more."""

import json
from pathlib import Path

import pytest

from infra.sample_policies import FOLDER, write_sample_policies
from infra.settings import InfraSettings
from tests.support.worlds.shapes import FOLDERS, GATEWAY, PROD

ROLES = "arn:aws:iam::123456789012:role/graveler-prod-"
HOME = {"CDK_DEFAULT_ACCOUNT": "123456789012", "CDK_DEFAULT_REGION": "eu-west-1"}


def sample(folder: Path, name: str):
    return json.loads((folder / FOLDER / f"{name}.json").read_text())["Statement"]


def grants_of_roles(deployment, bucket: str) -> set[tuple[str, str, str]]:
    """Return the role, action and resource of each permission on the bucket."""
    found = set()
    for properties in deployment.resources("AWS::IAM::Role").values():
        if "RoleName" not in properties:
            continue
        name = deployment.flat(properties["RoleName"])
        for statement in deployment.statements_of(properties):
            for resource in statement["Resource"]:
                if resource.removeprefix("arn:aws:s3:::").partition("/")[0] == bucket:
                    found |= {
                        (f"arn:aws:iam::123456789012:role/{name}", action, resource)
                        for action in statement["Action"]
                    }
    return found


@pytest.fixture
def written(prod, tmp_path, monkeypatch) -> Path:
    """Return a folder with the samples for the account and region that tests know."""
    for name, value in HOME.items():
        monkeypatch.setenv(name, value)
    for stack in (prod.name, f"{prod.name}-gateway"):
        template = tmp_path / f"{stack}.template.json"
        template.write_text((prod.folder / template.name).read_text())
    context = {"stage": "prod", **PROD, **GATEWAY}
    assert write_sample_policies(tmp_path, InfraSettings.of(context)) == []
    return tmp_path


@pytest.mark.parametrize(
    "bucket",
    [
        "company-lake",
        "company-raw",
        "company-source",
        "company-published",
        "company-reports",
        "company-backup",
    ],
)
def test_a_bucket_policy_allows_each_role_what_its_own_policy_allows(written, prod, bucket):
    allowed = {
        (role, action, resource)
        for each in sample(written, f"bucket-{bucket}")
        for role in each["Principal"]["AWS"]
        for action in each["Action"]
        for resource in each["Resource"]
    }
    assert allowed
    assert allowed == grants_of_roles(prod, bucket)


def test_each_statement_has_an_id_of_its_own_that_names_the_deployment(written):
    for path in (*(written / FOLDER).glob("bucket-*"), *(written / FOLDER).glob("key-*")):
        sids = [each["Sid"] for each in json.loads(path.read_text())["Statement"]]
        assert len(sids) == len(set(sids))
        assert all(sid.startswith("GravelerProd") and sid.isalnum() for sid in sids)


def test_a_key_policy_allows_the_key_by_way_of_s3_in_its_own_region(written):
    (statement,) = sample(written, "key-mrk-0a1b2c3d000000000000000000000000")
    via = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
    assert statement["Condition"] == via
    assert statement["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    functions = ("api", "export", "hooks", "iceberg", "slices", "tasks")
    others = ("export-job", "garbage-collection-job", "gateway", "table-files")
    names = sorted([*functions, *others])
    assert sorted(statement["Principal"]["AWS"]) == [f"{ROLES}{name}-eu-west-1" for name in names]


def test_a_synth_writes_samples_for_what_is_not_made_here(prod, dev):
    def samples(deployment) -> list[str]:
        names = sorted(path.name for path in (deployment.folder / FOLDER).iterdir())
        return [name for name in names if not name.startswith("deployer-")]

    assert samples(prod) == [
        "bucket-company-backup.json",
        "bucket-company-lake.json",
        "bucket-company-published.json",
        "bucket-company-raw.json",
        "bucket-company-reports.json",
        "bucket-company-source.json",
        "key-0a1b2c3d-0000-0000-0000-000000000000.json",
        "key-mrk-0a1b2c3d000000000000000000000000.json",
    ]
    assert samples(dev) == []


def test_without_an_account_samples_say_what_to_replace(prod):
    statements = sample(prod.folder, "bucket-company-raw")
    roles = {role for each in statements for role in each["Principal"]["AWS"]}
    assert "arn:aws:iam::ACCOUNT:role/graveler-prod-api-REGION" in roles


def test_a_policy_that_s3_would_refuse_for_its_size_is_reported(tmp_path, deployment_of):
    named = deployment_of("named")
    template = tmp_path / f"{named.name}.template.json"
    template.write_text((named.folder / template.name).read_text())
    context = {"stage": "dev", "name": named.name, "namespaces": FOLDERS}
    (warning,) = write_sample_policies(tmp_path, InfraSettings.of(context))
    assert "bucket-company-lake.json has" in warning
    assert "bytes, and S3 allows 20,480: name one place above several" in warning
