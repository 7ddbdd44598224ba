"""Success files: `_lakefs_success` says that everything under its directory is exported."""

import pytest

from graveler.export.record import ExportState
from graveler.operations import writes
from graveler.operations.exports import requests
from tests.support.worlds.export_world import MARK, REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload

LATEST = "s3://out/latest"
HADOOP = ("^SUCCESS$", ".*/_SUCCESS$")


@pytest.fixture
def lake() -> ExportWorld:
    """A branch with tables as jobs write them."""
    made = export_world()
    put(made, "tables/a/part-0", "tables/a/part-1", "tables/b/part-0", "other/x")
    return made


def put(lake: ExportWorld, *keys: str, content: bytes = b"x") -> None:
    """Commit objects with this content."""
    for key in keys:
        upload(lake.engine(), key.encode(), content)
    commit(lake.engine())


def delete(lake: ExportWorld, *keys: str) -> None:
    """Commit the deletion of objects."""
    for key in keys:
        writes.delete(lake.engine(), REPO, "main", key.encode())
    commit(lake.engine())


def written(lake: ExportWorld) -> list[str]:
    """Return the names written at the destination since the last call, in order."""
    found = [uri.removeprefix(LATEST + "/") for _, uri in lake.writes]
    lake.writes.clear()
    return found


def marks(lake: ExportWorld) -> list[str]:
    found = [uri.removeprefix(LATEST + "/") for uri in lake.objects.uris(LATEST)]
    return [name.removesuffix(MARK) for name in found if name.endswith(MARK)]


def export(lake: ExportWorld, *patterns: str) -> None:
    lake.configure(LATEST, patterns=patterns, is_continuous=True)
    lake.settle()


def test_matching_directories_get_an_empty_success_file(lake):
    export(lake, "^tables/[^/]+$")
    assert marks(lake) == ["tables/a/", "tables/b/"]
    assert lake.objects.get(f"{LATEST}/tables/a/{MARK}") == b""


def test_the_root_is_a_directory_too(lake):
    export(lake, "^$")
    assert marks(lake) == [""]
    assert written(lake)[-1] == MARK


def test_several_patterns_may_match(lake):
    export(lake, "^tables/a$", "^other")
    assert marks(lake) == ["other/", "tables/a/"]


def test_without_patterns_there_are_no_success_files(lake):
    export(lake)
    assert marks(lake) == []


def test_a_success_file_is_written_after_everything_under_its_directory(lake):
    export(lake, ".*")
    order = written(lake)
    for directory in marks(lake):
        under = [at for at, name in enumerate(order) if name.startswith(directory)]
        assert order[max(under)] == directory + MARK


def test_only_directories_with_changes_get_a_new_success_file(lake):
    export(lake, ".*")
    written(lake)
    put(lake, "tables/a/part-0", content=b"changed")
    lake.settle()
    assert written(lake) == [
        *(MARK, "tables/" + MARK, "tables/a/" + MARK),  # deleted, outer ones first
        "tables/a/part-0",
        *("tables/a/" + MARK, "tables/" + MARK, MARK),  # put again, inner ones first
    ]
    assert marks(lake) == ["", "other/", "tables/", "tables/a/", "tables/b/"]


def test_a_directory_with_a_failure_gets_no_success_file(lake):
    lake.objects.before = refuse("tables/a/part-1")
    export(lake, ".*")
    assert lake.record.state is ExportState.FAILED
    assert marks(lake) == ["other/", "tables/b/"]
    lake.objects.before = refuse()
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert marks(lake) == ["", "other/", "tables/", "tables/a/", "tables/b/"]


def refuse(*keys: str):
    """Make the store refuse writes of these."""

    def before(_operation: str, uri: str) -> None:
        if uri.startswith(LATEST) and uri.removeprefix(LATEST + "/") in keys:
            raise OSError("refused")

    return before


def test_a_success_file_that_cannot_be_written_is_an_error(lake):
    def before(operation: str, uri: str) -> None:
        if operation == "put" and uri == f"{LATEST}/tables/a/{MARK}":
            raise OSError("refused")

    lake.objects.before = before
    export(lake, ".*")
    status = requests.status(lake.engine(), REPO, "main")
    assert (status.state, status.failed) == (ExportState.FAILED, 1)
    assert marks(lake) == ["other/", "tables/b/"]


def test_nothing_changes_if_an_old_success_file_cannot_be_deleted(lake):
    export(lake, "^tables/a$")
    before = lake.exported(LATEST)
    lake.objects.before = refuse("tables/a/" + MARK)
    put(lake, "tables/a/part-0", content=b"changed")
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert "old success mark" in lake.record.error_message
    assert lake.exported(LATEST) == before


def test_an_emptied_directory_loses_its_success_file(lake):
    export(lake, ".*")
    delete(lake, "tables/b/part-0", "other/x")
    lake.settle()
    assert marks(lake) == ["", "tables/", "tables/a/"]
    delete(lake, "tables/a/part-0")
    lake.settle()
    assert marks(lake) == ["", "tables/", "tables/a/"]
    delete(lake, "tables/a/part-1")
    lake.settle()
    assert marks(lake) == []
    assert lake.objects.uris(LATEST) == []


def test_success_files_are_those_of_the_patterns_of_now(lake):
    export(lake, "^tables/[ab]$")
    export(lake, "^tables/b$", "^other$")
    assert marks(lake) == ["other/", "tables/b/"]
    export(lake)
    assert marks(lake) == []


