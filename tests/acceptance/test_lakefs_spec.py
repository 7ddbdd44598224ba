"""The lake as a file system: lakefs-spec (fsspec), its files, folders and transactions."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest
from lakefs_spec import LakeFSFileSystem

from tests.acceptance.clients import file_system, key_pair

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def lake(stack) -> LakeFSFileSystem:
    return file_system(stack)


@pytest.fixture
def root(repository, lake) -> str:
    return f"{repository.id}/main"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Local files, an empty one and a large one among them, in nested folders."""
    chance = random.Random(3)
    for name in ("a.txt", "b c.txt", "sub/ä.bin", "sub/deep/er/x", "other/y"):
        path = tmp_path / "local" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(chance.randrange(1, 50_000)))
    (tmp_path / "local" / "empty").touch()
    (tmp_path / "local" / "large").write_bytes(chance.randbytes(9_000_000))
    return tmp_path / "local"


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_uploads_and_downloads_byte_for_byte(lake, root, folder, tmp_path):
    lake.put(f"{folder}/", f"{root}/data/", recursive=True)
    assert sorted(lake.find(f"{root}/data/")) == sorted(
        f"{root}/data/{name}" for name in files_below(folder)
    )
    lake.get(f"{root}/data/", f"{tmp_path}/back/", recursive=True)
    assert files_below(tmp_path / "back") == files_below(folder)


def test_listing_and_walking_show_files_and_folders(lake, root):
    for name in ("a", "other/d", "sub/b", "sub/deep/c"):
        lake.pipe(f"{root}/{name}", name.encode())
    assert lake.ls(f"{root}/", detail=False) == [
        f"{root}/{name}" for name in ("a", "other/", "sub/")
    ]
    assert lake.ls(f"{root}/sub", detail=False) == [f"{root}/sub/b", f"{root}/sub/deep/"]
    assert lake.ls(f"{root}/a", detail=False) == [f"{root}/a"]
    assert lake.glob(f"{root}/**/c") == [f"{root}/sub/deep/c"]
    assert lake.isdir(f"{root}/sub")
    assert lake.isfile(f"{root}/a")
    assert not lake.exists(f"{root}/su")
    assert lake.du(f"{root}/") == len("a" + "other/d" + "sub/b" + "sub/deep/c")
    info = lake.info(f"{root}/sub/b")
    assert (info["type"], info["size"]) == ("file", 5)
    assert lake.info(f"{root}/sub")["type"] == "directory"


@pytest.mark.parametrize("pre_sign", [False, True], ids=["through the API", "by presigned URL"])
def test_a_file_reads_whole_in_part_and_line_by_line(lake, root, pre_sign):
    text = "one\ntwo\n\nthree"
    with lake.open(f"{root}/f", "w", pre_sign=pre_sign) as file:
        file.write(text)
    assert lake.cat(f"{root}/f") == text.encode()
    assert lake.cat_file(f"{root}/f", start=4, end=7) == b"two"
    assert lake.head(f"{root}/f", 3) == b"one"
    assert lake.tail(f"{root}/f", 5) == b"three"
    with lake.open(f"{root}/f", "r", pre_sign=pre_sign) as file:
        assert list(file) == text.splitlines(keepends=True)
    with lake.open(f"{root}/f", "rb", pre_sign=pre_sign) as file:
        file.seek(-5, 2)
        assert file.read() == b"three"


def test_an_upload_that_changes_nothing_is_skipped(lake, root, repository, folder):
    lake.put_file(f"{folder}/a.txt", f"{root}/a.txt")
    address = repository.branch("main").object("a.txt").stat().physical_address
    lake.put_file(f"{folder}/a.txt", f"{root}/a.txt")
    assert repository.branch("main").object("a.txt").stat().physical_address == address
    (folder / "a.txt").write_bytes(b"changed")
    lake.put_file(f"{folder}/a.txt", f"{root}/a.txt")
    assert lake.cat(f"{root}/a.txt") == b"changed"


def test_files_are_copied_moved_touched_and_removed(lake, root):
    lake.pipe(f"{root}/a", b"1")
    lake.cp(f"{root}/a", f"{root}/b")
    lake.mv(f"{root}/b", f"{root}/folder/c")
    lake.touch(f"{root}/empty")
    assert lake.find(f"{root}/") == [f"{root}/{name}" for name in ("a", "empty", "folder/c")]
    assert lake.size(f"{root}/empty") == 0
    lake.rm(f"{root}/folder", recursive=True)
    lake.rm_file(f"{root}/a")
    assert lake.find(f"{root}/") == [f"{root}/empty"]


