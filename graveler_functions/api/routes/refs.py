"""Differences, merges and merge bases of two refs, and symlink manifests of one."""

from msgspec.structs import replace

from graveler.access.actions import Action
from graveler.errors import MergeConflictError
from graveler.http.schemas import refs as schemas
from graveler.http.schemas.fields import text_of
from graveler.http.schemas.listings import Listing, listing
from graveler.http.schemas.tasks import AsyncStatus, TaskCreated, async_status
from graveler.http.write_conditions import required_tags
from graveler.messages import Refusal
from graveler.model.tasks import TaskKind
from graveler.operations import commits, diffs, merge_bases, merges, symlinks
from graveler.staging.listing import CommonPrefix, ListPage
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs, On
from graveler_functions.api.authorization.deferred_checks import OF_ITS_TASK, status_need
from graveler_functions.api.contract import GUARDED, PAGE, WAITING, flag, header, text
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_MERGE = "/repositories/<repository>/refs/<source_ref>/merge/<destination_branch>"


@operations.add(
    "GET",
    "/repositories/<repository>/branches/<branch>/diff",
    "diffBranch",
    parameters=(*PAGE, text("delimiter"), flag("include_right_stats")),
    answers={200: Listing[schemas.DiffRow]},
)
@checked(Needs.on(Action.LIST_OBJECTS, named.REPOSITORY))
def diff_branch(request: Request) -> ApiAnswer:
    page = diffs.uncommitted(
        request.engine, request.repository, request.branch, request.query.object_page()
    )
    return _diff_answer(request, page, with_removed_sizes=False)


@operations.add(
    "GET",
    "/repositories/<repository>/refs/<left_ref>/diff/<right_ref>",
    "diffRefs",
    parameters=(
        *PAGE,
        text("delimiter"),
        text("type", "two_dot", "three_dot"),
        flag("include_right_stats"),
    ),
    answers={200: Listing[schemas.DiffRow]},
)
@checked(Needs.on(Action.LIST_OBJECTS, named.REPOSITORY))
def diff_refs(request: Request) -> ApiAnswer:
    kind = request.query.text("type") or "three_dot"
    if kind not in {"two_dot", "three_dot"}:
        problem = f"value is not one of the allowed values, two_dot and three_dot: {kind!r}"
        raise Refusal.BAD_PARAMETER.error(name="type", problem=problem)
    page = diffs.between_refs(
        request.engine,
        request.repository,
        request.name("left_ref"),
        request.name("right_ref"),
        request.query.object_page(),
        two_dot=kind == "two_dot",
    )
    return _diff_answer(request, page)


@operations.add(
    "POST",
    _MERGE,
    "mergeIntoBranch",
    parameters=(header("If-Match"),),
    body=schemas.Merge,
    is_body_optional=True,
    answers={200: schemas.MergeResult, 409: schemas.MergeResult, **WAITING},
    errors=(403, 412),
)
@checked(Needs.on(Action.CREATE_COMMIT, named.DESTINATION_BRANCH))
def merge_into_branch(request: Request) -> ApiAnswer:
    try:
        made = merges.merge(
            request.engine,
            request.repository,
            request.name("source_ref"),
            request.name("destination_branch"),
            merge_request(request),
            request.client_wait,
        )
    except MergeConflictError as error:
        # Not an error body: for a conflict, lakeFS returns a result without a reference.
        return answers.of_json(schemas.MergeResult("", error.details), 409)
    return answers.of_json(schemas.MergeResult(made.id))


@operations.add(
    "POST",
    f"{_MERGE}/async",
    "mergeIntoBranchAsync",
    parameters=(header("If-Match"),),
    body=schemas.Merge,
    is_body_optional=True,
    answers={202: TaskCreated},
    errors=GUARDED,
)
@checked(Needs.on(Action.CREATE_COMMIT, named.DESTINATION_BRANCH))
def merge_into_branch_async(request: Request) -> ApiAnswer:
    task = merges.start_merge(
        request.engine,
        request.repository,
        request.name("source_ref"),
        request.name("destination_branch"),
        merge_request(request),
    )
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    f"{_MERGE}/async/<task_id>/status",
    "mergeIntoBranchAsyncStatus",
    answers={200: AsyncStatus[schemas.MergeResult]},
)
@checked(Needs(On(Action.READ_BRANCH, named.DESTINATION_BRANCH), then=OF_ITS_TASK))
def merge_into_branch_async_status(request: Request) -> ApiAnswer:
    task, made = commits.task_status(
        request.engine, request.repository, request.name("task_id"), TaskKind.MERGE
    )
    request.rights.require(status_need(request, task))
    row = None if made is None else schemas.MergeResult(made.id)
    return answers.of_json(async_status(task, row, 200))


def merge_request(request: Request) -> merges.MergeRequest:
    """Return the merge that a request with an optional body asks for.

    Raises:
        InvalidInputError: the body or the header If-Match is malformed.
    """
    body = request.decode(schemas.Merge) if request.body else schemas.Merge()
    return merges.MergeRequest(
        message=body.message,
        committer=request.user,
        metadata=body.metadata,
        strategy=body.strategy,
        force=body.force,
        allow_empty=body.allow_empty,
        squash=body.squash_merge,
        resolutions=body.resolutions,
        source_commit_id=body.source_commit_id or "",
        if_match=required_tags(request.headers),
    )


@operations.add(
    "GET",
    _MERGE,
    "findMergeBase",
    parameters=(flag("ahead_behind"),),
    answers={200: schemas.MergeBase},
)
@checked(Needs.on(Action.LIST_COMMITS, named.REPOSITORY))
def find_merge_base(request: Request) -> ApiAnswer:
    found = merge_bases.find(
        request.engine,
        request.repository,
        request.name("source_ref"),
        request.name("destination_branch"),
        with_distance=request.query.flag("ahead_behind"),
    )
    return answers.of_json(schemas.merge_base(found))


def _diff_answer(
    request: Request, page: ListPage[diffs.DiffEntry], *, with_removed_sizes: bool = True
) -> ApiAnswer:
    with_stats = request.query.flag("include_right_stats")
    rows = [_diff_row(item, with_stats=with_stats) for item in page.results]
    if not with_removed_sizes:
        # lakeFS lists the staged entries here, and a tombstone has no size.
        rows = [replace(row, size_bytes=0) if row.type == "removed" else row for row in rows]
    return answers.of_json(listing(rows, text_of(page.next_after)))


def _diff_row(item: diffs.DiffEntry | CommonPrefix, *, with_stats: bool) -> schemas.DiffRow:
    assert not isinstance(item, CommonPrefix)  # a diff has entries for prefixes
    # A removed object has the stats of the left side.
    right = (item.right or item.left) if with_stats else None
    return schemas.DiffRow(
        item.kind,
        text_of(item.path),
        "common_prefix" if item.is_prefix else "object",
        item.size_bytes,
        schemas.right_stats(right.entry) if right else None,
    )


@operations.add(
    "POST",
    "/repositories/<repository>/refs/<branch>/symlink",
    "createSymlinkFile",
    parameters=(text("location"),),
    answers={201: schemas.StorageUri},
)
@checked(Needs.on(Action.WRITE_OBJECT, named.OBJECT_OF_BRANCH))
def create_symlinks(request: Request) -> ApiAnswer:
    prefix = request.query.text("location").encode()
    place = symlinks.write(request.engine, request.repository, request.branch, prefix)
    return answers.of_json(schemas.StorageUri(place), 201)
