"""The contract of every CommittedFiles, cached or not."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from graveler.aws.s3.committed_files import S3CommittedFiles
from graveler.aws.s3.file_cache import CachedFiles
from graveler.errors import CorruptDataError
from graveler.ports import CommittedFiles
from tests.contract.test_objects import s3_of
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.servers.stack import BUCKET

CONTENT = b"0123456789"


SERVER = pytest.mark.server


@pytest.fixture(
    params=[
        "memory",
        "memory, cached",
        pytest.param("s3", marks=SERVER),
        pytest.param("s3, cached", marks=SERVER),
    ]
)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> CommittedFiles:
    source = (
        MemoryCommittedFiles()
        if "memory" in request.param
        else S3CommittedFiles(s3_of(request.getfixturevalue("s3_endpoint"), directly=True))
    )
    return CachedFiles(source, tmp_path, 100, 2) if "cached" in request.param else source


@pytest.fixture
def namespace() -> str:
    return f"s3://{BUCKET}/{uuid4().hex}/é"


def test_a_file_is_read_in_pieces_again_and_again(files: CommittedFiles, namespace: str) -> None:
    files.write(namespace, "id", CONTENT)
    for _ in range(4):
        assert files.read_tail(namespace, "id", 3) == (b"789", 10)
        assert files.read_tail(namespace, "id", 10) == (CONTENT, 10)
        assert files.read_tail(namespace, "id", 99) == (CONTENT, 10)
        assert files.read(namespace, "id", 0, 2) == b"01"
        assert files.read(namespace, "id", 8, 2) == b"89"
        assert files.read(namespace, "id", 3, 0) == b""
        assert files.read_all(namespace, "id") == CONTENT


def test_the_first_of_two_writes_stays(files: CommittedFiles, namespace: str) -> None:
    assert files.write(namespace, "id", CONTENT) is True
    assert files.write(namespace, "id", b"in another form") is False
    assert files.read_all(namespace, "id") == CONTENT


def test_equal_bytes_are_stored_once(files: CommittedFiles, namespace: str) -> None:
    assert files.write(namespace, "id", CONTENT) is True
    assert files.write(namespace, "id", CONTENT) is False


def test_the_store_says_what_it_has_whatever_is_cached(
    files: CommittedFiles, namespace: str
) -> None:
    assert not files.is_stored(namespace, "id")
    files.write(namespace, "id", CONTENT)
    for _ in range(4):
        files.read_all(namespace, "id")
    assert files.is_stored(namespace, "id")
    assert not files.is_stored(namespace + "2", "id")


def test_a_copy_is_no_proof_that_the_store_has_a_file(tmp_path: Path, namespace: str) -> None:
    source = MemoryCommittedFiles()
    files = CachedFiles(source, tmp_path, 100, 2)
    files.write(namespace, "id", CONTENT)
    for _ in range(4):
        files.read_all(namespace, "id")
    source.files.clear()
    assert files.read_all(namespace, "id") == CONTENT
    assert not files.is_stored(namespace, "id")


def test_a_file_belongs_to_its_namespace(files: CommittedFiles, namespace: str) -> None:
    files.write(namespace, "id", CONTENT)
    files.write(namespace + "2", "id", b"other")
    assert files.read_all(namespace, "id") == CONTENT
    assert files.read_all(namespace + "2", "id") == b"other"


def test_a_missing_file_is_corrupt_data(files: CommittedFiles, namespace: str) -> None:
    for _ in range(4):
        with pytest.raises(CorruptDataError, match="absent"):
            files.read_all(namespace, "absent")
        with pytest.raises(CorruptDataError, match="absent"):
            files.read(namespace, "absent", 0, 1)
        with pytest.raises(CorruptDataError, match="absent"):
            files.read_tail(namespace, "absent", 1)


def test_reading_beyond_the_end_is_corrupt_data(files: CommittedFiles, namespace: str) -> None:
    files.write(namespace, "id", CONTENT)
    for offset in (8, 10, 99) * 3:
        with pytest.raises(CorruptDataError):
            files.read(namespace, "id", offset, 5)


@pytest.mark.server
def test_one_of_many_writers_stores(s3_endpoint: str, namespace: str) -> None:
    source = S3CommittedFiles(s3_of(s3_endpoint))
    barrier = threading.Barrier(8)

    def write(number: int) -> bool:
        barrier.wait()
        return source.write(namespace, "id", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(write, range(8)))
    assert stored.count(True) == 1
    assert source.read_all(namespace, "id") == b"%d" % stored.index(True)
