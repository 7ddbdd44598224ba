"""Rate and waits against the number of clients, in a model of DynamoDB in virtual time.

The adapters and the engine are the real ones. bench/scale/README.md has the model's assumptions.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from bench.figures import Figure, in_fresh_process
from bench.report import Results, Sections, printed
from bench.repository import FOLDER
from bench.scale import scenarios
from bench.scale.dynamodb import ModelOfDynamoDB
from bench.scale.functions import World, virtual
from bench.scale.load import Load
from bench.scale.partitions import Partitions
from bench.scale.plots import plot_scale
from bench.scale.scenarios import Client
from bench.scale.virtual_time import VirtualTime
from graveler.model.tokens import ALL_PLAIN, Spread, Spreads

TITLE = "Rates and waits in a model of DynamoDB"
# An account's functions that run at the same time [K].
FUNCTIONS_MAX = 1_000
SEED = 1
# A split after minutes is played after this time, in tables that are warm for so much.
SPLIT_AFTER_S = 1.5
SPLIT_WRITES_S, SPLIT_READS_S = 40_000, 120_000


@dataclass(frozen=True, slots=True)
class State:
    """The state of the tables: a run of the results."""

    name: str
    warm_s: float
    measured_s: float
    new_partitions: Callable[[], Partitions] = Partitions
    is_limited: bool = True


NEW = State("new tables", 2.0, 2.0)
SPLIT = State(
    "after splits", 6.0, 2.0, partial(Partitions, SPLIT_WRITES_S, SPLIT_READS_S, SPLIT_AFTER_S)
)
UNLIMITED = State("without partitions", 1.0, 2.0, is_limited=False)
STATES = (NEW, SPLIT, UNLIMITED)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Clients by their number, over tables in a state; figures are of the kind of request."""

    title: str
    kind: str
    state: State
    clients: Sequence[int]
    prepare: Callable[[Load, int], Sequence[Client]]
    spreads: Spreads = ALL_PLAIN


def _longer(state: State) -> State:
    """Return the state for few long requests: sweeps, and links of a thousand objects."""
    return replace(state, measured_s=10.0)


def _all(shards: int, gates: int) -> Spreads:
    """Return the rule by which all tokens are spread alike."""
    return ((0, Spread(shards, gates)),)


_FEW, _MANY = (1, 4, 16), (16, 64)
_ALL = (1, 16, 64, 256)
_WRITES = "Single writes to one branch"
_TOGETHER = "Links of a thousand objects a request, to one branch"
_SPREAD = "Single writes to a branch each"
_CONDITIONAL = "Conditional writes to one branch"
_READS = f"Reads of one branch by {scenarios.READERS} clients, by its writers"
_OF_REPOSITORY = "Commits of one change, of one repository"
_OF_DEPLOYMENT = "Commits of one change, of a deployment"
_CLEANUPS = "Cleanups by the one worker, by clients that commit"
SCENARIOS = (
    Scenario(_WRITES, "writes", NEW, _ALL, scenarios.one_branch),
    Scenario(_TOGETHER, "links", _longer(NEW), (1, 4), scenarios.together),
    Scenario(_SPREAD, "writes", NEW, _MANY, scenarios.many_branches),
    Scenario(_CONDITIONAL, "writes", NEW, (1, 16, 64), scenarios.conditional),
    Scenario(_READS, "reads", NEW, (0, 64), scenarios.reads_beside_writes),
    Scenario(_OF_REPOSITORY, "commits", NEW, _FEW, scenarios.commits_of_a_repository),
    Scenario(_OF_DEPLOYMENT, "commits", NEW, _FEW, scenarios.commits_of_a_deployment),
    Scenario(_CLEANUPS, "cleanups", _longer(NEW), (4, 16), scenarios.with_cleanup),
    Scenario("Changes dropped, by changes of the token", "drops", NEW, (2_000,), scenarios.drop),
    Scenario(_WRITES, "writes", SPLIT, (16, 64, 256), scenarios.one_branch),
    Scenario(f"{_WRITES}, ascending paths", "writes", SPLIT, (64,), scenarios.ascending),
    Scenario(_TOGETHER, "links", _longer(SPLIT), _FEW, scenarios.together),
    Scenario(_SPREAD, "writes", SPLIT, _MANY, scenarios.many_branches),
    Scenario(_OF_REPOSITORY, "commits", SPLIT, _MANY, scenarios.commits_of_a_repository),
    Scenario(_OF_DEPLOYMENT, "commits", SPLIT, _MANY, scenarios.commits_of_a_deployment),
    Scenario(_CLEANUPS, "cleanups", _longer(SPLIT), _MANY, scenarios.with_cleanup),
    *(
        Scenario(
            f"{_WRITES}, {n} gates", "writes", UNLIMITED, _ALL, scenarios.one_branch, _all(1, n)
        )
        for n in (1, 8, 25, 64, 128)
    ),
    *(
        Scenario(f"{title}, {shards} shards", kind, state, clients, prepare, _all(shards, gates))
        for shards, gates in ((8, 64), (32, 128))
        for title, kind, state, clients, prepare in (
            (_WRITES, "writes", NEW, (64, 256), scenarios.one_branch),
            (_TOGETHER, "links", _longer(NEW), (1, 4), scenarios.together),
            (_WRITES, "writes", SPLIT, (64, 256), scenarios.one_branch),
            (_TOGETHER, "links", _longer(SPLIT), _FEW, scenarios.together),
        )
    ),
    Scenario(_CONDITIONAL, "writes", UNLIMITED, _ALL, scenarios.conditional),
)


