"""Repositories and their free-form metadata."""

from graveler.access.actions import Action
from graveler.errors import InvalidInputError
from graveler.http.schemas import repositories as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Page, Repository
from graveler.open_repository import OpenRepository
from graveler.operations import repositories, samples
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, NeedsSomewhere, On
from graveler_functions.api.authorization.deferred_checks import listing_need
from graveler_functions.api.contract import CHANGE, FORCE, PAGE, flag, text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_REPOSITORIES = "/repositories"
_REPOSITORY = "/repositories/<repository>"


@operations.add("GET", _REPOSITORY, "getRepository", answers={200: schemas.RepositoryRow})
@checked(Needs.on(Action.READ_REPOSITORY, named.REPOSITORY))
def get_repository(request: Request) -> ApiAnswer:
    repository = repositories.get(request.engine, request.repository)
    return answers.of_json(schemas.repository_row(repository))


@operations.add(
    "GET",
    _REPOSITORIES,
    "listRepositories",
    parameters=(*PAGE, text("search")),
    answers={200: Listing[schemas.RepositoryRow]},
)
@checked(NeedsSomewhere(Action.LIST_REPOSITORIES))
def list_repositories(request: Request) -> ApiAnswer:
    page = _page(request)
    rows = [schemas.repository_row(repository) for repository in page.results]
    return answers.of_json(listing(rows, page.next_after))


def _page(request: Request) -> Page[Repository]:
    """Return the requested page: the repositories that the user may list.

    With `search`, only those whose name contains it.
    """
    query = request.query
    prefix, after, amount = query.text("prefix"), query.text("after"), query.amount()
    search = query.text("search")
    found: list[Repository] = []
    step = PAGE_AMOUNT_MAX if search else amount
    while True:
        page = repositories.list_page(request.engine, prefix=prefix, after=after, amount=step)
        found += [
            repository
            for repository in page.results
            if search in repository.name and request.rights.allows(listing_need(repository.name))
        ]
        if len(found) > amount or (len(found) == amount and page.has_more):
            return Page(tuple(found[:amount]), found[amount - 1].name)
        if not page.has_more:
            return Page(tuple(found))
        after, step = page.next_after, PAGE_AMOUNT_MAX


@operations.add(
    "POST",
    _REPOSITORIES,
    "createRepository",
    parameters=(flag("bare"),),
    body=schemas.RepositoryCreation,
    answers={201: schemas.RepositoryRow},
    errors=CHANGE,
)
@checked(
    Needs(
        On(Action.CREATE_REPOSITORY, named.NEW_REPOSITORY),
        On(Action.ATTACH_STORAGE_NAMESPACE, named.NAMESPACE),
    )
)
def create_repository(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RepositoryCreation)
    bare = request.query.flag("bare")
    if body.storage_id:
        raise InvalidInputError(
            f"storage_id {body.storage_id!r} is unknown: leave it out, there is one storage"
        )
    with_samples = body.sample_data and not bare  # as in lakeFS, a bare one gets no samples
    if with_samples and body.read_only:
        raise InvalidInputError(
            "a read-only repository cannot get sample data: leave out read_only or sample_data"
        )
    repository = repositories.create(
        request.engine,
        name=body.name,
        storage_namespace=body.storage_namespace,
        default_branch=body.default_branch or "main",
        read_only=body.read_only,
        bare=bare,
    )
    if with_samples:
        samples.add(OpenRepository(request.engine, repository), request.user)
    return answers.of_json(schemas.repository_row(repository), 201)


@operations.add(
    "DELETE",
    _REPOSITORY,
    "deleteRepository",
    parameters=(FORCE,),
    answers={204: None},
    errors=CHANGE,
)
@checked(Needs.on(Action.DELETE_REPOSITORY, named.REPOSITORY))
def delete_repository(request: Request) -> ApiAnswer:
    repositories.delete(request.engine, request.repository, force=request.query.flag("force"))
    return answers.empty()


@operations.add(
    "GET", f"{_REPOSITORY}/metadata", "getRepositoryMetadata", answers={200: dict[str, str]}
)
@checked(Needs.on(Action.READ_REPOSITORY, named.REPOSITORY))
def get_repository_metadata(request: Request) -> ApiAnswer:
    return answers.of_json(repositories.metadata(request.engine, request.repository))


@operations.add(
    "POST",
    f"{_REPOSITORY}/metadata",
    "setRepositoryMetadata",
    body=schemas.RepositoryMetadataSet,
    answers={204: None},
    errors=CHANGE,
)
@checked(Needs.on(Action.UPDATE_REPOSITORY, named.REPOSITORY))
def set_repository_metadata(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RepositoryMetadataSet)
    repositories.set_metadata(request.engine, request.repository, body.metadata)
    return answers.empty()


@operations.add(
    "DELETE",
    f"{_REPOSITORY}/metadata",
    "deleteRepositoryMetadata",
    body=schemas.RepositoryMetadataKeys,
    answers={204: None},
    errors=CHANGE,
)
@checked(Needs.on(Action.UPDATE_REPOSITORY, named.REPOSITORY))
def delete_repository_metadata(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RepositoryMetadataKeys)
    repositories.delete_metadata(request.engine, request.repository, body.keys)
    return answers.empty()
