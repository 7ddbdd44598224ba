"""Objects of the lake, over the API: reading, writing, copying and deleting them."""

from collections.abc import Callable, Mapping, Sequence

from graveler.errors import (
    AccessDeniedError,
    ContentionError,
    ForbiddenError,
    GoneError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    ObjectMissingError,
    PreconditionFailedError,
    UnsupportedError,
)
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.ports import SignedS3Request
from graveler.staging.listing import ListPage, PageQuery
from graveler_gateway.lake.api.requests import (
    Requests,
    amount_of,
    conditions_of,
    error_of_status,
    text_of,
)
from graveler_gateway.lake.api.rows import (
    Listing,
    ObjectErrorList,
    ObjectStats,
    PlacedObject,
    StorageLocation,
    UnderlyingProperties,
    listed_object,
    object_of,
    presigned_request,
)
from graveler_gateway.lake.port import Description, Object, ObjectPlace

# A lost race takes two requests more.
_DESCRIPTIONS_MAX = 5


def branch_of(place: ObjectPlace, *rest: str) -> tuple[str, ...]:
    """Return the segments of a path below the place's branch."""
    return ("repositories", place.repository, "branches", place.ref, *rest)


def _object_of(place: ObjectPlace, operation: str) -> tuple[str, ...]:
    return ("repositories", place.repository, "refs", place.ref, "objects", operation)


def path_of(place: ObjectPlace) -> dict[str, str]:
    """Return the query that names the place's path."""
    return {"path": text_of(place.path)}


class ApiWriting:
    """A write that the API has allowed; each request stores its content at a new address."""

    takes_checksums = False  # presigned URLs do not sign them

    def __init__(
        self,
        requests: Requests,
        place: ObjectPlace,
        description: Description,
        requirement: Requirement,
    ) -> None:
        self._requests = requests
        self._place = place
        self._description = description
        self._requirement = requirement
        self._address = ""

    def request(self, headers: Mapping[str, str], payload_hash: str) -> SignedS3Request:  # noqa: ARG002 - a presigned URL signs no hash
        given = self._description.headers
        kept, encryption = given.kept or {}, given.encryption
        location = self._requests.ask(
            StorageLocation,
            "GET",
            branch_of(self._place, "staging", "backing"),
            {**path_of(self._place), "presign": "true"},
            headers=encryption,
        )
        if not location.presigned_url:
            raise UnsupportedError("the API does not presign URLs: the gateway needs them")
        self._address = location.physical_address
        return presigned_request("PUT", location.presigned_url, {**headers, **kept}, encryption)

    def finish(self, size_bytes: int, checksum: str) -> Object:
        row = self._requests.ask(
            ObjectStats,
            "PUT",
            branch_of(self._place, "staging", "backing"),
            path_of(self._place),
            body={
                "staging": {"physical_address": self._address},
                "checksum": checksum,
                "size_bytes": size_bytes,
                "content_type": self._description.content_type,
                "user_metadata": self._description.metadata,
            },
            headers=conditions_of(self._requirement),
        )
        return object_of(row, self._place.repository, self._place.ref)


