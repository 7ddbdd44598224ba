"""Where buckets are, and that their URLs are signed for there."""

import pytest

from graveler.aws.s3.regions import BucketRegions
from graveler.errors import ThrottledError
from tests.unit.aws.scripted_s3 import REGION, Answer, ScriptedS3, refusal


def of_region(region: str, status: int = 200) -> Answer:
    return Answer(status, {"x-amz-bucket-region": region})


@pytest.mark.parametrize("status", [200, 403, 404])
def test_a_bucket_tells_its_region_also_if_it_refuses(status: int) -> None:
    aws = ScriptedS3(of_region("ap-south-1", status))
    assert BucketRegions(aws.s3).region_of("bucket") == "ap-south-1"


def test_a_bucket_is_asked_once() -> None:
    aws = ScriptedS3(of_region("ap-south-1"), of_region("us-west-2"))
    regions = BucketRegions(aws.s3)
    assert [regions.region_of(name) for name in ("a", "b", "a")] == [
        "ap-south-1",
        "us-west-2",
        "ap-south-1",
    ]
    assert len(aws.requests) == 2


def test_a_bucket_that_does_not_tell_is_taken_for_one_of_our_region() -> None:
    assert BucketRegions(ScriptedS3(refusal(403, "AccessDenied")).s3).region_of("b") == REGION


def test_a_bucket_that_does_not_answer_is_asked_again() -> None:
    is_down = [True]
    aws = ScriptedS3(lambda _: Answer(503) if is_down[0] else of_region("ap-south-1"))
    regions = BucketRegions(aws.s3)
    with pytest.raises(ThrottledError):
        regions.region_of("bucket")
    is_down[0] = False
    assert regions.region_of("bucket") == "ap-south-1"
