"""The Lambda function: a schedule calls `handler` every few minutes."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import Record, Telemetry
from graveler.aws import wiring
from graveler.aws.clock import SystemClock

# One piece is a commit's tokens or a repository: seconds at most, usually milliseconds.
_PIECES_AT_ONCE = 20
# What is not done when this little time is left is done by the next call.
_TIME_LEFT_MIN_MS = 60_000

telemetry = Telemetry("graveler-cleanup")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001
    """Drop everything that is due; how many pieces of work were done.

    Pieces that fail come again later. The call fails at its end, so that the alarm reports them.
    """
    with telemetry.record("sweep", context) as record:
        done, failures = _sweep(context, record)
        if failures:
            record.tell(problem=f"{len(failures)} pieces failed, the first by the error below")
            raise failures[0]
    return {"done": done}


def _sweep(context: LambdaContext, record: Record) -> tuple[int, list[Exception]]:
    store = wiring.cleanup()
    done = 0
    failures: list[Exception] = []
    while context.get_remaining_time_in_millis() > _TIME_LEFT_MIN_MS:
        swept = store.sweep(SystemClock().now_ns(), _PIECES_AT_ONCE)
        done += swept.done
        failures += swept.failures
        record.measure("PiecesDropped", swept.done)
        record.measure("PiecesFailed", len(swept.failures))
        if swept.total < _PIECES_AT_ONCE:
            break
    return done, failures
