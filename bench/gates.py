"""How often writers of one branch conflict at a gate: `python -m bench.gates`.

DynamoDB Local queues transactions that touch one item; DynamoDB cancels one of them. So this is a
model of DynamoDB: a transaction holds its items from half of its duration on, and one that finds an
item held is cancelled and retried, after the pauses of `graveler.aws.retries`. Writers are in a
closed loop: read the branch, stage, confirm. Times are those of a function in the same region, in
milliseconds, drawn uniformly between half and one and a half times the mean.
"""

import random
from collections.abc import Iterator
from heapq import heappop, heappush
from statistics import median, quantiles

READ_MS = 4.0
TRANSACTION_MS = 9.0
SECONDS = 20
PAUSE_MS, PAUSE_MAX_MS = 20.0, 1_000.0
WRITERS = (1, 16, 64, 256)
GATES = (1, 8, 25, 64)


class Branch:
    """Held gates, and the writers' results."""

    def __init__(self, gates: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.gates = gates
        self.held: set[int] = set()
        self.took_ms: list[float] = []
        self.cancelled = 0

    def around(self, mean_ms: float) -> float:
        return mean_ms * self.random.uniform(0.5, 1.5)

    def writer(self, now_ms: float) -> Iterator[float]:
        """Write forever; yield each wait, and receive the time at its end."""
        while True:
            begun_ms = now_ms
            now_ms = yield self.around(READ_MS)
            pause_ms = PAUSE_MS
            while True:
                half_ms = self.around(TRANSACTION_MS) / 2
                now_ms = yield half_ms
                gate = self.random.randrange(self.gates)
                if gate not in self.held:
                    self.held.add(gate)
                    now_ms = yield half_ms
                    self.held.remove(gate)
                    break
                self.cancelled += 1
                now_ms = yield half_ms + self.random.uniform(0, pause_ms)
                pause_ms = min(2 * pause_ms, PAUSE_MAX_MS)
            now_ms = yield self.around(READ_MS)
            self.took_ms.append(now_ms - begun_ms)


def measure(gates: int, writers: int) -> tuple[float, float, float, float]:
    """Return writes/s, median and 99th percentile in ms, cancelled transactions per write."""
    branch = Branch(gates, seed=writers)
    waiting: list[tuple[float, int, Iterator[float]]] = []
    for number in range(writers):
        process = branch.writer(0.0)
        heappush(waiting, (next(process), number, process))
    while waiting[0][0] < SECONDS * 1_000:
        now_ms, number, process = heappop(waiting)
        heappush(waiting, (now_ms + process.send(now_ms), number, process))
    took = branch.took_ms
    return (
        len(took) / SECONDS,
        median(took),
        quantiles(took, n=100)[98],
        branch.cancelled / len(took),
    )


def main() -> None:
    print("| gates | writers | writes/s | p50 ms | p99 ms | cancelled per write |")
    print("|---:|---:|---:|---:|---:|---:|")
    for gates in GATES:
        for writers in WRITERS:
            rate, p50, p99, cancelled = measure(gates, writers)
            print(
                f"| {gates} | {writers} | {rate:,.0f} | {p50:.0f} | {p99:.0f} | {cancelled:.2f} |"
            )


if __name__ == "__main__":
    main()
