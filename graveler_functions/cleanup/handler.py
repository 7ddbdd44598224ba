"""The Lambda function: a schedule calls `handler` every few minutes."""

import os
from dataclasses import dataclass
from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler.aws.environment import FromEnvironment
    from graveler.aws.system import SystemClock
    from graveler.times import NS_PER_S
    from graveler_functions.telemetry import Telemetry, TelemetryRecord

# With less time left, the sweep stops and leaves the rest to the next call.
_TIME_LEFT_MIN_MS = 60_000

telemetry = Telemetry("graveler-cleanup")


@dataclass(frozen=True, slots=True)
class CleanupSettings(FromEnvironment):
    """The settings of the cleanup function alone."""

    # The series of the scheduled collections (`graveler.retention.series`); () watches none.
    watched_collections: tuple[str, ...] = ()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001
    """Drop everything that is due, and write a heartbeat; return the number of pieces done.

    Pieces that fail are due again later.

    Raises:
        Exception: the first failure, after all other pieces, so that the alarm reports it.
    """
    with telemetry.record("sweep", context) as record:
        silence = _beat(record)
        swept = wiring.adapters().cleanup.sweep(
            SystemClock().now_ns(),
            lambda: context.get_remaining_time_in_millis() > _TIME_LEFT_MIN_MS,
        )
        record.is_idle = not swept.done
        record.measure("PiecesDropped", swept.done)
        record.measure("PiecesFailed", len(swept.failures))
        if swept.failures:
            record.add(problem=f"{len(swept.failures)} pieces failed; the error is the first one's")
            raise swept.failures[0]
        if silence is not None:
            record.add(problem="no sign of life could be stored")
            raise silence
    return {"done": swept.done}


def _beat(record: TelemetryRecord) -> Exception | None:
    """Write the heartbeat, and measure the age of the last collection; return the failure.

    A failure must not stop the sweep.
    """
    heartbeats, now_ns = wiring.adapters().heartbeats, SystemClock().now_ns()
    watched = CleanupSettings.from_environment(os.environ).watched_collections
    try:
        heartbeats.beat(now_ns)
        if watched:
            collected_ns = heartbeats.collected_ns(watched, now_ns)
            record.level("CollectionAge", max(0, (now_ns - collected_ns) // NS_PER_S))
    except Exception as error:  # noqa: BLE001 - the handler raises it after the sweep
        return error
    return None
