"""One round: load with faults, quiescence, reads of everything, and the history for the judge."""

import argparse
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from bench.torture import collection, life_verdict, tasks, torment, verdict
from bench.torture.actions import act
from bench.torture.client import Client, calm_client
from bench.torture.history import Record, value_of
from bench.torture.http_client import UnsentError
from bench.torture.world import World

_REQUESTS_MAX = 90
_TRIES = 10

_WRITES = (
    "upload upload upload_if_absent stage link copy set_metadata set_metadata delete delete_many"
)
_READS = "stat stat stat_head list get get"
_S3_WRITES = (
    "s3_put s3_put s3_put_if_absent s3_put_if_match s3_copy s3_multipart s3_multipart s3_delete "
    "s3_delete_if_match s3_delete_objects"
)
_S3_READS = "s3_get s3_get s3_head s3_list"
_MOVES = "merge merge revert cherry_pick"
_RESETS = "reset reset_object reset_object"
_COLLECTED = "collections"
MIXES = {
    "all": (
        f"{_WRITES} {_READS} {_S3_WRITES} {_S3_READS} commit commit commit commit {_MOVES} "
        f"{_RESETS} dump"
    ),
    "writes": f"{_WRITES} {_WRITES} {_READS} {_S3_WRITES} {_S3_READS} commit commit commit",
    "plain": "upload stat stat_head list get commit commit set_metadata",
    "conditional": f"upload_if_absent upload_if_absent stage delete {_READS} commit commit merge",
    "moves": f"upload s3_put delete {_READS} commit commit {_MOVES} {_MOVES} dump",
    "resets": f"{_WRITES} {_READS} commit commit {_MOVES} {_RESETS} {_RESETS} hard_reset",
    "hard": f"{_READS} upload upload set_metadata stage commit merge hard_reset hard_reset reset",
    "branches": (
        f"{_WRITES} {_READS} {_S3_WRITES} {_S3_READS} commit commit commit merge create_branch "
        f"create_branch create_branch delete_branch delete_branch"
    ),
    "s3": f"{_S3_WRITES} {_S3_READS} {_S3_READS} stat stat_head set_metadata commit commit",
    "s3_conditional": (
        "s3_put_if_absent s3_put_if_match s3_put_if_match s3_delete_if_match s3_multipart "
        "upload_if_absent delete s3_delete s3_get s3_head s3_list stat stat_head commit commit "
        "merge reset_object"
    ),
    "tasks": (
        f"upload stage delete {_READS} commit commit_task commit_task commit_task merge_task "
        f"merge_task merge_task {_MOVES} reset"
    ),
    "task_branches": (
        f"upload stage delete {_READS} commit commit_task commit_task commit_task merge_task "
        f"merge_task create_branch create_branch create_branch delete_branch delete_branch "
        f"hard_reset"
    ),
    "lives": (
        "life_recreated life_recreated life_ended life_renamed life_reset life_cancelled "
        "life_transfer life_uploads"
    ),
    "refusals": "life_refused upload delete stat commit_task",
    "called_back": "life_called_back",
    "restores": "restored restored upload commit merge_task dump",
    _COLLECTED: "collected",
    "s3_multipart": f"s3_multipart s3_multipart s3_delete {_S3_READS} stat commit commit reset",
}


