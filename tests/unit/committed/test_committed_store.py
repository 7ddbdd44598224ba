"""Committed files cost few requests, and caches never mix two forms of one file."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event

import pytest

from graveler.committed.apply import apply_slice
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import Slice
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.errors import CorruptDataError
from graveler.model import EMPTY_METARANGE, MetaRangeID, RepositoryUID
from graveler.sstable.writer import TableWriter
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, Records, read, token_value, write

UID = RepositoryUID("uid")

LARGE = Breaking(10**9)


def records(amount: int) -> Records:
    return {b"k%06d" % number: token_value(f"v{number}") for number in range(amount)}


def cold(files: MemoryCommittedFiles, metarange_id: MetaRangeID) -> MetaRange:
    files.reads.clear()
    return MetaRange(Committed(files), NAMESPACE, metarange_id)


@pytest.mark.parametrize("amount", [10, 5000])
def test_a_cold_lookup_takes_the_tail_and_one_block_of_a_file(amount):
    files = MemoryCommittedFiles()
    written = records(amount)
    metarange = write(Committed(files, breaking=LARGE), written)
    (header,) = metarange.headers()
    for key in (b"k000003", b"k%06d" % (amount - 1)):
        found = cold(files, metarange.id)
        assert found.get(key) == written[key]
        for file_id in (metarange.id, header.id):
            methods = [method for method, read_id in files.reads if read_id == file_id]
            assert methods[0] == "read_tail"
            assert len(methods) <= 2


def test_a_warm_lookup_takes_nothing():
    files = MemoryCommittedFiles()
    written = records(1000)
    found = cold(files, write(Committed(files), written).id)
    for _ in range(2):
        files.reads.clear()
        assert all(found.get(key) == value for key, value in written.items())
    assert files.reads == []


def test_keys_that_no_range_holds_are_not_looked_for():
    files = MemoryCommittedFiles()
    metarange = write(Committed(files, breaking=Breaking(3)), records(100))
    found = cold(files, metarange.id)
    assert found.get(b"a") is None
    assert found.get(b"z") is None
    assert {file_id for _, file_id in files.reads} == {metarange.id}


def test_a_scan_fetches_each_file_once_and_whole():
    files = MemoryCommittedFiles()
    written = records(5000)
    metarange = write(Committed(files, breaking=Breaking(1000)), written)
    headers = list(metarange.headers())
    found = cold(files, metarange.id)
    assert read(found) == written
    expected = [metarange.id, *(header.id for header in headers)]
    assert files.reads == [("read_all", file_id) for file_id in expected]


def test_going_through_all_ranges_takes_one_request():
    files = MemoryCommittedFiles()
    metarange = write(Committed(files, breaking=Breaking(2)), records(6000))
    found = cold(files, metarange.id)
    assert len(list(found.headers())) > 2000
    assert files.reads == [("read_all", metarange.id)]


def test_a_part_is_read_from_its_ranges_only():
    files = MemoryCommittedFiles()
    written = records(1000)
    metarange = write(Committed(files, breaking=Breaking(20)), written)
    headers = list(metarange.headers())
    found = cold(files, metarange.id)
    start, end = headers[3].min_key, headers[5].min_key
    assert [key for key, _ in found.records(start, end)] == [
        key for key in sorted(written) if start <= key < end
    ]
    assert {file_id for _, file_id in files.reads} == {metarange.id, headers[3].id, headers[4].id}


def test_a_file_that_exists_in_another_form_is_read_in_that_form():
    """Another version of the code wrote the same records, compressed in another way."""
    written = records(3000)
    files = MemoryCommittedFiles()
    first = write(Committed(files, breaking=LARGE), written)
    (header,) = first.headers()
    other_form = TableWriter("ranges", compress=False, block_size_bytes=1000)
    other_form.add_many(sorted(written), [written[key] for key in sorted(written)])
    files.files = {
        name: other_form.finish() if name[1] == header.id else content
        for name, content in files.files.items()
    }
    committed = Committed(files, breaking=LARGE, caches=CacheSizes(content_bytes=1_000_000))
    metarange = write(committed, written)
    assert metarange.id == first.id
    assert metarange.get(b"k000100") == written[b"k000100"]
    for number in range(40):  # push contents out, while indexes and blocks stay
        write(committed, {b"%d" % n: token_value(f"{number}") for n in range(1000)})
    assert read(metarange) == written
    assert all(metarange.get(key) == value for key, value in written.items())


def test_files_of_one_id_in_two_namespaces_do_not_mix():
    files = MemoryCommittedFiles()
    committed = Committed(files)
    metarange = write(committed, records(10))
    read(metarange)
    with pytest.raises(CorruptDataError, match="s3://elsewhere"):
        MetaRange(committed, "s3://elsewhere", metarange.id).get(b"k000001")


def test_files_are_stored_by_the_executor_and_all_are_there_at_the_end():
    files = MemoryCommittedFiles()
    with ThreadPoolExecutor(4) as pool:
        metarange = write(Committed(files, breaking=Breaking(5), executor=pool), records(1000))
    assert read(cold(files, metarange.id)) == records(1000)


class BrokenFiles(MemoryCommittedFiles):
    """Fails to store one file, and stores all others."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = count(1)

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        if next(self.calls) == 3:
            raise OSError("no connection")
        return super().write(namespace, file_id, content)


