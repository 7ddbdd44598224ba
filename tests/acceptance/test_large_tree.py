"""A thousand real files through the `lakefs` package: every byte, every name, every change."""

import random
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import md5
from pathlib import Path
from typing import Any, TypeVar

import lakefs
import pytest
from lakefs.models import CommonPrefix

from tests.acceptance.clients import create_repository

pytestmark = [pytest.mark.server, pytest.mark.long]

T = TypeVar("T")

# More than a page of a listing, and than a request deletes.
FILES = 1_100
# Larger ones do not fit through the API; test_presigned.py sends them.
FILE_BYTES_MAX = 3_000_000
ODD_NAMES = (
    " leading and trailing ",
    "/leading slash",
    "trailing slash/",
    "two//slashes",
    "../dots/./and/..",
    "percent %2F %25 %zz",
    "plus+and&equals=;,@:$!*'()[]{}|^`~",
    "question?mark#hash",
    'quotes " and \\ backslash',
    "line\nbreak\ttab\rreturn",
    "null\x00byte",
    "naïve ünïcödé",
    "nai\u0308ve, decomposed",
    "日本語/データ.csv",
    "🦭/emoji",
    "é" * 512,  # 1,024 bytes, the longest there is
)


def in_parallel(act: Callable[[str], T], paths: Iterable[str]) -> list[T]:
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(act, paths))


@pytest.fixture(scope="module")
def tree() -> dict[str, bytes]:
    """Path and content of files of installed packages, empty ones and odd names among them."""
    root = Path(pytest.__file__).parent.parent
    found = sorted(path for path in root.rglob("*") if path.is_file())
    small = [path for path in found if path.stat().st_size < FILE_BYTES_MAX]
    chosen = random.Random(7).sample(small, FILES)
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in chosen}
    files |= {name: name.encode() * index for index, name in enumerate(ODD_NAMES)}
    assert sum(not content for content in files.values()) > 5
    return files


@pytest.fixture(scope="module")
def stored(client: lakefs.Client, tree: dict[str, bytes]) -> lakefs.Reference:
    """The tree, committed; one file of five went straight to the object store."""
    main = create_repository(client).branch("main")

    by_url = set(sorted(tree)[::5])

    def upload(path: str) -> None:
        main.object(path).upload(tree[path], mode="wb", pre_sign=path in by_url)

    in_parallel(upload, tree)
    return main.commit("the tree")


def paths_of(reference: lakefs.Reference, **query: Any) -> list[str]:
    return [found.path for found in reference.objects(**query)]


def branch_of(stored: lakefs.Reference, client: lakefs.Client, name: str) -> lakefs.Branch:
    return lakefs.Branch(stored.repo_id, name, client).create(stored)


def test_every_file_is_listed_in_the_order_of_its_name_with_size_and_checksum(stored, tree):
    listed = [(found.path, found.size_bytes, found.checksum) for found in stored.objects()]
    expected = [
        (path, len(tree[path]), md5(tree[path]).hexdigest())
        for path in sorted(tree, key=str.encode)
    ]
    assert listed == expected


@pytest.mark.parametrize("pre_sign", [False, True], ids=["through the API", "by presigned URL"])
def test_every_byte_reads_back(stored, tree, pre_sign):
    def read(path: str) -> bytes:
        return stored.object(path).reader(pre_sign=pre_sign).read()

    assert dict(zip(tree, in_parallel(read, tree), strict=True)) == tree


@pytest.mark.parametrize("pre_sign", [False, True], ids=["through the API", "by presigned URL"])
def test_any_part_of_a_file_reads_back_alone(stored, tree, pre_sign):
    chance = random.Random(8)
    parts = {}
    for path in chance.sample(sorted(tree), 100):
        first = chance.randrange(len(tree[path]) + 10)
        parts[path] = first, first + chance.randrange(1, 5_000)

    def read(path: str) -> bytes:
        first, end = parts[path]
        with stored.object(path).reader(pre_sign=pre_sign) as reader:
            reader.seek(first)
            return reader.read(end - first)

    assert in_parallel(read, parts) == [tree[path][slice(*parts[path])] for path in parts]