@dataclass(slots=True)
class Tally:
    """The totals of a whole run."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    blows: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    dumps: int = 0
    lives: int = 0
    failures: int = 0  # rounds without a verdict


@dataclass(slots=True)
class Beginning:
    """The state in which a round begins."""

    branches: list[str]
    initial: dict[tuple[str, bytes], Any]


def first_beginning() -> Beginning:
    """Return the state of a new repository, with empty branches."""
    return Beginning(["main", "dev"], {})


def run_round(
    world: World,
    number: int,
    options: argparse.Namespace,
    begins: Beginning,
    judges: verdict.Judges,
    tally: Tally,
) -> Beginning:
    """Run one round; return the state in which the next one begins."""
    chance = Random(f"{world.seed} round {number}")
    world.round_name = f"r{number}"
    mix = chance.choice(options.mix.split(",") if options.mix else list(MIXES))
    world.deleted_branches = ("dev",) if "delete_branch" in MIXES[mix] else ()
    world.is_collected = mix == _COLLECTED
    blows = [] if world.is_collected else torment.plan(chance, options.blows)
    load_s = chance.uniform(3.0, 8.0)
    began = time.monotonic()
    begins = _with_dev(world, begins)

    def meanwhile() -> None:
        if world.is_collected:
            tally.blows[collection.run(world)] += 1
        else:
            torment.carry_out(world.stack, blows, load_s, tally.blows)

    with world.neighbours.beside(is_noisy=number % 2 == 1):
        records = _load(world, chance, MIXES[mix], options.clients, meanwhile)
    torment.calm_down(world.stack)
    calm_s = time.monotonic() - began
    if problem := world.neighbours.problem():
        world.ledger.problem(problem)
    end = calm_client(world)
    tasks.settle(world, end)
    heads = _look(world, end)
    records += end.records
    last = [record.commit_id for record in end.records if record.commit_id][-1]
    checked = len(world.ledger.problems)
    operations = verdict.resolve(world, end, records, last)
    if operations:
        path = world.folder / f"round-{number}.pickle"
        judges.submit(path, operations, begins.initial, begins.branches)
    tally.lives += life_verdict.check(world, end)
    verdict.check_log(world, end, records, heads)
    verdict.check_objects(world, end, records, chance)
    tally.dumps += verdict.check_dumps(world, end, number, heads)
    tally.rounds += 1
    tally.answers.update((record.name, record.outcome) for record in records)
    for problem in world.ledger.problems[checked:]:
        print(f"  PROBLEM: {problem}", flush=True)
    _report(number, mix, blows, records, calm_s, time.monotonic() - began)
    initial = {
        (branch, path.encode()): value_of(world.holding(end.http, head).get(path))
        for branch, head in heads.items()
        for path in world.paths
    }
    return Beginning(list(heads), initial)


def _with_dev(world: World, begins: Beginning) -> Beginning:
    """Create the branch that an earlier round deleted, from main."""
    if "dev" in begins.branches:
        return begins
    client = calm_client(world)
    body = {"name": "dev", "source": "main"}
    world.calm(client.http, "POST", world.url("/branches"), body=body, accepted=(201, 409))
    copied = {("dev", path): value for (_, path), value in begins.initial.items()}
    return Beginning(["main", "dev"], begins.initial | copied)


def _load(
    world: World, chance: Random, mix: str, clients: int, meanwhile: Callable[[], object]
) -> list[Record]:
    """Run clients during another action; return their requests."""
    over = threading.Event()
    made = [
        Client(world, f"c{at}", Random(chance.random()), slow=chance.random() < 0.15)
        for at in range(clients)
    ]
    kinds = mix.split()

    def work(client: Client, chance: Random) -> None:
        try:
            repeat(client, chance)
        except Exception:  # noqa: BLE001 - a client's failure must be reported
            world.ledger.problem(f"client {client.name} broke:\n{traceback.format_exc()}")
        client.http.close()

    def repeat(client: Client, chance: Random) -> None:
        while not over.is_set() and len(client.records) < _REQUESTS_MAX:
            if act(client, chance.choice(kinds)) is None:
                time.sleep(0.3)
            elif chance.random() < 0.3:
                time.sleep(chance.expovariate(10))

    threads = [
        threading.Thread(target=work, args=(client, Random(chance.random()))) for client in made
    ]
    for thread in threads:
        thread.start()
    try:
        meanwhile()
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return [record for client in made for record in client.records]


def _look(world: World, end: Client) -> dict[str, str]:
    """Read everything, commit everything, and read again; return the heads of the branches."""
    heads = {}
    for branch in ("dev", "main"):  # events of main's commit come last
        if not _read_all(world, end, branch):
            continue
        record = _insist(world, partial(end.commit, branch, allow_empty=True))
        heads[branch] = record.commit_id
        _read_all(world, end, branch)
        for path, row in world.holding(end.http, record.commit_id).items():
            world.check_content(end.http, branch, path, row)
    return heads


def _read_all(world: World, end: Client, branch: str) -> bool:
    """Read each path of a branch; return whether the branch exists."""
    for path in world.paths:
        for suffix in ("", "@"):
            record = _insist(world, partial(end.stat, branch, path, suffix))
            if record.outcome == "no_branch":
                return False
    return True


def _insist(world: World, ask: Callable[[], Record]) -> Record:
    """Repeat a request until its answer is definite, as it must be without faults."""
    for _ in range(_TRIES):
        try:
            record = ask()
        except UnsentError:
            world.stack.revive()
            continue
        if record.outcome in ("ok", "no_branch"):
            return record
        if record.outcome != "unknown":
            raise RuntimeError(f"{record} in calm")
        torment.calm_down(world.stack)
    raise RuntimeError("no answer in calm")


def _report(
    number: int, mix: str, blows: list[torment.Blow], records: list[Record], calm_s: float, s: float
) -> None:
    outcomes = Counter(record.outcome for record in records)
    told = ", ".join(f"{amount} {outcome}" for outcome, amount in outcomes.most_common())
    done = "; ".join(map(str, blows)) or "nothing"
    print(
        f"round {number} ({mix}): {len(records)} requests: {told}; {done}; "
        f"{s:.1f} s, of which load {calm_s:.1f}",
        flush=True,
    )