@pytest.mark.parametrize("raggedness", [5, 200])
def test_a_change_fails_if_a_file_was_not_stored_and_succeeds_when_it_is_repeated(raggedness):
    files = BrokenFiles()
    with ThreadPoolExecutor(4) as pool:
        committed = Committed(files, breaking=Breaking(raggedness), executor=pool)
        with pytest.raises(OSError, match="no connection"):
            write(committed, records(1000))
        metarange = write(committed, records(1000))
    assert len(list(metarange.headers())) > 3
    assert read(cold(files, metarange.id)) == records(1000)


class BrokenRange(MemoryCommittedFiles):
    """Stores the first file when it is asked for the second, or fails to store it once."""

    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.order: list[str] = []
        self._fails = fails
        self._second = Event()

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        self.order.append(file_id)
        if len(self.order) == 2:
            self._second.set()
        assert self._second.wait(30), "the metarange waits for its range"
        if self._fails and file_id == self.order[0]:
            self._fails = False
            raise OSError("no connection")
        return super().write(namespace, file_id, content)


def test_a_slice_has_a_result_when_its_ranges_are_stored():
    files = BrokenFiles()
    with ThreadPoolExecutor(4) as pool:
        committed = Committed(files, breaking=Breaking(200), executor=pool)
        nothing = MetaRange(committed, NAMESPACE, EMPTY_METARANGE)
        with pytest.raises(OSError, match="no connection"):
            apply_slice(committed, nothing, Slice(), sorted(records(1000).items()))


def test_a_metarange_is_stored_beside_its_last_range():
    files = BrokenRange(fails=False)
    with ThreadPoolExecutor(2) as pool:
        metarange = write(Committed(files, executor=pool), records(10))
    assert read(cold(files, metarange.id)) == records(10)


def test_a_metarange_that_lacks_a_range_is_known_whatever_the_process_has_cached():
    files = BrokenRange(fails=True)
    with ThreadPoolExecutor(2) as pool:
        committed = Committed(files, executor=pool)
        with pytest.raises(OSError, match="no connection"):
            write(committed, records(10))
        lacking, metarange_id = files.order
        assert {file_id for _, file_id in files.files} == {metarange_id}
        (header,) = MetaRange(committed, NAMESPACE, MetaRangeID(metarange_id)).headers()
        assert committed.missing_file(UID, NAMESPACE, [header.id]) == header.id == lacking
        write(committed, records(10))
        assert committed.missing_file(UID, NAMESPACE, [header.id]) is None


def test_a_damaged_file_makes_a_process_look_for_files_again():
    files = MemoryCommittedFiles()
    committed = Committed(files)
    metarange_id = write(committed, records(10)).id
    assert committed.missing_file(UID, NAMESPACE, [metarange_id]) is None
    kept = files.files.pop((NAMESPACE, metarange_id))
    committed.forget()
    assert committed.missing_file(UID, NAMESPACE, [metarange_id]) == metarange_id
    files.files[NAMESPACE, metarange_id] = kept
    assert committed.missing_file(UID, NAMESPACE, [metarange_id]) is None