class ApiObjects:
    """The part of the lake that has objects."""

    _requests: Requests

    def stat(self, place: ObjectPlace) -> PlacedObject:
        row = self._stat(place, presign=False)
        return object_of(row, place.repository, place.ref)

    def data_headers(
        self,
        found: Object,
        *,
        with_checksums: bool = False,  # noqa: ARG002 - the API returns none
    ) -> Mapping[str, str]:
        assert isinstance(found, PlacedObject)
        try:
            return self._requests.ask(
                UnderlyingProperties,
                "GET",
                _object_of(found.place, "underlyingProperties"),
                path_of(found.place),
            ).headers
        except GoneError:
            return {}

    def _stat(self, place: ObjectPlace, *, presign: bool) -> ObjectStats:
        """Return the object's row; with presign, its address is a URL that reads it as stored."""
        return self._requests.ask(
            ObjectStats,
            "GET",
            _object_of(place, "stat"),
            {**path_of(place), **({"presign": "true", "as_stored": "true"} if presign else {})},
        )

    def objects(self, repository: str, ref: str, query: PageQuery) -> ListPage[Object]:
        page = self._requests.ask(
            Listing[ObjectStats],
            "GET",
            ("repositories", repository, "refs", ref, "objects", "ls"),
            {
                "prefix": text_of(query.prefix),
                "after": text_of(query.after),
                "delimiter": text_of(query.delimiter),
                "amount": amount_of(query.amount),
                # They may be larger than an answer can be, and listings of S3 do not show them.
                "user_metadata": "false",
            },
        )
        if query.amount == 0:
            return ListPage([], b"")
        return ListPage(
            [listed_object(row, repository, ref) for row in page.results],
            page.pagination.next_offset.encode() if page.pagination.has_more else b"",
        )

    def reading(
        self,
        found: Object,
        *,
        with_checksums: bool = False,  # noqa: ARG002 - a presigned URL asks for none
    ) -> Callable[[int, int], SignedS3Request]:
        assert isinstance(found, PlacedObject)

        def request(first: int, last: int) -> SignedS3Request:
            # A new URL for each request: it expires, and a slow reader may resume after that.
            row = self._stat(found.place, presign=True)
            seen = object_of(row, found.place.repository, found.place.ref)
            if (seen.checksum, seen.size_bytes) != (found.checksum, found.size_bytes):
                raise ContentionError("the object was replaced while it was read: read it again")
            return presigned_request(
                "GET", row.physical_address, {"range": f"bytes={first}-{last}"}
            )

        return request

    def verified(self, found: Object) -> Object:
        assert isinstance(found, PlacedObject)
        self._stat(found.place, presign=True)  # the API verifies what it presigns
        return found

    def reading_url(
        self,
        found: Object,  # noqa: ARG002 - the API presigns no URL that signs further headers
        signed: Mapping[str, str],  # noqa: ARG002 - the same
        expires_s: int,  # noqa: ARG002 - the same
    ) -> str | None:
        return None

    def check_write(self, place: ObjectPlace) -> None:
        try:
            # The API has no empty path, which means the folder of the whole branch.
            path = text_of(place.path) or "/"
            self._requests.send("GET", branch_of(place, "objects", "stage_allowed"), {"path": path})
        except (NotFoundError, ForbiddenError, InvalidInputError):
            return  # the user has the right, and the write itself reports the error

    def write(
        self,
        place: ObjectPlace,
        description: Description,
        requirement: Requirement = NO_REQUIREMENT,
    ) -> ApiWriting:
        self._requests.send("GET", branch_of(place, "objects", "stage_allowed"), path_of(place))
        self._check(place, requirement)
        return ApiWriting(self._requests, place, description, requirement)

    def _check(self, place: ObjectPlace, requirement: Requirement) -> None:
        """Check the requirement before the content is sent; `finish` checks it again.

        Raises:
            PreconditionFailedError: it does not hold.
        """
        if requirement == NO_REQUIREMENT:
            return
        try:
            found = self.stat(place)
        except AccessDeniedError:
            return  # a user who may only write is refused at the end
        except NotFoundError as error:
            if requirement.is_present or requirement.checksums is not None:
                raise ObjectMissingError(
                    f"there is no object at {text_of(place.path)!r}: leave If-Match out"
                ) from error
            return
        if requirement.is_absent:
            raise PreconditionFailedError("path already exists", repr(text_of(place.path)))
        if requirement.checksums is not None and found.checksum not in requirement.checksums:
            raise PreconditionFailedError(
                f"the object at {text_of(place.path)!r} has the ETag {found.checksum!r}: read it "
                "again before you write"
            )

    def copy(
        self,
        source: Object,
        source_repository: str,
        place: ObjectPlace,
        description: Description | None,
        requirement: Requirement = NO_REQUIREMENT,
    ) -> Object:
        assert isinstance(source, PlacedObject)
        body = {
            "src_repository": source_repository,
            "src_ref": source.place.ref,
            "src_path": text_of(source.path),
            "src_physical_address": source.physical_address,
        }
        described = (
            {}
            if description is None
            else {
                "content_type": description.content_type,
                "user_metadata": description.metadata,
                "headers": description.headers.kept,
                "encryption": description.headers.encryption,
            }
        )
        reply = self._requests.send(
            "POST",
            branch_of(place, "objects", "copy"),
            {"dest_path": text_of(place.path)},
            body={**body, **described},
            headers=conditions_of(requirement),
        )
        row = self._requests.read(ObjectStats, reply)
        return object_of(row, place.repository, place.ref, reply.headers)

    def describe(
        self, place: ObjectPlace, change: Callable[[Mapping[str, str]], Mapping[str, str]]
    ) -> None:
        """Replace the user metadata, if the content is still the one that was read.

        The API has no condition for metadata: of two changes at the same time, one may be lost.

        Raises:
            ContentionError: others replaced the object in each try.
        """
        segments = branch_of(place, "objects", "stat", "user_metadata")
        for _ in range(_DESCRIPTIONS_MAX):
            found = self.stat(place)
            unchanged = conditions_of(Requirement(checksums=frozenset({found.checksum})))
            body = {"set": dict(change(found.metadata))}
            try:
                self._requests.send("PUT", segments, path_of(place), body=body, headers=unchanged)
            except PreconditionFailedError:
                continue
            return
        raise ContentionError(f"too many concurrent updates of {place.path!r}: retry")

    def delete(self, place: ObjectPlace, requirement: Requirement = NO_REQUIREMENT) -> None:
        self._requests.send(
            "DELETE",
            branch_of(place, "objects"),
            path_of(place),
            headers=conditions_of(requirement),
        )

    def delete_many(
        self, repository: str, branch: str, paths: Sequence[bytes]
    ) -> Sequence[tuple[bytes, GravelerError]]:
        failures: list[tuple[bytes, GravelerError]] = []
        texts: list[str] = []
        for path in paths:
            try:
                texts.append(text_of(path))
            except InvalidInputError as error:
                failures.append((path, error))
        if not texts:
            return failures
        place = ObjectPlace(repository, branch, b"")
        segments = branch_of(place, "objects", "delete")
        answer = self._requests.ask(ObjectErrorList, "POST", segments, body={"paths": texts})
        return failures + [
            (row.path.encode(), error_of_status(row.status_code, row.message, is_change=True))
            for row in answer.errors
        ]
