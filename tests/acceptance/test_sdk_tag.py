"""`lakefs.Tag`."""

import pytest
from lakefs.exceptions import BadRequestException, ConflictException, NotFoundException

pytestmark = pytest.mark.server


def test_a_tag_is_created_read_and_deleted(repository, main):
    main.object("a").upload("1")
    commit = main.commit("first")
    tag = repository.tag("v1").create(commit)
    assert (tag.id, tag.repo_id) == ("v1", repository.id)
    assert tag.get_commit().id == commit.id
    assert [found.path for found in tag.objects()] == ["a"]
    assert tag.object("a").reader("r").read() == "1"
    assert [each.message for each in tag.log()] == ["first", "Repository created"]
    tag.delete()
    with pytest.raises(NotFoundException):
        repository.tag("v1").get_commit()
    with pytest.raises(NotFoundException):
        tag.delete()


def test_a_tag_is_created_once_and_of_any_reference(repository, main):
    main.object("a").upload("1")
    main.commit("first")
    by_name = repository.tag("by-name").create("main~1")
    assert by_name.get_commit().message == "Repository created"
    with pytest.raises(ConflictException):
        repository.tag("by-name").create(main)
    again = repository.tag("by-name").create(main, exist_ok=True)
    assert again.get_commit().message == "Repository created"
    with pytest.raises(NotFoundException):
        repository.tag("other").create("nothing")
    with pytest.raises(BadRequestException):
        repository.tag("a b").create(main)


def test_a_tag_may_be_compared_and_merged(repository, main):
    repository.tag("before").create(main)
    main.object("a").upload("1")
    main.commit("first")
    assert [change.path for change in repository.tag("before").diff(main)] == ["a"]
    dev = repository.branch("dev").create("before")
    repository.tag("after").create(main).merge_into(dev)
    assert [found.path for found in dev.objects()] == ["a"]
