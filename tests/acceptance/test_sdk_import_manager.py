"""`lakefs.ImportManager`."""

from datetime import timedelta
from uuid import uuid4

import pytest
from lakefs.exceptions import ConflictException, ImportManagerException

from tests.support.servers.stack import Stack
from tests.support.worlds.server_world import Keys, s3_client

pytestmark = pytest.mark.server

SHORT = timedelta(milliseconds=200)


@pytest.fixture
def source(stack: Stack) -> str:
    """A folder with objects outside of all repositories."""
    client = s3_client(stack.s3_endpoint, Keys(stack.access_key_id, stack.secret_access_key))
    bucket = f"raw-{uuid4().hex[:12]}"
    client.create_bucket(Bucket=bucket)
    for key in ("data1/1", "data1/sub/2", "data2/file", "data2/other"):
        client.put_object(Bucket=bucket, Key=key, Body=key.encode())
    return f"s3://{bucket}"


def test_sources_are_imported_as_the_documentation_shows(main, source):
    manager = main.import_data(commit_message="my imported data", metadata={"foo": "bar"})
    manager.prefix(object_store_uri=f"{source}/data1/", destination="import-prefix/").object(
        object_store_uri=f"{source}/data2/file", destination="import-prefix/imported_file"
    )
    status = manager.run(poll_interval=SHORT)
    assert (status.completed, status.ingested_objects, status.error) == (True, 3, None)
    assert status.commit.id == main.get_commit().id
    assert (status.commit.message, status.commit.metadata["foo"]) == ("my imported data", "bar")
    assert [found.path for found in main.objects()] == [
        *("import-prefix/1", "import-prefix/imported_file", "import-prefix/sub/2"),
    ]
    assert main.object("import-prefix/1").reader("r").read() == "data1/1"


def test_an_import_is_started_and_waited_for(main, source):
    manager = main.import_data().prefix(f"{source}/data1/", "in/")
    assert manager.import_id is None
    import_id = manager.start()
    assert manager.import_id == import_id != ""
    assert manager.status().error is None
    status = manager.wait(poll_interval=SHORT)
    assert status.completed
    assert manager.status().metarange_id == main.get_commit().meta_range_id
    with pytest.raises(ImportManagerException, match="only be used once"):
        manager.start()
    with pytest.raises(ImportManagerException, match="Cannot add"):
        manager.object(f"{source}/data2/file", "x")
    with pytest.raises(ConflictException):
        manager.cancel()


def test_a_cancelled_import_changes_nothing(main, source):
    manager = main.import_data().prefix(f"{source}/data1/", "in/")
    manager.start()
    try:
        manager.cancel()
    except ConflictException:  # the import was faster
        assert manager.status().completed
    else:
        with pytest.raises(ImportManagerException, match="Canceled"):
            manager.wait(poll_interval=SHORT)
        assert list(main.objects()) == []


def test_a_source_that_does_not_exist_fails_the_import(main, source):
    manager = main.import_data().object(f"{source}/nothing", "x")
    with pytest.raises(ImportManagerException, match="Import Error"):
        manager.run(poll_interval=SHORT)
    assert manager.status().error is not None
    assert main.get_commit().message == "Repository created"


def test_without_a_started_import_there_is_nothing_to_wait_for(main):
    manager = main.import_data()
    for method in (manager.wait, manager.cancel, manager.status):
        with pytest.raises(ImportManagerException, match="No import in progress"):
            method()
