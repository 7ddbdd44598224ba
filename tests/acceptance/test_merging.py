"""Merges with the official `lakefs` package: strategies, conflicts, and what they leave alone."""

import lakefs
import pytest
from lakefs.exceptions import BadRequestException, ConflictException

pytestmark = pytest.mark.server


def write(branch: lakefs.Branch, **files: str | None) -> lakefs.Reference:
    """A commit that writes these files, or deletes those that are None."""
    for path, text in files.items():
        if text is None:
            branch.object(path).delete()
        else:
            branch.object(path).upload(text)
    return branch.commit(f"{branch.id}: {', '.join(files)}")


def files_of(reference: lakefs.Reference) -> dict[str, str]:
    paths = [found.path for found in reference.objects()]
    return {path: str(reference.object(path).reader("r").read()) for path in paths}


@pytest.fixture
def dev(repository: lakefs.Repository, main: lakefs.Branch) -> lakefs.Branch:
    """A branch that disagrees with main in `both`, `gone` and `kept`, and in nothing else."""
    write(main, both="0", gone="0", kept="0", same="0", untouched="0")
    branch = repository.branch("dev").create(main)
    write(branch, both="dev", gone=None, kept="dev", same="equal", only_dev="dev")
    write(main, both="main", gone="main", kept=None, same="equal", only_main="main")
    return branch


EITHER_WAY = {"same": "equal", "untouched": "0", "only_dev": "dev", "only_main": "main"}


def test_a_conflict_is_reported_and_changes_nothing(main, dev):
    before, head = files_of(main), main.head.id
    with pytest.raises(ConflictException):
        dev.merge_into(main)
    assert (files_of(main), main.head.id) == (before, head)
    conflicts = [change.path for change in main.diff(dev) if change.type == "conflict"]
    assert conflicts == ["both", "gone", "kept"]


@pytest.mark.parametrize(
    ("strategy", "settled"),
    [
        ("source-wins", {"both": "dev", "kept": "dev"}),
        ("dest-wins", {"both": "main", "gone": "main"}),
    ],
)
def test_a_strategy_settles_conflicts_and_takes_the_rest_from_both(main, dev, strategy, settled):
    merged = dev.merge_into(main, strategy=strategy, message="settled", metadata={"by": "me"})
    assert files_of(main) == EITHER_WAY | settled
    made = main.get_commit()
    assert (made.id, made.message, made.metadata["by"]) == (merged, "settled", "me")
    assert made.parents[1] == dev.head.id
    assert list(main.diff(dev)) == []


def test_a_squashed_merge_has_one_parent(repository, main):
    write(main, a="1")
    dev = repository.branch("dev").create(main)
    write(dev, b="2")
    write(dev, c="3")
    dev.merge_into(main, squash_merge=True, message="b and c")
    assert [commit.message for commit in main.log(max_amount=2)] == ["b and c", "main: a"]
    assert files_of(main) == {"a": "1", "b": "2", "c": "3"}


def test_merging_what_is_merged_is_refused_unless_it_is_asked_for(repository, main):
    dev = repository.branch("dev").create(main)
    write(dev, a="1")
    dev.merge_into(main)
    head = main.head.id
    with pytest.raises(BadRequestException, match="no changes"):
        dev.merge_into(main)
    assert main.head.id == head
    dev.merge_into(main, allow_empty=True)
    assert main.get_commit().parents == [head, dev.head.id]


def test_a_branch_with_uncommitted_changes_takes_no_merge(repository, main):
    dev = repository.branch("dev").create(main)
    write(dev, a="1")
    main.object("b").upload("uncommitted")
    with pytest.raises(BadRequestException, match="uncommitted changes"):
        dev.merge_into(main)
    assert files_of(main) == {"b": "uncommitted"}


def test_branches_merged_back_and_forth_stay_in_step(repository, main):
    dev = repository.branch("dev").create(main)
    for number in range(4):
        write(dev, **{f"dev{number}": "x", "shared": f"dev {number}"})
        dev.merge_into(main)
        write(main, **{f"main{number}": "x", "shared": f"main {number}"})
        main.merge_into(dev)
        assert files_of(main) == files_of(dev)
        assert list(main.diff(dev, type="two_dot")) == []


def test_a_tag_or_a_commit_merges_as_a_branch_does(repository, main):
    dev = repository.branch("dev").create(main)
    first = write(dev, a="1")
    write(dev, b="2")
    repository.tag("v2").create(dev)
    write(dev, c="3")
    first.merge_into(main)
    assert files_of(main) == {"a": "1"}
    repository.tag("v2").merge_into(main)
    assert files_of(main) == {"a": "1", "b": "2"}
    repository.ref("dev~0").merge_into(main)
    assert files_of(main) == {"a": "1", "b": "2", "c": "3"}
