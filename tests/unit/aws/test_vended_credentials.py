"""Credentials for the files of one table, on moto's STS in this process."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto import mock_aws

from graveler.aws.connect import Clients
from graveler.aws.settings import DeploymentSettings
from graveler.aws.vended_credentials import VendedCredentials, session_policy

SETTINGS = DeploymentSettings(region="eu-west-1", refs_table="refs", staging_table="staging")
ROLE = "arn:aws:iam::123456789012:role/graveler-prod-table-files-eu-west-1"
LOCATION = "s3://lake/repo/_iceberg/0a1b2c"


class FakeSts:
    """Remembers what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []

    def assume_role(self, **parameters: Any) -> Any:
        self.asked.append(parameters)
        keys = ("AccessKeyId", "SecretAccessKey", "SessionToken")
        return {"Credentials": {**dict.fromkeys(keys, "x"), "Expiration": datetime.now(UTC)}}


@pytest.fixture
def sts() -> FakeSts:
    return FakeSts()


@pytest.fixture
def vend(sts: FakeSts) -> VendedCredentials:
    return VendedCredentials(lambda: sts, ROLE)


def statements(policy: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(policy)["Statement"]
    return found


@mock_aws
def test_credentials_are_properties_of_the_file_io_and_end_after_an_hour() -> None:
    vend = VendedCredentials(lambda: Clients(SETTINGS).sts, ROLE)
    found = vend(LOCATION, "ann", can_write=True)
    assert found.keys() == {
        "s3.access-key-id",
        "s3.secret-access-key",
        "s3.session-token",
        "s3.session-token-expires-at-ms",
    }
    ends = datetime.fromtimestamp(int(found["s3.session-token-expires-at-ms"]) / 1000, UTC)
    assert timedelta(minutes=59) < ends - datetime.now(UTC) <= timedelta(hours=1)


def test_they_are_of_the_role_under_a_policy_for_the_table(
    vend: VendedCredentials, sts: FakeSts
) -> None:
    vend(LOCATION, "ann", can_write=True)
    (request,) = sts.asked
    assert (request["RoleArn"], request["DurationSeconds"]) == (ROLE, 3600)
    assert request["Policy"] == session_policy(LOCATION, "aws", can_write=True)


def test_a_reader_gets_no_right_to_write() -> None:
    files, keys = statements(session_policy(LOCATION, "aws", can_write=False))
    assert files["Action"] == ["s3:GetObject"]
    assert keys["Action"] == ["kms:Decrypt"]


def test_a_writer_reaches_one_table_and_deletes_nothing() -> None:
    files, keys = statements(session_policy(LOCATION, "aws-cn", can_write=True))
    assert files["Resource"] == "arn:aws-cn:s3:::lake/repo/_iceberg/0a1b2c/*"
    assert sorted(files["Action"]) == [
        "s3:AbortMultipartUpload",
        "s3:GetObject",
        "s3:ListMultipartUploadParts",
        "s3:PutObject",
    ]
    assert keys["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]


def test_no_character_of_a_namespace_is_a_pattern_of_the_policy() -> None:
    policy = session_policy("s3://lake/a*b?c${d}é/_iceberg/0", "aws", can_write=False)
    assert policy.isascii()
    resource = statements(policy)[0]["Resource"]
    assert resource == "arn:aws:s3:::lake/a${*}b${?}c${$}{d}é/_iceberg/0/*"


def test_without_a_policy_that_is_short_enough_there_are_no_credentials(
    vend: VendedCredentials, sts: FakeSts
) -> None:
    assert vend(f"s3://lake/{'*' * 500}/_iceberg/0", "ann", can_write=True) == {}
    assert sts.asked == []


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ("ann", "ann"),
        ("ann@example.com", "ann@example.com"),
        ("a b/ü", "a-b--"),
        ("a", "a-"),
        ("x" * 100, "x" * 64),
    ],
)
def test_the_session_has_the_users_name_as_far_as_it_can(
    vend: VendedCredentials, sts: FakeSts, user: str, name: str
) -> None:
    vend(LOCATION, user, can_write=False)
    assert sts.asked[0]["RoleSessionName"] == name
