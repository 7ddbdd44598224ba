import pytest

from graveler.aws import connect


@pytest.mark.parametrize(
    ("region", "endpoint"),
    [
        ("eu-west-1", "https://dynamodb.eu-west-1.amazonaws.com"),
        ("us-gov-west-1", "https://dynamodb.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "https://dynamodb.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_every_partition_has_its_own_dynamodb(region: str, endpoint: str) -> None:
    assert connect.dynamodb_endpoint(region) == endpoint
