"""What garbage collection reads of refs and staging: it must miss nothing that is alive."""

import pytest

from graveler.branches.heads import seal
from graveler.branches.lookup import current_branch, read_repository
from graveler.engine import Engine
from graveler.errors import CorruptDataError, InvalidInputError, NotFoundError
from graveler.model import AddressType, CommitID, MetaRangeID
from graveler.model.recorded_uploads import Upload
from graveler.operations import (
    branches,
    commits,
    links,
    recorded_uploads,
    repositories,
    retention,
    writes,
)
from graveler.operations.collection_reads import (
    active_metaranges,
    begin_scan,
    neighbours,
    staged_addresses,
    staging_tokens,
    upload_addresses,
)
from graveler.ports import UploadedPart
from graveler.retention.files import RULES_FILE
from graveler.retention.rules import make_rules
from tests.support.fakes.engines import MemoryWorld
from tests.support.worlds.dumps import commits_between_pages
from tests.support.worlds.lake import NAMESPACE, REPO, commit, upload

DAY_S = 24 * 60 * 60


def staged(world: MemoryWorld) -> set[str]:
    engine = world.engine()
    scan = begin_scan(read_repository(engine, REPO))
    return {
        address
        for token in staging_tokens(scan)
        for address in staged_addresses(engine.staging, NAMESPACE, token)
    }


def active(world: MemoryWorld) -> dict[CommitID, MetaRangeID]:
    engine = world.engine()
    repository = read_repository(engine, REPO)
    return active_metaranges(begin_scan(repository))


def test_staged_entries_of_every_branch_count_and_tombstones_do_not(world: MemoryWorld) -> None:
    engine = world.engine()
    branches.create(engine, REPO, name="hidden", source="main", hidden=True)
    addresses = {
        upload(engine, b"a", b"1").entry.address,
        upload(engine, b"a", b"2", "hidden").entry.address,
    }
    upload(engine, b"b", b"3")
    writes.delete(engine, REPO, "main", b"b")
    assert staged(world) == addresses


def test_covered_entries_of_older_tokens_count(world: MemoryWorld) -> None:
    engine = world.engine()
    old = upload(engine, b"a", b"1").entry.address
    seal(*current_branch(engine, REPO, "main"))
    new = upload(engine, b"a", b"2").entry.address
    assert staged(world) == {old, new}


def test_imported_objects_are_not_ours(world: MemoryWorld) -> None:
    found = links.stage(
        world.engine(),
        REPO,
        "main",
        b"a",
        links.StoredData(physical_address="s3://elsewhere/data/x", checksum="any", size_bytes=1),
    )
    assert found.entry.address_type is AddressType.FULL
    assert staged(world) == set()


def test_branches_of_all_pages_count(world: MemoryWorld) -> None:
    engine = world.engine()
    names = [f"b{number:04}" for number in range(1001)]
    for name in names:
        branches.create(engine, REPO, name=name, source="main")
    address = upload(engine, b"a", b"1", names[-1]).entry.address
    assert staged(world) == {address}


def test_without_rules_every_commit_is_active(world: MemoryWorld) -> None:
    engine = world.engine()
    upload(engine, b"a", b"1")
    made = commit(engine, date_s=0)
    first = commits.get(engine, REPO, f"{made.id}~1")
    assert active(world) == {made.id: made.metarange_id, first.id: ""}


def test_with_rules_expired_commits_are_not_active(world: MemoryWorld) -> None:
    engine = world.engine()
    made = []
    for age_days in (9, 8, 1):
        upload(engine, b"a", b"%d" % age_days)
        made.append(commit(engine, date_s=engine.now_s() - age_days * DAY_S))
    retention.set_rules(engine, REPO, make_rules(2, []))
    first = commits.get(engine, REPO, f"{made[0].id}~1")  # made now, whatever the others say
    assert set(active(world)) == {first.id, made[1].id, made[2].id}


@pytest.mark.parametrize("has_rules", [False, True])
def test_the_active_commits_are_found_while_others_commit(
    world: MemoryWorld, monkeypatch: pytest.MonkeyPatch, has_rules: bool
) -> None:
    engine = world.engine()
    if has_rules:
        retention.set_rules(engine, REPO, make_rules(14, []))
    before = [commit(engine, allow_empty=True).id for _ in range(5)]
    with commits_between_pages(world, REPO, monkeypatch):
        found = active(world)
    assert {*before} < {*found}
    kept = engine.refs.commits(read_repository(engine, REPO).record, [*found])
    assert {parent for each in kept.values() for parent in each.parents} <= {*found}


def test_malformed_rules_do_not_count_as_no_rules(world: MemoryWorld) -> None:
    uri = f"{NAMESPACE}/{RULES_FILE}"
    world.objects.put(uri, b"\xff", "a/b")
    with pytest.raises(CorruptDataError, match=RULES_FILE):
        active(world)


def test_the_error_for_unreadable_rules_names_the_file(world: MemoryWorld) -> None:
    world.objects.missing_buckets.add("bucket")
    with pytest.raises(InvalidInputError, match=RULES_FILE):
        active(world)


def test_repositories_over_the_same_namespace_count_together(world: MemoryWorld) -> None:
    engine = world.engine()
    repositories.create(engine, name="reader", storage_namespace=NAMESPACE, read_only=True)
    address = writes.upload(
        engine,
        "reader",
        "main",
        b"a",
        read_content=lambda: (b"1", "a/b"),
        metadata={},
        force=True,
    ).entry.address
    assert staged(world) == {address}
    assert len(active(world)) == 2  # the first commit of each


def test_namespaces_inside_are_told(world: MemoryWorld) -> None:
    engine = world.engine()
    repositories.create(engine, name="beside", storage_namespace=f"{NAMESPACE}2")
    for name, namespace in (("inside", f"{NAMESPACE}/data/x"), ("around", "s3://bucket")):
        repositories.create(engine, name=name, storage_namespace=namespace, read_only=True)
    found = neighbours(read_repository(engine, REPO))
    assert found.foreign == (f"{NAMESPACE}/data/x",)
    assert [each.record.name for each in found.sharers] == [REPO]


def test_a_repository_created_again_is_another_one(world: MemoryWorld) -> None:
    engine = world.engine()
    old = read_repository(engine, REPO)
    repositories.delete(engine, REPO)
    repositories.create(engine, name=REPO, storage_namespace="s3://bucket/other")
    with pytest.raises(NotFoundError):
        neighbours(old)


def test_recorded_uploads_count_open_or_completed(world: MemoryWorld) -> None:
    engine = world.engine()
    made = [
        recorded_uploads.create(engine, REPO, "main", path, metadata={})
        for path in (b"open", b"completed", b"completed and deleted", b"aborted")
    ]
    for completed in made[1:3]:
        complete(engine, completed)
    writes.delete(engine, REPO, "main", b"completed and deleted")
    recorded_uploads.abort(engine, REPO, "main", b"aborted", made[3].id)
    found = upload_addresses([read_repository(engine, REPO)])
    assert set(found) == {each.address for each in made[:3]}


def complete(engine: Engine, begun: Upload) -> None:
    uri = f"{NAMESPACE}/{begun.address}"
    part = UploadedPart(1, engine.objects.upload_part(uri, begun.store_id, 1, b"content"))
    recorded_uploads.complete(engine, REPO, begun.branch, begun.path, begun.id, [part])
