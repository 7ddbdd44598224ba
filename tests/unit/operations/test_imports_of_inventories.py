"""Inventories are imported like listings, or fail the import."""

import json
from dataclasses import replace

import pytest

from graveler.branches.lookup import read_repository
from graveler.committed.store import Breaking, Committed
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.imports.runs import Found
from graveler.operations import imports, objects, repositories
from tests.support.worlds.imports import Recorder, TaskStoppedError, imported
from tests.support.worlds.inventories import MANIFEST, put_inventory
from tests.support.worlds.lake import NAMESPACE, REPO, commit, paths, upload

RAW = "s3://raw"


def inventory_of(keys):
    return [(key, len(key), "2026-11-20T00:00:00.000Z") for key in keys]


def asked_for_inventory(destination="", *more):
    source = source_of(SourceType.INVENTORY, MANIFEST, destination)
    return ImportRequest((*more, source), "ann")


def test_an_inventory_is_imported_by_whole_keys_and_replaces_its_destination(engine):
    upload(engine, b"to/old", b"old")
    commit(engine)
    put_inventory(engine.objects, [inventory_of(["z", "b/2"]), inventory_of(["a", "b/1"])])
    engine.objects.put(f"{RAW}/in/a", b"raw", "text/plain")
    more = source_of(SourceType.PREFIX, f"{RAW}/in/", "to/in")
    assert imported(engine, asked_for_inventory("to", more)).task.done == 5
    assert paths(engine, "main") == [b"to/a", b"to/b/1", b"to/b/2", b"to/in/a", b"to/z"]
    assert objects.stat(engine, REPO, "main", b"to/b/2").physical_address == f"{RAW}/b/2"


@pytest.mark.parametrize("key", ["data/x", ""])
def test_an_inventory_of_what_may_not_be_imported_is_refused(engine, key):
    put_inventory(engine.objects, [inventory_of([f"in/{key}"])])
    strict = replace(engine, import_prefixes=("s3://raw/inventory",))
    failure = imported(strict, asked_for_inventory()).task.failure
    assert "GRAVELER_IMPORT_PREFIXES" in failure.message
    repositories.create(engine, name="inside", storage_namespace="s3://raw/in")
    failure = imported(engine, asked_for_inventory(), "inside").task.failure
    assert "in repository namespace (s3://raw/in)" in failure.message


def test_a_manifest_that_names_files_elsewhere_is_refused_before_they_are_read(engine):
    put_inventory(engine.objects, [inventory_of(["in/a"])])
    manifest = json.loads(engine.objects.get(MANIFEST))
    for bucket, message in (("other", "GRAVELER_IMPORT_PREFIXES"), ("bucket", "in repository")):
        elsewhere = manifest | {
            "destinationBucket": f"arn:aws:s3:::{bucket}",
            "files": [{"key": f"{NAMESPACE.removeprefix('s3://bucket/')}/x", "MD5checksum": "x"}],
        }
        engine.objects.put(MANIFEST, json.dumps(elsewhere).encode(), "application/json")
        strict = replace(engine, import_prefixes=("s3://raw", "s3://bucket"))
        assert message in imported(strict, asked_for_inventory()).task.failure.message


def test_sorted_objects_of_an_inventory_count_as_done(engine):
    keys = [f"{number:05}" for number in range(2000)]
    put_inventory(engine.objects, [inventory_of(keys[:1000]), inventory_of(keys[1000:])])
    watch = Recorder()
    request = asked_for_inventory("to")
    imports.sort_inventories(read_repository(engine, REPO), request, watch, Found())
    assert set(watch.done) == {0, 1000, 2000}
    imports.list_sources(read_repository(engine, REPO), request, watch, watch.saved[-1])
    assert watch.done == sorted(watch.done)
    assert watch.done[-1] == 2000


@pytest.mark.parametrize("reports", range(0, 12, 2))
def test_a_stopped_import_of_an_inventory_continues(world, monkeypatch, reports):
    monkeypatch.setattr(imports, "SORTED_RECORDS", 700)
    engine = world.engine(Committed(world.files, breaking=Breaking(20)))
    keys = [f"{number * 7919 % 3001:05}" for number in range(3000)]
    put_inventory(engine.objects, [inventory_of(keys[n : n + 1000]) for n in (0, 1000, 2000)])
    found = read_repository(engine, REPO)
    asked = asked_for_inventory("to")
    whole = imports.list_sources(found, asked, WithoutOrder())
    assert [key for key, _ in found.metarange(whole).records()] == sorted(
        f"to/{key}".encode() for key in keys
    )
    stopped = WithoutOrder(stop_after=reports)
    with pytest.raises(TaskStoppedError):
        imports.list_sources(found, asked, stopped)
    saved = stopped.saved[-1] if stopped.saved else Found()
    rest = WithoutOrder()
    assert imports.list_sources(found, asked, rest, saved) == whole
    # Files that were sorted are not read again.
    sorted_again = [each.files for each in rest.saved if not each.listed]
    assert sorted_again == list(range(saved.files + 1, 4))


class WithoutOrder(Recorder):
    """A recorder that is told of more objects than are done."""

    def report(self, done, known):
        super().report(done, done)
        assert known >= done
