"""Committed files, objects and time in memory; `memory` has refs and staging."""

import hashlib
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec.structs import replace

from graveler.data_headers import (
    CHECKSUM_ALGORITHM,
    CHECKSUMS,
    NO_HEADERS,
    DataHeaders,
    kept_in_store,
    of_write,
)
from graveler.errors import (
    BadPartsError,
    CorruptDataError,
    DataReplacedError,
    GoneError,
    InvalidInputError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
    UploadNotFoundError,
)
from graveler.ports import (
    NOTHING_EXPECTED,
    BegunUpload,
    Clock,
    CopiedPart,
    ExpectedObject,
    ListedObject,
    ObjectDescription,
    ObjectInfo,
    PartInfo,
    PartsPage,
    StoredContent,
    UnfinishedUpload,
    UploadedPart,
)
from graveler.times import Moment
from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from tests.support.fakes.part_checksums import (
    algorithm_of,
    checksum_of,
    checksums_of_parts,
    composite_of,
    declared_algorithm,
    of_part,
)


def nothing() -> None:
    """Do nothing: the default between two steps of a call."""


class FixedClock:
    """Advances by step_ns at each now_ns() and moment(), and by tick().

    tick: time passes, by both clocks. step: the wall clock alone is set, forwards or back; or time
    passes while the process is frozen, which the monotonic clock does not count.
    """

    def __init__(
        self,
        now_ns: int = 1_700_000_000 * 10**9,
        step_ns: int = 0,
        behind_ns: int = 1_600_000_000 * 10**9,
    ) -> None:
        self._now_ns = now_ns
        self._behind_ns = behind_ns  # the monotonic clock, the wall clock
        self.step_ns = step_ns
        self._lock = threading.Lock()

    @property
    def peek_ns(self) -> int:
        """The time, without moving it."""
        return self._now_ns

    def fork(self) -> "FixedClock":
        return FixedClock(self._now_ns, self.step_ns, self._behind_ns)

    def now_ns(self) -> int:
        return self.moment().wall_ns

    def moment(self) -> Moment:
        with self._lock:
            now = Moment(self._now_ns, self._now_ns - self._behind_ns)
            self._now_ns += self.step_ns
            return now

    def step(self, seconds: float) -> None:
        with self._lock:
            self._now_ns += round(seconds * 10**9)
            self._behind_ns += round(seconds * 10**9)

    def tick(self, seconds: float) -> None:
        with self._lock:
            self._now_ns += round(seconds * 10**9)

    sleep = tick  # without waiting

    def left_s(self) -> float:
        return math.inf


