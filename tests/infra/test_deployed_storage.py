"""The storage stack, deployed as far as moto goes, with the engine on it."""

import json
from typing import Any

import boto3
import pytest

from graveler.aws.settings import DeploymentSettings
from graveler.aws.wiring import Adapters
from graveler.operations import commits, repositories
from graveler.operations.commits import LogQuery
from tests.support.servers.moto_server import empty_moto
from tests.support.worlds import scenarios

REGION = "eu-west-1"
KEYS = ("AKIAIOSFODNN7EXAMPLE", "c2VjcmV0IG9mIG5vYm9keQ")


UNKNOWN_TO_MOTO = {"AWS::S3::BucketPolicy", "AWS::SecretsManager::Secret"}


def deployable(template: dict[str, Any]) -> str:
    """The template less what moto does not know, tags of keys among it."""
    resources = {
        logical_id: json.loads(json.dumps(resource))
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] not in UNKNOWN_TO_MOTO
    }
    for resource in resources.values():
        if resource["Type"] == "AWS::KMS::Key":
            del resource["Properties"]["Tags"]
    return json.dumps({"Resources": resources})


@pytest.fixture(scope="module")
def aws():
    with empty_moto() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def session(aws):
    return boto3.Session(*KEYS, region_name=REGION)


@pytest.fixture(scope="module")
def stack(aws, session, dev):
    """Physical names by logical IDs."""
    formation = session.client("cloudformation", endpoint_url=aws)
    formation.create_stack(StackName=dev.name, TemplateBody=deployable(dev.storage))
    (described,) = formation.describe_stacks(StackName=dev.name)["Stacks"]
    assert described["StackStatus"] == "CREATE_COMPLETE"
    found = formation.describe_stack_resources(StackName=dev.name)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}


@pytest.fixture
def engine(aws, stack, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS[1])
    settings = DeploymentSettings(
        region=REGION,
        refs_table=stack["Refs48288B5D"],
        staging_table=stack["Staging12D1754E"],
        dynamodb_endpoint=aws,
        s3_endpoint=aws,
    )
    return Adapters(settings).engine_signing(b"key")


def test_tables_are_deployed_as_they_are_described(aws, session, stack):
    dynamodb = session.client("dynamodb", endpoint_url=aws)
    refs = dynamodb.describe_table(TableName=stack["Refs48288B5D"])["Table"]
    assert refs["StreamSpecification"]["StreamViewType"] == "NEW_IMAGE"
    assert [each["AttributeName"] for each in refs["KeySchema"]] == ["partition", "sort"]
    assert [each["IndexName"] for each in refs["GlobalSecondaryIndexes"]] == [
        "commits-by-generation"
    ]


def test_the_engine_works_on_the_deployed_tables_and_bucket(engine, stack):
    namespace = f"s3://{stack['RepositoriesCC43A267']}/repo"
    repositories.create(engine, name=scenarios.REPO, storage_namespace=namespace)
    scenarios.upload(engine, b"a/b", b"content")
    scenarios.commit(engine, message="first")
    scenarios.upload(engine, b"a/c", b"more")
    assert set(scenarios.contents(engine, "main")) == {b"a/b", b"a/c"}
    log = commits.log(engine, scenarios.REPO, "main", LogQuery(amount=10))
    assert [each.message for each in log.results] == ["first", "Repository created"]
    assert set(scenarios.contents(engine, log.results[0].id)) == {b"a/b"}
