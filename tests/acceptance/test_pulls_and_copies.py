"""Pull requests, shallow copies and moves of prefixes with the generated SDK and plain HTTP."""

import time
from typing import Any

import lakefs
import pytest
import requests
from lakefs_sdk import (
    ObjectCopyCreation,
    PullRequestBasic,
    PullRequestCreation,
)
from lakefs_sdk.exceptions import ApiException, NotFoundException

from tests.acceptance.test_lakefs_sdk import commit, files_of
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server


@pytest.fixture
def pulls(client: lakefs.Client) -> Any:
    return client.sdk_client.pulls_api


def create(pulls: Any, repository: lakefs.Repository, title: str = "title") -> str:
    asked = PullRequestCreation(
        title=title, description="why", source_branch="dev", destination_branch="main"
    )
    made: str = pulls.create_pull_request(repository.id, asked).id
    return made


def test_a_pull_request_goes_from_open_to_merged(pulls, repository, main):
    commit(main, a="1")
    dev = repository.branch("dev").create("main")
    pull_id = create(pulls, repository)
    with pytest.raises(ApiException) as refused:
        pulls.merge_pull_request(repository.id, pull_id)
    assert (refused.value.status, "no changes" in refused.value.body) == (400, True)
    commit(dev, b="2")
    merged = pulls.merge_pull_request(repository.id, pull_id)
    pull = pulls.get_pull_request(repository.id, pull_id)
    assert (pull.status, pull.merged_commit_id) == ("merged", merged.reference)
    assert pull.closed_date >= pull.creation_date
    assert main.get_commit().id == merged.reference
    assert files_of(main) == {"a": "1", "b": "2"}


def test_pull_requests_are_listed_updated_and_closed(pulls, repository, main):
    commit(main, a="1")
    repository.branch("dev").create("main")
    ids = [create(pulls, repository, str(number)) for number in range(3)]
    changes = PullRequestBasic(status="closed", title="closed", description="")
    pulls.update_pull_request(repository.id, ids[0], changes)
    for status, expected in (("open", set(ids[1:])), ("closed", {ids[0]}), ("all", set(ids))):
        page = pulls.list_pull_requests(repository.id, status=status)
        assert {each.id for each in page.results} == expected
    found = pulls.get_pull_request(repository.id, ids[0])
    assert (found.status, found.title, found.description) == ("closed", "closed", "")
    with pytest.raises(NotFoundException):
        pulls.get_pull_request(repository.id, "0" * 20)


def test_a_shallow_copy_shares_the_data(client, repository, main):
    commit(main, a="1")
    objects = client.sdk_client.objects_api
    asked = ObjectCopyCreation(src_path="a", src_ref="main", shallow=True)
    copied = objects.copy_object(repository.id, "main", "b", asked)
    source = objects.stat_object(repository.id, "main", "a")
    assert copied.physical_address == source.physical_address
    main.object("a").upload("2")
    commit(main, c="3")
    assert files_of(main) == {"a": "2", "b": "1", "c": "3"}


def test_a_prefix_moves_with_all_its_objects(stack: Stack, repository, main):
    commit(main, **{f"raw/{number:03}": str(number) for number in range(60)})
    main.object("raw/staged").upload("staged")
    expected = files_of(main)
    api = f"{stack.endpoint}/api/v1/repositories/{repository.id}"
    key = (stack.access_key_id, stack.secret_access_key)
    asked = requests.post(
        f"{api}/branches/main/objects/move_prefix",
        params={"dest_prefix": "clean/2026/"},
        json={"src_prefix": "raw/"},
        auth=key,
        timeout=300,
    )
    assert asked.status_code == 202
    for _ in range(300):
        task = requests.get(f"{api}/tasks/{asked.json()['id']}", auth=key, timeout=300).json()
        if task["state"] not in ("waiting", "running"):
            break
        time.sleep(0.1)
    assert task["result"] == {"copied": "61", "skipped": "0"}
    moved = {path.replace("raw/", "clean/2026/"): text for path, text in expected.items()}
    assert files_of(main) == moved
    main.commit("moved")
    assert files_of(repository.ref("main@")) == moved
