"""The contract of every ObjectStore for listings."""

import pytest

from graveler.aws.retries import RetryPolicy
from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from graveler.errors import InvalidInputError
from graveler.ports import ListedObject, ObjectStore
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.servers.stack import BUCKET, KEYS
from tests.support.worlds.server_world import Keys, s3_client

# More than a page of S3 has; a name that XML and URLs write differently; and neighbours by name.
PAGE = 1000
FOLDER = f"s3://{BUCKET}/listed/data/"
DIRECT = f"{FOLDER}direct"
ODD = f"{FOLDER}odd/a b+%é&<>"
MANY = [f"{FOLDER}p/{number:05d}" for number in range(PAGE + 2)]
WHOLE = "s3://listed-whole/"
BESIDE = [f"s3://{BUCKET}/listed/data", f"s3://{BUCKET}/listed/data2/x", f"s3://{BUCKET}/a"]


@pytest.fixture(scope="module")
def memory() -> ObjectStore:
    made = MemoryObjectStore()
    made.missing_buckets.add("absent-bucket")
    return filled(made)


@pytest.fixture(scope="module")
def s3(s3_endpoint: str) -> ObjectStore:
    keys = Keys(KEYS.access_key_id, KEYS.secret_access_key)
    client = s3_client(s3_endpoint, keys)
    client.create_bucket(Bucket=WHOLE.removeprefix("s3://").rstrip("/"))
    return filled(S3ObjectStore(S3(client, RetryPolicy(total_s_max=60.0))))


def filled(objects: ObjectStore) -> ObjectStore:
    for uri in (*MANY, ODD, DIRECT, BESIDE[1], BESIDE[2], f"{WHOLE}a/b", f"{WHOLE}c"):
        objects.put(uri, b"123", "a/b")
    return objects


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.server)])
def objects(request: pytest.FixtureRequest) -> ObjectStore:
    store: ObjectStore = request.getfixturevalue(request.param)
    return store


def test_every_object_under_a_prefix_is_listed(objects: ObjectStore) -> None:
    listed = list(objects.list_objects(FOLDER))
    assert [each.uri for each in listed] == sorted([*MANY, ODD, DIRECT])
    info = objects.head(ODD)
    assert info is not None
    assert ListedObject(ODD, 3, info.last_modified_ns, info.checksum) in listed


def test_a_listing_begins_behind_a_uri(objects: ObjectStore) -> None:
    def uris_after(uri: str) -> list[str]:
        return [each.uri for each in objects.list_objects(FOLDER, uri)]

    assert uris_after(MANY[0]) == MANY[1:]  # more than a page
    assert uris_after(f"{FOLDER}p/00000x") == MANY[1:]
    assert uris_after(ODD) == MANY
    assert uris_after(FOLDER) == sorted([*MANY, ODD, DIRECT])
    assert uris_after(MANY[-1]) == []


def test_a_whole_bucket_is_listed(objects: ObjectStore) -> None:
    assert [each.uri for each in objects.list_objects(WHOLE)] == [f"{WHOLE}a/b", f"{WHOLE}c"]


def test_a_prefix_without_objects(objects: ObjectStore) -> None:
    assert list(objects.list_objects(f"{FOLDER}absent/")) == []
    assert list(objects.list_folder(f"{FOLDER}absent/")) == []


def test_the_direct_content_of_a_folder(objects: ObjectStore) -> None:
    listed = list(objects.list_folder(FOLDER))
    assert sorted(each for each in listed if isinstance(each, str)) == [
        f"{FOLDER}odd/",
        f"{FOLDER}p/",
    ]
    assert [each.uri for each in listed if isinstance(each, ListedObject)] == [DIRECT]


def test_a_folder_is_listed_in_order_by_the_beginning_of_names(objects: ObjectStore) -> None:
    found = objects.list_folder(f"s3://{BUCKET}/listed/d")
    assert list(found) == [FOLDER, f"s3://{BUCKET}/listed/data2/"]
    mixed = [each if isinstance(each, str) else each.uri for each in objects.list_folder(FOLDER)]
    assert mixed == [DIRECT, f"{FOLDER}odd/", f"{FOLDER}p/"]
    assert [each if isinstance(each, str) else each.uri for each in objects.list_folder(WHOLE)] == [
        f"{WHOLE}a/",
        f"{WHOLE}c",
    ]


def test_a_missing_bucket(objects: ObjectStore) -> None:
    with pytest.raises(InvalidInputError, match="absent-bucket"):
        list(objects.list_objects("s3://absent-bucket/data/"))


def test_unfinished_uploads(objects: ObjectStore) -> None:
    uri = f"{FOLDER}p/upload"
    begun = objects.create_upload(uri, "a/b").id
    aborted = objects.create_upload(uri, "a/b").id
    objects.create_upload(BESIDE[1], "a/b")
    objects.abort_upload(uri, aborted)
    (found,) = objects.list_uploads(FOLDER)
    assert (found.uri, found.upload_id) == (uri, begun)
    stored = objects.put(f"{FOLDER}later/x", b"", "a/b")
    # S3's clock, to the second.
    assert 0 <= stored.last_modified_ns - found.initiated_ns <= 60 * 10**9
    objects.abort_upload(uri, begun)
    assert list(objects.list_uploads(FOLDER)) == []
