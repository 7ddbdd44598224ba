"""The Clock of real time."""

import time

from graveler.aws import deadlines
from graveler.times import Moment


def moment() -> Moment:
    """Return this moment by both clocks of this process."""
    return Moment(time.time_ns(), time.monotonic_ns())


class SystemClock:
    """`graveler.ports.Clock` on the machine's clock."""

    def now_ns(self) -> int:
        return time.time_ns()

    def moment(self) -> Moment:
        return moment()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def left_s(self) -> float:
        return deadlines.left_s()
