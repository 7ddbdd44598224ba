"""The time-outs of attempts, and the policy of retries.

All attempts end at the deadline of the work in hand (`deadlines.py`).
"""

import random
import time
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from graveler.aws import deadlines

# For all clients of AWS. An attempt is shorter than the time for all attempts. So a connection that
# hangs fails an attempt and not the call. The margin of an export's lease is longer than a call
# with its retries (graveler/export/lifecycle.py).
CONNECT_TIMEOUT_S = 1.0
READ_TIMEOUT_S = 4.0
RETRY_S_MAX = 8.0
# DynamoDB answers in milliseconds; an answer has a megabyte at most.
DYNAMODB_ATTEMPT_S = 2.0
# S3 may send nothing while it copies gigabytes or joins parts.
LONG_READ_TIMEOUT_S = 10.0
# For work that outlives requests (`background_work.py`).
PATIENT_READ_TIMEOUT_S = 60.0

_ATTEMPTS_MIN = 2


class RetryPolicy(Struct, frozen=True):
    """Exponential backoff with full jitter, within a bounded time.

    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
    """

    total_s_max: float = RETRY_S_MAX
    first_pause_s: float = 0.02
    pause_s_max: float = 1.0
    read_timeout_s: float | None = None  # of reads; None: READ_TIMEOUT_S
    sleep: Callable[[float], None] = time.sleep
    monotonic_s: Callable[[], float] = time.monotonic
    uniform: Callable[[float, float], float] = random.uniform

    def patient(self, seconds: float) -> "RetryPolicy":
        """Return a policy that retries for these seconds, each attempt for half of them at most."""
        timeout_s = min(seconds / 2, PATIENT_READ_TIMEOUT_S)
        return replace(self, total_s_max=seconds, pause_s_max=10.0, read_timeout_s=timeout_s)

    def attempts(self) -> Iterator[int]:
        """Yield the attempts' numbers from 1, with pauses between; end when no time is left.

        There are at least two attempts, unless the deadline of the work in hand comes first. One
        that hangs may take longer than total_s_max.
        """
        end_s = self.monotonic_s() + self.total_s_max
        ceiling_s = self.first_pause_s
        attempt = 1
        while deadlines.left_s() > 0:
            yield attempt
            pause_s = self.uniform(0, ceiling_s)
            is_late = self.monotonic_s() + pause_s >= end_s
            if (is_late and attempt >= _ATTEMPTS_MIN) or pause_s >= deadlines.left_s():
                return
            self.sleep(pause_s)
            ceiling_s = min(ceiling_s * 2, self.pause_s_max)
            attempt += 1
