"""The contract of every ObjectStore."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

import pytest
import requests

from graveler.aws.retries import RetryPolicy
from graveler.aws.s3.client import S3
from graveler.aws.s3.direct_client import DirectClient
from graveler.aws.s3.objects import S3ObjectStore
from graveler.aws.s3.signed_requests import Endpoint, S3Requests
from graveler.aws.s3.uris import Location
from graveler.data_headers import DataHeaders
from graveler.errors import (
    BadPartsError,
    DataReplacedError,
    GoneError,
    InvalidInputError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
    StaleVersionError,
    UploadNotFoundError,
)
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.ports import (
    ExpectedObject,
    ObjectDescription,
    ObjectStore,
    PartsPage,
    UploadedPart,
)
from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.fakes.part_checksums import checksum_of, checksums_of_parts
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import Keys, s3_client

CRC32 = ALGORITHMS["x-amz-checksum-crc32"]
LEAST_PART_BYTES = 5 * 1024**2
STACK_KEYS = Keys(KEYS.access_key_id, KEYS.secret_access_key)
ABSENT_UPLOAD = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class World:
    """An object store, a place in it, and somebody outside who uses presigned URLs."""

    objects: ObjectStore
    prefix: str
    get: Callable[[str], bytes]
    put: Callable[[str, bytes], str]  # gives the checksum
    metadata: Callable[[str], Mapping[str, str]]

    def uri(self, key: str = "data/a b/é+%~,") -> str:
        return f"{self.prefix}/{key}"


def s3_of(endpoint: str, keys: Keys = STACK_KEYS, *, directly: bool = False) -> S3:
    retries = RetryPolicy(total_s_max=60.0, first_pause_s=0.005)
    requests = S3Requests(Endpoint(endpoint, "us-east-1"), lambda: keys)
    direct = DirectClient(requests, signs_content=True) if directly else None
    return S3(s3_client(endpoint, keys), retries, direct)


def _get(url: str) -> bytes:
    answer = requests.get(url, timeout=300)
    answer.raise_for_status()
    return answer.content


def _put(url: str, content: bytes) -> str:
    answer = requests.put(url, content, headers={"Content-Type": "any/type"}, timeout=300)
    answer.raise_for_status()
    return answer.headers["ETag"].strip('"')


@pytest.fixture(
    params=[
        "memory",
        pytest.param("boto3", marks=pytest.mark.server),
        pytest.param("directly", marks=pytest.mark.server),
    ]
)
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "memory":
        memory = MemoryObjectStore()
        memory.missing_buckets.add("absent-bucket")
        put = memory.request_presigned
        return World(
            memory,
            "s3://bucket/x",
            put,
            lambda url, body: put(url, body).decode(),
            lambda uri: memory.description(uri).metadata,
        )
    endpoint = request.getfixturevalue("s3_endpoint")
    s3 = s3_of(endpoint, directly=request.param == "directly")

    def metadata(uri: str) -> Mapping[str, str]:
        return s3.client.head_object(Bucket=BUCKET, Key=Location.of(uri).key)["Metadata"]

    # So small a limit makes a copy in parts cheap to try.
    signer = S3Requests(Endpoint(endpoint, "us-east-1"), lambda: STACK_KEYS)
    objects = S3ObjectStore(
        s3,
        lambda: STACK_KEYS,
        copy_bytes_max=LEAST_PART_BYTES,
        signer=signer if request.param == "directly" else None,
    )
    return World(objects, f"s3://{BUCKET}/{uuid4().hex}", _get, _put, metadata)


@pytest.mark.parametrize("key", ["plain", "data/a b/é+%~?#&=", "x//y/./z", "'(*)!"])
def test_stored_content_is_read(world: World, key: str) -> None:
    info = world.objects.put(world.uri(key), b"\x00content\xff", "text/plain")
    assert world.objects.get(world.uri(key)) == b"\x00content\xff"
    found = world.objects.head(world.uri(key))
    assert found is not None
    assert (found.size_bytes, found.content_type) == (9, "text/plain")
    assert (info.size_bytes, info.checksum, info.content_type) == (
        found.size_bytes,
        found.checksum,
        found.content_type,
    )
    assert abs(info.last_modified_ns - found.last_modified_ns) <= 2 * 10**9


def test_stored_empty_content_is_read(world: World) -> None:
    world.objects.put(world.uri(), b"", "")
    assert world.objects.get(world.uri()) == b""
    found = world.objects.head(world.uri())
    assert found is not None
    assert found.size_bytes == 0


FORM_TYPES = ["application/x-www-form-urlencoded", "Application/X-WWW-Form-Urlencoded; charset=a"]


@pytest.mark.parametrize("content_type", FORM_TYPES)
def test_content_sent_like_a_form_is_stored_unchanged(world: World, content_type: str) -> None:
    world.objects.put(world.uri(), b"a=1&b=2", content_type)
    assert world.objects.get(world.uri()) == b"a=1&b=2"


def test_put_replaces(world: World) -> None:
    world.objects.put(world.uri(), b"1", "a/b")
    world.objects.put(world.uri(), b"22", "a/c")
    assert world.objects.get(world.uri()) == b"22"


def test_put_if_absent_does_not_replace(world: World) -> None:
    world.objects.put(world.uri(), b"1", "a/b", if_absent=True)
    for content in (b"1", b"2"):
        with pytest.raises(PreconditionFailedError):
            world.objects.put(world.uri(), content, "a/b", if_absent=True)
    assert world.objects.get(world.uri()) == b"1"


def test_put_if_match_replaces_what_was_read_alone(world: World) -> None:
    read = world.objects.put(world.uri(), b"1", "a/b").checksum
    assert world.objects.get_stored(world.uri()).checksum == read
    newer = world.objects.put(world.uri(), b"2", "a/b", if_match=read).checksum
    for uri, etag in ((world.uri(), read), (world.uri("absent"), newer)):
        with pytest.raises(PreconditionFailedError):
            world.objects.put(uri, b"3", "a/b", if_match=etag)
    assert world.objects.get(world.uri()) == b"2"
    assert world.objects.head(world.uri("absent")) is None


def test_ranges_are_inclusive_and_end_with_the_object(world: World) -> None:
    world.objects.put(world.uri(), b"0123456789", "a/b")
    assert world.objects.get(world.uri(), (2, 4)) == b"234"
    assert world.objects.get(world.uri(), (9, 99)) == b"9"
    with pytest.raises(RangeNotSatisfiableError):
        world.objects.get(world.uri(), (10, 12))


def test_missing_objects(world: World) -> None:
    assert world.objects.head(world.uri()) is None
    world.objects.delete(world.uri())
    with pytest.raises(GoneError):
        world.objects.get(world.uri())
    with pytest.raises(GoneError):
        world.objects.copy(world.uri(), world.uri("copy"), 5)
    assert world.objects.head(world.uri("copy")) is None


def test_a_deleted_object_is_gone(world: World) -> None:
    world.objects.put(world.uri(), b"1", "a/b")
    world.objects.delete(world.uri())
    assert world.objects.head(world.uri()) is None


@pytest.mark.parametrize("uri", ["s3://absent-bucket/key", "http://host/key", "s3://bucket", ""])
def test_an_invalid_bucket_is_bad_input(world: World, uri: str) -> None:
    with pytest.raises(InvalidInputError):
        world.objects.put(uri, b"1", "a/b")
    with pytest.raises(InvalidInputError):
        world.objects.get(uri)


@pytest.mark.parametrize("size", [10, 2 * LEAST_PART_BYTES + 3])
def test_a_copy_is_equal(world: World, size: int) -> None:
    content = uuid4().bytes * (size // 16) + b"x" * (size % 16)
    world.objects.put(world.uri(), content, "text/csv")
    info = world.objects.copy(world.uri(), world.uri("copy/é"), size)
    assert (info.size_bytes, info.content_type) == (size, "text/csv")
    assert world.objects.head(world.uri("copy/é")) == info
    assert world.objects.get(world.uri("copy/é")) == content


SIZES = pytest.mark.parametrize("size", [10, 2 * LEAST_PART_BYTES + 3])
DESCRIPTION = ObjectDescription("text/csv", {"key": "a value", "other": ""})


@SIZES
def test_a_copy_is_described_anew(world: World, size: int) -> None:
    world.objects.put(world.uri(), b"x" * size, "text/plain")
    info = world.objects.copy(world.uri(), world.uri("copy"), size, DESCRIPTION)
    assert world.objects.head(world.uri("copy")) == info
    assert (info.size_bytes, info.content_type) == (size, "text/csv")
    assert world.metadata(world.uri("copy")) == {"key": "a value", "other": ""}
    assert world.objects.get(world.uri("copy")) == b"x" * size


@SIZES
def test_a_copy_without_a_description_gets_its_sources(world: World, size: int) -> None:
    world.objects.put(world.uri("plain"), b"x" * size, "text/plain")
    world.objects.copy(world.uri("plain"), world.uri(), size, DESCRIPTION)
    info = world.objects.copy(world.uri(), world.uri("copy"), size)
    assert info.content_type == "text/csv"
    assert world.metadata(world.uri("copy")) == {"key": "a value", "other": ""}


@SIZES
def test_an_empty_description_leaves_nothing_of_the_sources(world: World, size: int) -> None:
    world.objects.put(world.uri("plain"), b"x" * size, "text/plain")
    world.objects.copy(world.uri("plain"), world.uri(), size, DESCRIPTION)
    world.objects.copy(world.uri(), world.uri("copy"), size, ObjectDescription("a/b", {}))
    assert world.metadata(world.uri("copy")) == {}


KEPT = {
    "cache-control": "max-age=60",
    "content-disposition": 'attachment; filename="a b"',
    "content-encoding": "gzip",
    "content-language": "de",
}


@SIZES
def test_content_keeps_its_headers_and_gives_them_to_its_copies(world: World, size: int) -> None:
    world.objects.put(world.uri(), b"x" * size, "text/plain", headers=DataHeaders(KEPT))
    found = world.objects.get_stored(world.uri(), (0, 1))
    assert (found.content, found.headers) == (b"xx", KEPT)
    for description in (None, DESCRIPTION):
        world.objects.copy(world.uri(), world.uri("copy"), size, description)
        info = world.objects.head(world.uri("copy"))
        assert info is not None
        assert info.headers == KEPT
    other = DataHeaders({"content-language": "fr"})
    world.objects.copy(world.uri(), world.uri("copy"), size, DESCRIPTION, headers=other)
    info = world.objects.head(world.uri("copy"))
    assert info is not None
    assert info.headers == other.kept


@SIZES
def test_a_copy_stops_when_the_right_to_write_is_lost(world: World, size: int) -> None:
    world.objects.put(world.uri(), b"x" * size, "text/plain")
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1

    world.objects.copy(world.uri(), world.uri("copy"), size, before_request=ask)
    world.objects.delete(world.uri("copy"))
    for last_allowed in range(asked):
        left = last_allowed

        def refuse() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise StaleVersionError("the lease is lost")

        with pytest.raises(StaleVersionError):
            world.objects.copy(world.uri(), world.uri("copy"), size, before_request=refuse)
        assert world.objects.head(world.uri("copy")) is None


@SIZES
def test_data_are_read_and_copied_while_they_have_the_required_etag(
    world: World, size: int
) -> None:
    uri, copy = world.uri(), world.uri("copy")
    etag = world.objects.put(uri, b"x" * size, "text/plain").checksum
    upload_id = world.objects.create_upload(world.uri("parts"), "a/b").id

    def used() -> Iterator[Callable[[], object]]:
        yield lambda: world.objects.get_stored(uri, (0, 3), if_match=etag)
        yield lambda: world.objects.copy(uri, copy, size, if_match=etag)
        yield lambda: world.objects.copy(uri, copy, size, DESCRIPTION, if_match=etag)
        yield lambda: world.objects.copy_part(
            world.uri("parts"), upload_id, 1, uri, (0, 3), if_match=etag
        )

    for use in used():
        use()
    world.objects.delete(copy)
    world.objects.put(uri, b"y" * size, "text/plain")
    for use in used():
        with pytest.raises(DataReplacedError):
            use()
    assert world.objects.head(copy) is None
    world.objects.abort_upload(world.uri("parts"), upload_id)


KEYS_IN_LISTS = ["plain", "a b/é+%~?#&=", "<x>&amp;", "'(*)!\"", "tab\tnew\nline\r", "x//y/./z"]


def test_many_are_deleted_and_others_stay(world: World) -> None:
    keys = [*KEYS_IN_LISTS, "stays"]
    for key in keys:
        world.objects.put(world.uri(key), b"1", "a/b")
    absent = [world.uri(f"absent/{n}") for n in range(DELETE_OBJECTS_MAX)]
    problems = world.objects.delete_many([*absent, *map(world.uri, KEYS_IN_LISTS)])
    assert problems == {}
    assert [key for key in keys if world.objects.head(world.uri(key))] == ["stays"]


def test_nothing_is_deleted_where_nothing_is_named(world: World) -> None:
    assert world.objects.delete_many([]) == {}


def test_presigned_urls_read_and_write(world: World) -> None:
    checksum = world.put(world.objects.presign_put(world.uri(), 60), b"content")
    assert world.get(world.objects.presign_get(world.uri(), 60, 'a "b"/é\n.txt')) == b"content"
    found = world.objects.head(world.uri())
    assert found is not None
    assert (found.size_bytes, found.checksum) == (7, checksum)


class TestUploads:
    @pytest.fixture
    def upload(self, world: World) -> str:
        return world.objects.create_upload(world.uri(), "text/csv").id

    def test_parts_make_the_object(self, world: World, upload: str) -> None:
        first, copied = b"1" * LEAST_PART_BYTES, b"0123456789"
        world.objects.put(world.uri("source"), copied, "a/b")
        checksum = world.put(world.objects.presign_part(world.uri(), upload, 1, 60), first)
        parts = [
            UploadedPart(1, checksum),
            UploadedPart(
                7,
                world.objects.copy_part(
                    world.uri(), upload, 7, world.uri("source"), (2, 4)
                ).checksum,
            ),
        ]
        info = world.objects.complete_upload(world.uri(), upload, parts)
        assert world.objects.get(world.uri()) == first + b"234"
        assert (info.size_bytes, info.content_type) == (LEAST_PART_BYTES + 3, "text/csv")
        assert info.checksum.endswith("-2")
        assert world.objects.head(world.uri()) == info

    def test_the_object_has_the_headers_of_the_beginning(self, world: World) -> None:
        upload = world.objects.create_upload(world.uri(), "text/csv", DataHeaders(KEPT)).id
        url = world.objects.presign_part(world.uri(), upload, 1, 60)
        parts = [UploadedPart(1, world.put(url, b"content"))]
        assert world.objects.complete_upload(world.uri(), upload, parts).headers == KEPT

    def test_each_part_has_a_url_of_its_own(self, world: World, upload: str) -> None:
        urls = world.objects.presign_parts(world.uri(), upload, 12, 60)
        assert len(urls) == 12
        contents = {1: b"1" * LEAST_PART_BYTES, 12: b"last"}
        parts = [UploadedPart(n, world.put(urls[n - 1], contents[n])) for n in contents]
        world.objects.complete_upload(world.uri(), upload, parts)
        assert world.objects.get(world.uri()) == b"".join(contents.values())

    def test_parts_can_be_stored_from_here(self, world: World, upload: str) -> None:
        contents = [b"1" * LEAST_PART_BYTES, b"last"]
        parts = [
            UploadedPart(n, world.objects.upload_part(world.uri(), upload, n, content))
            for n, content in enumerate(contents, start=1)
        ]
        world.objects.complete_upload(world.uri(), upload, parts)
        assert world.objects.get(world.uri()) == b"".join(contents)

    def test_a_whole_object_can_be_a_part(self, world: World, upload: str) -> None:
        world.objects.put(world.uri("source"), b"content", "a/b")
        part = world.objects.copy_part(world.uri(), upload, 1, world.uri("source"), None)
        world.objects.complete_upload(world.uri(), upload, [UploadedPart(1, part.checksum)])
        assert world.objects.get(world.uri()) == b"content"

    def test_a_part_of_what_is_not_there(self, world: World, upload: str) -> None:
        with pytest.raises(GoneError):
            world.objects.copy_part(world.uri(), upload, 1, world.uri("absent"), None)

    def test_other_parts_than_were_uploaded_are_refused(self, world: World, upload: str) -> None:
        world.put(world.objects.presign_part(world.uri(), upload, 1, 60), b"1")
        for part in (UploadedPart(1, "0" * 32), UploadedPart(2, "0" * 32)):
            with pytest.raises(BadPartsError) as caught:
                world.objects.complete_upload(world.uri(), upload, [part])
            assert caught.value.reason == "InvalidPart"
        assert world.objects.head(world.uri()) is None

    def test_parts_in_another_order_are_refused(self, world: World, upload: str) -> None:
        content = b"1" * LEAST_PART_BYTES
        parts = [
            UploadedPart(n, world.objects.upload_part(world.uri(), upload, n, content))
            for n in (2, 1)
        ]
        with pytest.raises(BadPartsError) as caught:
            world.objects.complete_upload(world.uri(), upload, parts)
        assert caught.value.reason == "InvalidPartOrder"
        world.objects.complete_upload(world.uri(), upload, parts[::-1])

    @pytest.mark.parametrize("kind", ["FULL_OBJECT", "COMPOSITE"])
    def test_the_checksums_of_parts_are_combined_and_kept(self, world: World, kind: str) -> None:
        declared = {"x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": kind}
        headers = DataHeaders(checksum=declared)
        upload = world.objects.create_upload(world.uri(), "text/csv", headers).id
        contents = (b"1" * LEAST_PART_BYTES, b"2")
        parts = [
            UploadedPart(
                number,
                world.objects.upload_part(world.uri(), upload, number, content),
                {"ChecksumCRC32": checksum_of(CRC32, content)},
            )
            for number, content in enumerate(contents, 1)
        ]
        wrong = ExpectedObject(headers={CRC32.header: "AAAAAA==" + "-2" * (kind == "COMPOSITE")})
        with pytest.raises(BadPartsError) as caught:
            world.objects.complete_upload(world.uri(), upload, parts, wrong)
        assert caught.value.reason == "BadDigest"
        right = checksums_of_parts(declared, contents)
        world.objects.complete_upload(world.uri(), upload, parts, ExpectedObject(headers=right))
        found = world.objects.head(world.uri(), with_checksums=True)
        assert found is not None
        assert right.items() <= found.headers.items()
        found = world.objects.head(world.uri())
        assert found is not None
        assert CRC32.header not in found.headers

    def test_a_completion_may_be_repeated(self, world: World, upload: str) -> None:
        """The client may have lost the first answer."""
        checksum = world.objects.upload_part(world.uri(), upload, 1, b"content")
        parts = [UploadedPart(1, checksum)]
        info = world.objects.complete_upload(world.uri(), upload, parts)
        assert world.objects.complete_upload(world.uri(), upload, parts) == info
        with pytest.raises(UploadNotFoundError):
            world.objects.complete_upload(world.uri(), upload, [UploadedPart(1, "0" * 32)])

    def test_parts_are_listed_by_number(self, world: World, upload: str) -> None:
        objects, contents = world.objects, {7: b"seven", 1: b"1", 10: b"ten", 2: b""}
        checksums = {
            n: objects.upload_part(world.uri(), upload, n, content)
            for n, content in contents.items()
        }
        page = objects.list_parts(world.uri(), upload, 0, 1_000)
        assert not page.has_more
        assert [(part.number, part.checksum, part.size_bytes) for part in page.parts] == [
            (n, checksums[n], len(contents[n])) for n in sorted(contents)
        ]
        assert all(part.last_modified_ns > 10**18 for part in page.parts)

    def test_the_last_part_of_a_number_counts(self, world: World, upload: str) -> None:
        for content in (b"first", b"second one"):
            checksum = world.objects.upload_part(world.uri(), upload, 1, content)
        (part,) = world.objects.list_parts(world.uri(), upload, 0, 10).parts
        assert (part.checksum, part.size_bytes) == (checksum, 10)

    def test_a_new_upload_has_no_parts(self, world: World, upload: str) -> None:
        assert world.objects.list_parts(world.uri(), upload, 0, 10) == PartsPage((), has_more=False)

    def test_an_aborted_upload_is_gone(self, world: World, upload: str) -> None:
        world.objects.abort_upload(world.uri(), upload)
        with pytest.raises(UploadNotFoundError):
            world.objects.abort_upload(world.uri(), upload)

    def test_an_unknown_upload_is_not_found(self, world: World) -> None:
        with pytest.raises(UploadNotFoundError):
            world.objects.abort_upload(world.uri(), ABSENT_UPLOAD)
        with pytest.raises(UploadNotFoundError):
            world.objects.complete_upload(world.uri(), ABSENT_UPLOAD, [UploadedPart(1, "0" * 32)])


_PUBLIC = "https://objects.example:8443"


@pytest.mark.server
class TestPresignedUrls:
    """What only real URLs have."""

    def test_they_lead_to_the_public_endpoint(self, s3_endpoint: str) -> None:
        places = [Endpoint(each, "us-east-1") for each in (s3_endpoint, _PUBLIC)]
        signer = S3Requests(places[0], lambda: STACK_KEYS, places[1])
        objects = S3ObjectStore(s3_of(s3_endpoint), signer=signer)
        for url in (
            objects.presign_get("s3://b/k", 60, "k"),
            objects.presign_put("s3://b/k", 60),
            objects.presign_part("s3://b/k", "u", 1, 60),
        ):
            assert url.startswith(f"{_PUBLIC}/b/k?")
            assert parse_qs(urlsplit(url).query)["X-Amz-SignedHeaders"] == ["host"]

    @pytest.mark.parametrize("name", ["a.txt", 'a"b\\.txt', "é.txt", "a;b=c.txt", "\n\r\0", "%41"])
    def test_the_content_is_offered_under_its_name(self, s3_endpoint: str, name: str) -> None:
        objects = S3ObjectStore(s3_of(s3_endpoint))
        uri = f"s3://{BUCKET}/{uuid4().hex}"
        objects.put(uri, b"content", "a/b")
        answer = requests.get(objects.presign_get(uri, 60, name), timeout=300)
        disposition = answer.headers["Content-Disposition"]
        assert disposition.startswith('attachment; filename="')
        assert "\n" not in disposition
        encoded = disposition.partition("filename*=UTF-8''")[2]
        assert unquote(encoded) == name

    @pytest.mark.parametrize("stored", ["a/b", ""])
    def test_the_content_has_the_type_that_was_asked_for(
        self, s3_endpoint: str, stored: str
    ) -> None:
        objects = S3ObjectStore(s3_of(s3_endpoint))
        uri = f"s3://{BUCKET}/{uuid4().hex}"
        objects.put(uri, b"content", stored)
        answer = requests.get(objects.presign_get(uri, 60, "a", "text/csv; a=b"), timeout=300)
        assert answer.headers["Content-Type"].replace(" ", "") == "text/csv;a=b"
        assert answer.content == b"content"

    def test_a_tampered_url_is_refused(self, s3_endpoint: str) -> None:
        objects = S3ObjectStore(s3_of(s3_endpoint))
        uri = f"s3://{BUCKET}/{uuid4().hex}"
        objects.put(uri, b"content", "a/b")
        url = objects.presign_get(uri, 60, "a")
        assert requests.get(url.replace("filename", "f1lename"), timeout=300).status_code == 403
        assert requests.put(url, b"other", timeout=300).status_code == 403

    def test_wrong_keys_are_refused(self, s3_endpoint: str) -> None:
        keys = Keys(KEYS.access_key_id, "wrong")
        objects = S3ObjectStore(s3_of(s3_endpoint, keys))
        with pytest.raises(Exception, match="SignatureDoesNotMatch"):
            objects.get(f"s3://{BUCKET}/any")