def test_a_branchs_own_object_of_that_name_is_exported_like_any_other(lake):
    put(lake, "tables/a/" + MARK, content=b"the branch's own")
    export(lake, ".*")
    own = f"{LATEST}/tables/a/{MARK}"
    assert lake.objects.get(own) == b"the branch's own"
    put(lake, "tables/a/part-0", content=b"changed")
    lake.settle()
    assert lake.objects.get(own) == b"the branch's own"
    delete(lake, "tables/a/" + MARK)
    lake.settle()
    assert lake.objects.get(own) == b""


# Objects set apart


def test_a_success_file_of_hadoop_is_copied_last_in_its_directory(lake):
    put(lake, "tables/a/_SUCCESS", "tables/a/z/deep", "SUCCESS")
    export(lake, *HADOOP)
    order = written(lake)
    inside = [name for name in order if name.startswith("tables/a/")]
    assert inside[-2:] == ["tables/a/_SUCCESS", "tables/a/" + MARK]
    assert order[-2:] == ["SUCCESS", MARK]


def test_an_unchanged_success_file_of_hadoop_is_copied_last_again(lake):
    put(lake, "tables/a/_SUCCESS", content=b"")
    export(lake, *HADOOP)
    written(lake)
    upload(lake.engine(), b"tables/a/_SUCCESS", b"")
    put(lake, "tables/a/part-0", content=b"changed")
    lake.settle()
    assert [name for name in written(lake) if name.startswith("tables/a/")] == [
        "tables/a/" + MARK,
        "tables/a/part-0",
        "tables/a/_SUCCESS",
        "tables/a/" + MARK,
    ]


def test_directories_without_a_success_file_of_hadoop_get_no_mark(lake):
    put(lake, "tables/a/_SUCCESS")
    export(lake, *HADOOP)
    assert marks(lake) == ["tables/a/"]


def test_any_number_of_objects_may_be_set_apart(lake):
    flags = [f"tables/a/{number:03}.flag" for number in range(150)]
    put(lake, *flags)
    export(lake, r"\.flag$")
    order = [name for name in written(lake) if name.startswith("tables/a/") and MARK not in name]
    assert order == ["tables/a/part-0", "tables/a/part-1", *flags]
    assert marks(lake) == ["tables/a/"]


def test_objects_set_apart_in_nested_directories_are_last_in_each(lake):
    directories = ["/".join("d" * depth) for depth in range(1, 50)]
    put(lake, *[f"{name}/A.flag" for name in directories], *[f"{name}/x" for name in directories])
    export(lake, r"\.flag$")
    order = written(lake)
    for name in directories:
        under = [at for at, key in enumerate(order) if key.startswith(name + "/")]
        assert [order[at] for at in under[-2:]] == [f"{name}/A.flag", f"{name}/{MARK}"]


def test_objects_set_apart_are_copied_by_the_runner_that_continues(lake):
    keys = [f"tables/a/{number:02}" for number in range(30)]
    put(lake, "tables/a/!SUCCESS", *keys)
    lake.configure(LATEST, patterns=("SUCCESS$",), is_continuous=True)
    lake.world.clock.step_ns = 10**9
    lake.advance(runner="short", time_s=100)
    assert lake.record.run.progress.put_off == ((b"tables/a/!SUCCESS",) * 2,)
    lake.settle()
    order = [name for name in written(lake) if name.startswith("tables/a/")]
    assert order[-2:] == ["tables/a/!SUCCESS", "tables/a/" + MARK]
    assert order.count("tables/a/!SUCCESS") == 1


def test_an_old_mark_is_deleted_before_the_branchs_own_object_replaces_it(lake):
    export(lake, "^tables/a$")
    upload(lake.engine(), f"tables/a/{MARK}".encode(), b"own")
    seen = []

    def before(operation: str, uri: str) -> None:
        mark = f"{LATEST}/tables/a/{MARK}"
        if operation == "copy" and lake.objects.head(mark) is not None:
            seen.append((uri, lake.objects.get(mark)))

    lake.objects.before = before
    put(lake, "tables/a/part-0", "tables/a/part-1", content=b"new")
    lake.settle()
    assert seen == []
    assert lake.objects.get(f"{LATEST}/tables/a/{MARK}") == b"own"


def test_objects_set_apart_are_not_copied_while_their_directory_has_a_failure(lake):
    put(lake, "tables/a/_SUCCESS", "tables/b/_SUCCESS")
    export(lake, *HADOOP)
    put(lake, "tables/a/part-0", "tables/b/part-0", content=b"new")
    written(lake)
    lake.objects.before = refuse("tables/a/part-0")
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert [name for name in written(lake) if "_SUCCESS" in name] == ["tables/b/_SUCCESS"]
    lake.objects.before = refuse()
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert "tables/a/_SUCCESS" in written(lake)


def test_marks_at_an_unknown_path_are_deleted_where_something_changes(lake):
    export(lake, "^tables/a$")
    lake.forget()
    lake.configure("s3://out/latest/tables", force=True)  # inside it, so it becomes unknown
    lake.settle()
    lake.forget()
    put(lake, "tables/a/part-0", content=b"new")
    lake.configure(LATEST, force=True)
    lake.settle()
    assert lake.objects.head(f"{LATEST}/tables/a/{MARK}") is None


@pytest.mark.parametrize("is_reached", [True, False], ids=["exported", "dropped"])
def test_a_path_that_is_used_again_gets_the_marks_of_the_patterns_of_now(lake, is_reached):
    export(lake, "^tables/a$")
    lake.configure("s3://out/other", patterns=("^other$",), is_continuous=True)
    if is_reached:
        lake.settle()
    export(lake, "^other$")
    assert marks(lake) == ["other/"]
