"""The blows of a round: a plan that follows from the seed, and its execution."""

import signal
import time
from collections import Counter
from dataclasses import dataclass
from random import Random

from bench.torture.stack import TorturedStack

_KILLED = ("worker", "worker", "worker", "api", "dynamodb", "dynamodb", "s3proxy", "stack", "stack")
_STOPPED = ("worker", "worker", "worker", "dynamodb", "dynamodb", "s3proxy", "background", "api")

# Kinds of blows that a round has.
_KINDS = (
    *("kill", "kill", "kill kill", "kill dynamodb", "kill dynamodb", "kill s3"),
    *("stop", "stop", "stop stop", "stop dynamodb", "stop kill", "stop kill dynamodb s3"),
    *("dynamodb", "dynamodb", "dynamodb", "dynamodb s3", "s3", ""),
)

# Probabilities for each request to a store.
_LIGHT = {
    "lose": 0.002,
    "stall": 0.002,
    "cut": 0.002,
    "delay": 0.002,
    "late": 0.001,
    "twice": 0.002,
}
_HEAVY = {
    "lose": 0.01, "stall": 0.01, "cut": 0.01, "delay": 0.01, "late": 0.005, "twice": 0.01,
    "refuse": 0.01, "hang": 0.002
}  # fmt: skip
_LOSSY = {"lose": 0.1, "cut": 0.05}
_LATE = {"late": 0.03, "delay": 0.03}
_REPEATED = {"stall": 0.05, "twice": 0.15}


@dataclass(frozen=True, slots=True)
class Blow:
    """A blow to the stack, and its duration if it has to be ended."""

    at_s: float
    kind: str  # kill, stop, or the name of a proxy
    target: str = ""
    lasts_s: float = 0.0
    rates: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        lasts = f" for {self.lasts_s:.1f} s" if self.lasts_s else ""
        return f"{self.kind} {self.target or dict(self.rates)}{lasts} at {self.at_s:.1f} s"


def plan(chance: Random, wanted: str = "") -> list[Blow]:
    """Return the blows of a round in order of time; wanted: kinds of blows for every round."""
    kinds = wanted.split(",") if wanted else chance.choice(_KINDS).split()
    return sorted((_blow(chance, kind) for kind in kinds), key=lambda blow: blow.at_s)


def _blow(chance: Random, kind: str) -> Blow:
    at_s = chance.uniform(0.5, 5.0)
    if kind == "kill":
        return Blow(at_s, kind, chance.choice(_KILLED))
    if kind == "stop":
        longest = chance.choice((3.0, 6.0, 12.0, 20.0))
        return Blow(at_s, kind, chance.choice(_STOPPED), chance.uniform(1.0, longest))
    rates = chance.choice((_LIGHT, _HEAVY, _HEAVY, _LOSSY, _LATE, _REPEATED, _REPEATED))
    at_s = chance.uniform(0, 2.0)
    return Blow(at_s, kind, "", chance.uniform(3.0, 10.0), tuple(rates.items()))


def carry_out(stack: TorturedStack, blows: list[Blow], load_s: float, done: Counter[str]) -> None:
    """Execute the plan while clients work, and restart what ends; then end all faults.

    Runs in the main thread, because the stack dies with the thread that starts it.
    """
    began = time.monotonic()
    waiting = list(blows)
    ends: list[tuple[float, Blow, list[int]]] = []
    while True:
        now_s = time.monotonic() - began
        while waiting and waiting[0].at_s <= now_s:
            blow = waiting.pop(0)
            pids = _strike(stack, blow, done)
            ends.append((now_s + blow.lasts_s, blow, pids))
        for end in [each for each in ends if each[0] <= now_s]:
            ends.remove(end)
            _relieve(stack, end[1], end[2])
        if not stack.is_running():
            stack.start()
        if now_s > load_s and not ends and not waiting:
            break
        time.sleep(0.05)


def _strike(stack: TorturedStack, blow: Blow, done: Counter[str]) -> list[int]:
    if blow.kind == "kill":
        if stack.kill(blow.target):
            done[f"kill {blow.target}"] += 1
        return []
    if blow.kind == "stop":
        pids = stack.signal(blow.target, signal.SIGSTOP)
        done[f"stop {blow.target}"] += len(pids)
        return pids
    proxy = stack.dynamodb if blow.kind == "dynamodb" else stack.s3
    proxy.set_faults(**dict(blow.rates))
    return []


def _relieve(stack: TorturedStack, blow: Blow, pids: list[int]) -> None:
    stack.resume(pids)
    if blow.kind in ("dynamodb", "s3"):
        (stack.dynamodb if blow.kind == "dynamodb" else stack.s3).set_faults()


def calm_down(stack: TorturedStack) -> None:
    """Wait until no request of earlier clients is running anywhere.

    Processes of the API are killed, so they send nothing more. Their requests are over when the
    stores have answered them.
    """
    for proxy in stack.proxies:
        proxy.set_faults()
    stack.revive()
    stack.kill_workers()
    pending = [(proxy, proxy.pending()) for proxy in stack.proxies]
    deadline = time.monotonic() + 60
    while any(proxy.pending() & numbers for proxy, numbers in pending):
        if time.monotonic() > deadline:
            raise TimeoutError("requests to the stores do not come to their end")
        time.sleep(0.05)
    stack.revive()
