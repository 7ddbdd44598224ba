"""Recorded uploads in schedules: what clients do with them, and what has to hold of them.

Any client may complete or abort the upload of another one, and again. The transaction that completes
an upload is watched. So the history has one write of it, whoever asked for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from graveler.addresses import physical_uri
from graveler.errors import NotFoundError, UploadNotFoundError
from graveler.limits import OPEN_UPLOAD_LIFE_S
from graveler.model import NO_REQUIREMENT, Branch, Repository, Requirement
from graveler.model.recorded_uploads import Completion, Upload
from graveler.operations import objects, recorded_uploads
from graveler.ports import UploadedPart
from tests.simulation.lives import Lives
from tests.simulation.schedule import Op
from tests.simulation.worlds import REPO
from tests.support.checks.linearizability import Operation, Value
from tests.support.faults.counting import Port

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

# A slow completion stages its object so many steps after a collection has listed some branches.
_LATE_STEPS = 40
_ENDS_BRANCHES = ("delete_branch", "delete_repository")


@dataclass(slots=True)
class Begun:
    """An upload that a client began; the moments are those of the schedule.

    completions: those that were acknowledged. effects: transactions that staged the object.
    is_closing: somebody asked to abort it, or its record has expired.
    """

    upload: Upload
    parts: tuple[UploadedPart, ...]
    at: float
    completions: list[float] = field(default_factory=list)
    effects: list["Effect"] = field(default_factory=list)
    refusals: list[Op] = field(default_factory=list)
    is_closing: bool = False
    is_aborted: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """A transaction that was sent; kind and required are as in histories.

    invoked: when the client's request began.
    """

    repository: Repository
    branch: Branch
    completed: Completion | None
    invoked: float
    kind: str
    required: str | None


@dataclass(frozen=True, slots=True)
class Effect:
    """A transaction that staged the object; is_there: the branch of the name had its token."""

    sent: Attempt
    moment: float
    value: Value
    is_there: bool


@dataclass(slots=True)
class Uploads:
    """The uploads of a schedule."""

    tick: Callable[[], int]
    begun: list[Begun] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)

    def of(self, upload: Upload) -> Begun:
        return next(each for each in self.begun if each.upload.id == upload.id)


def write_down_effect(simulation: "Simulation", completed: Upload) -> None:
    """Note that a transaction took effect, which staged the object of an upload."""
    assert completed.completed is not None
    uploads = simulation.uploads
    sent = next(each for each in uploads.attempts if each.completed == completed.completed)
    namespace, branch = sent.repository.storage_namespace, sent.branch
    now = simulation.world.refs.records_of(sent.repository).branches.get(branch.name)
    effect = Effect(
        sent,
        uploads.tick(),
        Value(physical_uri(namespace, completed.entry(completed.completed))),
        is_there=now is not None and branch.staging_token in now.tokens,
    )
    uploads.of(completed).effects.append(effect)


# What clients do


def begin_upload(actor: "Actor", op: Op) -> None:
    upload = recorded_uploads.create(actor.engine, REPO, op.branch, op.path, metadata={})
    uri, store_id = recorded_uploads.location(actor.engine, REPO, op.branch, op.path, upload.id)
    parts = []
    for number in range(1, 2 + actor.choose("parts", 2)):
        content = f"{op.text} {number}".encode()
        checksum = actor.engine.objects.upload_part(uri, store_id, number, content)
        parts.append(UploadedPart(number, checksum))
    actor.uploads.begun.append(Begun(upload, tuple(parts), actor.uploads.tick()))


def _some_upload(actor: "Actor") -> Begun | None:
    begun = actor.uploads.begun
    return begun[-1 - actor.choose("upload", min(2, len(begun)))] if begun else None


def complete_upload(actor: "Actor", op: Op) -> None:
    _complete(actor, op, "write")


def complete_upload_if_absent(actor: "Actor", op: Op) -> None:
    _complete(actor, op, "write_if_absent", Requirement(is_absent=True))


def complete_upload_if_match(actor: "Actor", op: Op) -> None:
    chosen = _some_upload(actor)
    if chosen is None:
        return
    try:
        read = objects.stat(actor.engine, REPO, chosen.upload.branch, chosen.upload.path)
    except NotFoundError:
        return
    requirement = Requirement(checksums=frozenset({read.entry.checksum}))
    _complete(actor, op, "write_if_match", requirement, read.physical_address)


def _complete(
    actor: "Actor",
    op: Op,
    kind: str,
    requirement: Requirement = NO_REQUIREMENT,
    required: str | None = None,
) -> None:
    chosen = _some_upload(actor)
    if chosen is None:
        return
    invoked = actor.uploads.tick()

    def noting(
        name: str, call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if name == "staging.stage_upload":
            repository, branch, _, _, upload = args
            sent = Attempt(repository, branch, upload.completed, invoked, kind, required)
            actor.uploads.attempts.append(sent)
            if op.is_slow:
                actor.host.await_look()
                actor.host.wait(actor.choose("late", _LATE_STEPS))
        return call(*args, **options)

    staging: Any = Port(actor.engine.staging, "staging", noting)
    upload = chosen.upload
    try:
        recorded_uploads.complete(
            replace(actor.engine, staging=staging),
            REPO,
            upload.branch,
            upload.path,
            upload.id,
            chosen.parts,
            requirement,
        )
    except UploadNotFoundError:
        chosen.refusals.append(op)
        raise
    chosen.completions.append(actor.uploads.tick())


def abort_upload(actor: "Actor", op: Op) -> None:
    chosen = _some_upload(actor)
    if chosen is not None:
        chosen.is_closing = True
        upload = chosen.upload
        recorded_uploads.abort(actor.engine, REPO, upload.branch, upload.path, upload.id)
        chosen.is_aborted = True


def expire_uploads(actor: "Actor", op: Op) -> None:
    """Let the store delete records that have expired, while no request is under way."""
    actor.host.sleep(OPEN_UPLOAD_LIFE_S)
    repository = actor.engine.refs.repository(REPO)
    if repository is None:
        return
    for each in actor.uploads.begun:
        if each.upload.expires_s < actor.engine.now_s():
            each.is_closing = True
            actor.engine.refs.delete_upload(repository, each.upload)


# What has to hold


def check_uploads(simulation: "Simulation") -> None:
    """Add what is wrong with uploads to the problems, and their writes to the history."""
    lives = Lives(simulation.first_heads, simulation.outbox, REPO)
    ends = any(op.kind in _ENDS_BRANCHES for op in simulation.operations)
    for each in simulation.uploads.begun:
        upload = each.upload
        if len(each.effects) > 1 or (each.effects and each.is_aborted):
            is_aborted = ", and was aborted" if each.is_aborted else ""
            text = f"upload {upload.id} was staged {len(each.effects)} times{is_aborted}"
            simulation.problem("upload", text)
        if each.completions and not each.effects:
            simulation.problem("upload", f"upload {upload.id} was completed, and never staged")
        if each.refusals and not each.is_closing and not ends:
            text = f"{each.refusals[0]} was refused, and nobody aborted upload {upload.id}"
            simulation.problem("upload", text)
        for effect in each.effects:
            now = lives.within(upload.branch, effect.moment, effect.moment)
            # A read may find a branch before all of it is visible.
            is_whole = upload.branch not in simulation.created_in_parts
            if is_whole and effect.is_there and any(spell.born > each.at for spell in now):
                simulation.problem("stranger", f"upload {upload.id} changed a younger branch")
            simulation.history.append(_write(each, effect))


def _write(begun: Begun, effect: Effect) -> Operation:
    """Return the write: it is sure to last once a completion is acknowledged."""
    outcome = "ok" if begun.completions else "unknown"
    returned = min(begun.completions, default=inf)
    upload = begun.upload
    return Operation(
        "upload",
        effect.sent.kind,
        effect.sent.invoked,
        returned,
        outcome,
        effect.value,
        key=(upload.branch, upload.path),
        label=upload.id,
        required=effect.sent.required,
    )
