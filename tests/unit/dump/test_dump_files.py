"""The files of a dump: lakeFS's are read, ours break and are named as all committed data are."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from graveler.committed.store import Breaking, Committed
from graveler.dump.files import read, write
from graveler.dump.records import BRANCHES, COMMITS, TAGS, NamedCommit
from graveler.errors import CorruptDataError, GravelerError, InvalidInputError
from graveler.identity import make_commit, record_ids
from graveler.model import EMPTY_METARANGE, Commit, CommitID
from graveler.sstable import Table
from tests.support.fakes.memory import MemoryCommittedFiles

FOLDER = Path(__file__).parents[2] / "golden" / "vectors"
VECTORS = json.loads((FOLDER / "refs_dump.json").read_text())
NAMESPACE = "s3://bucket/repo"
HEAD = CommitID("ab" * 32)


@pytest.fixture
def files():
    return MemoryCommittedFiles()


@pytest.fixture
def committed(files):
    return Committed(files, breaking=Breaking(4))


def some_commits(count: int) -> list[Commit]:
    made = [
        make_commit(
            committer="c",
            message=f"number {number}",
            metarange_id=EMPTY_METARANGE,
            creation_date=number,
            metadata={},
            parents=(),
            generation=1,
        )
        for number in range(count)
    ]
    return sorted(made, key=lambda commit: commit.id)


@pytest.mark.parametrize("kind", [COMMITS, BRANCHES, TAGS], ids=lambda kind: kind.entity)
def test_lakefs_own_files_are_read(files, committed, kind):
    for path in (FOLDER / VECTORS["dir"]).iterdir():
        files.files[NAMESPACE, path.name] = path.read_bytes()
    case = VECTORS[kind.entity]
    things = list(read(committed, NAMESPACE, case["metarange_id"], kind))
    assert [kind.encode(thing)[0].decode() for thing in things] == [
        record["key"] for record in case["records"]
    ]


def test_what_was_written_is_read_from_many_ranges(files, committed):
    commits = some_commits(100)
    file_id = write(committed, NAMESPACE, COMMITS, commits)
    assert len(files.files) > 10
    assert list(read(Committed(files), NAMESPACE, file_id, COMMITS)) == commits


def test_the_largest_size_ends_a_range(files):
    file_id = write(
        Committed(files, breaking=Breaking(10**9, 2_000)), NAMESPACE, COMMITS, some_commits(200)
    )
    assert len(files.files) > 4
    assert len(list(read(Committed(files), NAMESPACE, file_id, COMMITS))) == 200


def test_nothing_is_a_metarange_without_ranges_and_reads_as_nothing(files, committed):
    file_id = write(committed, NAMESPACE, TAGS, [])
    assert list(files.files) == [(NAMESPACE, file_id)]
    assert list(read(committed, NAMESPACE, file_id, TAGS)) == []
    assert list(read(committed, NAMESPACE, EMPTY_METARANGE, TAGS)) == []


def test_a_file_is_named_by_its_records_and_by_what_it_says_of_itself(files, committed):
    branch = NamedCommit("main", HEAD)
    write(committed, NAMESPACE, BRANCHES, [branch])
    for (_, file_id), content in files.files.items():
        table = Table.from_bytes("file", content)
        assert table.properties["entity"] == b"branch"
        if table.properties["type"] == b"ranges":
            said = sorted(
                (name.encode(), text.encode()) for name, text in BRANCHES.metadata.items()
            )
            records = [BRANCHES.encode(branch), *said]
            ids = record_ids([key for key, _ in records], [value for _, value in records])
            assert file_id == sha256(b"".join(ids)).hexdigest()


def test_a_branch_and_a_tag_of_one_name_share_no_file(files, committed):
    same = [NamedCommit("v1", HEAD)]
    write(committed, NAMESPACE, BRANCHES, same)
    write(committed, NAMESPACE, TAGS, same)
    assert len(files.files) == 4


def test_a_file_of_another_kind_is_refused_by_its_name(committed):
    branches_id = write(committed, NAMESPACE, BRANCHES, [NamedCommit("v1", HEAD)])
    with pytest.raises(InvalidInputError, match=f"{branches_id} has entity 'branch'"):
        list(read(committed, NAMESPACE, branches_id, TAGS))


def test_a_range_is_no_dump(files, committed):
    metarange_id = write(committed, NAMESPACE, TAGS, [NamedCommit("v1", HEAD)])
    (range_id,) = {file_id for _, file_id in files.files} - {metarange_id}
    with pytest.raises(GravelerError, match=range_id):
        list(read(committed, NAMESPACE, range_id, TAGS))


def test_damage_anywhere_is_an_error_with_the_files_name(files, committed):
    commits = some_commits(20)
    file_id = write(committed, NAMESPACE, COMMITS, commits)
    told = []
    for name, content in list(files.files.items()):
        for at in range(0, len(content), 7):
            damaged = bytearray(content)
            damaged[at] ^= 0x55
            files.files[name] = bytes(damaged)
            try:
                found = list(read(Committed(files), NAMESPACE, file_id, COMMITS))
            except CorruptDataError as error:
                told.append(error.message)
            else:
                assert found == commits, (name, at)
        files.files[name] = content
    assert len(told) > 100
    assert all("s3://bucket/repo/_lakefs/" in message for message in told)


def test_a_range_with_fewer_records_than_its_metarange_claims_is_corrupt(files, committed):
    commits = some_commits(3)
    all_id = write(Committed(files), NAMESPACE, COMMITS, commits)
    (whole,) = {file_id for _, file_id in files.files} - {all_id}
    others = MemoryCommittedFiles()
    other_id = write(Committed(others), NAMESPACE, COMMITS, [commits[0], commits[2]])
    (fewer,) = {file_id for _, file_id in others.files} - {other_id}
    files.files[NAMESPACE, whole] = others.files[NAMESPACE, fewer]
    with pytest.raises(
        CorruptDataError, match=f"{whole}: the file holds 2 records .* claims 3 from"
    ):
        list(read(Committed(files), NAMESPACE, all_id, COMMITS))
