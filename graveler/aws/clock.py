"""The Clock of real time."""

import time

from graveler.aws import deadlines


class SystemClock:
    """`graveler.ports.Clock` on the machine's clock."""

    def now_ns(self) -> int:
        return time.time_ns()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def left_s(self) -> float:
        return deadlines.left_s()