def test_more_files_than_a_page_holds_are_found_and_removed(lake, root, repository):
    main = repository.branch("main")
    names = [f"many/{number:04}" for number in range(1_100)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: main.object(name).upload("", pre_sign=False), names))
    assert lake.find(f"{root}/many") == [f"{root}/{name}" for name in names]
    lake.rm(f"{root}/many/", recursive=True)
    assert lake.find(f"{root}/") == []


def test_errors_are_those_of_a_file_system(lake, root, repository):
    lake.pipe(f"{root}/a", b"1")
    for read in (lake.cat, lake.info, lake.open, lake.modified):
        with pytest.raises(FileNotFoundError):
            read(f"{root}/none")
    with pytest.raises(FileNotFoundError):
        lake.ls(f"{repository.id}/no-branch/")
    with pytest.raises(FileExistsError), lake.open(f"{root}/a", "xb") as file:
        file.write(b"2")
    assert not lake.exists("no-such-repository/main/a")
    assert lake.cat(f"{root}/a") == b"1"


def test_a_wrong_key_is_a_permission_error(stack, root):
    stranger = LakeFSFileSystem(**key_pair(stack) | {"password": "wrong"}, use_listings_cache=False)
    with pytest.raises(PermissionError):
        stranger.ls(f"{root}/")
    with pytest.raises(PermissionError):
        stranger.info(f"{root}/a")


def test_writing_to_a_new_branch_creates_it(lake, root, repository):
    lake.pipe(f"{root}/a", b"1")
    repository.branch("main").commit("a")
    lake.pipe(f"{repository.id}/dev/b", b"2")
    assert lake.find(f"{repository.id}/dev/") == [f"{repository.id}/dev/{name}" for name in "ab"]
    assert lake.find(f"{root}/") == [f"{root}/a"]


def test_every_ref_expression_is_a_folder(lake, root, repository):
    main = repository.branch("main")
    for text in (b"1", b"2"):
        lake.pipe(f"{root}/a", text)
        main.commit(text.decode())
    repository.tag("v1").create("main~1")
    lake.pipe(f"{root}/a", b"3")
    for ref, text in {"main": b"3", "main@": b"2", "main~1": b"1", "v1": b"1"}.items():
        assert lake.cat(f"{repository.id}/{ref}/a") == text


def test_a_url_opens_through_fsspec(stack, root):
    options = key_pair(stack)
    with fsspec.open(f"lakefs://{root}/a", "wb", **options) as file:
        file.write(b"by url")
    with fsspec.open(f"lakefs://{root}/a", "rb", **options) as file:
        assert file.read() == b"by url"


def test_a_transaction_commits_tags_and_merges(lake, repository):
    with lake.transaction(repository.id, "main") as transaction:
        name = f"{repository.id}/{transaction.branch.id}"
        lake.pipe(f"{name}/a", b"1")
        first = transaction.commit("first")
        lake.pipe(f"{name}/a", b"2")
        lake.pipe(f"{name}/b", b"3")
        transaction.commit("second", metadata={"k": "v"})
        transaction.tag(first, name="after-first")
        assert transaction.rev_parse(transaction.branch).message == "second"
        transaction.revert(transaction.branch, transaction.branch.head)
        assert not lake.exists(f"{repository.id}/main/a")
    assert lake.cat(f"{repository.id}/main/a") == b"1"
    assert lake.cat(f"{repository.id}/after-first/a") == b"1"
    assert lake.find(f"{repository.id}/main/") == [f"{repository.id}/main/a"]
    assert [branch.id for branch in repository.branches()] == ["main"]
    messages = [commit.message for commit in repository.branch("main").log()]
    assert messages[2:] == ["second", "first", "Repository created"]


def test_a_transaction_that_fails_changes_nothing(lake, root, repository):
    lake.pipe(f"{root}/a", b"1")
    repository.branch("main").commit("a")

    def fail() -> None:
        with lake.transaction(repository.id, "main", delete="always") as transaction:
            lake.pipe(f"{repository.id}/{transaction.branch.id}/a", b"2")
            transaction.commit("never merged")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert lake.cat(f"{root}/a") == b"1"
    assert [branch.id for branch in repository.branches()] == ["main"]
