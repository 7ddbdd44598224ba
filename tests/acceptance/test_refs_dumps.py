"""A repository that was deleted comes back, through the SDK that lakeFS generates."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import lakefs
import pytest
from lakefs_sdk import RefsDump, RefsRestore, RepositoryCreation
from lakefs_sdk.exceptions import BadRequestException

pytestmark = pytest.mark.server

WAIT_S_MAX = 300


def done(status: Callable[[], Any]) -> Any:
    """What is told of a task once it is done; no other error than that it takes too long."""
    end_s = monotonic() + WAIT_S_MAX
    while not (told := status()).done:
        assert monotonic() < end_s, told
        sleep(0.2)
    assert told.error is None, told
    return told


def dump(client: lakefs.Client, repository: str) -> RefsDump:
    api = client.sdk_client.repositories_api
    task_id = api.dump_submit(repository).id
    return done(lambda: api.dump_status(repository, task_id=task_id)).refs


def create_bare(client: lakefs.Client, name: str, namespace: str) -> None:
    body = RepositoryCreation(name=name, storage_namespace=namespace)
    client.sdk_client.repositories_api.create_repository(body, bare=True)


def test_a_deleted_repository_is_restored_from_its_dump(
    client: lakefs.Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    main.object("a/b").upload(b"content")
    main.commit("first")
    dev = repository.branch("dev").create("main")
    dev.object("c").upload(b"more")
    dev.commit("second")
    repository.tag("v1").create("dev")
    namespace = repository.properties.storage_namespace
    before = [commit.id for commit in dev.log()]
    dumped = dump(client, repository.id)

    repository.delete()
    create_bare(client, repository.id, namespace)
    assert list(repository.branches()) == []
    api = client.sdk_client.repositories_api
    restore = RefsRestore(**dumped.to_dict())
    task_id = api.restore_submit(repository.id, restore).id
    done(lambda: api.restore_status(repository.id, task_id=task_id))

    assert [commit.id for commit in dev.log()] == before
    assert [branch.id for branch in repository.branches()] == ["dev", "main"]
    with repository.tag("v1").object("c").reader() as reader:
        assert reader.read() == b"more"
    assert [change.path for change in main.diff(dev)] == ["c"]
    main.object("later").upload(b"later")
    main.commit("third")
    dev.merge_into(main)
    assert [found.path for found in main.objects()] == ["a/b", "c", "later"]


def test_a_dump_is_restored_beside_the_repository_it_was_made_of(
    client: lakefs.Client, repository: lakefs.Repository, main: lakefs.Branch
) -> None:
    main.object("a").upload(b"a")
    main.commit("first")
    api = client.sdk_client.internal_api
    dumped = api.dump_refs(repository.id)
    beside = f"{repository.id}-again"
    create_bare(client, beside, repository.properties.storage_namespace)
    restore = RefsRestore(**dumped.to_dict())
    api.restore_refs(beside, restore)
    again = lakefs.Repository(beside, client)
    assert again.branch("main").get_commit().id == main.get_commit().id
    assert api.dump_refs(beside) == dumped
    with pytest.raises(BadRequestException, match="can only restore into a bare repository"):
        api.restore_refs(beside, restore)
