"""A commit by slices: planned and finished by this process, applied by others side by side."""

from multiprocessing import get_context

from bench.figures import cores, peak_memory_mb, spent
from bench.large_commits.load import tables_of
from glue_jobs.session import Deployment
from graveler.aws import wiring
from graveler.aws.settings import Settings
from graveler.committed.apply import apply_slice, assemble
from graveler.committed.slices import Slice, SliceResult, plan
from graveler.model import CommitID, Repository, StagingToken
from graveler.operations.engine import Engine
from graveler.operations.protocol.views import View

Sealed = tuple[Repository, tuple[StagingToken, ...], CommitID]

# In a process that applies slices: its engine, and what it works on.
_working: list[tuple[Engine, Sealed]] = []


def engine_of(settings: Settings) -> Engine:
    """Return the engine of a new function of the deployment."""
    return wiring.engine_over(settings, tables_of(settings), b"signing key")


def commit_by_slices(made: Deployment, sealed: Sealed) -> tuple[int, float, float]:
    """Apply the sealed tokens to the head; return slices, planning seconds and peak memory.

    The peak is that of one process that applies slices.
    """
    engine, view = made.engine, _view(made.engine, sealed)
    with spent() as planning:
        slices = list(plan(view.committed, engine.committed.breaking, view.changes))
    with get_context("spawn").Pool(cores(), _begin, (made.settings, sealed)) as pool:
        applied = list(pool.imap(_apply, slices))
    results = [result for result, _ in applied]
    assemble(engine.committed, view.committed, results)
    return len(slices), planning.wall_s, max(peak for _, peak in applied)


def _view(engine: Engine, sealed: Sealed) -> View:
    found, tokens, head = sealed
    return View(engine, found, tokens, engine.content(found, head))


def _begin(settings: Settings, sealed: Sealed) -> None:
    _working[:] = [(engine_of(settings), sealed)]


def _apply(part: Slice) -> tuple[SliceResult, float]:
    engine, sealed = _working[0]
    view = _view(engine, sealed)
    changes = view.changes(part.start, part.end)
    return apply_slice(engine.committed, view.committed, part, changes), peak_memory_mb()