def test_a_stat_of_every_odd_name_names_it_as_it_was_given(stored, tree):
    for name in ODD_NAMES:
        assert stored.object(name).exists()
        found = stored.object(name).stat()
        assert (found.path, found.size_bytes) == (name, len(tree[name]))


def test_a_folder_lists_its_files_and_folders_as_a_file_browser_shows_them(stored, tree):
    for folder in ("", "pytest/", "numpy/", "lakefs_sdk/"):
        below = [path.removeprefix(folder) for path in tree if path.startswith(folder)]
        expected = {
            folder + (rest if "/" not in rest else rest.partition("/")[0] + "/") for rest in below
        }
        found = list(stored.objects(prefix=folder, delimiter="/"))
        assert [item.path for item in found] == sorted(expected, key=str.encode)
        folded = {item.path for item in found if isinstance(item, CommonPrefix)}
        assert folded == {path for path in expected if path.endswith("/")}


def test_a_listing_starts_and_ends_where_it_is_told(stored, tree):
    ordered = sorted(tree, key=str.encode)
    middle = ordered[FILES // 2]
    assert paths_of(stored, after=middle) == ordered[FILES // 2 + 1 :]
    assert paths_of(stored, after=middle, max_amount=5) == ordered[FILES // 2 + 1 :][:5]
    assert paths_of(stored, prefix="n") == [path for path in ordered if path.startswith("n")]
    assert paths_of(stored, prefix="there is no such") == []


def test_a_branch_shows_exactly_what_was_done_on_it(client, stored, tree):
    branch = branch_of(stored, client, "work")
    chance = random.Random(9)
    touched = chance.sample(sorted(tree), 1_080)
    removed, changed, rewritten = touched[:1_010], touched[1_010:1_050], touched[1_050:]
    added = [f"new/{number:03}" for number in range(30)]
    for start in range(0, len(removed), 1_000):
        branch.delete_objects(removed[start : start + 1_000])
    in_parallel(
        lambda path: branch.object(path).upload(b"changed " + tree[path], pre_sign=False), changed
    )
    in_parallel(lambda path: branch.object(path).upload(tree[path], pre_sign=False), rewritten)
    in_parallel(lambda path: branch.object(path).upload(path, pre_sign=False), added)

    kinds = dict.fromkeys(removed, "removed") | dict.fromkeys(changed, "changed")
    kinds |= dict.fromkeys(added, "added")
    expected = [(path, kinds[path]) for path in sorted(kinds, key=str.encode)]
    # The same content at another address is committed, and is no difference between commits.
    staged = kinds | dict.fromkeys(rewritten, "changed")
    assert [(change.path, change.type) for change in branch.uncommitted()] == [
        (path, staged[path]) for path in sorted(staged, key=str.encode)
    ]
    branch.commit("much")
    assert [(change.path, change.type) for change in stored.diff(branch)] == expected
    back = {"removed": "added", "added": "removed", "changed": "changed"}
    assert [(change.path, change.type) for change in branch.diff(stored, type="two_dot")] == [
        (path, back[kind]) for path, kind in expected
    ]
    assert list(branch.uncommitted()) == []

    main = lakefs.Branch(stored.repo_id, "main", client)
    branch.merge_into(main)
    kept = (set(tree) | set(added)) - set(removed)
    assert paths_of(main) == sorted(kept, key=str.encode)
    for path in changed[:20]:
        assert main.object(path).reader().read() == b"changed " + tree[path]
    # The commit that the branch began at has not moved.
    assert paths_of(stored) == sorted(tree, key=str.encode)


def test_a_tree_that_was_deleted_is_whole_in_the_commit_before(client, stored, tree):
    branch = branch_of(stored, client, "emptied")
    while page := paths_of(branch, max_amount=1_000):
        branch.delete_objects(page)
    assert paths_of(branch) == []
    branch.commit("nothing left")
    assert paths_of(branch) == []
    before = lakefs.Reference(stored.repo_id, "emptied~1", client)
    assert paths_of(before) == sorted(tree, key=str.encode)
    branch.revert("emptied")
    assert paths_of(branch) == sorted(tree, key=str.encode)
    assert list(branch.diff(stored, type="two_dot")) == []
