"""What a client of a schedule can do, by name: the operation, and what it is in histories.

Each action works on the engine of its client and returns the operation's value for the history.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from graveler.branches.heads import seal
from graveler.branches.lookup import current_branch
from graveler.branches.views import ObjectStat
from graveler.errors import NotFoundError
from graveler.export.record import ExportConfiguration
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.open_repository import OpenRepository
from graveler.operations import (
    branches,
    commits,
    dumps,
    links,
    merges,
    objects,
    replays,
    repositories,
    writes,
)
from graveler.operations.collection_reads import active_metaranges, begin_scan
from graveler.operations.exports import requests
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.staging.listing import PageQuery
from tests.simulation import imports, life_actions, tag_actions, task_actions, uploads
from tests.simulation.access import ACCESS_ACTIONS
from tests.simulation.collecting import COLLECTION_ACTIONS, copy_across
from tests.simulation.dumping import DUMP_ACTIONS
from tests.simulation.exporting import EXPORT_ACTIONS
from tests.simulation.pulling import PULL_ACTIONS, PULL_MERGES
from tests.simulation.schedule import Op
from tests.simulation.tables import TABLE_ACTIONS
from tests.simulation.worlds import (
    COPY,
    DESCRIBED,
    DESCRIBED_BYTES,
    DESCRIBED_TIMES,
    EXPORTED,
    INNER,
    REPO,
    upload,
)
from tests.support.checks.linearizability import Value
from tests.support.fakes.memory_collection import MemoryCollection

if TYPE_CHECKING:
    from tests.simulation.actor import Actor

_COMMITTER = "somebody"
# An equal commit on an equal head in the same second would be the same commit. Clocks differ by less.
_APART_S = 10
ABSENT = Requirement(is_absent=True)


def _value(stat: ObjectStat) -> Value:
    return Value(stat.physical_address, stat.entry.metadata.get("m", ""))


def _upload(actor: "Actor", op: Op, *, requirement: Requirement = NO_REQUIREMENT) -> Value:
    content = op.text.encode()
    made = writes.upload(
        actor.engine,
        REPO,
        op.branch,
        op.path,
        read_content=lambda: (content, "t"),
        metadata={},
        requirement=requirement,
    )
    return _value(made)


def _what_is_read(actor: "Actor", op: Op) -> Requirement:
    """Read the object, and require it."""
    try:
        read = objects.stat(actor.engine, REPO, op.branch, op.path)
    except NotFoundError:
        return Requirement(checksums=frozenset())
    actor.requires(read)
    return Requirement(checksums=frozenset({read.entry.checksum}))


def _upload_if_match(actor: "Actor", op: Op) -> Value:
    return _upload(actor, op, requirement=_what_is_read(actor, op))


def _delete_if_match(actor: "Actor", op: Op) -> None:
    requirement = _what_is_read(actor, op)
    writes.delete(actor.engine, REPO, op.branch, op.path, requirement=requirement)


def _replace_described(actor: "Actor", op: Op) -> None:
    """The owner of data outside of the namespace replaces them."""
    actor.engine.objects.put(DESCRIBED, f"{op.id:05}".encode() * DESCRIBED_TIMES, "t")


def _stage(actor: "Actor", op: Op, *, requirement: Requirement = NO_REQUIREMENT) -> Value:
    described = actor.engine.objects.head(DESCRIBED)
    assert described is not None
    made = links.stage(
        actor.engine,
        REPO,
        op.branch,
        op.path,
        links.StoredData(
            physical_address=DESCRIBED,
            checksum=described.checksum,
            size_bytes=DESCRIBED_BYTES,
            mtime_s=1_600_000_000,
        ),
        requirement=requirement,
    )
    return _value(made)


def _link(actor: "Actor", op: Op, *, requirement: Requirement = NO_REQUIREMENT) -> Value:
    address = links.get_physical_address(actor.engine, REPO, op.branch, op.path)
    info = actor.engine.objects.put(address, op.text.encode(), "t")
    made = links.link(
        actor.engine,
        REPO,
        op.branch,
        op.path,
        links.StoredData(
            physical_address=address,
            checksum=info.checksum,
            size_bytes=info.size_bytes,
            content_type="t",
        ),
        requirement=requirement,
    )
    return _value(made)


def _set_metadata(actor: "Actor", op: Op) -> str:
    writes.set_user_metadata(actor.engine, REPO, op.branch, op.path, {"m": op.text})
    return op.text


def _delete(actor: "Actor", op: Op) -> None:
    writes.delete(actor.engine, REPO, op.branch, op.path)


def _delete_many(actor: "Actor", op: Op) -> None:
    failed = writes.delete_many(actor.engine, REPO, op.branch, actor.paths)
    for _, error in failed:
        raise error


def _copy(actor: "Actor", op: Op, *, shallow: bool = False) -> Value:
    made = writes.copy(
        actor.engine,
        REPO,
        op.branch,
        op.path,
        source_ref=actor.ref(op),
        source_path=b"a",
        shallow=shallow,
    )
    return _value(made)


def _get(actor: "Actor", op: Op) -> Value:
    found = objects.stat(actor.engine, REPO, op.branch, op.path)
    actor.reads_content(found)
    return _value(found)


def _get_head(actor: "Actor", op: Op) -> Value:
    return _value(objects.stat(actor.engine, REPO, f"{op.branch}@", op.path))


def _list(actor: "Actor", op: Op) -> dict[bytes, Value]:
    page = objects.list_objects(actor.engine, REPO, op.branch, PageQuery(1000))
    return {each.path: _value(each) for each in page.results if isinstance(each, ObjectStat)}


def _commit(actor: "Actor", op: Op) -> str:
    request = commits.CommitRequest(f"#{op.id}", _COMMITTER)
    return commits.commit(actor.engine, REPO, op.branch, request).id


def _commit_empty(actor: "Actor", op: Op) -> str:
    request = commits.CommitRequest(f"#{op.id}", _COMMITTER, allow_empty=True)
    return commits.commit(actor.engine, REPO, op.branch, request).id


def _merge(actor: "Actor", op: Op, strategy: str = "source-wins") -> str:
    request = merges.MergeRequest(_COMMITTER, f"#{op.id}", strategy=strategy)
    return merges.merge(actor.engine, REPO, actor.ref(op), op.branch, request).id


def _revert(actor: "Actor", op: Op) -> str:
    request = replays.RevertRequest(actor.ref(op), _COMMITTER, message=f"#{op.id}")
    return replays.revert(actor.engine, REPO, op.branch, request).id


def _cherry_pick(actor: "Actor", op: Op) -> str:
    request = replays.CherryPickRequest(actor.ref(op), _COMMITTER, message=f"#{op.id}")
    return replays.cherry_pick(actor.engine, REPO, op.branch, request).id


def _reset(actor: "Actor", op: Op) -> None:
    branches.reset(actor.engine, REPO, op.branch, kind="reset")


def _reset_object(actor: "Actor", op: Op) -> None:
    branches.reset(actor.engine, REPO, op.branch, kind="object", path=op.path)


def _reset_prefix(actor: "Actor", op: Op) -> None:
    branches.reset(actor.engine, REPO, op.branch, kind="common_prefix", path=op.path)


def _hard_reset(actor: "Actor", op: Op) -> None:
    actor.host.pass_time(_APART_S)
    branches.hard_reset(actor.engine, REPO, op.branch, ref=actor.ref(op))


def _create_branch(actor: "Actor", op: Op) -> None:
    branches.create(actor.engine, REPO, name=op.branch, source=actor.ref(op))


def _delete_branch(actor: "Actor", op: Op) -> None:
    actor.host.pass_time(_APART_S)
    branches.delete(actor.engine, REPO, op.branch)


def _delete_repository(actor: "Actor", op: Op) -> None:
    repositories.delete(actor.engine, REPO)


def _create_repository(actor: "Actor", op: Op) -> None:
    namespace = f"s3://bucket/lake-{op.id}"
    repositories.create(actor.engine, name=REPO, storage_namespace=namespace)


def _nest_repository(actor: "Actor", op: Op) -> None:
    """Make a repository inside of the data of the other, use it, and delete it."""
    engine, name = actor.engine, f"nested-{op.id}"
    namespace = f"{INNER}-{op.id}"
    repositories.create(engine, name=name, storage_namespace=namespace)
    actor.protects(f"{namespace}/data/")
    upload(engine, "main", b"a", "nested", repo=name)
    commits.commit(engine, name, "main", commits.CommitRequest("nested", _COMMITTER))
    repositories.delete(engine, name)


def _dump(actor: "Actor", op: Op) -> None:
    actor.has_dumped(dumps.dump(actor.engine, REPO))


def _restore(actor: "Actor", op: Op) -> None:
    if actor.dump is not None:
        dumps.restore(actor.engine, COPY, actor.dump)


def _collect(actor: "Actor", op: Op) -> None:
    """One garbage collection, all of its steps."""
    MemoryCollection(actor.engine, actor.read_file, REPO, MINIMUM_AGE_S).run()


def _prepare_commits(actor: "Actor", op: Op) -> None:
    repository = actor.engine.refs.repository(REPO)
    if repository is not None:
        active_metaranges(begin_scan(OpenRepository(actor.engine, repository)))


def _configure_export(actor: "Actor", op: Op) -> None:
    configuration = ExportConfiguration(EXPORTED)
    requests.configure(actor.engine, REPO, op.branch, configuration, force=True)
    actor.exports(op.branch, is_wanted=True)


def _forget_export(actor: "Actor", op: Op) -> None:
    actor.exports(op.branch, is_wanted=False)
    requests.forget(actor.engine, REPO, op.branch)


def _seal(actor: "Actor", op: Op) -> None:
    """All that a commit does if pre-commit refuses it."""
    seal(*current_branch(actor.engine, REPO, op.branch))


def _clean_up(actor: "Actor", op: Op) -> None:
    actor.cleans_up()


@dataclass(frozen=True, slots=True)
class Action:
    """What is done, as what it stands in histories ("" if it does not), and where it counts.

    scope: "path", "branch" for every path of it, or "repository" for every branch.
    """

    do: Callable[["Actor", Op], Any]
    history: str = ""
    scope: str = "path"
    reads_only: bool = False


ACTIONS: dict[str, Action] = {
    "upload": Action(_upload, "write"),
    "upload_if_absent": Action(lambda a, op: _upload(a, op, requirement=ABSENT), "write_if_absent"),
    "upload_if_match": Action(_upload_if_match, "write_if_match"),
    "delete_if_match": Action(_delete_if_match, "delete_if_match"),
    "stage": Action(_stage, "write"),
    "stage_if_absent": Action(lambda a, op: _stage(a, op, requirement=ABSENT), "write_if_absent"),
    "replace_described": Action(_replace_described),
    "link": Action(_link, "write"),
    "link_if_absent": Action(lambda a, op: _link(a, op, requirement=ABSENT), "write_if_absent"),
    "begin_upload": Action(uploads.begin_upload),
    "complete_upload": Action(uploads.complete_upload),
    "complete_upload_if_absent": Action(uploads.complete_upload_if_absent),
    "complete_upload_if_match": Action(uploads.complete_upload_if_match),
    "abort_upload": Action(uploads.abort_upload),
    "expire_uploads": Action(uploads.expire_uploads),
    "set_metadata": Action(_set_metadata, "set_metadata"),
    "delete": Action(_delete, "delete"),
    "delete_many": Action(_delete_many, "tombstone", "branch"),
    "copy": Action(_copy, "write"),
    "copy_shallow": Action(partial(_copy, shallow=True), "write"),
    "copy_name": Action(life_actions.copy_name, "write"),
    "get": Action(_get, "read", reads_only=True),
    "get_head": Action(_get_head, "read_head", reads_only=True),
    "list": Action(_list, "read", "branch", reads_only=True),
    "commit": Action(_commit, "commit", "branch"),
    "commit_empty": Action(_commit_empty, "commit", "branch"),
    "merge": Action(_merge, "move", "branch"),
    "merge_if_apart": Action(partial(_merge, strategy=""), "move", "branch"),
    "revert": Action(_revert, "move", "branch"),
    "cherry_pick": Action(_cherry_pick, "move", "branch"),
    "commit_by_task": Action(task_actions.commit_by_task, "commit", "branch"),
    "merge_by_task": Action(task_actions.merge_by_task, "move", "branch"),
    "revert_by_task": Action(task_actions.revert_by_task, "move", "branch"),
    "cherry_pick_by_task": Action(task_actions.cherry_pick_by_task, "move", "branch"),
    "start_move": Action(task_actions.start_move),
    "start_copy": Action(task_actions.start_copy),
    "start_commit": Action(task_actions.start_commit),
    "start_merge": Action(task_actions.start_merge),
    "cancel_task": Action(task_actions.cancel_task),
    "show_task": Action(task_actions.show_task),
    "run_tasks": Action(task_actions.run_tasks),
    "reset": Action(_reset, "reset", "branch"),
    "reset_object": Action(_reset_object, "reset_object"),
    "reset_prefix": Action(_reset_prefix, "reset_object"),  # no path begins with another
    "hard_reset": Action(_hard_reset, "hard_reset", "branch"),
    "create_branch": Action(_create_branch, "create_branch", "branch"),
    "delete_branch": Action(_delete_branch, "delete_branch", "branch"),
    "create_tag": Action(tag_actions.create_tag, "create_branch", "branch"),
    "delete_tag": Action(tag_actions.delete_tag, "delete_branch", "branch"),
    "start_import": Action(imports.start_import),
    "delete_repository": Action(_delete_repository, "delete_repository", "repository"),
    "create_repository": Action(_create_repository, "create_repository", "branch"),
    "nest_repository": Action(_nest_repository),
    "dump": Action(_dump),
    "restore": Action(_restore),
    "collect": Action(_collect),
    "prepare_commits": Action(_prepare_commits),
    "configure_export": Action(_configure_export),
    "forget_export": Action(_forget_export),
    "run_export": Action(life_actions.run_export),
    "collect_old": Action(life_actions.collect_old),
    "sleep": Action(life_actions.sleep),
    "await_look": Action(life_actions.await_look),
    "await_awaiting": Action(life_actions.await_awaiting),
    "wait": Action(life_actions.wait),
    "stage_known": Action(life_actions.stage_known, "write"),
    "start_restore": Action(life_actions.start_restore),
    "delete_restored_branch": Action(life_actions.delete_restored_branch),
    "delete_restored_tag": Action(life_actions.delete_restored_tag),
    "step_clock": Action(life_actions.step_clock),
    "clean_up": Action(_clean_up),
    "seal": Action(_seal),
    **{name: Action(do) for name, do in EXPORT_ACTIONS.items()},
    **{name: Action(do) for name, do in DUMP_ACTIONS.items()},
    **{name: Action(do) for name, do in ACCESS_ACTIONS.items()},
    **{name: Action(do) for name, do in PULL_ACTIONS.items()},
    **{name: Action(do, "move", "branch") for name, do in PULL_MERGES.items()},
    **{name: Action(do) for name, do in TABLE_ACTIONS.items()},
    "copy_across": Action(copy_across, "write"),
    **{name: Action(do) for name, do in COLLECTION_ACTIONS.items()},
}
