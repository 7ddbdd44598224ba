"""An export's destination holds the branch's objects, all of them and nothing else."""

import pytest

from graveler.data_headers import DataHeaders
from graveler.entries import entry_value
from graveler.export.record import ExportState
from graveler.model import AddressType, Entry
from graveler.operations import branches, merges, writes
from graveler.operations.exports import requests
from tests.support.worlds.export_lakes import LATEST, is_exported
from tests.support.worlds.export_world import FOREIGN, REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """A branch with a few objects."""
    made = export_world()
    for key in (b"a/1", b"a/b/2", b"c"):
        upload(made.engine(), key, b"first " + key)
    commit(made.engine())
    return made


def uris(lake: ExportWorld, path: str = LATEST) -> list[str]:
    return [uri.removeprefix(path + "/") for uri in lake.objects.uris(path + "/")]


def change(lake: ExportWorld, **contents: bytes | None) -> str:
    """Commit new objects; None deletes one."""
    for name, content in contents.items():
        if content is None:
            writes.delete(lake.engine(), REPO, "main", name.encode())
        else:
            upload(lake.engine(), name.encode(), content)
    return commit(lake.engine()).id


def test_clients_that_do_not_know_about_versions_read_the_branch_at_the_export_path(lake):
    lake.configure(LATEST)
    lake.settle()
    assert uris(lake) == ["a/1", "a/b/2", "c"]
    assert lake.objects.get("s3://out/latest/a/b/2") == b"first a/b/2"


def test_a_one_time_export_begins_at_once_and_runs_once(lake):
    lake.configure(LATEST, is_continuous=False)
    lake.settle()
    assert is_exported(lake)
    change(lake, d=b"later")
    lake.settle()
    assert uris(lake) == ["a/1", "a/b/2", "c"]
    requests.run(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)


def test_a_commit_during_a_one_time_export_is_not_exported_after_it(lake):
    lake.configure(LATEST, is_continuous=False)
    requests.run(lake.engine(), REPO, "main")
    change(lake, d=b"later")
    lake.settle()
    assert uris(lake) == ["a/1", "a/b/2", "c"]


