"""What can go wrong: at calls of the ports that are memory fakes, and at requests to DynamoDB.

What a method or a request can do is a table by its name. Those that are in none of the tables write.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from graveler.aws.errors import RequestRefusedError
from graveler.errors import GravelerError, ThrottledError, UnknownOutcomeError
from graveler.operations.leases import StoppedError
from tests.simulation.schedule import Fault, Place
from tests.support.faults.faults import Crash

READS = frozenset(
    [
        "objects.get",
        "objects.get_stored",
        "objects.head",
        "objects.list_objects",
        "objects.list_folder",
        "objects.list_uploads",
        "objects.list_parts",
        *(f"dynamodb.{operation}" for operation in ("GetItem", "BatchGetItem", "Query")),
    ]
)
# A lost answer makes the adapter send these again: they take effect twice. Those that ask for a
# condition ask again.
REPEATED = frozenset(
    [
        "objects.put",
        "objects.copy",
        "objects.delete",
        "objects.delete_many",
        "export_queue.send",
        "task_queue.send",
        "slice_function.invoke",
    ]
)
# Adapters that do not know whether a request without an answer took effect say that they failed.
UNSURE = frozenset(["task_queue.send", "slice_function.invoke"])
# Ports over DynamoDB: not their calls are steps, but their requests.
OVER_DYNAMODB = frozenset(["refs", "staging", "exports", "jobs"])
# A request to DynamoDB that follows one whose answer was lost.
AGAIN = "dynamodb again"
_READ_FAULTS = ("crash before", "throttled", "pause", "pause")
_WRITE_FAULTS = (
    *("crash before", "crash after", "throttled", "pause", "pause"),
    *("lost, not done", "lost, done", "lost, done late"),
)
# Of a request that takes no time.
_PROMPT_FAULTS = ("crash before", "crash after", "throttled", "lost, not done", "lost, done")
_SENT_FAULTS = ("cut off", "slow", "lost, not done")
_PAUSES_S = (1, 30, 600, 3600)
# Nobody waits longer for an answer: whoever reads is ended by then.
_READER_PAUSE_S_MAX = 600
# How long a client cannot reach DynamoDB after a lost request: for some attempts of a call, for all
# of them, and also for those of the call that reads back.
_CUT_OFF_S = (0, 0, 12, 20)
# A request arrives before its signature is too old; or the process is frozen for that long.
_SLOW_S = (1, 30, 290)
_FROZEN_S = (1, 30, 290, 310, 700, 3600)


class SeededFaults:
    """Faults by chance, written down as they come."""

    def __init__(self, chance: Random, *, has_any: bool) -> None:
        self.found: dict[Place, Fault] = {}
        self._chance = chance
        self._rate = chance.choice((0.0, 0.02, 0.06)) if has_any else 0.0

    def __call__(
        self, place: Place, name: str, *, reads_only: bool, is_prompt: bool = False
    ) -> Fault | None:
        chance = self._chance
        rate = 0.5 if name == AGAIN else self._rate
        if not self._rate or chance.random() >= rate:
            return None
        kinds: tuple[str, ...] = _READ_FAULTS if name in READS else _WRITE_FAULTS
        if is_prompt:
            kinds = _PROMPT_FAULTS
        elif name == AGAIN:
            kinds = ("pause",)
        elif name in REPEATED:
            kinds = (*kinds, "repeated", "repeated")
        elif name.startswith("dynamodb."):
            kinds = (*kinds, *_SENT_FAULTS, *(() if name in READS else ("crash, done late",)))
        kind = chance.choice(kinds)
        fault = Fault(kind)
        if kind == "pause":
            longest = _READER_PAUSE_S_MAX if reads_only else _PAUSES_S[-1]
            fault = Fault(
                kind, min(chance.choice(_FROZEN_S if name == AGAIN else _PAUSES_S), longest)
            )
        elif kind == "slow":
            fault = Fault(kind, chance.choice(_SLOW_S))
        elif name.startswith("dynamodb.") and kind.startswith(("lost", "cut")):
            fault = Fault(kind, chance.choice(_CUT_OFF_S))
        self.found[place] = fault
        return fault


class WrittenFaults:
    """The faults that are written down."""

    def __init__(self, faults: dict[Place, Fault]) -> None:
        self.found = faults

    def __call__(self, place: Place, _name: str, **_: bool) -> Fault | None:
        return self.found.get(place)


def carry_out(
    fault: Fault,
    call: Callable[[], Any],
    pause: Callable[[], None],
    tick: Callable[[int], None],
    later: Callable[[Callable[[], None]], None],
) -> Any:
    """The call as the fault has it."""
    kind = fault.kind
    if kind == "crash before":
        raise Crash
    if kind == "throttled":
        raise ThrottledError("simulated")
    if kind == "pause":
        pause()
        tick(fault.s)
        return call()
    if kind == "repeated":
        call()
        pause()
        return call()
    if kind == "lost, not done":
        raise UnknownOutcomeError("simulated")
    if kind == "lost, done late":
        later(lambda: _quietly(call))
        raise UnknownOutcomeError("simulated")
    call()
    if kind == "crash after":
        raise Crash
    raise UnknownOutcomeError("simulated")


def _quietly(call: Callable[[], Any]) -> None:
    # Nobody is there to be told. A machine that was frozen signs with an old time.
    with suppress(GravelerError, StoppedError, RequestRefusedError):
        call()
