import pytest
from botocore.utils import parse_timestamp

from graveler.aws.connect import Clients, parsed_time
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


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T10:11:12.345Z",
        "2026-11-30T10:11:12Z",
        "2026-11-30 10:11:12Z",
        "2026-11-30T10:11:12+01:00",
        "2026-11-30T10:11:12.1234",
        "Mon, 30 Nov 2026 10:11:12 GMT",
        "30 Nov 2026 10:11:1Z",
        "1700000000",
        1700000000.5,
    ],
)
def test_times_are_those_that_botocore_reads(value: str | float) -> None:
    read = parsed_time(value)
    expected = parse_timestamp(value)  # type: ignore[arg-type] # the stubs know texts alone
    assert (read, read.utcoffset()) == (expected, expected.utcoffset())


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="2026-13-30T10:11:12Z"):
        parsed_time("2026-13-30T10:11:12Z")