class MemoryCommittedFiles:
    """CommittedFiles in a dictionary; `reads` records each read as (method, file ID)."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        self.reads: list[tuple[str, str]] = []

    def fork(self) -> "MemoryCommittedFiles":
        """Return an independent copy with no recorded reads."""
        made = copy(self)
        made.files, made.reads = dict(self.files), []
        return made

    def _file(self, method: str, namespace: str, file_id: str) -> bytes:
        self.reads.append((method, file_id))
        if (namespace, file_id) not in self.files:
            raise CorruptDataError(f"{namespace}/_lakefs/{file_id} does not exist")
        return self.files[namespace, file_id]

    def forget(self) -> None:
        """Do nothing: this store has no cache."""

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        content = self._file("read_tail", namespace, file_id)
        return content[max(0, len(content) - length) :], len(content)

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        content = self._file("read", namespace, file_id)
        if offset + length > len(content):
            raise CorruptDataError(f"{namespace}/_lakefs/{file_id} ends before {offset + length}")
        return content[offset : offset + length]

    def read_all(self, namespace: str, file_id: str) -> bytes:
        return self._file("read_all", namespace, file_id)

    def is_stored(self, namespace: str, file_id: str) -> bool:
        self.reads.append(("is_stored", file_id))
        return (namespace, file_id) in self.files

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        is_new = (namespace, file_id) not in self.files
        self.files.setdefault((namespace, file_id), content)
        return is_new


@dataclass
class _Object:
    content: bytes
    info: ObjectInfo
    metadata: Mapping[str, str]


@dataclass
class _Upload:
    uri: str
    content_type: str
    initiated_ns: int
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: dict[int, bytes] = field(default_factory=dict)


class MemoryObjectStore:
    """ObjectStore in a dictionary; presigned URLs are used by `request_presigned`.

    between: called between two steps of a call, with page_amount objects in each.
    bytes_read: bytes returned by get, by URI; a test may clear it.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.between: Callable[[], None] = nothing
        self.page_amount = 1000
        self.bytes_read: dict[str, int] = {}
        self.missing_buckets: set[str] = set()
        self._clock = clock or FixedClock()
        self.ever: set[str] = set()  # every URI that ever held an object
        self._objects: dict[str, _Object] = {}
        self._uploads: dict[str, _Upload] = {}
        self._uploads_begun = 0
        self._lock = threading.RLock()

    def fork(self, clock: Clock) -> "MemoryObjectStore":
        """Return an independent copy."""
        made = copy(self)
        made._clock, made._objects = clock, dict(self._objects)
        made._uploads = deepcopy(self._uploads)
        made.ever, made.bytes_read = set(self.ever), {}
        return made

    def contents(self) -> dict[str, bytes]:
        """Return the content of every object by URI; bytes_read does not count it."""
        with self._lock:
            return {uri: found.content for uri, found in self._objects.items()}

    def _check_bucket(self, uri: str) -> None:
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        if not uri.startswith("s3://") or not key or bucket in self.missing_buckets:
            raise InvalidInputError(f"{uri!r} names no object in a bucket that exists")

    def _store(
        self,
        uri: str,
        content: bytes,
        content_type: str,
        checksum: str,
        metadata: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ObjectInfo:
        self.ever.add(uri)
        now_ns = self._clock.now_ns()
        info = ObjectInfo(len(content), checksum, now_ns, content_type, headers or {})
        self._objects[uri] = _Object(content, info, metadata or {})
        return info

    def uris(self, prefix: str = "") -> list[str]:
        """Return the URIs that begin with prefix, sorted."""
        with self._lock:
            return sorted(uri for uri in self._objects if uri.startswith(prefix))

    def description(self, uri: str) -> ObjectDescription:
        """Return the content type and the user metadata of an object."""
        with self._lock:
            found = self._object(uri)
            return ObjectDescription(found.info.content_type, found.metadata)

    def put(
        self,
        uri: str,
        content: bytes,
        content_type: str,
        *,
        headers: DataHeaders = NO_HEADERS,
        if_absent: bool = False,
        if_match: str = "",
    ) -> ObjectInfo:
        with self._lock:
            self._check_bucket(uri)
            known = self._objects.get(uri)
            if if_absent and known is not None:
                raise PreconditionFailedError(f"{uri} exists")
            if if_match and (known is None or known.info.checksum != if_match):
                raise PreconditionFailedError(f"{uri} does not have the ETag {if_match}")
            checksum = _md5(content)
            return self._store(uri, content, content_type, checksum, headers=headers.sent)

    def _object(self, uri: str, if_match: str = "") -> _Object:
        self._check_bucket(uri)
        if uri not in self._objects:
            raise GoneError(f"{uri} does not exist")
        found = self._objects[uri]
        if if_match not in {"", found.info.checksum}:
            raise DataReplacedError(f"{uri} has the ETag {found.info.checksum}")
        return found

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        return self.get_stored(uri, byte_range).content

    def get_stored(
        self, uri: str, byte_range: tuple[int, int] | None = None, *, if_match: str = ""
    ) -> StoredContent:
        with self._lock:
            found = self._object(uri, if_match)
            content = found.content
            if byte_range is not None:
                if byte_range[0] >= len(content):
                    raise RangeNotSatisfiableError(f"{uri} is shorter", len(content))
                content = content[byte_range[0] : byte_range[1] + 1]
            self.bytes_read[uri] = self.bytes_read.get(uri, 0) + len(content)
            told = {k: v for k, v in found.info.headers.items() if k not in CHECKSUMS}
            return StoredContent(content, told, found.info.checksum)

    def head(self, uri: str, *, with_checksums: bool = False) -> ObjectInfo | None:
        with self._lock:
            self._check_bucket(uri)
            if uri not in self._objects:
                return None
            info = self._objects[uri].info
            left_out = frozenset() if with_checksums else CHECKSUMS
            told = {name: text for name, text in info.headers.items() if name not in left_out}
            return replace(info, headers=told)

    def copy(
        self,
        source_uri: str,
        target_uri: str,
        size_bytes: int,  # noqa: ARG002 - the port's; nothing is too large here
        description: ObjectDescription | None = None,
        before_request: Callable[[], None] | None = None,
        *,
        if_match: str = "",
        headers: DataHeaders = NO_HEADERS,
    ) -> ObjectInfo:
        if before_request is not None:
            before_request()
        with self._lock:
            source = self._object(source_uri, if_match)
            self._check_bucket(target_uri)
            described = description or self.description(source_uri)
            kept = kept_in_store(source.info.headers) if headers.kept is None else headers.kept
            return self._store(
                target_uri,
                source.content,
                described.content_type,
                _md5(source.content),  # of a copy in one request, however the source came about
                described.metadata,
                {**kept, **headers.encryption, **self._checksums_of_copy(source, headers)},
            )

    def _checksums_of_copy(self, source: _Object, headers: DataHeaders) -> Mapping[str, str]:
        declared = declared_algorithm(headers.checksum)
        if declared is None:
            return {name: text for name, text in source.info.headers.items() if name in CHECKSUMS}
        checksum = checksum_of(declared, source.content)
        return {declared.header: checksum, "x-amz-checksum-type": "FULL_OBJECT"}

    def delete(self, uri: str) -> None:
        with self._lock:
            self._check_bucket(uri)
            self._objects.pop(uri, None)

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        for uri in uris:
            self.delete(uri)
            self.between()
        return {}

    def list_objects(self, prefix_uri: str, start_after_uri: str = "") -> Iterator[ListedObject]:
        self._check_bucket(f"{prefix_uri}*")  # the prefix may be empty
        for page in self._pages(prefix_uri, start_after_uri):
            yield from page

    def _pages(self, prefix_uri: str, after: str) -> Iterator[list[ListedObject]]:
        while True:
            with self._lock:
                uris = [uri for uri in self.uris(prefix_uri) if uri > after]
                page = [self._listed(uri) for uri in uris[: self.page_amount]]
            if page:
                yield page
            if len(uris) <= self.page_amount:
                return
            after = page[-1].uri
            self.between()

    def _listed(self, uri: str) -> ListedObject:
        with self._lock:
            info = self._object(uri).info
            return ListedObject(uri, info.size_bytes, info.last_modified_ns, info.checksum)

    def list_folder(self, folder_uri: str) -> Iterator[ListedObject | str]:
        shown = set()
        for listed in self.list_objects(folder_uri):
            name, slash, _ = listed.uri.removeprefix(folder_uri).partition("/")
            if not slash:
                yield listed
            elif name not in shown:
                shown.add(name)
                yield f"{folder_uri}{name}/"

    def list_uploads(self, prefix_uri: str) -> Iterator[UnfinishedUpload]:
        with self._lock:
            uploads = sorted(self._uploads.items(), key=lambda item: item[1].uri)
        for upload_id, upload in uploads:
            if upload.uri.startswith(prefix_uri):
                yield UnfinishedUpload(upload.uri, upload_id, upload.initiated_ns)

    def presign_get(self, uri: str, expires_s: int, file_name: str, content_type: str = "") -> str:
        answered = {"content_type": content_type} if content_type else {}
        return _url("GET", uri=uri, expires_s=expires_s, file_name=file_name, **answered)

    def presign_put(self, uri: str, expires_s: int, headers: Mapping[str, str] = {}) -> str:
        return _url("PUT", uri=uri, expires_s=expires_s, **headers)

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        return _url("PART", uri=uri, upload=upload_id, part=part_number, expires_s=expires_s)

    def presign_parts(self, uri: str, upload_id: str, parts: int, expires_s: int) -> Sequence[str]:
        asked: dict[str, str | int] = {"uri": uri, "upload": upload_id, "expires_s": expires_s}
        return [_url("PART", **asked, part=number) for number in range(1, parts + 1)]

    def request_presigned(self, url: str, content: bytes = b"") -> bytes:
        """Send the request of a presigned URL; return a GET's content or a PUT's checksum."""
        parsed = urlsplit(url)
        asked = dict(parse_qsl(parsed.query))
        with self._lock:
            if parsed.netloc == "GET":
                return self.get(asked["uri"])
            if parsed.netloc == "PUT":
                return self.put(asked["uri"], content, "application/octet-stream").checksum.encode()
            self._upload(asked["uri"], asked["upload"]).parts[int(asked["part"])] = content
            return _md5(content).encode()

    def create_upload(
        self, uri: str, content_type: str, headers: DataHeaders = NO_HEADERS
    ) -> BegunUpload:
        with self._lock:
            self._check_bucket(uri)
            self._uploads_begun += 1
            upload_id = f"upload{self._uploads_begun}"
            now_ns = self._clock.now_ns()
            self._uploads[upload_id] = _Upload(uri, content_type, now_ns, headers.sent)
            return BegunUpload(upload_id, of_write(headers.sent))

    def headers_of_upload(self, upload_id: str) -> Mapping[str, str]:
        """Return what the upload was begun with."""
        return self._uploads[upload_id].headers

    def _upload(self, uri: str, upload_id: str) -> _Upload:
        upload = self._uploads.get(upload_id)
        if upload is None or upload.uri != uri:
            raise UploadNotFoundError(f"upload {upload_id} not found")
        return upload

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
        *,
        if_match: str = "",
    ) -> CopiedPart:
        with self._lock:
            content = self.get_stored(source_uri, byte_range, if_match=if_match).content
            upload = self._upload(uri, upload_id)
            upload.parts[part_number] = content
            checksums = of_part(upload.headers, content)
            return CopiedPart(_md5(content), of_write(upload.headers), checksums)

    def upload_part(self, uri: str, upload_id: str, part_number: int, content: bytes) -> str:
        with self._lock:
            self._upload(uri, upload_id).parts[part_number] = content
            return _md5(content)

    def complete_upload(
        self,
        uri: str,
        upload_id: str,
        parts: Sequence[UploadedPart],
        expected: ExpectedObject = NOTHING_EXPECTED,
    ) -> ObjectInfo:
        with self._lock:
            checksum = _checksum_of_parts(parts)
            stored = self.head(uri, with_checksums=True)
            if upload_id not in self._uploads and stored and stored.checksum == checksum:
                return stored  # an earlier attempt completed it
            upload = self._upload(uri, upload_id)
            numbers = [part.number for part in parts]
            if not parts:
                raise BadPartsError("no parts are named", reason="MalformedXML")
            if numbers != sorted(set(numbers)):
                raise BadPartsError("parts are not in ascending order", reason="InvalidPartOrder")
            for part in parts:
                if _md5(upload.parts.get(part.number, b"")) != part.checksum:
                    raise BadPartsError(f"part {part.number} is not what was uploaded")
            contents = [upload.parts[number] for number in numbers]
            content = b"".join(contents)
            _check(parts, contents, expected, upload.headers)
            del self._uploads[upload_id]
            headers = {**upload.headers, **checksums_of_parts(upload.headers, contents)}
            headers.pop(CHECKSUM_ALGORITHM, None)
            info = self._store(uri, content, upload.content_type, checksum, headers=headers)
            # S3 dates it by the start of the upload.
            info = replace(info, last_modified_ns=upload.initiated_ns)
            self._objects[uri] = _Object(content, info, {})
            return info

    def list_parts(self, uri: str, upload_id: str, after: int, amount: int) -> PartsPage:
        with self._lock:
            upload = self._upload(uri, upload_id)
            numbers = sorted(number for number in upload.parts if number > after)
            now_ns = self._clock.now_ns()
            parts = [
                PartInfo(
                    number, _md5(content), len(content), now_ns, of_part(upload.headers, content)
                )
                for number, content in sorted(upload.parts.items())
                if number in numbers[:amount]
            ]
            return PartsPage(tuple(parts), has_more=len(numbers) > amount)

    def abort_upload(self, uri: str, upload_id: str) -> None:
        with self._lock:
            self._upload(uri, upload_id)
            del self._uploads[upload_id]


