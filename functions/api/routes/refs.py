"""Differences, merges and merge bases of two refs, and symlink manifests of one."""

from msgspec.structs import replace

from functions.api import answers
from functions.api.access.late import status_need
from functions.api.answers import Answer
from functions.api.contract import GUARDED, PAGE, WAITING, flag, text
from functions.api.request import Request
from functions.api.routing import Operations
from graveler.errors import MergeConflictError
from graveler.http import requests, responses
from graveler.http.tasks import AsyncStatus, TaskCreated, async_status
from graveler.messages import Refusal
from graveler.model.tasks import TaskKind
from graveler.operations import commits, diffs, merges, symlinks
from graveler.staging.listing import CommonPrefix, ListPage, PageQuery

operations = Operations()

_MERGE = "/repositories/<repository>/refs/<source_ref>/merge/<destination_branch>"


@operations.add(
    "GET",
    "/repositories/<repository>/branches/<branch>/diff",
    "diffBranch",
    parameters=(*PAGE, text("delimiter"), flag("include_right_stats")),
    answers={200: responses.Listing[responses.DiffRow]},
)
def diff_branch(request: Request) -> Answer:
    page = diffs.uncommitted(
        request.engine, request.repository, request.branch, _page_query(request)
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
    answers={200: responses.Listing[responses.DiffRow]},
)
def diff_refs(request: Request) -> Answer:
    kind = request.query.text("type") or "three_dot"
    if kind not in {"two_dot", "three_dot"}:
        problem = f"value is not one of the allowed values, two_dot and three_dot: {kind!r}"
        raise Refusal.BAD_PARAMETER.error(name="type", problem=problem)
    page = diffs.between_refs(
        request.engine,
        request.repository,
        request.name("left_ref"),
        request.name("right_ref"),
        _page_query(request),
        two_dot=kind == "two_dot",
    )
    return _diff_answer(request, page)


@operations.add(
    "POST",
    _MERGE,
    "mergeIntoBranch",
    body=requests.Merge,
    is_body_optional=True,
    answers={200: responses.MergeResult, 409: responses.MergeResult, **WAITING},
    errors=(403, 412),
)
def merge_into_branch(request: Request) -> Answer:
    try:
        made = merges.merge(
            request.engine,
            request.repository,
            request.name("source_ref"),
            request.name("destination_branch"),
            _merge_request(request),
            request.client_wait,
        )
    except MergeConflictError:
        # Not an error body: for a conflict, lakeFS returns a result without a reference.
        return answers.of_json(responses.MergeResult(""), 409)
    return answers.of_json(responses.MergeResult(made.id))


@operations.add(
    "POST",
    f"{_MERGE}/async",
    "mergeIntoBranchAsync",
    body=requests.Merge,
    is_body_optional=True,
    answers={202: TaskCreated},
    errors=GUARDED,
)
def merge_into_branch_async(request: Request) -> Answer:
    task = merges.start_merge(
        request.engine,
        request.repository,
        request.name("source_ref"),
        request.name("destination_branch"),
        _merge_request(request),
    )
    return answers.of_json(TaskCreated(task.id), 202)


@operations.add(
    "GET",
    f"{_MERGE}/async/<task_id>/status",
    "mergeIntoBranchAsyncStatus",
    answers={200: AsyncStatus[responses.MergeResult]},
)
def merge_into_branch_async_status(request: Request) -> Answer:
    task, made = commits.task_status(
        request.engine, request.repository, request.name("task_id"), TaskKind.MERGE
    )
    request.access.require(status_need(request, task))
    row = None if made is None else responses.MergeResult(made.id)
    return answers.of_json(async_status(task, row, 200))


def _merge_request(request: Request) -> merges.MergeRequest:
    body = request.decode(requests.Merge) if request.body else requests.Merge()
    return merges.MergeRequest(
        message=body.message,
        committer=request.user,
        metadata=body.metadata,
        strategy=body.strategy,
        force=body.force,
        allow_empty=body.allow_empty,
        squash=body.squash_merge,
    )


@operations.add("GET", _MERGE, "findMergeBase", answers={200: responses.MergeBase})
def find_merge_base(request: Request) -> Answer:
    source_id, destination_id, base_id = merges.merge_base(
        request.engine,
        request.repository,
        request.name("source_ref"),
        request.name("destination_branch"),
    )
    return answers.of_json(responses.MergeBase(source_id, destination_id, base_id))


def _page_query(request: Request) -> PageQuery:
    query = request.query
    return PageQuery(
        amount=query.amount(),
        after=query.text("after").encode(),
        prefix=query.text("prefix").encode(),
        delimiter=query.text("delimiter").encode(),
    )


def _diff_answer(
    request: Request, page: ListPage[diffs.DiffEntry], *, with_removed_sizes: bool = True
) -> Answer:
    with_stats = request.query.flag("include_right_stats")
    rows = [_diff_row(item, with_stats=with_stats) for item in page.results]
    if not with_removed_sizes:
        # lakeFS lists the staged entries here, and a tombstone has no size.
        rows = [replace(row, size_bytes=0) if row.type == "removed" else row for row in rows]
    return answers.of_json(responses.listing(rows, responses.text_of(page.next_after)))


def _diff_row(item: diffs.DiffEntry | CommonPrefix, *, with_stats: bool) -> responses.DiffRow:
    assert not isinstance(item, CommonPrefix)  # a diff has entries for prefixes
    # A removed object has the stats of the left side.
    right = (item.right or item.left) if with_stats else None
    return responses.DiffRow(
        item.kind,
        responses.text_of(item.path),
        "common_prefix" if item.is_prefix else "object",
        item.size_bytes,
        responses.right_stats(right.entry) if right else None,
    )


@operations.add(
    "POST",
    "/repositories/<repository>/refs/<branch>/symlink",
    "createSymlinkFile",
    parameters=(text("location"),),
    answers={201: responses.StorageUri},
)
def create_symlinks(request: Request) -> Answer:
    prefix = request.query.text("location").encode()
    place = symlinks.write(request.engine, request.repository, request.branch, prefix)
    return answers.of_json(responses.StorageUri(place), 201)