def test_a_continuous_export_exports_the_head_and_then_every_commit(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    assert is_exported(lake)
    for content in (b"second", b"third"):
        change(lake, c=content)
        lake.settle()
        assert is_exported(lake)
        assert lake.objects.get("s3://out/latest/c") == content


def test_a_continuous_export_exports_merges(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    branches.create(lake.engine(), REPO, name="dev", source="main")
    upload(lake.engine(), b"d", b"from dev", branch="dev")
    commit(lake.engine(), "dev")
    lake.settle()
    assert "d" not in uris(lake)
    merges.merge(lake.engine(), REPO, "dev", "main", merges.MergeRequest("somebody"))
    lake.settle()
    assert lake.objects.get("s3://out/latest/d") == b"from dev"
    assert is_exported(lake)


def test_a_continuous_export_follows_a_branch_that_is_reset(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    change(lake, d=b"regretted", c=None)
    lake.settle()
    branches.hard_reset(lake.engine(), REPO, "main", ref="main~1")
    lake.settle()
    assert uris(lake) == ["a/1", "a/b/2", "c"]
    assert is_exported(lake)


def test_uncommitted_changes_are_not_exported(lake):
    upload(lake.engine(), b"staged", b"x")
    lake.configure(LATEST)
    lake.settle()
    assert uris(lake) == ["a/1", "a/b/2", "c"]


def test_deleted_objects_disappear_from_the_destination(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    change(lake, **{"a/1": None, "c": None})
    lake.settle()
    assert uris(lake) == ["a/b/2"]


def test_a_commit_does_not_wait_for_the_export(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    lake.writes.clear()
    change(lake, d=b"new")
    assert lake.writes == []


def test_commits_faster_than_exports_are_exported_together(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    finished = len([e for e in lake.world.refs.events if e.kind == "export_finished"])
    for number in range(5):
        change(lake, **{f"n{number}": b"x"})
    lake.settle()
    assert is_exported(lake)
    events = [e for e in lake.world.refs.events if e.kind == "export_finished"][finished:]
    assert [event.detail["commit_id"] for event in events] == [
        branches.get(lake.engine(), REPO, "main").commit_id
    ]


def test_objects_of_others_at_the_destination_are_left_alone(lake):
    for uri in ("s3://out/latest/a/other", "s3://out/latest2", "s3://out/latest/z"):
        lake.place_foreign(uri)
    lake.configure(LATEST, patterns=(".*",), is_continuous=True, force=True)
    lake.settle()
    change(lake, **{"a/1": None})
    lake.settle()
    assert lake.objects.get("s3://out/latest/a/other") == FOREIGN
    assert is_exported(lake)


def test_each_branch_is_exported_to_its_own_path(lake):
    branches.create(lake.engine(), REPO, name="dev", source="main")
    upload(lake.engine(), b"d", b"dev", branch="dev")
    commit(lake.engine(), "dev")
    lake.configure("s3://out/main", is_continuous=True)
    lake.settle()
    lake.branch = "dev"
    lake.configure("s3://out/dev", is_continuous=True)
    lake.settle()
    assert uris(lake, "s3://out/main") == ["a/1", "a/b/2", "c"]
    assert uris(lake, "s3://out/dev") == ["a/1", "a/b/2", "c", "d"]


# Paths


def test_a_new_path_gets_everything(lake):
    lake.configure("s3://out/one")
    lake.settle()
    lake.configure("s3://out/two")
    lake.settle()
    assert uris(lake, "s3://out/two") == ["a/1", "a/b/2", "c"]


def test_returning_to_an_earlier_path_exports_exactly_the_difference(lake):
    lake.configure("s3://out/one", is_continuous=True)
    lake.settle()
    lake.configure("s3://out/two", is_continuous=True)
    change(lake, c=None, d=b"new")
    lake.settle()
    change(lake, **{"a/1": b"changed", "d": None, "e": b"new"})
    lake.settle()
    lake.writes.clear()
    lake.configure("s3://out/one", is_continuous=True)
    lake.settle()
    assert is_exported(lake, "s3://out/one")
    assert is_exported(lake, "s3://out/two") is True
    assert {uri for _, uri in lake.writes} == {
        "s3://out/one/a/1",
        "s3://out/one/c",
        "s3://out/one/e",
    }


def test_an_export_inside_an_earlier_path_makes_that_path_unknown(lake):
    lake.configure("s3://out/one", is_continuous=True)
    lake.settle()
    change(lake, **{"1": b"over the other's a/1"})
    lake.configure("s3://out/one/a", is_continuous=True, force=True)
    lake.settle()
    assert lake.objects.get("s3://out/one/a/1") == b"over the other's a/1"
    lake.configure("s3://out/one", is_continuous=True, force=True)
    lake.settle()
    assert lake.objects.get("s3://out/one/a/1") == b"first a/1"
    assert lake.objects.get("s3://out/one/1") == b"over the other's a/1"


# Single objects


def test_objects_keep_their_content_type_and_metadata(lake):
    writes.upload(
        lake.engine(),
        REPO,
        "main",
        b"described",
        read_content=lambda: (b"x", "application/vnd.apache.parquet"),
        metadata={"Owner": "somebody", "unit": "µs"},
    )
    commit(lake.engine())
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    described = lake.objects.description("s3://out/latest/described")
    assert described.content_type == "application/vnd.apache.parquet"
    assert described.metadata == {"Owner": "somebody", "unit": "µs"}
    writes.set_user_metadata(lake.engine(), REPO, "main", b"described", {"Owner": "nobody"})
    commit(lake.engine())
    lake.settle()
    described = lake.objects.description("s3://out/latest/described")
    assert described.metadata == {"Owner": "nobody"}


def test_imported_objects_are_copied_from_their_source_and_keep_their_description(lake):
    lake.objects.put("s3://elsewhere/x", b"imported", "image/png")
    entry = Entry("s3://elsewhere/x", AddressType.FULL, 8, "abc", 0)  # as an import stores it
    token = branches.get(lake.engine(), REPO, "main").staging_token
    lake.engine().staging.stage(token, [(b"imported", entry_value(entry))])
    commit(lake.engine())
    lake.configure(LATEST)
    lake.settle()
    assert lake.objects.get("s3://out/latest/imported") == b"imported"
    assert lake.objects.description("s3://out/latest/imported").content_type == "image/png"


def test_an_imported_object_whose_data_were_replaced_fails_and_is_not_exported(lake):
    checksum = lake.objects.put("s3://elsewhere/x", b"imported", "image/png").checksum
    entry = Entry("s3://elsewhere/x", AddressType.FULL, 8, checksum, 0)
    token = branches.get(lake.engine(), REPO, "main").staging_token
    lake.engine().staging.stage(token, [(b"imported", entry_value(entry))])
    commit(lake.engine())
    lake.objects.put("s3://elsewhere/x", b"replaced", "image/png")
    lake.configure(LATEST)
    lake.settle()
    status = requests.status(lake.engine(), REPO, "main")
    assert (status.state, status.failed) == (ExportState.FAILED, 1)
    assert "import or stage it again" in status.first_errors[0]
    assert uris(lake) == ["a/1", "a/b/2", "c"]


def test_exported_objects_keep_the_headers_that_stay_with_their_data(lake):
    headers = {"content-encoding": "gzip", "cache-control": "no-cache"}
    writes.upload(
        lake.engine(),
        REPO,
        "main",
        b"coded",
        read_content=lambda: (b"content", "text/csv"),
        metadata={"k": "v"},
        headers=DataHeaders(headers),
    )
    commit(lake.engine())
    lake.configure(LATEST)
    lake.settle()
    info = lake.objects.head("s3://out/latest/coded")
    assert (info.content_type, info.headers) == ("text/csv", headers)


def test_keys_are_exported_unchanged(lake):
    keys = ["é/ü", "with space", "/slash", "a//b", "#?&=%41+", "tab\t"]
    for key in keys:
        upload(lake.engine(), key.encode(), key.encode())
    commit(lake.engine())
    lake.configure(LATEST)
    lake.settle()
    assert {lake.objects.get(f"{LATEST}/{key}").decode() for key in keys} == set(keys)


def test_an_object_whose_key_is_too_long_fails_and_the_others_are_exported(lake):
    upload(lake.engine(), b"k" * 1020, b"x")
    commit(lake.engine())
    lake.configure(LATEST)
    lake.settle()
    status = requests.status(lake.engine(), REPO, "main")
    assert (status.state, status.failed) == (ExportState.FAILED, 1)
    assert "at most 1024 bytes" in status.error_message
    assert "at most 1024 bytes" in lake.record.ended[0].error_message
    assert uris(lake) == ["a/1", "a/b/2", "c"]
    writes.delete(lake.engine(), REPO, "main", b"k" * 1020)  # was never exported
    commit(lake.engine())
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)


def test_an_object_without_data_fails_and_is_exported_once_its_data_are_restored(lake):
    stat = upload(lake.engine(), b"gone", b"x")
    commit(lake.engine())
    lake.objects.delete(stat.physical_address)
    lake.configure(LATEST)
    lake.settle()
    status = requests.status(lake.engine(), REPO, "main")
    assert status.error_message.startswith("1 task failed\n")
    assert status.first_errors == (f"s3://out/latest/gone: {stat.physical_address} does not exist",)
    lake.objects.put(stat.physical_address, b"x", "text/plain")
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)
