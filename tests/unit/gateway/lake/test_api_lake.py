"""The lake over the API, where it differs from the one beside the engine."""

import pytest

from graveler.errors import AccessDeniedError, ContentionError
from graveler.http.rights import RIGHTS_AGE_MAX_S
from graveler.limits import PRESIGNED_URL_LIFE_S
from graveler.model import Requirement
from graveler.operations import repositories
from graveler.ports import Credential, User
from graveler_gateway.lake.api.rows import presigned_request
from graveler_gateway.lake.port import Description, ObjectPlace
from graveler_gateway.transfer.store import Transfers
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.fakes.access import EVERYTHING, USER, ScriptedAccounts, allowing
from tests.support.fakes.engines import memory_world
from tests.support.fakes.memory_s3 import MemoryPool, MemoryS3
from tests.support.worlds.sidecar import api_lakes

A = ObjectPlace("repo", "main", b"a")
PLAIN = Description("text/plain")


class World:
    """A lake over the API with one repository, and the S3 under it."""

    def __init__(self):
        self.world = memory_world()
        self.engine = self.world.engine()
        self.accounts = ScriptedAccounts()
        credential = Credential(ACCESS_KEY_ID, SECRET, USER, 1_600_000_000)
        self.accounts.set_up(User(USER, 1_600_000_000), credential)
        self.accounts.given = EVERYTHING
        repositories.create(self.engine, name="repo", storage_namespace="s3://bucket/repo")
        self.s3 = MemoryS3(self.world.objects, self.world.clock)
        self.transfers = Transfers(MemoryPool(self.s3), sleep=lambda _: None)
        self.lakes = api_lakes(self.engine, self.accounts)
        self.lake = self.lakes.lake(USER, "")

    def put(self, content, place=A, requirement=None):
        writing = self.lake.write(place, PLAIN, requirement or Requirement())
        headers = {"content-length": str(len(content))}
        stored = self.transfers.write(lambda: writing.request(headers, ""), content)
        return writing.finish(len(content), stored.checksum)

    def read(self, found, first, last):
        with self.transfers.read(self.lake.reading(found), first, last) as reading:
            return b"".join(reading.pieces())

    def may(self, *rights):
        self.accounts.given = (allowing(*rights),)
        self.world.clock.tick(RIGHTS_AGE_MAX_S)


@pytest.fixture
def world():
    return World()


def test_a_reading_that_resumes_after_its_url_expired_gets_a_new_one(world):
    found = world.put(b"0123456789")
    request = world.lake.reading(found)
    world.world.clock.tick(PRESIGNED_URL_LIFE_S + 1)
    with world.transfers.read(request, 5, 9) as reading:
        assert b"".join(reading.pieces()) == b"56789"


def test_no_reading_mixes_two_objects(world):
    found = world.put(b"0123456789")
    request = world.lake.reading(found)
    request(0, 4)
    world.put(b"abcdefghij")
    with pytest.raises(ContentionError):
        request(5, 9)


def test_a_copy_is_of_the_object_that_was_seen(world):
    found = world.put(b"old")
    world.put(b"new")
    with pytest.raises(ContentionError):
        world.lake.copy(found, "repo", ObjectPlace("repo", "main", b"b"), None)


def test_each_try_of_a_write_has_an_address_of_its_own_and_the_last_one_counts(world):
    writing = world.lake.write(A, PLAIN)
    headers = {"content-length": "3"}
    writing.request(headers, "")
    stored = world.transfers.write(lambda: writing.request(headers, ""), b"new")
    writing.finish(3, stored.checksum)
    assert world.read(world.lake.stat(A), 0, 2) == b"new"


def test_who_may_write_and_not_read_writes_under_a_condition(world):
    world.may(("fs:WriteObject", "*"))
    absent = Requirement(is_absent=True)
    assert world.put(b"1", requirement=absent).size_bytes == 1
    with pytest.raises(AccessDeniedError):
        world.lake.stat(A)


def test_what_a_user_may_not_know_is_taken_to_exist(world):
    world.may()
    assert world.lake.has_repository("nothing")
    assert world.lake.has_branch("repo", "nothing")


def test_only_the_own_key_pair_is_known_and_its_user_is_asked_for_once(world):
    assert world.lakes.key_pair("AKIAJOTHEROTHEROTHEQ") is None
    for _ in range(2):
        found = world.lakes.key_pair(ACCESS_KEY_ID)
        assert (found.user, found.secret_access_key) == (USER, SECRET)
    sent = world.lakes._requests._transport.sent
    assert sent == [("GET", "/user")]


def test_a_presigned_url_becomes_a_request_without_headers_that_it_does_not_sign():
    headers = {"content-length": "3", "x-amz-meta-k": "v"}
    made = presigned_request("PUT", "https://b.s3.amazonaws.com/a%20b?X-Amz-Signature=1", headers)
    assert (made.scheme, made.host, made.port) == ("https", "b.s3.amazonaws.com", 443)
    assert made.target == "/a%20b?X-Amz-Signature=1"
    assert made.headers == {"content-length": "3", "host": "b.s3.amazonaws.com"}
    assert (
        presigned_request("GET", "http://127.0.0.1:9000/b/k?x=1", {}).headers["host"]
        == "127.0.0.1:9000"
    )
