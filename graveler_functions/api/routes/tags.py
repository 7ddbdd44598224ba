"""Tags."""

from graveler.access.actions import Action
from graveler.http.schemas import tags as schemas
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.refs import Ref, ref_row
from graveler.operations import tags
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import FORCE, GUARDED, PAGE
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_TAGS = "/repositories/<repository>/tags"
_TAG = f"{_TAGS}/<tag>"


@operations.add("GET", _TAG, "getTag", answers={200: Ref})
@checked(Needs.on(Action.READ_TAG, named.TAG))
def get_tag(request: Request) -> ApiAnswer:
    tag = tags.get(request.engine, request.repository, request.name("tag"))
    return answers.of_json(ref_row(tag))


@operations.add("GET", _TAGS, "listTags", parameters=PAGE, answers={200: Listing[Ref]})
@checked(Needs.on(Action.LIST_TAGS, named.REPOSITORY))
def list_tags(request: Request) -> ApiAnswer:
    query = request.query
    page = tags.list_page(
        request.engine,
        request.repository,
        prefix=query.text("prefix"),
        after=query.text("after"),
        amount=query.amount(),
    )
    rows = [ref_row(record) for record in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST",
    _TAGS,
    "createTag",
    body=schemas.TagCreation,
    answers={201: Ref},
    errors=GUARDED,
)
@checked(Needs.on(Action.CREATE_TAG, named.NEW_TAG))
def create_tag(request: Request) -> ApiAnswer:
    body = request.decode(schemas.TagCreation)
    tag = tags.create(
        request.engine,
        request.repository,
        name=body.id,
        ref=body.ref,
        force=body.force,
        user=request.user,
    )
    return answers.of_json(ref_row(tag), 201)


@operations.add(
    "DELETE", _TAG, "deleteTag", parameters=(FORCE,), answers={204: None}, errors=GUARDED
)
@checked(Needs.on(Action.DELETE_TAG, named.TAG))
def delete_tag(request: Request) -> ApiAnswer:
    tags.delete(
        request.engine,
        request.repository,
        request.name("tag"),
        force=request.query.flag("force"),
        user=request.user,
    )
    return answers.empty()
