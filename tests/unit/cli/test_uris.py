"""lakefs:// URIs on the command line."""

import pytest

from graveler_cli.errors import UsageError
from graveler_cli.uris import BranchUri, ObjectUri, PathUri


@pytest.mark.parametrize("text", ["lakefs://foo@master", "lakefs://foo/master"])
def test_a_branch_is_named_in_the_old_form_and_in_the_new_one(text):
    branch = BranchUri.parse(text)
    assert (branch.repository, branch.branch) == ("foo", "master")
    assert str(branch) == "lakefs://foo/master"


@pytest.mark.parametrize(
    "text",
    [
        *("", "foo@master", "s3://foo/master", "lakefs://", "lakefs://foo", "lakefs://foo/"),
        *("lakefs://foo@", "lakefs:///master", "lakefs://@master", "lakefs://foo/master/path"),
        *("LAKEFS://foo/master", " lakefs://foo/master", "lakefs://foo@master/path"),
        *("lakefs://../master", "lakefs://foo/.."),
    ],
)
def test_a_text_that_names_no_branch_is_refused_with_the_right_form(text):
    with pytest.raises(UsageError, match="lakefs://REPO/BRANCH"):
        BranchUri.parse(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("lakefs://my-repo/main/a.csv", ("my-repo", "main", "a.csv")),
        ("lakefs://my-repo/dev~3/a/b/c.csv", ("my-repo", "dev~3", "a/b/c.csv")),
        ("lakefs://my-repo/main@/a", ("my-repo", "main@", "a")),
        ("lakefs://my-repo/v1^2/a@b", ("my-repo", "v1^2", "a@b")),
        ("lakefs://r/dev:joe~2/a:b", ("r", "dev:joe~2", "a:b")),
        ("lakefs://r/main//a//", ("r", "main", "/a//")),
        ("lakefs://r/main/..", ("r", "main", "..")),
        ("lakefs://r/main/a b%20?c#d", ("r", "main", "a b%20?c#d")),
        ("lakefs://r/main/a\nb", ("r", "main", "a\nb")),
    ],
)
def test_an_object_is_named_at_any_ref_by_its_path_as_it_is(text, parts):
    found = ObjectUri.parse(text)
    assert (found.repository, found.ref, found.path) == parts
    assert str(found) == text


@pytest.mark.parametrize(
    "text",
    [
        *("lakefs://repo", "lakefs://repo/main", "lakefs://repo/main/", "lakefs://repo@main/a"),
        *("a", "lakefs://repo/../a", "lakefs://./main/a"),
    ],
)
def test_a_text_that_names_no_object_is_refused_with_the_right_form(text):
    with pytest.raises(UsageError, match="lakefs://REPO/REF/PATH"):
        ObjectUri.parse(text)


def test_bytes_that_are_no_utf_8_are_refused():
    with pytest.raises(UsageError, match="UTF-8"):
        ObjectUri.parse("lakefs://repo/main/\udcff")


@pytest.mark.parametrize("text", ["lakefs://FOO/main", "lakefs://-foo/main", "lakefs://f_o/main"])
def test_names_that_no_repository_has_are_refused(text):
    with pytest.raises(UsageError, match="a repository's name takes"):
        BranchUri.parse(text)


@pytest.mark.parametrize("text", ["lakefs://foo@dev:joe", "lakefs://foo/dev:joe"])
def test_a_branch_may_have_a_colon_in_its_name(text):
    assert BranchUri.parse(text) == BranchUri("foo", "dev:joe")


@pytest.mark.parametrize("name", ["main~1", "-a", "a.b", ":a", "a:"])
def test_names_that_no_branch_has_are_refused(name):
    with pytest.raises(UsageError, match="a branch's name takes"):
        BranchUri.parse(f"lakefs://foo/{name}")


def test_a_branch_may_end_with_a_slash():
    assert BranchUri.parse("lakefs://foo/main/") == BranchUri("foo", "main")


def test_a_path_has_its_slash():
    assert PathUri.parse("lakefs://foo/main/") == PathUri("foo", "main", "")
    with pytest.raises(UsageError, match="lakefs://REPO/REF/PATH"):
        PathUri.parse("lakefs://foo/main")
