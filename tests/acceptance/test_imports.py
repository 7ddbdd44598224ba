"""Imports with the official clients: the wrapper's manager, and what users then read."""

from uuid import uuid4

import lakefs
import pytest
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    ImportManagerException,
    NotFoundException,
)

from graveler.aws.s3.client import S3
from graveler.aws.s3.objects import S3ObjectStore
from tests.support.servers.stack import BUCKET, Stack
from tests.support.worlds.server_world import Keys, s3_client

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def source(stack: Stack) -> str:
    """A folder of a bucket outside of all repositories, with more objects than a page has."""
    keys = Keys(stack.access_key_id, stack.secret_access_key)
    client = s3_client(stack.s3_endpoint, keys)
    bucket = f"raw-{uuid4().hex[:12]}"
    client.create_bucket(Bucket=bucket)
    store = S3ObjectStore(S3(client))
    for key in ("one", "folder/é b", *(f"many/{number:04}" for number in range(1100))):
        store.put(f"s3://{bucket}/{key}", key.encode(), "text/plain")
    return f"s3://{bucket}/"


def paths(branch: lakefs.Branch, prefix: str = "") -> list[str]:
    return [found.path for found in branch.objects(prefix=prefix)]


def test_the_import_manager_imports_prefixes_and_objects(main, source):
    main.object("many/old").upload("old")
    main.object("many-others").upload("other")
    main.commit("before")
    manager = main.import_data(commit_message="imported", metadata={"k": "v"})
    manager.prefix(f"{source}many/", "many/").prefix(f"{source}folder", "to")
    manager.object(f"{source}one", "single")
    result = manager.run()
    assert (result.completed, result.error, result.ingested_objects) == (True, None, 1102)
    assert result.commit.id == main.get_commit().id
    assert result.commit.message == "imported"
    assert result.commit.metadata == {"k": "v", ".lakefs.merge.strategy": "source-wins"}
    assert len(paths(main, "many/")) == 1100
    assert "many/old" not in paths(main)
    assert {"many-others", "single", "to/folder/é b"} < set(paths(main))
    stored = main.object("to/folder/é b")
    assert stored.reader("r").read() == "folder/é b"
    assert stored.stat().physical_address == f"{source}folder/é b"
    with pytest.raises(ConflictException):
        manager.cancel()


def test_an_import_without_sources_is_a_commit(main):
    result = main.import_data(commit_message="nothing").run()
    assert (result.completed, result.ingested_objects) == (True, 0)
    assert main.get_commit().message == "nothing"


def test_an_import_that_fails_raises_its_reason(main, source):
    before = main.get_commit().id
    missing = main.import_data().object(f"{source}missing", "x")
    with pytest.raises(ImportManagerException, match="missing does not exist"):
        missing.run()
    with pytest.raises(BadRequestException, match="invalid import source"):
        main.import_data().prefix(f"s3://{BUCKET}/", "x").run()
    with pytest.raises(NotFoundException):
        lakefs.repository(main.repo_id, client=main._client).branch("none").import_data().run()
    assert main.get_commit().id == before