def measure(number: int, clients_max: int) -> Iterator[Figure]:
    """Yield the figures of a scenario, for each number of clients."""
    scenario = SCENARIOS[number]
    for clients in scenario.clients:
        if clients <= clients_max:
            yield from _figures(scenario, clients, played(scenario, clients))


def played(scenario: Scenario, clients: int) -> Load:
    """Return the load of so many clients after its time."""
    time, state = VirtualTime(), scenario.state
    with virtual(time, SEED):
        model = ModelOfDynamoDB(time, SEED, state.new_partitions, is_limited=state.is_limited)
        load = Load(
            World(model, scenario.spreads),
            functions_max=FUNCTIONS_MAX,
            warm_s=state.warm_s,
            measured_s=state.measured_s,
            seed=SEED,
        )
        load.run(scenario.prepare(load, clients))
    return load


def _figures(scenario: Scenario, clients: int, load: Load) -> Iterator[Figure]:
    timed, counts = load.timed[scenario.kind], load.world.model.counts
    name = f"{clients:,}: {scenario.kind}"
    yield Figure(name, timed.ended / load.measured_s, "/s")
    yield Figure(f"{name}, p50", timed.quantile_ms(0.5), "ms")
    yield Figure(f"{name}, p99", timed.quantile_ms(0.99), "ms")
    yield Figure(f"{name}, refused", timed.refused / load.measured_s, "/s")
    conflicts = counts["TransactionConflict"] + counts["TransactionConflictException"]
    for event, amount in (("throttled", counts["throttled"]), ("conflicts", conflicts)):
        yield Figure(f"{name}, {event}", 100 * amount / counts["requests"], "% of requests")


def main(arguments: Sequence[str] | None = None) -> None:
    """Play what the arguments select, print the figures, and store them as results."""
    options = _parse(arguments)
    results = Results(options.results, "scale", TITLE)
    for state in STATES:
        sections: Sections = {}
        for number, scenario in enumerate(SCENARIOS):
            is_chosen = fnmatch(scenario.title, options.only) and state.name in options.tables
            if scenario.state.name == state.name and is_chosen:
                figures = in_fresh_process(measure, number, options.clients_max)
                sections[scenario.title] = printed(f"{scenario.title}, {state.name}", figures)
        if sections:
            results.keep(state.name, sections, f"seed {SEED}")
    plot_scale(results, options.results)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.scale", description=__doc__)
    add = parser.add_argument
    add("--only", default="*", help="play only scenarios whose title matches this pattern")
    names = [state.name for state in STATES]
    add(
        "--tables", nargs="+", choices=names, default=names, help="play only tables in these states"
    )
    add("--clients-max", type=int, default=2_000, help="play no larger number of clients")
    add("--results", type=Path, default=FOLDER / "results", help="where table and plot go")
    return parser.parse_args(arguments)
