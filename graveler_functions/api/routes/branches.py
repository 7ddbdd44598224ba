"""Branches: create, read, list, delete, reset, revert, cherry-pick."""

from graveler.access.actions import Action
from graveler.http.schemas import branches as schemas
from graveler.http.schemas.commits import CommitRow, commit_row
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.refs import Ref, ref_row
from graveler.http.write_conditions import required_tags
from graveler.operations import branches, replays
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import heads_need
from graveler_functions.api.contract import (
    CHANGE,
    FORCE,
    GUARDED,
    HTML,
    PAGE,
    WAITING,
    flag,
    header,
    required_text,
)
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_BRANCHES = "/repositories/<repository>/branches"
_BRANCH = f"{_BRANCHES}/<branch>"


@operations.add("GET", _BRANCH, "getBranch", answers={200: Ref})
@checked(Needs.on(Action.READ_BRANCH, named.BRANCH))
def get_branch(request: Request) -> ApiAnswer:
    branch = branches.get(request.engine, request.repository, request.branch)
    return answers.of_json(ref_row(branch), headers={"ETag": f'"{branch.commit_id}"'})


@operations.add(
    "GET",
    _BRANCHES,
    "listBranches",
    parameters=(*PAGE, flag("show_hidden"), flag("with_commits")),
    answers={200: Listing[schemas.BranchRow]},
)
@checked(
    Needs(
        On(Action.LIST_BRANCHES, named.REPOSITORY),
        then=f"with commits {On(Action.READ_COMMIT, named.REPOSITORY)}",
    )
)
def list_branches(request: Request) -> ApiAnswer:
    lake, asked = (request.engine, request.repository), request.query.page()
    show_hidden = request.query.flag("show_hidden")
    commits = None
    if request.query.flag("with_commits"):
        request.rights.require(heads_need(request))
        page, commits = branches.list_with_commits(*lake, **asked, show_hidden=show_hidden)
    else:
        page = branches.list_page(*lake, **asked, show_hidden=show_hidden)
    rows = [schemas.branch_row(record, commits) for record in page.results]
    return answers.of_json(listing(rows, page.next_after))


@operations.add(
    "POST",
    _BRANCHES,
    "createBranch",
    body=schemas.BranchCreation,
    answers={201: HTML},
    errors=GUARDED,
)
@checked(Needs.on(Action.CREATE_BRANCH, named.NEW_BRANCH))
def create_branch(request: Request) -> ApiAnswer:
    body = request.decode(schemas.BranchCreation)
    branch = branches.create(
        request.engine,
        request.repository,
        name=body.name,
        source=body.source,
        hidden=body.hidden,
        force=body.force,
        user=request.user,
    )
    # Clients expect the bare commit ID, with this content type.
    return answers.of_text(branch.commit_id, "text/html", 201)


@operations.add(
    "DELETE", _BRANCH, "deleteBranch", parameters=(FORCE,), answers={204: None}, errors=GUARDED
)
@checked(Needs.on(Action.DELETE_BRANCH, named.BRANCH))
def delete_branch(request: Request) -> ApiAnswer:
    branches.delete(
        request.engine,
        request.repository,
        request.branch,
        force=request.query.flag("force"),
        user=request.user,
    )
    return answers.empty()


@operations.add(
    "PUT", _BRANCH, "resetBranch", body=schemas.ResetCreation, answers={204: None}, errors=CHANGE
)
@checked(Needs.on(Action.REVERT_BRANCH, named.BRANCH))
def reset_branch(request: Request) -> ApiAnswer:
    body = request.decode(schemas.ResetCreation)
    branches.reset(
        request.engine,
        request.repository,
        request.branch,
        kind=body.type,
        path=body.path.encode(),
        force=body.force,
    )
    return answers.empty()


@operations.add(
    "PUT",
    f"{_BRANCH}/hard_reset",
    "hardResetBranch",
    parameters=(required_text("ref"), FORCE, header("If-Match")),
    answers={204: None},
    errors=GUARDED,
)
@checked(Needs.on(Action.REVERT_BRANCH, named.BRANCH))
def hard_reset_branch(request: Request) -> ApiAnswer:
    branches.hard_reset(
        request.engine,
        request.repository,
        request.branch,
        ref=request.query.required_text("ref"),
        force=request.query.flag("force"),
        if_match=required_tags(request.headers),
    )
    return answers.empty()


@operations.add(
    "POST",
    f"{_BRANCH}/revert",
    "revertBranch",
    body=schemas.RevertCreation,
    answers={204: None, **WAITING},
    errors=GUARDED,
)
@checked(Needs.on(Action.REVERT_BRANCH, named.BRANCH))
def revert_branch(request: Request) -> ApiAnswer:
    body = request.decode(schemas.RevertCreation)
    replays.revert(
        request.engine,
        request.repository,
        request.branch,
        replays.RevertRequest(
            ref=body.ref,
            committer=request.user,
            parent_number=body.parent_number,
            message=body.commit_overrides.message,
            metadata=body.commit_overrides.metadata,
            force=body.force,
            allow_empty=body.allow_empty,
        ),
        request.client_wait,
    )
    return answers.empty()


@operations.add(
    "POST",
    f"{_BRANCH}/cherry-pick",
    "cherryPick",
    body=schemas.CherryPickCreation,
    answers={201: CommitRow, **WAITING},
    errors=GUARDED,
)
@checked(Needs(On(Action.CREATE_COMMIT, named.BRANCH), On(Action.READ_COMMIT, named.REPOSITORY)))
def cherry_pick(request: Request) -> ApiAnswer:
    body = request.decode(schemas.CherryPickCreation)
    made = replays.cherry_pick(
        request.engine,
        request.repository,
        request.branch,
        replays.CherryPickRequest(
            ref=body.ref,
            committer=request.user,
            parent_number=body.parent_number,
            message=body.commit_overrides.message,
            metadata=body.commit_overrides.metadata,
            force=body.force,
        ),
        request.client_wait,
    )
    return answers.of_json(commit_row(made), 201)
