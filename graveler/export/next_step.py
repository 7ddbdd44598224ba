"""What to do next with a branch's export: a table of rules over the facts of its record."""

from enum import Enum, Flag, auto

from graveler.export.lifecycle import has_work, is_unwanted
from graveler.export.record import BranchExport, ExportState
from graveler.model import CommitID


class Next(Enum):
    """The next step of a branch's export."""

    NOTHING = "nothing"
    WAIT = "wait"  # for the runner that holds the run
    BEGIN = "begin"  # a run that exports the branch's head
    TAKE = "take"  # the run in progress, which no runner holds
    DROP = "drop"  # the run in progress, which is unwanted
    FORGET = "forget"  # the export: the branch or the configuration is deleted


class _Fact(Flag):
    LEASED = auto()  # a runner holds the run in progress, or a batch job is about to
    DELETED = auto()  # the branch or the configuration
    IN_PROGRESS = auto()
    UNWANTED = auto()
    FAILED = auto()
    REPAIRED = auto()
    PENDING = auto()
    CONTINUOUS = auto()
    HAS_WORK = auto()


_NO_FACT = _Fact(0)
# The first rule whose facts all hold decides.
_RULES = (
    (_Fact.LEASED, Next.WAIT),
    (_Fact.DELETED, Next.FORGET),
    (_Fact.IN_PROGRESS | _Fact.UNWANTED, Next.DROP),
    (_Fact.IN_PROGRESS, Next.TAKE),
    (_Fact.FAILED, Next.NOTHING),  # until it is repaired
    (_Fact.REPAIRED | _Fact.PENDING, Next.BEGIN),
    (_Fact.PENDING | _Fact.HAS_WORK, Next.BEGIN),
    (_Fact.CONTINUOUS | _Fact.HAS_WORK, Next.BEGIN),
    (_NO_FACT, Next.NOTHING),
)


def next_step(record: BranchExport, head: CommitID | None, now_ns: int) -> Next:
    """Return the next step of the branch's export; head is None if the branch is deleted."""
    facts = _facts(record, head, now_ns)
    return next(step for needed, step in _RULES if needed in facts)


def _facts(record: BranchExport, head: CommitID | None, now_ns: int) -> _Fact:
    is_in_progress = record.state is ExportState.IN_PROGRESS
    holds = {
        _Fact.LEASED: is_in_progress
        and record.run is not None
        and record.run.lease_until_ns > now_ns,
        _Fact.DELETED: head is None or record.is_forgotten,
        _Fact.IN_PROGRESS: is_in_progress,
        _Fact.UNWANTED: is_unwanted(record),
        _Fact.FAILED: record.state is ExportState.FAILED,
        _Fact.REPAIRED: record.state is ExportState.REPAIRED,
        _Fact.PENDING: record.is_pending,
        _Fact.CONTINUOUS: record.configuration.is_continuous,
        _Fact.HAS_WORK: head is not None and has_work(record, head),
    }
    facts = _NO_FACT
    for fact, is_true in holds.items():
        if is_true:
            facts |= fact
    return facts
