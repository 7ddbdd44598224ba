"""The Clock of real time."""

import time


class SystemClock:
    """`graveler.ports.Clock` on the machine's clock."""

    def now_ns(self) -> int:
        return time.time_ns()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
