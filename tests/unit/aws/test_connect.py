import pytest

from graveler.aws.connect import Clients
from graveler.aws.settings import DeploymentSettings


@pytest.mark.parametrize(
    ("region", "endpoint"),
    [
        ("eu-west-1", "https://dynamodb.eu-west-1.amazonaws.com"),
        ("us-gov-west-1", "https://dynamodb.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "https://dynamodb.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_every_partition_has_its_own_dynamodb(region: str, endpoint: str) -> None:
    settings = DeploymentSettings(region=region, refs_table="refs", staging_table="staging")
    assert Clients(settings).dynamodb_endpoint == endpoint
