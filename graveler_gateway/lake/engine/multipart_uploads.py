"""Multipart uploads of the lake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graveler.aws.s3.signed_requests import S3Requests
from graveler.branches import data
from graveler.engine import Engine
from graveler.http.rights import RequestRights
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.operations import recorded_uploads
from graveler.ports import (
    NOTHING_EXPECTED,
    BegunUpload,
    CopiedPart,
    ExpectedObject,
    SignedS3Request,
    UploadedPart,
)
from graveler.staging.listing import CommonPrefix, ListPage, PageQuery
from graveler_gateway.lake.engine import rights
from graveler_gateway.lake.engine.deadline import in_time, in_time_of_copies
from graveler_gateway.lake.engine.objects import engine_object, stat_of, text_of
from graveler_gateway.lake.port import (
    Description,
    ListedPart,
    ListedUpload,
    Object,
    ObjectPlace,
)


@dataclass(frozen=True, slots=True)
class EnginePartWriting:
    """A part that the engine has allowed."""

    requests: S3Requests
    uri: str
    store_id: str
    number: int
    takes_checksums: bool

    def request(self, headers: Mapping[str, str], payload_hash: str) -> SignedS3Request:
        return self.requests.sign_part(self.uri, self.store_id, self.number, headers, payload_hash)


class EngineUploads:
    """The part of the lake that has multipart uploads."""

    _engine: Engine
    _requests: S3Requests
    _access: RequestRights

    @in_time
    def create_upload(self, place: ObjectPlace, description: Description) -> BegunUpload:
        self._access.require(rights.writing(place.repository, place.path))
        upload = recorded_uploads.create(
            self._engine,
            place.repository,
            place.ref,
            text_of(place.path),
            content_type=description.content_type,
            metadata=description.metadata,
            headers=description.headers,
        )
        return BegunUpload(upload.id, upload.headers)

    @in_time
    def uploads(self, repository: str, query: PageQuery, after_id: str) -> ListPage[ListedUpload]:
        self._access.require(rights.listing_objects(repository))
        page = recorded_uploads.list_uploads(self._engine, repository, query, after_id=after_id)
        results: list[ListedUpload | CommonPrefix] = [
            item
            if isinstance(item, CommonPrefix)
            else ListedUpload(item.id, item.branch, item.path, item.created_ns)
            for item in page.results
        ]
        return ListPage(results, page.next_after)

    @in_time
    def part(self, place: ObjectPlace, upload_id: str, number: int) -> EnginePartWriting:
        self._access.require(rights.writing(place.repository, place.path))
        uri, upload = recorded_uploads.find(
            self._engine, place.repository, place.ref, place.path, upload_id
        )
        return EnginePartWriting(self._requests, uri, upload.store_id, number, upload.has_checksums)

    @in_time_of_copies
    def copy_part(
        self,
        place: ObjectPlace,
        upload_id: str,
        number: int,
        source: Object,
        byte_range: tuple[int, int] | None,
    ) -> CopiedPart:
        self._access.require(rights.writing(place.repository, place.path))
        uri, store_id = recorded_uploads.location(
            self._engine, place.repository, place.ref, place.path, upload_id
        )
        return data.copy_part(self._engine, stat_of(source), uri, store_id, number, byte_range)

    @in_time
    def parts(
        self, place: ObjectPlace, upload_id: str, after: int, amount: int
    ) -> tuple[Sequence[ListedPart], bool]:
        self._access.require(rights.writing(place.repository, place.path))
        uri, store_id = recorded_uploads.location(
            self._engine, place.repository, place.ref, place.path, upload_id
        )
        if amount == 0:
            return (), False
        page = self._engine.objects.list_parts(uri, store_id, after, amount)
        rows = [
            ListedPart(
                part.number, part.checksum, part.size_bytes, part.last_modified_ns, part.checksums
            )
            for part in page.parts
        ]
        return rows, page.has_more

    @in_time_of_copies
    def complete_upload(
        self,
        place: ObjectPlace,
        upload_id: str,
        parts: Sequence[UploadedPart],
        requirement: Requirement = NO_REQUIREMENT,
        expected: ExpectedObject = NOTHING_EXPECTED,
    ) -> Object:
        self._access.require(rights.writing(place.repository, place.path))
        found = recorded_uploads.complete(
            self._engine,
            place.repository,
            place.ref,
            place.path,
            upload_id,
            parts,
            requirement,
            expected,
        )
        return engine_object(found)

    @in_time
    def abort_upload(self, place: ObjectPlace, upload_id: str) -> None:
        self._access.require(rights.writing(place.repository, place.path))
        recorded_uploads.abort(self._engine, place.repository, place.ref, place.path, upload_id)
