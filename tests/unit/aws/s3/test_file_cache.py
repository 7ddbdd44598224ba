"""The file cache: bounded, shared by threads and processes, and harmless when it fails."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graveler.aws.s3.file_cache import CachedFiles
from graveler.errors import CorruptDataError
from tests.support.fakes.memory import MemoryCommittedFiles

NAMESPACE = "s3://bucket/path"
CONTENT = b"0123456789"


@pytest.fixture
def source() -> MemoryCommittedFiles:
    source = MemoryCommittedFiles()
    for number in range(10):
        source.files[NAMESPACE, f"f{number}"] = CONTENT
    return source


def cache_of(source: MemoryCommittedFiles, folder: Path, bytes_max: int = 50) -> CachedFiles:
    return CachedFiles(source, folder, bytes_max, reads_before_fetch=2)


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_file_that_is_read_often_is_fetched_once(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache = cache_of(source, tmp_path)
    for offset in range(6):
        assert cache.read(NAMESPACE, "f0", offset, 1) == CONTENT[offset : offset + 1]
    assert [method for method, _ in source.reads] == ["read", "read", "read_all"]


def test_a_file_whose_tail_is_all_of_it_is_kept_at_once(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache = cache_of(source, tmp_path)
    assert cache.read_tail(NAMESPACE, "f0", 10) == (CONTENT, 10)
    assert cache.read(NAMESPACE, "f0", 3, 2) == b"34"
    assert cache.read_all(NAMESPACE, "f0") == CONTENT
    assert len(source.reads) == 1


def test_a_file_that_was_written_here_is_read_here(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache = cache_of(source, tmp_path)
    cache.write(NAMESPACE, "new", CONTENT)
    assert cache.read_tail(NAMESPACE, "new", 2) == (b"89", 10)
    assert source.reads == []
    assert source.files[NAMESPACE, "new"] == CONTENT


def test_a_file_that_another_wrote_first_is_read_as_that_one(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache = cache_of(source, tmp_path)
    cache.write(NAMESPACE, "f0", b"the same records, compressed in another way")
    assert cache.read_all(NAMESPACE, "f0") == CONTENT


def test_the_least_recently_used_file_is_evicted_first(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache = cache_of(source, tmp_path, bytes_max=30)
    for name in ("f0", "f1", "f2", "f0", "f3"):
        cache.read_all(NAMESPACE, name)
    assert bytes_in(tmp_path) == 30
    source.reads.clear()
    for name in ("f0", "f2", "f3", "f1"):
        cache.read_all(NAMESPACE, name)
    assert source.reads == [("read_all", "f1")]


def test_a_file_larger_than_the_cache_is_not_kept(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache = cache_of(source, tmp_path, bytes_max=9)
    for _ in range(5):
        assert cache.read_all(NAMESPACE, "f0") == CONTENT
        assert cache.read(NAMESPACE, "f0", 1, 2) == b"12"
    assert bytes_in(tmp_path) == 0


def test_threads_that_want_one_file_wait_for_one_fetch(tmp_path: Path) -> None:
    everybody_waits = threading.Event()

    class SlowSource(MemoryCommittedFiles):
        def read_all(self, namespace: str, file_id: str) -> bytes:
            assert everybody_waits.wait(10)
            return super().read_all(namespace, file_id)

    source = SlowSource()
    source.files[NAMESPACE, "f0"] = CONTENT
    cache = cache_of(source, tmp_path)
    with ThreadPoolExecutor(8) as pool:
        reads = [pool.submit(cache.read_all, NAMESPACE, "f0") for _ in range(8)]
        everybody_waits.set()
        assert [read.result() for read in reads] == [CONTENT] * 8
    assert source.reads == [("read_all", "f0")]


def test_a_thread_that_misses_before_a_fetch_ends_does_not_fetch_again(
    source: MemoryCommittedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = cache_of(source, tmp_path)
    look = cache._kept

    def miss_and_come_late(name: str) -> None:
        monkeypatch.setattr(cache, "_kept", look)
        cache.read_all(NAMESPACE, "f0")  # another thread's fetch, from its begin to its end

    monkeypatch.setattr(cache, "_kept", miss_and_come_late)
    assert cache.read_all(NAMESPACE, "f0") == CONTENT
    assert source.reads == [("read_all", "f0")]


def test_a_fetch_that_failed_is_tried_again(source: MemoryCommittedFiles, tmp_path: Path) -> None:
    cache = cache_of(source, tmp_path)
    with pytest.raises(CorruptDataError):
        cache.read_all(NAMESPACE, "late")
    source.files[NAMESPACE, "late"] = CONTENT
    assert cache.read_all(NAMESPACE, "late") == CONTENT


def test_the_next_process_finds_the_files(source: MemoryCommittedFiles, tmp_path: Path) -> None:
    cache_of(source, tmp_path).read_all(NAMESPACE, "f0")
    source.reads.clear()
    assert cache_of(source, tmp_path).read_all(NAMESPACE, "f0") == CONTENT
    assert source.reads == []


def test_a_process_finds_what_another_keeps_meanwhile(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    ours, other = cache_of(source, tmp_path), cache_of(source, tmp_path)
    other.write(NAMESPACE, "new", CONTENT)
    other.read_all(NAMESPACE, "f0")
    source.reads.clear()
    assert ours.read_tail(NAMESPACE, "new", 2) == (b"89", 10)
    assert ours.read(NAMESPACE, "f0", 3, 2) == b"34"
    assert source.reads == []
    for number in range(1, 6):  # what it found counts, and is evicted first
        ours.write(NAMESPACE, f"more{number}", CONTENT)
    assert bytes_in(tmp_path) <= 50


def test_the_next_process_keeps_to_its_own_bound(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    first = cache_of(source, tmp_path)
    for number in range(5):
        first.read_all(NAMESPACE, f"f{number}")
    cache_of(source, tmp_path, bytes_max=20)
    assert bytes_in(tmp_path) == 20
    for number in range(5):
        assert first.read(NAMESPACE, f"f{number}", 0, 10) == CONTENT


def test_partly_written_files_of_a_crash_are_deleted(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    (tmp_path / "0123456789abcdef-f0.0123").write_bytes(b"012")
    assert cache_of(source, tmp_path).read_all(NAMESPACE, "f0") == CONTENT
    assert bytes_in(tmp_path) == 10


def test_a_folder_that_cannot_be_written_makes_it_slower_only(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    cache = cache_of(source, folder)
    folder.rmdir()
    for _ in range(3):
        assert cache.read_all(NAMESPACE, "f0") == CONTENT
        assert cache.read(NAMESPACE, "f0", 1, 2) == b"12"


def test_many_threads_read_right_while_files_come_and_go(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    for number in range(10):
        source.files[NAMESPACE, f"f{number}"] = b"%d" % number * 10
    cache = cache_of(source, tmp_path, bytes_max=25)

    def read(turn: int) -> bool:
        number = turn * 7 % 10
        expected = b"%d" % number
        return cache.read(NAMESPACE, f"f{number}", turn % 10, 1) == expected and cache.read_tail(
            NAMESPACE, f"f{number}", 3
        ) == (expected * 3, 10)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(500)))
    assert bytes_in(tmp_path) <= 25


def test_a_file_that_cannot_be_opened_for_a_moment_stays_counted(
    source: MemoryCommittedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        source.files[NAMESPACE, f"g{number}"] = b"%d" % number * 10
    cache = cache_of(source, tmp_path, bytes_max=25)
    cache.read_all(NAMESPACE, "g0")
    with monkeypatch.context() as patched:
        patched.setattr(
            os, "open", lambda *_: (_ for _ in ()).throw(OSError("too many open files"))
        )
        assert cache.read(NAMESPACE, "g0", 0, 1) == b"0"
    for number in (1, 2):
        cache.read_all(NAMESPACE, f"g{number}")
    assert bytes_in(tmp_path) == 20


def test_a_forgotten_file_is_read_from_the_source_again(
    source: MemoryCommittedFiles, tmp_path: Path
) -> None:
    cache, other_process = cache_of(source, tmp_path), cache_of(source, tmp_path)
    for reader in (cache, other_process):
        assert reader.read_all(NAMESPACE, "f0") == CONTENT
    source.files[NAMESPACE, "f0"] = b"mended"
    assert cache.read_all(NAMESPACE, "f0") == CONTENT
    cache.forget()
    assert bytes_in(tmp_path) == 0
    for reader in (cache, other_process):
        assert reader.read_all(NAMESPACE, "f0") == b"mended"
