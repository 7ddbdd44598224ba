"""Objects: writing, linking, deleting, copying, reading, comparing."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from graveler.branches import heads, lookup
from graveler.data_headers import DataHeaders
from graveler.entries import entry_value
from graveler.errors import (
    ContentionError,
    ForbiddenError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    ObjectMissingError,
    PreconditionFailedError,
    ThrottledError,
)
from graveler.http import object_headers
from graveler.limits import (
    BESIDE_CHECKS_BYTES_MAX,
    DELETE_OBJECTS_MAX,
    USER_METADATA_BYTES_MAX,
    WRITE_LIFE_S,
)
from graveler.model import NO_REQUIREMENT, AddressType, ProtectionRule, Requirement
from graveler.model.tasks import TaskSettings
from graveler.operations import (
    branches,
    diffs,
    links,
    objects,
    presigned_uploads,
    repositories,
    two_step_writes,
    writes,
)
from graveler.ports import UploadedPart
from graveler.staging.listing import PageQuery
from graveler.times import NS_PER_S
from tests.support.fakes.memory_objects import FixedClock
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Meanwhile
from tests.support.worlds.lake import NAMESPACE, REPO, commit, content, paths, upload


def put(engine, path, text=b"data", *, content_type="text/plain", **options):
    return writes.upload(
        engine,
        REPO,
        options.pop("branch", "main"),
        path,
        read_content=lambda: (text, content_type),
        metadata=options.pop("metadata", {}),
        **options,
    )


ABSENT = Requirement(is_absent=True)
DESCRIPTION = links.StoredData("s3://elsewhere/key", '"abc"', 3, {"k": "v"})


def stage(engine, path=b"p", *, options=None, **fields):
    described = structs.replace(DESCRIPTION, **fields)
    return links.stage(engine, REPO, "main", path, described, **(options or {}))


def copied(engine, path, source, /, **options):
    return writes.copy(engine, REPO, "main", path, source_ref=None, source_path=source, **options)


def test_an_upload_without_a_type_has_the_default_content_type(engine):
    assert put(engine, b"p", content_type="").entry.content_type == "application/octet-stream"


@pytest.mark.parametrize("path", [b"", b"x" * 1025])
def test_a_path_has_1_to_1024_bytes(engine, path):
    for change in (
        lambda: put(engine, path),
        lambda: stage(engine, path),
        lambda: writes.delete(engine, REPO, "main", path),
        lambda: objects.stat(engine, REPO, "main", path),
    ):
        with pytest.raises(InvalidInputError, match="1024"):
            change()
    put(engine, b"x" * 1024)


@pytest.fixture
def remembered(engine, monkeypatch):
    """The engine, which remembers the repository."""
    put(engine, b"there")
    monkeypatch.setattr(lookup, "REPOSITORY_AGE_MAX_S", 1_000_000)
    return engine


REFUSED = pytest.mark.parametrize(
    ("branch", "path", "error"),
    [
        ("none", b"p", NotFoundError),
        ("main", b"", InvalidInputError),
        ("main", b"there", PreconditionFailedError),
    ],
)


@REFUSED
def test_the_large_content_of_a_refused_write_is_not_read(remembered, branch, path, error):
    def never():
        pytest.fail("the body was read")

    with pytest.raises(error):
        writes.upload(
            remembered,
            REPO,
            branch,
            path,
            read_content=never,
            body_bytes=BESIDE_CHECKS_BYTES_MAX + 1,
            metadata={},
            requirement=ABSENT,
        )


@REFUSED
def test_the_small_content_of_a_refused_write_is_garbage(world, remembered, branch, path, error):
    before = world.objects.uris()
    with pytest.raises(error):
        put(remembered, path, branch=branch, requirement=ABSENT)
    assert len(world.objects.uris()) == len(before) + 1
    assert paths(remembered, "main") == [b"there"]


def test_steady_uploads_store_small_content_beside_their_checks(world, engine):
    world.clock.step_ns = 0
    for number in range(4):
        put(engine, b"%d" % number)
        world.clock.tick(3)
    before = world.objects.uris()
    with pytest.raises(PreconditionFailedError):
        put(engine, b"1", requirement=ABSENT)
    assert len(world.objects.uris()) == len(before) + 1


def test_a_refused_write_stores_nothing_in_the_namespace_of_a_read_only_repository(world, engine):
    """The namespace may be that of another installation."""
    repositories.create(engine, name="mirror", storage_namespace="s3://theirs", read_only=True)
    repositories.get(engine, "mirror")  # this process knows it
    before = world.objects.uris()
    with pytest.raises(ForbiddenError, match="read-only"):
        writes.upload(engine, "mirror", "main", b"p", read_content=lambda: (b"1", ""), metadata={})
    assert world.objects.uris() == before


def test_a_refusal_comes_before_an_error_of_the_content(remembered):
    def broken():
        raise InvalidInputError("no part has the content")

    with pytest.raises(NotFoundError):
        writes.upload(remembered, REPO, "none", b"p", read_content=broken, metadata={})
    with pytest.raises(InvalidInputError, match="no part"):
        writes.upload(remembered, REPO, "main", b"p", read_content=broken, metadata={})


def test_content_goes_to_the_namespace_that_the_repository_has_by_now(world, remembered):
    other = world.engine()
    repositories.delete(other, REPO)
    repositories.create(other, name=REPO, storage_namespace="s3://bucket/elsewhere")
    assert put(remembered, b"p", b"new").physical_address.startswith("s3://bucket/elsewhere/data/")
    assert content(remembered, "main", b"p") == b"new"


def test_too_large_metadata_are_refused(engine):
    put(engine, b"p", metadata={"k": "v" * (USER_METADATA_BYTES_MAX - 1)})
    too_large = {"k": "é" * (USER_METADATA_BYTES_MAX // 2)}
    for change in (
        lambda: put(engine, b"p", metadata=too_large),
        lambda: stage(engine, metadata=too_large),
        lambda: writes.set_user_metadata(engine, REPO, "main", b"p", too_large),
    ):
        with pytest.raises(InvalidInputError, match="too large"):
            change()


def test_a_conditional_creation_succeeds_once(engine):
    put(engine, b"p", b"1", requirement=ABSENT)
    with pytest.raises(PreconditionFailedError):
        put(engine, b"p", b"2", requirement=ABSENT)
    commit(engine)
    with pytest.raises(PreconditionFailedError):
        put(engine, b"p", b"2", requirement=ABSENT)
    writes.delete(engine, REPO, "main", b"p")
    put(engine, b"p", b"3", requirement=ABSENT)
    assert content(engine, "main", b"p") == b"3"


def test_a_creation_beside_commits_does_not_conflict_with_itself(world):
    for number in range(1, 12):
        path = b"p%d" % number
        rival = Meanwhile(number, lambda: commit(world.engine(), allow_empty=True))
        put(engine_around(world.engine(), rival), path, requirement=ABSENT)
        assert content(world.engine(), "main", path) == b"data"


def test_of_two_concurrent_creations_one_succeeds(world):
    for number in range(1, 12):
        path, told = b"p%d" % number, []

        def create(engine, text, path=path, told=told):
            try:
                put(engine, path, text, requirement=ABSENT)
            except (PreconditionFailedError, ContentionError):
                return
            told.append(text)

        def rival(create=create):
            create(world.engine(), b"rival")
            commit(world.engine(), allow_empty=True)

        create(engine_around(world.engine(), Meanwhile(number, rival)), b"first")
        assert len(told) == 1
        assert content(world.engine(), "main", path) == told[0]


def test_setting_metadata_keeps_concurrent_writes(world):
    put(world.engine(), b"p", b"old")
    for number in range(1, 8):
        text = b"new %d" % number
        rival = Meanwhile(number, partial(put, world.engine(), b"p", text))
        engine = engine_around(world.engine(), rival)
        writes.set_user_metadata(engine, REPO, "main", b"p", {"n": str(number)})
        assert content(world.engine(), "main", b"p") == text or not rival.has_happened


def of_tag(*checksums):
    return Requirement(checksums=frozenset(checksums))


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_write_may_require_the_object_that_the_caller_read(engine, is_committed):
    for write in (
        lambda requirement: put(engine, b"p", b"new", requirement=requirement),
        lambda requirement: stage(engine, options={"requirement": requirement}),
        lambda requirement: copied(engine, b"p", b"source", requirement=requirement),
        lambda requirement: writes.set_user_metadata(
            engine, REPO, "main", b"p", {"k": "v"}, requirement=requirement
        ),
        lambda requirement: writes.delete(engine, REPO, "main", b"p", requirement=requirement),
    ):
        put(engine, b"source", b"source")
        read = put(engine, b"p", b"old").entry
        if is_committed:
            commit(engine)
        for wrong in (of_tag("another"), ABSENT):
            with pytest.raises(PreconditionFailedError):
                write(wrong)
            assert objects.stat(engine, REPO, "main", b"p").entry == read
        write(of_tag("another", read.checksum))
        assert seen(engine) != read


def seen(engine):
    page = objects.list_objects(engine, REPO, "main", PageQuery(10, prefix=b"p"))
    return page.results[0].entry if page.results else None


@pytest.mark.parametrize("requirement", [Requirement(is_present=True), of_tag("abc")], ids=repr)
def test_a_write_that_requires_an_object_creates_none(engine, requirement):
    put(engine, b"source")
    for write in (
        lambda: put(engine, b"p", requirement=requirement),
        lambda: stage(engine, options={"requirement": requirement}),
        lambda: copied(engine, b"p", b"source", requirement=requirement),
        lambda: writes.set_user_metadata(engine, REPO, "main", b"p", {}, requirement=requirement),
        lambda: writes.delete(engine, REPO, "main", b"p", requirement=requirement),
    ):
        with pytest.raises(ObjectMissingError, match="no object at 'p'"):
            write()
    assert paths(engine, "main") == [b"source"]


def test_any_object_meets_the_requirement_of_presence(engine):
    put(engine, b"p", b"old")
    put(engine, b"p", b"new", requirement=Requirement(is_present=True))
    assert content(engine, "main", b"p") == b"new"


def test_an_object_whose_checksum_no_header_can_carry_is_required_by_its_entity_tag(engine):
    _, branch = lookup.current_branch(engine, REPO, "main")
    odd = structs.replace(put(engine, b"p").entry, checksum='odd "checksum"')
    engine.staging.stage(branch.staging_token, [(b"p", entry_value(odd))])
    tag = object_headers.etag_of(odd).strip('"')
    put(engine, b"p", b"new", requirement=of_tag(tag))
    assert content(engine, "main", b"p") == b"new"


def test_a_conditional_delete_keeps_what_another_wrote_meanwhile(world):
    for number in range(1, 9):
        path = b"p%d" % number
        read = put(world.engine(), path, b"old").entry

        def replaced(path=path):
            put(world.engine(), path, b"new")

        rival = Meanwhile(number, replaced)
        engine = engine_around(world.engine(), rival)
        try:
            writes.delete(engine, REPO, "main", path, requirement=of_tag(read.checksum))
            is_deleted = True
        except PreconditionFailedError:
            is_deleted = False
        if rival.has_happened:
            assert content(world.engine(), "main", path) == b"new"
        assert is_deleted or rival.has_happened


def test_a_prepared_address_becomes_the_object_when_its_data_are_stored(world, engine):
    made_room = two_step_writes.prepare(engine, REPO, "main", b"p", metadata={}, requirement=ABSENT)
    assert made_room.uri.startswith(f"{NAMESPACE}/data/")
    info = world.objects.put(made_room.uri, b"streamed", "t")

    def finish():
        return two_step_writes.finish(
            made_room,
            size_bytes=8,
            checksum=info.checksum,
            content_type="t",
            metadata={"k": "v"},
            requirement=ABSENT,
        )

    made = finish()
    assert objects.stat(engine, REPO, "main", b"p") == made
    assert content(engine, "main", b"p") == b"streamed"
    with pytest.raises(PreconditionFailedError):
        finish()


def _protect(world):
    repositories.set_protection_rules(world.engine(), REPO, [ProtectionRule("main")])


def _delete_branch(world):
    branches.delete(world.engine(), REPO, "side")


def _replace_branch(world):
    _delete_branch(world)
    branches.create(world.engine(), REPO, name="side", source="main")


def _replace_repository(world):
    repositories.delete(world.engine(), REPO)
    repositories.create(world.engine(), name=REPO, storage_namespace="s3://bucket/another")
    branches.create(world.engine(), REPO, name="side", source="main")


@pytest.mark.parametrize(
    ("branch", "change", "refused"),
    [
        ("main", _protect, ForbiddenError),
        ("side", _delete_branch, NotFoundError),
        ("side", _replace_branch, NotFoundError),
        ("side", _replace_repository, NotFoundError),
    ],
)
def test_a_write_that_took_long_is_refused_by_what_changed_meanwhile(
    world, engine, branch, change, refused
):
    branches.create(engine, REPO, name="side", source="main")
    begun = two_step_writes.prepare(engine, REPO, branch, b"p", metadata={})
    change(world)
    world.clock.tick(10)
    with pytest.raises(refused):
        _finish(begun)


def test_a_write_that_took_long_is_staged_on_the_branch_as_it_is_by_then(world, engine):
    begun = two_step_writes.prepare(engine, REPO, "main", b"p", metadata={})
    put(engine, b"other")
    commit(engine)
    world.clock.tick(10)
    made = _finish(begun)
    assert objects.stat(engine, REPO, "main", b"p") == made


def test_a_write_that_took_as_long_as_a_collection_waits_is_refused(world, engine):
    begun = two_step_writes.prepare(engine, REPO, "main", b"p", metadata={})
    world.clock.tick(WRITE_LIFE_S + 1)
    with pytest.raises(ThrottledError):
        _finish(begun)


def _finish(begun):
    return two_step_writes.finish(
        begun,
        size_bytes=1,
        checksum="c",
        content_type="t",
        metadata={},
        requirement=NO_REQUIREMENT,
    )


def test_a_copy_that_requires_a_free_path_overwrites_nothing(world, engine):
    """Another client writes while the store copies the data."""
    put(engine, b"source", b"copied")

    def around(name, call):
        if name == "objects.copy":
            put(world.engine(), b"p", b"other")
        return call()

    late = engine_around(world.engine(), around)
    with pytest.raises(PreconditionFailedError):
        copied(late, b"p", b"source", requirement=ABSENT)
    assert content(engine, "main", b"p") == b"other"


# Staging and linking


def test_staged_data_are_recorded_as_described(engine):
    stat = stage(engine, mtime_s=1_234)
    assert stat.physical_address == "s3://elsewhere/key"
    entry = objects.stat(engine, REPO, "main", b"p").entry
    assert entry == stat.entry
    assert (entry.checksum, entry.size_bytes, entry.metadata) == ("abc", 3, {"k": "v"})
    assert (entry.address_type, entry.last_modified_ns) == (AddressType.FULL, 1_234 * 10**9)


def test_data_in_the_namespace_are_staged_relative_to_it(engine):
    entry = stage(engine, physical_address=f"{NAMESPACE}/data/x").entry
    assert (entry.address, entry.address_type) == ("data/x", AddressType.RELATIVE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"checksum": ""},
        {"size_bytes": -1},
        {"physical_address": "data/x"},
        {"physical_address": "gs://bucket/x"},
        {"physical_address": "s3://bucket"},
        {"physical_address": "s3:///x"},
    ],
)
def test_an_invalid_description_is_refused(engine, wrong):
    with pytest.raises(InvalidInputError):
        stage(engine, **wrong)
    assert paths(engine, "main") == []


def link(engine, address, path=b"p", *, branch="main", **options):
    description = structs.replace(DESCRIPTION, physical_address=address)
    return links.link(engine, REPO, branch, path, description, **options)


def test_data_at_an_issued_address_are_linked(world, engine):
    address = links.get_physical_address(engine, REPO, "main", b"p")
    world.objects.put(address, b"abc", "text/plain")
    assert link(engine, address).physical_address == address
    assert content(engine, "main", b"p") == b"abc"


def test_data_linked_without_a_signature_are_still_read(world, engine):
    """Earlier versions linked such addresses; copies and uploads have them today."""
    address = links.get_physical_address(engine, REPO, "main", b"p").partition(",")[0]
    world.objects.put(address, b"old", "text/plain")
    stage(engine, physical_address=address)
    commit(engine)
    assert content(engine, "main", b"p") == b"old"


def test_an_address_is_valid_for_its_path_and_branch_and_a_day(world, engine):
    address = links.get_physical_address(engine, REPO, "main", b"p")
    branches.create(engine, REPO, name="dev", source="main")
    for change in (
        lambda: link(engine, address, b"q"),
        lambda: link(engine, address.partition(",")[0]),
        lambda: link(engine, f"{NAMESPACE}/data/forged/{'0' * 20},x"),
        lambda: link(engine, address, branch="dev"),
    ):
        with pytest.raises(InvalidInputError):
            change()
    world.clock.tick(25 * 60 * 60)
    with pytest.raises(InvalidInputError, match="expired"):
        link(engine, address)
    assert paths(engine, "main") == []


def test_a_conditional_link_over_an_object_is_refused(engine):
    address = links.get_physical_address(engine, REPO, "main", b"p")
    link(engine, address, requirement=ABSENT)
    other = links.get_physical_address(engine, REPO, "main", b"p")
    with pytest.raises(PreconditionFailedError):
        link(engine, other, requirement=ABSENT)


def test_a_multipart_upload_becomes_one_object(world, engine):
    upload(engine, b"source", b"0123456789")
    begun = presigned_uploads.create(engine, REPO, "main", b"p", parts=2)
    assert len(begun.presigned_urls) == 2
    where: dict[str, Any] = {"physical_address": begun.physical_address}
    checksums = [world.objects.request_presigned(begun.presigned_urls[0], b"first ").decode()]
    url = presigned_uploads.presign_part(engine, REPO, "main", b"p", begun.upload_id, 2, **where)
    checksums.append(world.objects.request_presigned(url, b"second ").decode())
    checksums.append(
        presigned_uploads.copy_part(
            engine,
            REPO,
            "main",
            b"p",
            begun.upload_id,
            3,
            source_ref="main",
            source_path=b"source",
            byte_range=(2, 4),
            **where,
        ).checksum
    )
    parts = [UploadedPart(number, checksum) for number, checksum in enumerate(checksums, 1)]
    stat = presigned_uploads.complete(
        engine, REPO, "main", b"p", begun.upload_id, parts=parts, metadata={"k": "v"}, **where
    )
    assert content(engine, "main", b"p") == b"first second 234"
    assert (stat.entry.size_bytes, stat.entry.metadata) == (16, {"k": "v"})


def test_an_upload_is_changed_by_its_own_address_only(world, engine):
    begun = presigned_uploads.create(engine, REPO, "main", b"p")
    for path, address in (
        (b"q", begun.physical_address),
        (b"p", begun.physical_address.partition(",")[0]),
        (b"p", "s3://elsewhere/key"),
    ):
        for touch in (
            lambda p, a: presigned_uploads.abort(
                engine, REPO, "main", p, begun.upload_id, physical_address=a
            ),
            lambda p, a: presigned_uploads.presign_part(
                engine, REPO, "main", p, begun.upload_id, 1, physical_address=a
            ),
        ):
            with pytest.raises(InvalidInputError):
                touch(path, address)
    abort = {"physical_address": begun.physical_address}
    presigned_uploads.abort(engine, REPO, "main", b"p", begun.upload_id, **abort)
    with pytest.raises(NotFoundError):
        presigned_uploads.abort(engine, REPO, "main", b"p", begun.upload_id, **abort)


@pytest.mark.parametrize("parts", [-1, 10_001])
def test_an_upload_has_at_most_10000_parts(engine, parts):
    with pytest.raises(InvalidInputError):
        presigned_uploads.create(engine, REPO, "main", b"p", parts=parts)


# Reading with cached tokens


def test_a_cached_token_that_was_sealed_since_gives_right_answers(world, engine):
    for path in (b"committed", b"sealed", b"again"):
        put(engine, path, b"1")
    reader = world.engine()
    assert content(reader, "main", b"again") == b"1"  # remembers the token

    def look(expected):
        for path, text in expected.items():
            fresh = world.engine()
            structs.replace(repository, engine=fresh).remember(old)
            assert objects.stat(fresh, REPO, "main", path).entry.size_bytes == len(text)
            structs.replace(repository, engine=fresh).remember(old)
            page = objects.list_objects(fresh, REPO, "main", PageQuery(10))
            sizes = {item.path: item.entry.size_bytes for item in page.results}
            assert sizes == {each: len(size) for each, size in expected.items()}

    repository, old = lookup.current_branch(engine, REPO, "main")
    heads.seal(repository, old)
    put(engine, b"again", b"22")
    put(engine, b"new", b"333")
    look({b"committed": b"1", b"sealed": b"1", b"again": b"22", b"new": b"333"})
    commit(engine)
    put(engine, b"sealed", b"4444")
    look({b"committed": b"1", b"sealed": b"4444", b"again": b"22", b"new": b"333"})


def test_a_listing_skips_more_staged_objects_than_one_page(world, engine):
    branch = branches.get(engine, REPO, "main")
    value = entry_value(put(engine, b"z", b"1").entry)
    for folder, amount in ((b"a", 1500), (b"b", 300), (b"c", 1500), (b"d", 1)):
        for number in range(amount):
            world.staging.stage(branch.staging_token, [(b"%s/%04d" % (folder, number), value)])
    for reader in (engine, world.engine()):
        page = objects.list_objects(reader, REPO, "main", PageQuery(10, delimiter=b"/"))
        assert [item.path for item in page.results] == [b"a/", b"b/", b"c/", b"d/", b"z"]
        changed = diffs.uncommitted(reader, REPO, "main", PageQuery(10, delimiter=b"/"))
        assert [item.path for item in changed.results] == [b"a/", b"b/", b"c/", b"d/", b"z"]


def test_a_listing_that_takes_long_comes_in_short_pages_that_miss_nothing(world, engine):
    token = branches.get(engine, REPO, "main").staging_token
    value = entry_value(put(engine, b"z", b"1").entry)
    for number in range(300):
        world.staging.stage(token, [(b"deleted/%04d" % number, None)])
    world.staging.stage(token, [(b"f%d/%04d" % divmod(n, 150), value) for n in range(900)])
    hurried = replace(
        engine,
        task_settings=TaskSettings(request_work_s=4),
        clock=FixedClock(step_ns=NS_PER_S),  # whoever looks at it finds that a second has passed
    )
    for delimiter in (b"", b"/"):
        whole = objects.list_objects(engine, REPO, "main", PageQuery(1000, delimiter=delimiter))
        found, after, pages = [], b"", 0
        while after or not pages:
            query = PageQuery(1000, after=after, delimiter=delimiter)
            page = objects.list_objects(hurried, REPO, "main", query)
            assert page.results  # some clients take an empty page for the last one
            found += page.results
            after, pages = page.next_after, pages + 1
        assert found == whole.results
        assert pages > 2


# Deleting and copying


def test_deleting_a_missing_object_stages_nothing(world, engine):
    writes.delete(engine, REPO, "main", b"none")
    token = branches.get(engine, REPO, "main").staging_token
    assert list(world.staging.scan(token, b"", None)) == []


def test_deleting_many_objects_reports_those_that_failed(engine):
    for path in (b"a", b"b", b"c"):
        put(engine, path)
    commit(engine)
    long = b"x" * 1025
    errors = writes.delete_many(engine, REPO, "main", [b"a", b"b", b"a", b"none", b"", long])
    assert [(path, type(error)) for path, error in errors] == [(long, InvalidInputError)]
    assert paths(engine, "main") == [b"c"]
    with pytest.raises(InvalidInputError, match="max paths is set to 1000"):
        writes.delete_many(engine, REPO, "main", [b"a"] * (DELETE_OBJECTS_MAX + 1))


def test_a_copy_is_an_object_of_its_own(world, engine):
    source = put(engine, b"a", b"data", metadata={"k": "v"})
    commit(engine)
    put(engine, b"a", b"staged")
    copies = {
        ref: writes.copy(engine, REPO, "main", b"copy", source_ref=ref, source_path=b"a")
        for ref in ("main@", "main", None)
    }
    assert world.objects.get(copies["main@"].physical_address) == b"data"
    assert world.objects.get(copies[None].physical_address) == b"staged"
    assert len({copy.physical_address for copy in copies.values()}) == 3
    committed = copies["main@"].entry
    assert (committed.metadata, committed.checksum) == ({"k": "v"}, source.entry.checksum)


def test_a_copy_of_lost_data_is_gone(world, engine):
    stat = put(engine, b"a")
    world.objects.delete(stat.physical_address)
    with pytest.raises(GoneError):
        writes.copy(engine, REPO, "main", b"b", source_ref=None, source_path=b"a")
    with pytest.raises(NotFoundError):
        writes.copy(engine, REPO, "main", b"b", source_ref=None, source_path=b"none")
    assert paths(engine, "main") == [b"a"]


def test_a_copy_may_replace_what_describes_the_object(engine):
    put(engine, b"a", content_type="text/plain", metadata={"k": "v"})
    made = copied(engine, b"b", b"a", content_type="text/csv", metadata={"n": "w"}).entry
    assert (made.content_type, made.metadata) == ("text/csv", {"n": "w"})
    made = copied(engine, b"b", b"a", metadata={}, shallow=True).entry
    assert (made.content_type, made.metadata) == ("text/plain", {})
    too_large = {"k": "v" * USER_METADATA_BYTES_MAX}
    with pytest.raises(InvalidInputError, match="too large"):
        copied(engine, b"b", b"a", metadata=too_large)


def test_an_object_copied_onto_itself_has_the_new_metadata(engine):
    put(engine, b"a", b"data", metadata={"k": "v"})
    copied(engine, b"a", b"a", metadata={"k": "w"})
    assert objects.stat(engine, REPO, "main", b"a").entry.metadata == {"k": "w"}
    assert content(engine, "main", b"a") == b"data"


def test_an_object_is_copied_from_another_repository(engine):
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    put(engine, b"a", b"data")
    options: Any = {"source_ref": "main", "source_path": b"a", "source_repository": REPO}
    made = writes.copy(engine, "other", "main", b"b", **options)
    assert made.physical_address.startswith("s3://bucket/other/data/")
    assert engine.objects.get(made.physical_address) == b"data"
    with pytest.raises(InvalidInputError, match="full copy"):
        writes.copy(engine, "other", "main", b"c", **options, shallow=True)


@pytest.mark.parametrize(("wanted", "expected"), [("text/html", "text/html"), (None, "text/csv")])
def test_the_data_of_a_copy_with_other_headers_have_its_content_type(engine, wanted, expected):
    put(engine, b"a", content_type="text/csv")
    headers = DataHeaders(kept={"cache-control": "no-cache"})
    made = copied(engine, b"b", b"a", content_type=wanted, headers=headers)
    info = engine.objects.head(made.physical_address)
    assert (info.content_type, made.entry.content_type) == (expected, expected)


@pytest.mark.parametrize("shallow", [False, True])
def test_a_copy_has_the_data_of_the_source_that_the_caller_read(engine, shallow):
    read = put(engine, b"a", b"read")
    assert copied(engine, b"b", b"a", source=read, shallow=shallow).entry.size_bytes == 4
    put(engine, b"a", b"another")
    try:
        copied(engine, b"b", b"a", source=read, shallow=shallow)
    except ContentionError:
        assert shallow
    assert content(engine, "main", b"b") == b"read"
