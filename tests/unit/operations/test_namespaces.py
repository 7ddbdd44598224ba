"""A new repository needs a prefix that no other repository has or had."""

from contextlib import suppress
from dataclasses import replace

import pytest

from graveler.branches import complete_listings
from graveler.errors import InvalidInputError, NotFoundError
from graveler.operations import objects, repositories, writes
from graveler.ports import ListedObject
from graveler.retention.candidates import MINIMUM_AGE_S
from tests.support.fakes.engines import memory_world
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Meanwhile
from tests.support.worlds.addresses import address


@pytest.fixture
def world():
    return memory_world()


def create(engine, name="repo", namespace="s3://bucket/repo", **options):
    return repositories.create(engine, name=name, storage_namespace=namespace, **options)


def upload(engine, name):
    """Something at a path, over what was there."""
    return writes.upload(
        engine, name, "main", b"path", read_content=lambda: (b"content", "a/b"), metadata={}
    )


DATA = "s3://bucket/repo/data/"


@pytest.mark.parametrize("key", ["2019/part-0.parquet", "x", address(1).removeprefix("data/")])
def test_a_prefix_that_holds_data_is_refused_and_untouched(world, engine, key):
    world.objects.put(f"{DATA}{key}", b"years of work", "a/b")
    with pytest.raises(InvalidInputError, match=f"{DATA}{key}.*another prefix"):
        create(engine)
    assert world.objects.uris() == [f"{DATA}{key}"]
    with pytest.raises(NotFoundError):
        repositories.get(engine, "repo")


def test_files_outside_data_do_not_refuse_a_prefix(world, engine):
    for key in ("imported", "data2/x", "database"):
        world.objects.put(f"s3://bucket/repo/{key}", b"1", "a/b")
    world.objects.put("s3://bucket/repo2/data/x", b"1", "a/b")
    create(engine)


def test_a_prefix_is_refused_after_its_first_object(world):
    taken = []

    class Endless(MemoryObjectStore):
        def list_objects(self, prefix_uri, start_after_uri=""):  # noqa: ARG002 - the port's
            for number in range(10**9):
                taken.append(number)
                yield ListedObject(f"{prefix_uri}{number}", 1, 0, "0")

    engine = replace(world.engine(), objects=Endless())
    with pytest.raises(InvalidInputError):
        create(engine)
    assert taken == [0]


def test_the_namespace_of_a_deleted_repository_is_refused_unless_to_restore_it(world, engine):
    create(engine)
    upload(engine, "repo")
    repositories.delete(engine, "repo")
    with pytest.raises(InvalidInputError, match="bare repository to restore"):
        create(engine, name="other")
    create(engine, name="restored", bare=True)
    create(engine, name="reader", read_only=True)


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        ("s3://bucket/a", "s3://bucket/a/b"),
        ("s3://bucket/a", "s3://bucket/a/data/x/"),
        ("s3://bucket/a/b", "s3://bucket/a"),
        ("s3://bucket/a", "s3://bucket"),
        ("s3://bucket", "s3://bucket/a"),
    ],
)
def test_a_namespace_inside_another_repositorys_or_around_one_is_refused(
    world, engine, there, wanted
):
    create(engine, name="first", namespace=there)
    before = world.objects.uris()
    with pytest.raises(InvalidInputError, match=r"'first'.*choose a prefix"):
        create(engine, name="second", namespace=wanted)
    assert world.objects.uris() == before
    for number, options in enumerate(({"read_only": True}, {"bare": True})):
        create(engine, name=f"other-{number}", namespace=wanted, **options)


def test_repositories_beside_each_other_may_begin_with_the_same_letters(engine):
    for name in ("aaa", "aaab", "aaa-b"):
        create(engine, name=name, namespace=f"s3://bucket/{name}")


def test_a_read_only_repository_blocks_no_namespace(engine):
    create(engine, "shared", "s3://bucket/shared", read_only=True)
    create(engine, "team", "s3://bucket/shared/team")


def test_repositories_of_all_pages_are_checked(engine, monkeypatch):
    monkeypatch.setattr(complete_listings, "PAGE_AMOUNT_MAX", 2)
    for number in range(5):
        create(engine, name=f"repo-{number}", namespace=f"s3://bucket/{number}")
    with pytest.raises(InvalidInputError, match="'repo-4'"):
        create(engine, name="inside", namespace="s3://bucket/4/x")


@pytest.mark.parametrize("number", range(1, 7))
def test_namespaces_inside_each_other_that_were_made_at_once_lose_nothing(number):
    """Each creation may list repositories before the other one is stored."""
    outer, inner = ("outer", "s3://bucket/x"), ("inner", "s3://bucket/x/data/y")
    for (first, around), (second, inside) in ((outer, inner), (inner, outer)):
        world = memory_world()

        def meanwhile(world=world, second=second, inside=inside):
            with suppress(InvalidInputError):
                create(world.engine(), name=second, namespace=inside)

        with suppress(InvalidInputError):
            hindered = engine_around(world.engine(), Meanwhile(number, meanwhile))
            create(hindered, name=first, namespace=around)
        engine = world.engine()
        made = [name for name, _ in (outer, inner) if engine.refs.repository(name) is not None]
        assert len(made) == 2 or number != 5
        for name in made:
            upload(engine, name)
            upload(engine, name)  # over it, so that the first is garbage
        kept = {objects.stat(engine, name, "main", b"path").physical_address for name in made}
        world.clock.tick(MINIMUM_AGE_S + 1)
        for name in made:
            gone = MemoryCollection(engine, world.files.read_all, name, MINIMUM_AGE_S).run()
            assert len(gone) == 1
        assert set(world.objects.uris("s3://bucket/")) >= kept
