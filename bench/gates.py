"""How often writers of one branch conflict at a gate: `python -m bench.gates`.

DynamoDB Local queues transactions that touch one item; DynamoDB cancels one of them. So this is a
model of DynamoDB: a transaction holds its items from half of its duration on, and one that finds an
item held is cancelled and retried, after the pauses of `graveler.aws.retries`. Writers are in a
closed loop: read the branch, stage, confirm. A conditional write checks the branch instead of a
gate, and confirms by an update of the branch, which meets transactions as well. Times are those of
a function in the same region, in milliseconds, drawn uniformly between half and one and a half
times the mean.
"""

import random
from collections.abc import Generator
from heapq import heappop, heappush
from statistics import median, quantiles

READ_MS = 4.0
TRANSACTION_MS = 9.0
UPDATE_MS = 5.0
SECONDS = 20
PAUSE_MS, PAUSE_MAX_MS = 20.0, 1_000.0
WRITERS = (1, 16, 64, 256)
GATES = (1, 8, 25, 64)


class Branch:
    """Held gates, and the writers' results. A conditional write has the branch as its one gate."""

    def __init__(self, gates: int, seed: int, *, is_conditional: bool) -> None:
        self.random = random.Random(seed)
        self.gates = gates
        self.is_conditional = is_conditional
        self.held: set[int] = set()
        self.took_ms: list[float] = []
        self.cancelled = 0

    def around(self, mean_ms: float) -> float:
        return mean_ms * self.random.uniform(0.5, 1.5)

    def writer(self, now_ms: float) -> Generator[float, float]:
        """Write forever; yield each wait, and receive the time at its end."""
        while True:
            begun_ms = now_ms
            now_ms = yield self.around(READ_MS)
            now_ms = yield from self.write(TRANSACTION_MS)
            if self.is_conditional:
                now_ms = yield from self.write(UPDATE_MS)
            else:
                now_ms = yield self.around(READ_MS)
            self.took_ms.append(now_ms - begun_ms)

    def write(self, mean_ms: float) -> Generator[float, float, float]:
        """Write until no other write holds the gate; return the time."""
        pause_ms = PAUSE_MS
        while True:
            half_ms = self.around(mean_ms) / 2
            yield half_ms
            gate = self.random.randrange(self.gates)
            if gate not in self.held:
                self.held.add(gate)
                now_ms = yield half_ms
                self.held.remove(gate)
                return now_ms
            self.cancelled += 1
            yield half_ms + self.random.uniform(0, pause_ms)
            pause_ms = min(2 * pause_ms, PAUSE_MAX_MS)


def measure(
    gates: int, writers: int, *, is_conditional: bool = False
) -> tuple[float, float, float, float]:
    """Return writes/s, median and 99th percentile in ms, cancelled requests per write."""
    branch = Branch(gates, writers, is_conditional=is_conditional)
    waiting: list[tuple[float, int, Generator[float, float]]] = []
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
    for gates in (0, *GATES):
        for writers in WRITERS:
            rate, p50, p99, cancelled = measure(gates or 1, writers, is_conditional=not gates)
            print(
                f"| {gates or 'conditional'} | {writers} | {rate:,.0f} "
                f"| {p50:.0f} | {p99:.0f} | {cancelled:.2f} |"
            )


if __name__ == "__main__":
    main()
