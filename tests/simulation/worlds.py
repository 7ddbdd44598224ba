"""The worlds that schedules begin in: built once for each process, copied for each schedule."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache

from graveler.addresses import physical_uri
from graveler.branches.heads import seal
from graveler.committed.store import Breaking
from graveler.dump.files import RefsDump
from graveler.engine import Engine
from graveler.entries import value_entry
from graveler.errors import GravelerError
from graveler.export.record import ExportConfiguration, ExportRequest
from graveler.model import Branch, Entry, ProtectionRule, Repository
from graveler.model.pulls import ReviewVerdict
from graveler.open_repository import OpenRepository
from graveler.operations import (
    branches,
    commits,
    dumps,
    merges,
    pulls,
    repositories,
    retention,
    reviews,
    tags,
    writes,
)
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.tables import namespaces, tables
from graveler.retention.rules import make_rules
from tests.simulation.database import SimulatedWorld, drawn_ids, simulated_world
from tests.support.checks.linearizability import Operation, Value
from tests.support.fakes.dynamodb.choices import Choices
from tests.support.worlds.iceberg_tables import request

REPO = "lake"
COPY, COPIED_TAG = "copy", "v1"
NAMESPACE = "s3://bucket/lake"
INNER = f"{NAMESPACE}/data/inner"
EXPORTED = "s3://out/dev"
# An object that users describe, larger than they say.
# Staged as the first bytes of an object that repeats them.
DESCRIBED, DESCRIBED_BYTES, DESCRIBED_TIMES = "s3://elsewhere/object", 5, 10
PATHS = (b"a", b"b", b"c")
TABLES_NAMESPACE, TABLE_NAMES = ("sales",), ("orders", "items")
ACTIONS_PATH = b"_lakefs_actions/check.yaml"
_ACTIONS = """name: check
on: {pre-commit: {}, pre-merge: {}, post-commit: {}, post-merge: {}}
hooks:
- {id: check, type: webhook, properties: {url: 'https://hooks.example.com'}}
"""
PREFIXED = (b"a1", b"a2", b"a3", b"b1", b"c1")
IMPORTED, IMPORTED_NAMES = "s3://elsewhere/imported/", ("a", "b", "d")
AGE_S = 30 * 60 * 60


@dataclass
class Start:
    """A world as schedules find it, and what is known of it."""

    world: SimulatedWorld
    commits: dict[str, str] = field(default_factory=dict)  # commit IDs by short names
    heads: dict[tuple[str, bytes], Value | None] = field(default_factory=dict)
    branches: tuple[str, ...] = ()
    before: list[Operation] = field(default_factory=list)  # what was staged, and not committed
    foreign: dict[str, bytes] = field(default_factory=dict)  # objects that Graveler did not make
    dump: RefsDump | None = None
    has_hooks: bool = False
    expires: bool = False  # commits expire, and collections delete what they named


def value_of(repository: Repository, entry: Entry) -> Value:
    """The token that stands for an object in histories."""
    address = physical_uri(repository.storage_namespace, entry)
    return Value(address, entry.metadata.get("m", ""))


def stored_value(repository: Repository, stored: bytes | None) -> Value | None:
    """As value_of, of a stored value."""
    return None if stored is None else value_of(repository, value_entry(stored))


def upload(engine: Engine, branch: str, path: bytes, text: str, repo: str = REPO) -> None:
    content = text.encode()
    writes.upload(engine, repo, branch, path, read_content=lambda: (content, "t"), metadata={})


def _commit(engine: Engine, branch: str, message: str, repo: str = REPO) -> str:
    return commits.commit(engine, repo, branch, commits.CommitRequest(message, "start")).id


def _new_start(breaking: Breaking | None = None) -> Start:
    world = simulated_world(breaking)
    world.sealed_tokens_max = 2  # so that there are compactions
    start = Start(world)
    start.foreign[DESCRIBED] = b"x" * DESCRIBED_BYTES * DESCRIBED_TIMES
    return start


def _place_foreign(start: Start) -> None:
    for uri, content in start.foreign.items():
        start.world.objects.put(uri, content, "t")


def _history(start: Start) -> None:
    """Commits first, c1 and c2 on main, d1 on dev, which goes off at c1."""
    engine = start.world.engine()
    made = start.commits
    made["first"] = branches.get(engine, REPO, "main").commit_id
    upload(engine, "main", b"a", "1")
    made["c1"] = _commit(engine, "main", "c1")
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, "main", b"a", "2")
    upload(engine, "main", b"b", "1")
    made["c2"] = _commit(engine, "main", "c2")
    upload(engine, "dev", b"c", "1")
    upload(engine, "dev", b"b", "3")
    upload(engine, "dev", b"b", "2")
    made["d1"] = _commit(engine, "dev", "d1")
    retention.set_rules(engine, REPO, make_rules(3650, ()))


def plain(breaking: Breaking | None = None) -> Start:
    """Two branches with nothing staged."""
    start = _new_start(breaking)
    _place_foreign(start)
    repositories.create(start.world.engine(), name=REPO, storage_namespace=NAMESPACE)
    _history(start)
    return start


def crossed() -> Start:
    """As plain; then each branch was merged into the other one at once."""
    start = plain()
    for branch, other, strategy in (("main", "d1", "dest-wins"), ("dev", "c2", "source-wins")):
        request = merges.MergeRequest("start", strategy=strategy)
        merges.merge(start.world.engine(), REPO, start.commits[other], branch, request)
    return start


def protected() -> Start:
    """main is protected: it changes by merges only."""
    start = plain()
    rules = [ProtectionRule("main")]
    repositories.set_protection_rules(start.world.engine(), REPO, rules)
    return start


def staged() -> Start:
    """One change of an object is sealed and not committed, one is staged over it."""
    return _staged("4", "5")


def restaged() -> Start:
    """As staged; what is staged has the content that is committed."""
    return _staged("4", "2")


def sliced() -> Start:
    """As plain; each object has a range of its own, so that changes can be cut anywhere."""
    return plain(Breaking(raggedness_records=1))


def sliced_staged() -> Start:
    """As sliced and staged."""
    return _staged("4", "5", breaking=Breaking(raggedness_records=1))


def asked() -> Start:
    """As sliced; a pull request is open."""
    start = sliced()
    pulls.create(start.world.engine(), REPO, pulls.NewPullRequest("start", "dev", "main", "first"))
    return start


def reviewed() -> Start:
    """As asked; main requires an approval, which the pull request has, and there is no conflict."""
    start = asked()
    engine = start.world.engine()
    request = merges.MergeRequest("start", strategy="source-wins")
    merges.merge(engine, REPO, "main", "dev", request)
    rules = [ProtectionRule("main", required_approvals=1)]
    repositories.set_protection_rules(engine, REPO, rules)
    (pull,) = pulls.list_page(engine, REPO, "", "", 1).results
    view = reviews.view(engine, REPO, pull.id)
    assert view.source_id is not None
    approved = ReviewVerdict.APPROVED
    reviews.review(engine, REPO, pull.id, approved, view.source_id, "reviewer 0")
    return start


def guarded() -> Start:
    """As sliced; hooks run before and after each commit and merge."""
    start = sliced()
    start.has_hooks = True
    engine = replace(start.world.engine(), ignores_actions=True)
    for branch in ("main", "dev"):
        upload(engine, branch, ACTIONS_PATH, _ACTIONS)
        _commit(engine, branch, "hooks")
    return start


def _staged(*texts: str, breaking: Breaking | None = None) -> Start:
    start = plain(breaking)
    for text in texts:
        found, branch = _stage(start, b"a", text)
        if text == texts[0]:
            seal(OpenRepository(start.world.engine(), found), branch)
    return start


def _stage(start: Start, path: bytes, text: str) -> tuple[Repository, Branch]:
    engine = start.world.engine()
    upload(engine, "main", path, text)
    found, branch = engine.refs.repository_and_branch(_repository(start), "main")
    assert found is not None
    assert branch is not None
    stored = engine.staging.get(branch.staging_token, path)
    assert stored is not None
    value = stored_value(found, stored.value)
    at = len(start.before) - 10
    before = Operation("start", "write", at, at + 0.5, "ok", value, key=("main", path))
    start.before.append(before)
    return found, branch


def _repository(start: Start) -> Repository:
    found = start.world.refs.repository(REPO)
    assert found is not None
    return found


def exported() -> Start:
    """dev is exported, and holds its head there."""
    start = plain()
    engine = start.world.engine()
    requests.configure(engine, REPO, "dev", ExportConfiguration(EXPORTED))
    request = ExportRequest(REPO, "dev")
    for number in range(3):
        advance(engine, request, runner=f"start {number}", time_left_s=lambda: 900.0)
    return start


def exporting() -> Start:
    """As exported; a head that differs everywhere waits for its export."""
    start = exported()
    engine = start.world.engine()
    configuration = ExportConfiguration(EXPORTED, is_continuous=True)
    requests.configure(engine, REPO, "dev", configuration)
    for path in PATHS:
        upload(engine, "dev", path, "9")
    start.commits["d2"] = _commit(engine, "dev", "d2")
    return start


def expiring() -> Start:
    """Commits expire as soon as they are no heads; some objects were never committed, or overwritten."""
    return _with_rules(0, [("main", 0)])


def expiring_later() -> Start:
    """Commits expire after a day; those of main after two."""
    return _with_rules(1, [("main", 2)])


def _with_rules(default_days: int, branch_days: list[tuple[str, int]]) -> Start:
    start = plain()
    retention.set_rules(start.world.engine(), REPO, make_rules(default_days, branch_days))
    start.expires = True
    for path in PATHS[1:]:
        for garbage in "345":
            upload(start.world.engine(), "main", path, garbage)
        _stage(start, path, "6")
    return start


def prefixed() -> Start:
    """As sliced, with several objects below each prefix; some of them are staged only."""
    start = sliced()
    _fill_prefixes(start)
    return start


def prefixed_expiring() -> Start:
    """As prefixed and expiring."""
    start = _with_rules(0, [("main", 0)])
    _fill_prefixes(start)
    return start


def _fill_prefixes(start: Start) -> None:
    for path in PREFIXED[:3]:
        upload(start.world.engine(), "main", path, "7")
    _commit(start.world.engine(), "main", "prefixes")
    for path in PREFIXED[2:5]:
        _stage(start, path, "8")


def with_tables() -> Start:
    """As plain; both branches have two empty tables."""
    start = plain()
    engine = start.world.engine()
    namespaces.create(engine, REPO, "main", TABLES_NAMESPACE, {})
    for name in TABLE_NAMES:
        tables.create(engine, REPO, "main", TABLES_NAMESPACE, name, request())
    _commit(engine, "main", "tables")
    ours = merges.MergeRequest("start", strategy="source-wins")
    merges.merge(engine, REPO, "main", "dev", ours)
    return start


def importing() -> Start:
    """As sliced; some objects wait to be imported."""
    start = sliced()
    start.foreign |= {f"{IMPORTED}{name}": name.encode() for name in IMPORTED_NAMES}
    _place_foreign(start)
    return start


def foreign() -> Start:
    """Files were there before the repository; a deleted repository lies inside of its data."""
    start = _new_start()
    start.foreign[f"{NAMESPACE}/data/2019/part-0"] = b"old"
    start.foreign[f"{NAMESPACE}/data/2020/part-0"] = b"new"
    _place_foreign(start)
    engine = start.world.engine()
    with suppress(GravelerError):
        repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
        _history(start)
    return start


def nested() -> Start:
    """A deleted repository, of which there is a dump, lies inside of the repository's data."""
    start = plain()
    engine = start.world.engine()
    with suppress(GravelerError):
        repositories.create(engine, name="inner", storage_namespace=INNER)
        upload(engine, "main", b"a", "inner", repo="inner")
        _commit(engine, "main", "inner", repo="inner")
        dumps.dump(engine, "inner")
        objects = start.world.objects
        start.foreign |= {uri: objects.get(uri) for uri in objects.uris(f"{INNER}/data/")}
        repositories.delete(engine, "inner")
    return start


