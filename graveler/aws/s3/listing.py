"""Lists objects and uploads in S3, page by page."""

from collections.abc import Iterator, Mapping

from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.responses import S3Response, checksum_of, time_ns
from graveler.aws.s3.uris import Location
from graveler.errors import InvalidInputError
from graveler.ports import ListedObject, UnfinishedUpload


class S3Listing:
    """The part of ObjectStore that lists objects and uploads."""

    _s3: S3

    def list_objects(self, prefix_uri: str, start_after_uri: str = "") -> Iterator[ListedObject]:
        prefix = Location.of_prefix(prefix_uri)
        begin = {"StartAfter": Location.of(start_after_uri).key} if start_after_uri else {}
        for page in self._object_pages(prefix, begin):
            yield from _objects_of(page, prefix)

    def list_folder(self, folder_uri: str) -> Iterator[ListedObject | str]:
        folder = Location.of_prefix(folder_uri)
        for page in self._object_pages(folder, {"Delimiter": "/"}):
            found = {each.uri: each for each in _objects_of(page, folder)}
            folders = [
                f"s3://{folder.bucket}/{p['Prefix']}" for p in page.get("CommonPrefixes", ())
            ]
            # A page lists objects and folders separately.
            for uri in sorted([*found, *folders]):
                yield found.get(uri, uri)

    def _object_pages(self, prefix: Location, options: Mapping[str, str]) -> Iterator[S3Response]:
        parameters = {"Prefix": prefix.key, **options}
        while True:
            page = self._page(prefix, parameters)
            yield page
            if not page.get("IsTruncated"):
                return
            parameters["ContinuationToken"] = page["NextContinuationToken"]

    def _page(self, prefix: Location, parameters: Mapping[str, str]) -> S3Response:
        try:
            page: S3Response = self._s3.call("list_objects_v2", prefix.whole_bucket, **parameters)
        except S3Error as error:
            raise InvalidInputError(
                f"s3://{prefix.bucket}/{prefix.key} cannot be listed: {error}"
            ) from error
        return page

    def list_uploads(self, prefix_uri: str) -> Iterator[UnfinishedUpload]:
        prefix = Location.of(prefix_uri)
        parameters = {"Prefix": prefix.key}
        while True:
            page = self._s3.call("list_multipart_uploads", prefix.whole_bucket, **parameters)
            for item in page.get("Uploads", ()):
                uri = f"s3://{prefix.bucket}/{item['Key']}"
                yield UnfinishedUpload(uri, item["UploadId"], time_ns(item["Initiated"]))
            if not page.get("IsTruncated"):
                return
            parameters["KeyMarker"] = page["NextKeyMarker"]
            parameters["UploadIdMarker"] = page["NextUploadIdMarker"]


def _objects_of(page: S3Response, location: Location) -> Iterator[ListedObject]:
    return (_listed(location.bucket, item) for item in page.get("Contents", ()))


def _listed(bucket: str, item: S3Response) -> ListedObject:
    uri = f"s3://{bucket}/{item['Key']}"
    # S3Proxy lists no ETag of a file that was not stored through it.
    checksum = checksum_of(item) if "ETag" in item else ""
    return ListedObject(uri, item["Size"], time_ns(item["LastModified"]), checksum)
