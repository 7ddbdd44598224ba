"""What users of the `lakefs` package are told when they ask for what cannot be."""

import lakefs
import pytest
import requests
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotAuthorizedException,
    NotFoundException,
    ObjectNotFoundException,
    PermissionException,
)
from lakefs_sdk import (
    ApiException,
    CherryPickCreation,
    CommitCreation,
    ObjectCopyCreation,
    PathList,
    ResetCreation,
    RevertCreation,
    StsAuthRequest,
)

from tests.acceptance.clients import create_repository, key_pair
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

MISSING = "no-such-thing"


@pytest.fixture(scope="module")
def repository(client: lakefs.Client) -> lakefs.Repository:
    """A repository that no test here may change: `main` has the file `a` in one commit."""
    created = create_repository(client)
    created.branch("main").object("a").upload("1")
    created.branch("main").commit("a")
    created.tag("v1").create("main")
    return created


@pytest.fixture(autouse=True)
def _unchanged(repository: lakefs.Repository):
    """Bad input changes nothing, whatever else happens."""

    def state() -> object:
        main = repository.branch("main")
        return (
            main.head.id,
            [change.path for change in main.uncommitted()],
            [branch.id for branch in repository.branches(show_hidden=True)],
            [tag.id for tag in repository.tags()],
        )

    before = state()
    yield
    assert state() == before


def test_a_wrong_key_is_refused_in_lakefs_words(stack, repository):
    for wrong in ({"password": "wrong"}, {"username": "AKIAIOSFODNN7EXAMPLE"}):
        stranger = lakefs.Client(**key_pair(stack) | wrong)
        with pytest.raises(NotAuthorizedException) as refused:
            lakefs.Branch(repository.id, "main", stranger).head  # noqa: B018 - reads it
        assert refused.value.body == {"message": "error authenticating request"}
        with pytest.raises(NotAuthorizedException):
            list(lakefs.repositories(stranger))
        with pytest.raises(PermissionException):
            lakefs.Branch(repository.id, "main", stranger).object("a").exists()


def test_what_does_not_exist_is_named(client, repository):
    main = repository.branch("main")
    nowhere = lakefs.Repository(MISSING, client)
    for ask in (
        lambda: nowhere.properties,
        lambda: nowhere.metadata,
        nowhere.delete,
        lambda: list(nowhere.branches()),
        lambda: list(nowhere.tags()),
        lambda: nowhere.branch("main").commit("x"),
        lambda: repository.branch(MISSING).head,
        lambda: repository.branch(MISSING).commit("x"),
        lambda: repository.branch(MISSING).delete(),
        lambda: repository.branch(MISSING).object("a").upload("x", pre_sign=False),
        lambda: list(repository.branch(MISSING).uncommitted()),
        lambda: repository.branch("new").create(MISSING),
        lambda: repository.tag("new").create(MISSING),
        lambda: repository.tag(MISSING).delete(),
        lambda: list(repository.ref(MISSING).objects()),
        lambda: list(repository.ref(MISSING).log()),
        lambda: repository.ref(MISSING).get_commit(),
        lambda: repository.ref("f" * 64).get_commit(),
        lambda: repository.ref("main~99").get_commit(),
        lambda: list(main.diff(MISSING)),
        lambda: main.merge_into(MISSING),
        lambda: repository.ref(MISSING).merge_into("main"),
        lambda: main.revert(MISSING),
        lambda: main.cherry_pick(MISSING),
        lambda: main.object(MISSING).copy("main", "b"),
        lambda: main.object("a").copy(MISSING, "b"),
    ):
        with pytest.raises(NotFoundException) as refused:
            ask()
        assert "not found" in refused.value.body["message"]


def test_a_missing_object_is_a_missing_file(repository):
    missing = repository.branch("main").object(MISSING)
    assert not missing.exists()
    assert not repository.branch(MISSING).object("a").exists()
    for read in (
        missing.stat,
        lambda: missing.reader(pre_sign=True).read(),
        lambda: missing.reader(pre_sign=False).read(),
    ):
        with pytest.raises(ObjectNotFoundException) as refused:
            read()
        assert isinstance(refused.value, FileNotFoundError)


BAD_REPOSITORY_NAMES = ("", "ab", "Capital", "under_score", "-dash", "a" * 64, "ünï", "a/b", "a.b")
BAD_NAMESPACES = ("", "s3://", "/local/path", "gs://bucket/x", "no scheme")


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", name) for name in BAD_REPOSITORY_NAMES]
    + [("storage_namespace", namespace) for namespace in BAD_NAMESPACES],
)
def test_a_repository_with_a_bad_name_or_namespace_is_refused(stack, field, value):
    # By hand: the official clients look at these fields themselves, and not as closely.
    answer = requests.post(
        f"{stack.endpoint}/api/v1/repositories",
        json={"name": "acceptance-bad", "storage_namespace": f"s3://{BUCKET}/bad", field: value},
        auth=(stack.access_key_id, stack.secret_access_key),
        timeout=300,
    )
    assert answer.status_code == 400
    said = {"name": "repository id: invalid value", "storage_namespace": "namespace"}[field]
    assert said in answer.json()["message"]


def test_a_storage_namespace_serves_one_repository(client, repository):
    with pytest.raises(BadRequestException, match="in use"):
        lakefs.Repository(f"{repository.id}-2", client).create(
            repository.properties.storage_namespace
        )