def dumped() -> Start:
    """There is a dump, and a bare repository that it can be restored into."""
    start = plain()
    engine = start.world.engine()
    tags.create(engine, REPO, name=COPIED_TAG, ref="main")
    start.dump = dumps.dump(engine, REPO)
    repositories.create(engine, name=COPY, storage_namespace=NAMESPACE, bare=True)
    return start


WORLDS: dict[str, Callable[[], Start]] = {
    made.__name__: made
    for made in (
        *(plain, crossed, protected, staged, restaged, sliced, asked, guarded),
        *(reviewed, with_tables),
        *(prefixed, prefixed_expiring, importing),
        *(sliced_staged, exported, exporting, expiring, expiring_later, foreign, nested, dumped),
    )
}


@cache
def _template(name: str) -> Start:
    with drawn_ids(0):
        start = WORLDS[name]()
    world = start.world
    world.clock.tick(AGE_S)
    world.objects.bytes_read.clear()
    repository = world.refs.repository(REPO)
    if repository is not None:
        engine = world.engine()
        found = world.refs.branches(repository, "", "", 100, show_hidden=True).results
        start.branches = tuple(branch.name for branch in found)
        for branch in found:
            content = OpenRepository(engine, repository).content(branch.commit_id)
            for path, value in content.records():
                start.heads[branch.name, path] = stored_value(repository, value)
    return start


def new_world(name: str, choices: Choices | None = None) -> Start:
    """A copy of the world, that a schedule may change, over a service with the choices."""
    start = _template(name)
    return replace(start, world=start.world.fork(choices), before=list(start.before))
