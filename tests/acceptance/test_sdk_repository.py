"""`lakefs.Repository`: creating, listing, and what it leads to."""

import lakefs
import pytest
from lakefs.exceptions import ConflictException, NotFoundException

from tests.acceptance.clients import create_repository
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server


def test_a_repository_is_created_with_a_default_branch(client, repository):
    name = f"{repository.id}-trunk"
    made = lakefs.repository(name, client=client).create(
        storage_namespace=f"s3://{BUCKET}/{name}", default_branch="trunk"
    )
    assert made.id == name
    assert made.properties.default_branch == "trunk"
    assert made.properties.storage_id == ""
    assert made.properties.creation_date > 0
    assert made.branch("trunk").get_commit().message == "Repository created"
    assert name in str(made)
    assert name in repr(made)


def test_creating_it_again_is_refused_or_finds_it(client, repository):
    again = lakefs.Repository(repository.id, client)
    with pytest.raises(ConflictException):
        again.create(f"s3://{BUCKET}/elsewhere")
    found = again.create(f"s3://{BUCKET}/elsewhere", exist_ok=True)
    assert found.properties == repository.properties


def test_its_metadata_are_read(client, repository):
    assert repository.metadata == {}
    client.sdk_client.internal_api.set_repository_metadata(
        repository.id, {"metadata": {"owner": "me", "é": "ü"}}
    )
    assert lakefs.Repository(repository.id, client).metadata == {"owner": "me", "é": "ü"}
    client.sdk_client.internal_api.delete_repository_metadata(repository.id, {"keys": ["é"]})
    assert lakefs.Repository(repository.id, client).metadata == {"owner": "me"}


def test_it_leads_to_branches_tags_commits_and_refs(repository, main):
    main.object("a").upload("1")
    made = main.commit("first")
    commit = made.get_commit()
    repository.tag("v1").create(made)
    for reference in (
        repository.branch("main"),
        repository.commit(commit.id),
        repository.ref("main@"),
        repository.ref(commit.id[:10]),
        repository.tag("v1"),
    ):
        assert reference.get_commit().id == commit.id
        assert reference.repo_id == repository.id
    assert [branch.id for branch in repository.branches()] == ["main"]
    assert [tag.id for tag in repository.tags()] == ["v1"]


def test_branches_and_tags_are_listed_by_prefix_after_a_name_and_up_to_an_amount(repository, main):
    for name in ("a1", "a2", "b1"):
        repository.branch(name).create(main)
        repository.tag(f"t{name}").create(main)
    assert [each.id for each in repository.branches(prefix="a")] == ["a1", "a2"]
    assert [each.id for each in repository.branches(after="a2")] == ["b1", "main"]
    assert [each.id for each in repository.branches(max_amount=1)] == ["a1"]
    assert [each.id for each in repository.tags(prefix="ta", max_amount=5)] == ["ta1", "ta2"]
    assert [each.id for each in repository.tags(after="ta1")] == ["ta2", "tb1"]


def test_repositories_are_listed_in_order(client, repository):
    names = sorted({repository.id, create_repository(client).id})
    listed = [found.id for found in lakefs.repositories(client, prefix="acceptance-")]
    assert [name for name in listed if name in names] == names
    after = [found.id for found in lakefs.repositories(client, after=names[0], max_amount=1000)]
    assert names[0] not in after
    assert names[1] in after


def test_a_deleted_repository_is_not_found(client):
    repository = create_repository(client)
    repository.delete()
    gone = lakefs.Repository(repository.id, client)
    with pytest.raises(NotFoundException):
        gone.properties  # noqa: B018 - reads it
    with pytest.raises(NotFoundException):
        gone.metadata  # noqa: B018 - reads it
    with pytest.raises(NotFoundException):
        list(gone.branches())
    with pytest.raises(NotFoundException):
        repository.delete()
