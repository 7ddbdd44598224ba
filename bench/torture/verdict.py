"""The checks at the end of a round, except the linearizability of the answers."""

import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import Queue
from random import Random
from threading import Thread

from bench.torture.client import Client
from bench.torture.history import Record, Translator
from bench.torture.judge import TOO_LARGE
from bench.torture.world import World
from graveler_embedded.config import ROOT
from graveler_embedded.stores import BUCKET
from tests.support.checks.linearizability import Operation, Value
from tests.support.worlds.path_model import Key

_EVENTS_S = 150.0
_JUDGE_S = 300.0
_DUMPS_MAX = 3
_MOVES = ("hard_reset", "create_branch", "delete_branch")


class Judges:
    """Histories to be judged, one at a time, during the next rounds."""

    def __init__(self) -> None:
        self._queue: Queue[Path | None] = Queue()
        self.keys = self.operations = 0
        self.violations: list[tuple[Path, str]] = []
        self.undecided: list[Path] = []
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(
        self,
        path: Path,
        operations: list[Operation],
        initial: Mapping[Key, Value | None],
        branches: list[str],
    ) -> None:
        path.write_bytes(pickle.dumps((operations, initial, branches)))
        self.keys += len({operation.key for operation in operations})
        self.operations += len(operations)
        self._queue.put(path)

    def finish(self) -> None:
        """Wait until everything is judged."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (path := self._queue.get()) is not None:
            command = (sys.executable, "-m", "bench.torture.judge", str(path))
            try:
                ended = subprocess.run(
                    command, cwd=ROOT, capture_output=True, text=True, timeout=_JUDGE_S, check=False
                )
            except subprocess.TimeoutExpired:
                self.undecided.append(path)
                continue
            if ended.returncode == 0:
                path.unlink()
            elif ended.returncode == TOO_LARGE:
                self.undecided.append(path)
            else:
                self.violations.append((path, ended.stdout or ended.stderr))
                print(f"  VIOLATION in {path}\n{ended.stdout}{ended.stderr}", flush=True)


def resolve(world: World, client: Client, records: list[Record], last: str) -> list[Operation]:
    """Return the round's operations; events list the commits. last: the last commit's ID."""
    journal, repository = world.journal, world.repository
    deadline = time.monotonic() + _EVENTS_S
    while True:
        journal.read()
        if (repository, last) in journal.commits:
            break
        if time.monotonic() > deadline:
            world.ledger.problem(f"no event tells of commit {last} of {repository}")
            return []
        time.sleep(0.1)
    made: dict[str, tuple[str, str]] = {}
    for record in records:
        if record.kind not in ("commit", "move"):
            continue
        found = journal.by_message.get((repository, f"#{record.id}"), [])
        _check_commits(world, record, [each.id for each in found])
        for each in found:
            made[record.id] = (each.id, each.parent)
            if len(each.events) > 1:
                world.ledger.problem(f"{len(each.events)} events of commit {each.id}")
    for record in records:  # the content of commits comes first: it names addresses
        if record.id in made:
            for commit_id in made[record.id]:
                world.holding(client.http, commit_id)
    translator = Translator(world.ledger, made, lambda commit: world.holding(client.http, commit))
    # An acknowledged operation without a commit was reported above.
    sound = [
        each
        for each in records
        if each.kind not in ("commit", "move") or each.outcome != "ok" or each.id in made
    ]
    return [operation for record in sound for operation in translator.operations(record)]


def _check_commits(world: World, record: Record, found: Sequence[str]) -> None:
    if len(found) > 1:
        world.ledger.problem(f"{record} made several commits: {found}")
    if record.outcome == "ok" and not found:
        world.ledger.problem(f"no event tells of the commit of {record}")
    if record.outcome == "ok" and record.commit_id and record.commit_id not in found:
        world.ledger.problem(f"{record}: events tell of {found}")
    if record.outcome not in ("ok", "unknown") and found:
        world.ledger.problem(f"{record} was refused, and made {found}")


def check_log(world: World, client: Client, records: list[Record], heads: dict[str, str]) -> None:
    """Check that every acknowledged commit is in the log of its branch exactly once."""
    for branch, head in heads.items():
        logged = Counter(log(world, client, head))
        for commit_id, amount in logged.items():
            if amount > 1:
                world.ledger.problem(f"{commit_id} is {amount} times in the log of {branch}")
        if any(each.kind in _MOVES and each.outcome in ("ok", "unknown") for each in records):
            continue  # commits may have left the branch, which the checker judges
        for record in records:
            is_commit = record.kind in ("commit", "move") and record.branch == branch
            if is_commit and record.commit_id and record.commit_id not in logged:
                world.ledger.problem(f"the log of {branch} has no commit of {record}")


def log(world: World, client: Client, head: str) -> list[str]:
    """Return the commits that the head has, newest first."""
    found: list[str] = []
    after = ""
    while True:
        query = {"amount": 1000, "after": after}
        reply = world.calm(client.http, "GET", world.url(f"/refs/{head}/commits"), query).json
        found += [row["id"] for row in reply["results"]]
        if not reply["pagination"]["has_more"]:
            return found
        after = reply["pagination"]["next_offset"]


def check_objects(world: World, client: Client, records: list[Record], chance: Random) -> None:
    """Check that the content of some of the round's commits can be read."""
    made = [record.commit_id for record in records if record.kind in ("commit", "move")]
    made = [commit_id for commit_id in made if commit_id]
    for commit_id in chance.sample(made, min(4, len(made))):
        for path, row in world.holding(client.http, commit_id).items():
            world.check_content(client.http, commit_id, path, row)


def check_dumps(world: World, client: Client, number: int, heads: dict[str, str]) -> int:
    """Check that dumps, and a new one, can be restored; return their number."""
    dumps, world.dumps = world.dumps[:_DUMPS_MAX], []
    now = world.calm(client.http, "PUT", world.url("/refs/dump")).json
    for at, dump in enumerate((*dumps, now)):
        name = f"restored-{number}-{at}"
        namespace = f"s3://{BUCKET}/{world.repository}"
        body = {"name": name, "storage_namespace": namespace}
        world.calm(client.http, "POST", "/repositories", {"bare": "true"}, body, (201, 409))
        try:
            world.calm(client.http, "PUT", f"/repositories/{name}/refs/restore", body=dump)
        except RuntimeError as error:
            world.ledger.problem(f"a dump of {world.repository} cannot be restored: {error}")
        if dump is now:
            _compare_heads(world, client, name, heads)
        world.calm(client.http, "DELETE", f"/repositories/{name}", accepted=(204, 404))
    return len(dumps) + 1


def _compare_heads(world: World, client: Client, name: str, heads: dict[str, str]) -> None:
    rows = world.calm(client.http, "GET", f"/repositories/{name}/branches", {"amount": 1000}).json
    restored = {row["id"]: row["commit_id"] for row in rows["results"]}
    for branch, head in heads.items():
        if restored.get(branch) != head:
            world.ledger.problem(
                f"branch {branch} at {head} was restored as {restored.get(branch)}"
            )
