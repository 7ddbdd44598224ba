"""Symlink manifests list the addresses of what is directly in each folder."""

import pytest

from graveler.errors import InvalidInputError, NotFoundError
from graveler.operations import links, objects, repositories, symlinks
from tests.support.worlds.lake import NAMESPACE, REPO, commit, upload

PLACE = f"{NAMESPACE}/symlinks"


def manifests(engine, ref: str = "main") -> dict[str, list[str]]:
    place = f"{PLACE}/{REPO}/{ref}/"
    return {
        found.uri.removeprefix(place): engine.objects.get(found.uri).decode().split("\n")
        for found in engine.objects.list_objects(place)
    }


def address(engine, path: bytes, ref: str = "main") -> str:
    return objects.stat(engine, REPO, ref, path).physical_address


def addresses(engine, *paths: bytes) -> list[str]:
    return [address(engine, path) for path in paths]


def test_each_folder_has_a_manifest_of_all_its_objects(engine):
    for path in (b"a", b"d/a", b"d/deeper/still/x", b"d/z", b"d-z", b"z"):
        upload(engine, path, b"1")
    commit(engine)
    upload(engine, b"d/staged", b"2")
    assert symlinks.write(engine, REPO, "main", b"") == PLACE
    assert manifests(engine) == {
        "symlink.txt": addresses(engine, b"a", b"d-z", b"z"),
        "d/symlink.txt": addresses(engine, b"d/a", b"d/staged", b"d/z"),
        "d/deeper/still/symlink.txt": addresses(engine, b"d/deeper/still/x"),
    }


def test_only_objects_under_the_location_are_listed(engine):
    for path in (b"a", b"table/p=1/x", b"table/p=2/y", b"tables"):
        upload(engine, path, b"1")
    symlinks.write(engine, REPO, "main", b"table/")
    assert list(manifests(engine)) == ["table/p=1/symlink.txt", "table/p=2/symlink.txt"]


def test_a_commit_has_manifests_of_its_own(engine):
    upload(engine, b"t/x", b"1")
    ref = commit(engine).id
    upload(engine, b"t/x", b"2")
    symlinks.write(engine, REPO, ref, b"")
    assert manifests(engine, ref) == {"t/symlink.txt": [address(engine, b"t/x", ref)]}


def test_manifests_replace_earlier_ones(engine):
    upload(engine, b"t/x", b"1")
    symlinks.write(engine, REPO, "main", b"")
    upload(engine, b"t/x", b"2")
    symlinks.write(engine, REPO, "main", b"")
    assert manifests(engine) == {"t/symlink.txt": addresses(engine, b"t/x")}


def test_an_empty_prefix_has_no_manifest(engine):
    assert symlinks.write(engine, REPO, "main", b"nothing/") == PLACE
    assert manifests(engine) == {}


@pytest.mark.parametrize("path", [b"a/../b", b"x" * 1000 + b"/y"])
def test_a_folder_that_cannot_hold_a_manifest_is_refused(engine, path):
    upload(engine, path, b"1")
    with pytest.raises(InvalidInputError, match="cannot hold a manifest"):
        symlinks.write(engine, REPO, "main", b"")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_an_address_cannot_add_another_line(engine, end):
    data = links.StoredData(f"s3://elsewhere/x{end}s3://secret/y", "any", 1)
    links.stage(engine, REPO, "main", b"a", data)
    with pytest.raises(InvalidInputError, match="has several lines"):
        symlinks.write(engine, REPO, "main", b"")
    assert manifests(engine) == {}


@pytest.mark.parametrize("ref", ["nobody", "f" * 64])
def test_an_unknown_ref_or_repository_is_not_found(engine, ref):
    with pytest.raises(NotFoundError):
        symlinks.write(engine, REPO, ref, b"")
    repositories.delete(engine, REPO)
    with pytest.raises(NotFoundError):
        symlinks.write(engine, REPO, "main", b"")
