"""A task's files are fetched before it asks for them, and answered in its order."""

import threading

import pytest

from graveler.errors import NotFoundError
from graveler_jobs.garbage_collection.files_ahead import FILES_AHEAD, FilesAhead

NAMESPACE = "s3://bucket/lake"
IDS = [f"{number:02}" for number in range(3 * FILES_AHEAD)]


def test_the_files_after_the_one_that_is_worked_on_are_fetched_meanwhile() -> None:
    arrived = {each: threading.Event() for each in IDS}

    def read(_namespace: str, file_id: str) -> bytes:
        arrived[file_id].set()
        return file_id.encode()

    files = FilesAhead(read, NAMESPACE)
    for at, each in enumerate(files.before(IDS, str)):
        for later in IDS[at : at + FILES_AHEAD]:
            assert arrived[later].wait(timeout=30)
        assert files.read(NAMESPACE, each) == each.encode()


def test_a_task_holds_few_files_however_many_it_reads() -> None:
    fetched: list[str] = []

    def read(_namespace: str, file_id: str) -> bytes:
        fetched.append(file_id)
        return b""

    files = FilesAhead(read, NAMESPACE)
    for at, each in enumerate(files.before(IDS, str)):
        assert len(fetched) <= at + FILES_AHEAD + 1
        files.read(NAMESPACE, each)
    assert sorted(fetched) == IDS


def test_a_missing_file_is_told_when_its_turn_comes() -> None:
    def read(_namespace: str, file_id: str) -> bytes:
        if file_id == IDS[2]:
            raise NotFoundError(f"{file_id} is missing")
        return file_id.encode()

    files = FilesAhead(read, NAMESPACE)
    items = files.before(IDS, str)
    assert [files.read(NAMESPACE, next(items)) for _ in range(2)] == [b"00", b"01"]
    with pytest.raises(NotFoundError, match="02 is missing"):
        files.read(NAMESPACE, next(items))
