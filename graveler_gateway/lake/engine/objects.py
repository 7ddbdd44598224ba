"""Objects of the lake: reading, writing, copying and deleting them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from msgspec.structs import replace

from graveler.aws.s3.signed_requests import S3Requests
from graveler.branches.data import check_data, data_headers
from graveler.branches.views import ObjectStat
from graveler.data_headers import CHECKSUM_MODE, NO_HEADERS
from graveler.engine import Engine
from graveler.errors import GravelerError, InvalidInputError
from graveler.http.rights import RequestRights
from graveler.messages import Refusal
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.names import checksum_tag
from graveler.operations import objects, writes
from graveler.operations.two_step_writes import Prepared, finish, prepare
from graveler.ports import SignedS3Request
from graveler.staging.listing import CommonPrefix, ListPage, PageQuery
from graveler_gateway.lake.engine import rights
from graveler_gateway.lake.engine.deadline import in_time, in_time_of_copies
from graveler_gateway.lake.port import Description, Object, ObjectPlace


class EngineObject(Object, frozen=True, gc=False, kw_only=True):
    """An object with the engine's own record of it."""

    stat: ObjectStat


def engine_object(found: ObjectStat) -> EngineObject:
    """Return the engine's object as the gateway has it."""
    entry = found.entry
    return EngineObject(
        path=found.path,
        physical_address=found.physical_address,
        size_bytes=entry.size_bytes,
        checksum=checksum_tag(entry.checksum),
        last_modified_ns=entry.last_modified_ns,
        content_type=entry.content_type,
        metadata=entry.metadata,
        headers=found.headers,
        stat=found,
    )


def stat_of(found: Object) -> ObjectStat:
    """Return the object as the engine has it."""
    assert isinstance(found, EngineObject)
    return found.stat


def text_of(path: bytes) -> bytes:
    """Return the path, which must be text: the API and lakeFS have no other paths.

    Raises:
        InvalidInputError: it is not UTF-8.
    """
    try:
        path.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"path {path!r} is not UTF-8: encode it so") from error
    return path


@dataclass(frozen=True, slots=True)
class EngineWriting:
    """A write that the engine has allowed."""

    requests: S3Requests
    prepared: Prepared
    description: Description
    requirement: Requirement
    takes_checksums: bool = True

    def request(self, headers: Mapping[str, str], payload_hash: str) -> SignedS3Request:
        sent = {**self.description.headers.sent, **headers}
        return self.requests.sign_put(self.prepared.uri, sent, payload_hash)

    @in_time
    def finish(self, size_bytes: int, checksum: str) -> Object:
        found = finish(
            self.prepared,
            size_bytes=size_bytes,
            checksum=checksum,
            content_type=self.description.content_type,
            metadata=self.description.metadata,
            requirement=self.requirement,
        )
        return engine_object(found)


class EngineObjects:
    """The part of the lake that has objects."""

    _engine: Engine
    _requests: S3Requests
    _access: RequestRights

    @in_time
    def stat(self, place: ObjectPlace) -> Object:
        self._access.require(rights.reading(place.repository, place.path))
        return engine_object(
            objects.stat(self._engine, place.repository, place.ref, text_of(place.path))
        )

    @in_time
    def objects(self, repository: str, ref: str, query: PageQuery) -> ListPage[Object]:
        self._access.require(rights.listing_objects(repository))
        page = objects.list_objects(self._engine, repository, ref, query)
        results: list[Object | CommonPrefix] = [
            item if isinstance(item, CommonPrefix) else engine_object(item) for item in page.results
        ]
        return ListPage(results, page.next_after)

    @in_time
    def data_headers(self, found: Object, *, with_checksums: bool = False) -> Mapping[str, str]:
        return data_headers(self._engine, stat_of(found), with_checksums=with_checksums)

    def reading(
        self, found: Object, *, with_checksums: bool = False
    ) -> Callable[[int, int], SignedS3Request]:
        def request(first: int, last: int) -> SignedS3Request:
            headers = {"range": f"bytes={first}-{last}"}
            if stat_of(found).if_match:
                headers["if-match"] = f'"{stat_of(found).if_match}"'
            if with_checksums and (first, last) == (0, found.size_bytes - 1):
                del headers["range"]  # S3 has no checksum of a range
                headers |= CHECKSUM_MODE
            return self._requests.sign_get(found.physical_address, headers)

        return request

    @in_time
    def verified(self, found: Object) -> Object:
        stat = stat_of(found)
        return engine_object(replace(stat, if_match=check_data(self._engine, stat).checksum))

    def reading_url(self, found: Object, signed: Mapping[str, str], expires_s: int) -> str:
        if stat_of(found).if_match:
            self.verified(found)  # a reader of the URL would not notice replaced data
        return self._requests.presign_read(
            found.physical_address,
            expires_s,
            signed,
            {"response-content-type": found.content_type},
        )

    def check_write(self, place: ObjectPlace) -> None:
        self._access.require(rights.writing(place.repository, place.path))

    @in_time
    def write(
        self,
        place: ObjectPlace,
        description: Description,
        requirement: Requirement = NO_REQUIREMENT,
    ) -> EngineWriting:
        self._access.require(rights.writing(place.repository, place.path))
        prepared = prepare(
            self._engine,
            place.repository,
            place.ref,
            text_of(place.path),
            metadata=description.metadata,
            requirement=requirement,
        )
        return EngineWriting(self._requests, prepared, description, requirement)

    @in_time_of_copies
    def copy(
        self,
        source: Object,
        source_repository: str,
        place: ObjectPlace,
        description: Description | None,
        requirement: Requirement = NO_REQUIREMENT,
    ) -> Object:
        self._access.require(rights.writing(place.repository, place.path))
        self._access.require(rights.reading(source_repository, source.path))
        copied = writes.copy(
            self._engine,
            place.repository,
            place.ref,
            text_of(place.path),
            source_ref=None,
            source_path=source.path,
            source_repository=source_repository,
            source=stat_of(source),
            content_type=None if description is None else description.content_type,
            metadata=None if description is None else description.metadata,
            headers=NO_HEADERS if description is None else description.headers,
            requirement=requirement,
        )
        return engine_object(copied)

    @in_time
    def describe(
        self, place: ObjectPlace, change: Callable[[Mapping[str, str]], Mapping[str, str]]
    ) -> None:
        self._access.require(rights.writing(place.repository, place.path))
        writes.change_user_metadata(
            self._engine, place.repository, place.ref, text_of(place.path), change
        )

    @in_time
    def delete(self, place: ObjectPlace, requirement: Requirement = NO_REQUIREMENT) -> None:
        self._access.require(rights.deleting(place.repository, place.path))
        writes.delete(
            self._engine,
            place.repository,
            place.ref,
            text_of(place.path),
            requirement=requirement,
        )

    @in_time
    def delete_many(
        self, repository: str, branch: str, paths: Sequence[bytes]
    ) -> Sequence[tuple[bytes, GravelerError]]:
        allowed = self._access.allows_each(rights.deleting(repository, path) for path in paths)
        failures: list[tuple[bytes, GravelerError]] = [
            (path, Refusal.NOT_ALLOWED.error(actions="fs:DeleteObject"))
            for path, is_allowed in zip(paths, allowed, strict=True)
            if not is_allowed
        ]
        failures += writes.delete_many(
            self._engine, repository, branch, list(compress(paths, allowed))
        )
        return failures