@pytest.mark.parametrize("name", ["", "-dash", "sp ace", "a/b", "a.b", "ünï", "a~1", "a@", "a$"])
def test_a_bad_branch_name_is_refused(repository, name):
    with pytest.raises(BadRequestException, match="branch id: invalid value"):
        repository.branch(name).create("main")


@pytest.mark.parametrize("name", ["", "a..b", "a/b", "a.lock", "a.", "sp ace", "@", "a^", "a:"])
def test_a_bad_tag_name_is_refused(repository, name):
    with pytest.raises(BadRequestException, match="tag id: invalid value"):
        repository.tag(name).create("main")


@pytest.mark.parametrize("ref", ["main$", "main~x", "v1@", "main^2", "sp ace", "main~1^9"])
def test_a_ref_that_names_no_commit_is_refused(client, repository, ref):
    with pytest.raises(BadRequestException):
        repository.ref(ref).get_commit()
    with pytest.raises(BadRequestException):
        repository.branch("new").create(ref)


def test_a_path_has_1_to_1024_bytes(repository):
    main = repository.branch("main")
    for path in ("x" * 1025, "é" * 513):
        for write in (
            lambda path=path: main.object(path).upload("x", pre_sign=False),
            lambda path=path: main.object("a").copy("main", path),
        ):
            with pytest.raises(BadRequestException, match="above maximum length"):
                write()
        assert not list(main.objects(prefix=path))
    with pytest.raises(BadRequestException, match="path"):
        main.object("").upload("x", pre_sign=False)


def test_what_is_there_is_not_created_twice(client, repository):
    for create in (
        lambda: lakefs.Repository(repository.id, client).create(f"s3://{BUCKET}/elsewhere"),
        lambda: repository.branch("main").create("main"),
        lambda: repository.tag("v1").create("main"),
    ):
        with pytest.raises(ConflictException) as refused:
            create()
        assert "not unique" in refused.value.body["message"]


def test_what_makes_no_change_is_refused(repository):
    main = repository.branch("main")
    for change in (
        lambda: main.commit("nothing"),
        lambda: main.merge_into(main),
        lambda: repository.tag("v1").merge_into("main"),
        lambda: repository.ref("main~1").merge_into("main"),
    ):
        with pytest.raises(BadRequestException, match="no changes"):
            change()


def test_a_wrong_parent_or_strategy_is_refused(repository):
    main = repository.branch("main")
    for change in (
        lambda: main.revert("main", parent_number=2),
        lambda: main.cherry_pick("main", parent_number=2),
        lambda: repository.tag("v1").merge_into("main", strategy="coin-toss", allow_empty=True),
    ):
        with pytest.raises(BadRequestException):
            change()


def test_the_default_branch_cannot_be_deleted(repository):
    with pytest.raises(ForbiddenException, match="default branch"):
        repository.branch("main").delete()


def test_writing_to_a_tag_or_a_commit_is_refused(client, repository):
    for ref in ("v1", repository.branch("main").head.id, "main~1"):
        target = lakefs.Branch(repository.id, ref, client)
        for change in (
            lambda target=target: target.object("b").upload("x", pre_sign=False),
            lambda target=target: target.commit("x", allow_empty=True),
            lambda target=target: target.object("a").delete(),
        ):
            with pytest.raises((NotFoundException, BadRequestException)):
                change()


def test_more_than_1000_deletions_at_once_are_refused(repository):
    with pytest.raises(BadRequestException, match="1000"):
        repository.branch("main").delete_objects(["a"] * 1_001)


def test_a_page_has_at_most_1000_rows(client, repository):
    objects = client.sdk_client.objects_api
    with pytest.raises(ApiException) as refused:
        objects.api_client.call_api(
            f"/repositories/{repository.id}/refs/main/objects/ls",
            "GET",
            query_params=[("amount", "1001")],
            auth_settings=["basic_auth"],
        )
    assert (refused.value.status, "amount" in refused.value.body) == (400, True)


def test_the_generated_sdk_raises_by_status(client, repository):
    sdk = client.sdk_client
    name = repository.id
    cases = [
        (404, lambda: sdk.commits_api.get_commit(name, MISSING)),
        (400, lambda: sdk.commits_api.commit(name, "main", CommitCreation(message="m"))),
        (
            409,
            lambda: sdk.branches_api.create_branch(name, {"name": "main", "source": "main"}),
        ),
        (403, lambda: sdk.branches_api.delete_branch(name, "main")),
        (
            404,
            lambda: sdk.branches_api.reset_branch(name, MISSING, ResetCreation(type="reset")),
        ),
        (
            404,
            lambda: sdk.branches_api.revert_branch(
                name, "main", RevertCreation(ref=MISSING, parent_number=0)
            ),
        ),
        (
            404,
            lambda: sdk.branches_api.cherry_pick(name, "main", CherryPickCreation(ref=MISSING)),
        ),
        (
            404,
            lambda: sdk.objects_api.delete_objects(name, MISSING, PathList(paths=["a"])),
        ),
        (
            404,
            lambda: sdk.objects_api.copy_object(
                name, "main", "b", ObjectCopyCreation(src_path=MISSING, shallow=True)
            ),
        ),
    ]
    for status, call in cases:
        with pytest.raises(ApiException) as refused:
            call()
        assert refused.value.status == status


def test_parts_of_lakefs_that_are_not_served_say_so(client):
    login = StsAuthRequest(code="c", state="s", redirect_uri="u")
    with pytest.raises(ApiException, match="not served") as refused:
        client.sdk_client.experimental_api.sts_login(login)
    assert refused.value.status == 501
