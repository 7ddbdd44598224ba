"""Multipart uploads of the lake, over the API's recorded uploads."""

from collections.abc import Mapping, Sequence

from graveler.data_headers import of_write
from graveler.errors import UploadNotFoundError
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.ports import (
    NOTHING_EXPECTED,
    BegunUpload,
    CopiedPart,
    ExpectedObject,
    SignedS3Request,
    UploadedPart,
)
from graveler.staging.listing import ListPage, PageQuery
from graveler_gateway.lake.api.objects import branch_of, path_of
from graveler_gateway.lake.api.requests import Requests, amount_of, conditions_of, text_of
from graveler_gateway.lake.api.rows import (
    Listing,
    ObjectStats,
    PartLocation,
    PlacedObject,
    RecordedPartRow,
    RecordedUploadRow,
    listed_upload,
    object_of,
    part_of,
    presigned_request,
)
from graveler_gateway.lake.port import (
    Description,
    ListedPart,
    ListedUpload,
    Object,
    ObjectPlace,
)


def _upload(place: ObjectPlace, upload_id: str, *rest: str) -> tuple[str, ...]:
    """Return the segments of a path below an upload.

    Raises:
        UploadNotFoundError: the ID is empty or only dots, which no upload's is.
    """
    if not upload_id.strip("."):
        raise UploadNotFoundError(f"upload {upload_id!r} does not exist")
    return branch_of(place, "uploads", upload_id, *rest)


class ApiPartWriting:
    """A part that the API has allowed, with a presigned URL for the first try."""

    takes_checksums = False  # presigned URLs do not sign them

    def __init__(
        self, requests: Requests, segments: Sequence[str], query: Mapping[str, str]
    ) -> None:
        self._requests = requests
        self._segments = segments
        self._query = query
        self._url = self._presigned()

    def _presigned(self) -> str:
        return self._requests.ask(PartLocation, "PUT", self._segments, self._query).presigned_url

    def request(self, headers: Mapping[str, str], payload_hash: str) -> SignedS3Request:  # noqa: ARG002 - a presigned URL signs no hash
        url, self._url = self._url or self._presigned(), ""
        return presigned_request("PUT", url, headers)


class ApiUploads:
    """The part of the lake that has multipart uploads."""

    _requests: Requests

    def create_upload(self, place: ObjectPlace, description: Description) -> BegunUpload:
        reply = self._requests.send(
            "POST",
            branch_of(place, "uploads"),
            path_of(place),
            body={
                "content_type": description.content_type,
                "user_metadata": description.metadata,
                "headers": description.headers.kept or {},
                "encryption": description.headers.encryption,
            },
        )
        row = self._requests.read(RecordedUploadRow, reply)
        return BegunUpload(row.upload_id, of_write(reply.headers))

    def uploads(self, repository: str, query: PageQuery, after_id: str) -> ListPage[ListedUpload]:
        page = self._requests.ask(
            Listing[RecordedUploadRow],
            "GET",
            ("repositories", repository, "uploads"),
            {
                "prefix": text_of(query.prefix),
                "after": text_of(query.after),
                "after_id": after_id,
                "delimiter": text_of(query.delimiter),
                "amount": amount_of(query.amount),
            },
        )
        if query.amount == 0:
            return ListPage([], b"")
        return ListPage(
            [listed_upload(row) for row in page.results],
            page.pagination.next_offset.encode() if page.pagination.has_more else b"",
        )

    def part(self, place: ObjectPlace, upload_id: str, number: int) -> ApiPartWriting:
        segments = _upload(place, upload_id, "parts", str(number))
        return ApiPartWriting(self._requests, segments, path_of(place))

    def copy_part(
        self,
        place: ObjectPlace,
        upload_id: str,
        number: int,
        source: Object,
        byte_range: tuple[int, int] | None,
    ) -> CopiedPart:
        assert isinstance(source, PlacedObject)
        copied = {
            "repository": source.place.repository,
            "ref": source.place.ref,
            "path": text_of(source.path),
        }
        if byte_range is not None:
            copied["range"] = f"bytes={byte_range[0]}-{byte_range[1]}"
        reply = self._requests.send(
            "PUT",
            _upload(place, upload_id, "parts", str(number), "copy"),
            path_of(place),
            body={"copy_source": copied, "src_physical_address": source.physical_address},
        )
        checksum = reply.headers.get("etag", "").strip('"')
        return CopiedPart(checksum, of_write(reply.headers))

    def parts(
        self, place: ObjectPlace, upload_id: str, after: int, amount: int
    ) -> tuple[Sequence[ListedPart], bool]:
        page = self._requests.ask(
            Listing[RecordedPartRow],
            "GET",
            _upload(place, upload_id, "parts"),
            {**path_of(place), "after": str(after), "amount": amount_of(amount)},
        )
        if amount == 0:
            return (), False
        return [part_of(row) for row in page.results], page.pagination.has_more

    def complete_upload(
        self,
        place: ObjectPlace,
        upload_id: str,
        parts: Sequence[UploadedPart],
        requirement: Requirement = NO_REQUIREMENT,
        expected: ExpectedObject = NOTHING_EXPECTED,
    ) -> Object:
        rows = [{"part_number": part.number, "etag": part.checksum} for part in parts]
        reply = self._requests.send(
            "PUT",
            _upload(place, upload_id),
            path_of(place),
            body={"parts": rows, "size_bytes": expected.size_bytes},
            headers=conditions_of(requirement),
        )
        row = self._requests.read(ObjectStats, reply)
        return object_of(row, place.repository, place.ref, reply.headers)

    def abort_upload(self, place: ObjectPlace, upload_id: str) -> None:
        self._requests.send("DELETE", _upload(place, upload_id), path_of(place))
