"""How long a request may take, and how often and how long requests are retried."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Of all clients of AWS. API Gateway ends a request after 30 s, which several calls share. The
# margin of an export's lease is longer than a call with its retries (graveler/export/lifecycle.py).
CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 10.0
RETRY_S_MAX = 8.0


@dataclass(frozen=True, slots=True)
class Retries:
    """Exponential backoff with full jitter, within a bounded time.

    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
    """

    total_s_max: float = RETRY_S_MAX
    first_pause_s: float = 0.02
    pause_s_max: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    monotonic_s: Callable[[], float] = time.monotonic
    uniform: Callable[[float, float], float] = random.uniform

    def attempts(self) -> Iterator[int]:
        """Yield the attempts' numbers from 1, with pauses between; end when no time is left."""
        deadline_s = self.monotonic_s() + self.total_s_max
        ceiling_s = self.first_pause_s
        attempt = 1
        while True:
            yield attempt
            pause_s = self.uniform(0, ceiling_s)
            if self.monotonic_s() + pause_s >= deadline_s:
                return
            self.sleep(pause_s)
            ceiling_s = min(ceiling_s * 2, self.pause_s_max)
            attempt += 1