def _url(method: str, **asked: str | int) -> str:
    return f"memory://{method}/?{urlencode(asked)}"


def _check(
    parts: Sequence[UploadedPart],
    contents: Sequence[bytes],
    expected: ExpectedObject,
    headers: Mapping[str, str],
) -> None:
    declared = declared_algorithm(headers)
    is_composite = checksums_of_parts(headers, contents).get("x-amz-checksum-type") == "COMPOSITE"
    for part, content in zip(parts, contents, strict=True):
        for name, text in part.checksums.items():
            algorithm = algorithm_of(name)
            if algorithm is None or algorithm is not declared:
                raise BadPartsError(f"{name} was not declared", reason="InvalidRequest")
            if checksum_of(algorithm, content) != text:
                raise BadPartsError(f"part {part.number} has another {name}")
        if is_composite and not part.checksums:
            raise BadPartsError(f"part {part.number} has no checksum", reason="InvalidRequest")
    content = b"".join(contents)
    if expected.size_bytes not in (None, len(content)):
        raise BadPartsError("the object has another size", reason="InvalidRequest")
    for name, text in expected.headers.items():
        algorithm = ALGORITHMS.get(name)
        if algorithm and text not in {
            checksum_of(algorithm, content),
            composite_of(algorithm, contents),
        }:
            raise BadPartsError(f"the object has another {name}", reason="BadDigest")


def _md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def _checksum_of_parts(parts: Sequence[UploadedPart]) -> str:
    try:
        digests = b"".join(bytes.fromhex(part.checksum) for part in parts)
    except ValueError:
        return "no checksum"
    return f"{_md5(digests)}-{len(parts)}"
