"""Regions of buckets: S3 takes a signature only for the region that the bucket is in."""

from botocore.exceptions import ClientError

from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.uris import Location
from graveler.cache import BoundedCache
from graveler.errors import InvalidInputError

_BUCKETS_MAX = 1000


class BucketRegions:
    """Finds the region of each bucket, by one request in a process; shared by threads."""

    def __init__(self, s3: S3) -> None:
        self._s3 = s3
        self._regions: BoundedCache[str, str] = BoundedCache(_BUCKETS_MAX)

    def region_of(self, bucket: str) -> str:
        """Return the bucket's region; the client's own if S3 does not report it.

        Raises:
            ThrottledError: S3 does not answer now.
        """
        known = self._regions.get(bucket)
        if known is None:
            known = self._found(bucket)
            self._regions.put(bucket, known)
        return known

    def _found(self, bucket: str) -> str:
        try:
            answer = self._s3.call("head_bucket", Location(bucket, ""))
        except (S3Error, InvalidInputError) as error:
            # The refusal of a bucket reports its region as well.
            refusal = error.__cause__
            answer = dict(refusal.response) if isinstance(refusal, ClientError) else {}
        headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        region: str = headers.get("x-amz-bucket-region", self._s3.client.meta.region_name)
        return region
