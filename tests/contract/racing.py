"""Many threads that do the same at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from graveler.errors import AlreadyExistsError, StaleVersionError

THREADS = 8
ROUNDS = 5


def outcomes(attempt: Callable[[int], object]) -> list[object]:
    """What each of the threads got, started at the same moment: a result, or the error it raised."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> object:
        barrier.wait()
        try:
            return attempt(number)
        except (AlreadyExistsError, StaleVersionError) as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def winner(results: list[object]) -> int:
    won = [n for n, result in enumerate(results) if not isinstance(result, Exception)]
    assert len(won) == 1, results
    return won[0]
