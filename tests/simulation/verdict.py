"""What has to hold when a schedule has come to its end, and everybody is done or gone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graveler.addresses import physical_uri
from graveler.branches.views import view_of_branch
from graveler.entries import value_entry
from graveler.errors import GravelerError, NotFoundError
from graveler.model import Branch, Repository
from graveler.open_repository import OpenRepository
from graveler.operations import commits, dumps, repositories
from tests.simulation.dumping import check_restored_names
from tests.simulation.life_verdict import check_destination, check_restored
from tests.simulation.tag_actions import check_tags
from tests.simulation.task_verdict import check_tasks
from tests.simulation.tasks import deliver_all
from tests.simulation.transfers import check_seen
from tests.simulation.uploads import check_uploads
from tests.simulation.worlds import COPY, DESCRIBED, NAMESPACE, REPO, stored_value
from tests.support.checks.linearizability import Operation, check_history
from tests.support.worlds.crossed_model import base_of
from tests.support.worlds.model import Records, differences, merged

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

_LONG_NS = 60 * 60 * 10**9


def judge(simulation: "Simulation") -> None:
    """Add what is wrong to the simulation's problems."""
    world = simulation.world
    world.objects.page_amount = 1000
    repository = world.refs.repository(REPO)
    try:
        deliver_all(simulation)
        _check_events(simulation)
        _check_merges(simulation, repository)
        _check_protection(simulation)
        _check_exports(simulation, repository)
        if repository is not None:
            check_destination(simulation, repository)
            check_seen(simulation, repository)
        check_restored(simulation)
        check_restored_names(simulation)
        check_tags(simulation)
        _check_objects(simulation)
        _check_tokens(simulation)
        if simulation.dumps:
            _check_dumps(simulation)
        _resolve(simulation)
        check_tasks(simulation)
        check_uploads(simulation)
        for watcher in simulation.watchers.values():
            watcher.judge()
        _look_at_the_end(simulation, repository)
    except GravelerError as error:
        simulation.problem("corrupt", f"at the end: {error!r}")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        simulation.problem("unexpected", f"at the end: {error!r}")
    torn = {str(op) for op in simulation.operations if op.id in simulation.choices.torn}
    operations = (
        replace(each, may_vanish=True) if each.label in torn else each
        for each in simulation.history
        if each.key[1] in simulation.paths
    )
    start = simulation.start
    if simulation.problems:
        return  # one is enough
    for violation in check_history(operations, start.heads, start.branches):
        simulation.problem("linearizable", str(violation))


def _resolve(simulation: "Simulation") -> None:
    """Put commits into the history, by what they turned out to hold."""
    refs = simulation.world.refs
    by_tasks = Counter(
        task.result.get("commit_id")
        for records in refs.records.values()
        for task in records.tasks.values()
    )
    made_head = simulation.outbox.times_head()
    for op, client, invoked, returned, outcome, key, made in simulation.unresolved:
        for repository, commit in reversed(made):
            if refs.commits(repository, [commit.id]):
                value = simulation.value_in(repository, commit.id, key[1])
                parent = simulation.value_in(repository, commit.parents[0], key[1])
                kind = "commit" if op.kind.startswith("commit") else "move"
                if made_head[commit.id] <= by_tasks[commit.id]:  # a task made the equal commit
                    kind = "join" if kind == "commit" else "join_move"
                simulation.history.append(
                    Operation(client, kind, invoked, returned, outcome, value, parent, key, str(op))
                )
                break
        else:
            if outcome == "ok":
                simulation.problem("history", f"{op} was answered, and there is no such commit")


def _look_at_the_end(simulation: "Simulation", repository: Repository | None) -> None:
    """Read every path, commit everything, and read again."""
    touched = {operation.key for operation in simulation.history}
    for name in sorted({branch for branch, _ in touched}):
        found = None if repository is None else simulation.world.refs.branch(repository, name)
        paths = [path for branch, path in sorted(touched) if branch == name]
        if repository is None or found is None:
            tag = None if repository is None else simulation.world.refs.tag(repository, name)
            for path in paths:
                if tag is None:
                    _saw(simulation, "read", (name, path), None, "no_branch")
                else:
                    value = simulation.value_in(repository, tag.commit_id, path)
                    _saw(simulation, "read_head", (name, path), value)
            continue
        _read_all(simulation, repository, found, paths)
        staging = simulation.world.staging
        if not found.sealed_tokens and not staging.changes(found.staging_token):
            continue
        outcome = "ok"
        invoked = simulation.scheduler.tick()
        try:
            request = commits.CommitRequest("the end", "end")
            commits.commit(simulation.new_engine(), REPO, name, request)
        except GravelerError as error:
            outcome = "no_changes" if "no changes" in error.message else "refused"
        found = simulation.world.refs.branch(repository, name)
        assert found is not None
        returned = simulation.scheduler.tick()
        for path in paths:
            value = simulation.value_in(repository, found.commit_id, path)
            simulation.history.append(
                Operation("end", "commit", invoked, returned, outcome, value, key=(name, path))
            )
        _read_all(simulation, repository, found, paths)


def _read_all(
    simulation: "Simulation", repository: Repository, branch: Branch, paths: list[bytes]
) -> None:
    view = view_of_branch(OpenRepository(simulation.reader, repository), branch)
    for path in paths:
        key = (branch.name, path)
        _saw(simulation, "read", key, stored_value(repository, view.get(path)))
        value = simulation.value_in(repository, branch.commit_id, path)
        _saw(simulation, "read_head", key, value)


def _saw(
    simulation: "Simulation",
    kind: str,
    key: tuple[str, bytes],
    value: object,
    outcome: str = "ok",
) -> None:
    tick = simulation.scheduler.tick
    simulation.history.append(Operation("end", kind, tick(), tick(), outcome, value, key=key))


def _check_events(simulation: "Simulation") -> None:
    """Events, one after the other, say how branches are; each commit has one."""
    refs = simulation.world.refs
    told = Counter(
        str(event.detail["commit_id"])
        for event in refs.events
        if event.kind in ("commit_created", "merge_completed", "revert_completed")
        or event.kind in ("cherry_pick_completed", "import_completed")
    )
    # An equal commit may be made again after a reset, in the same second.
    made = simulation.outbox.times_head()
    for commit_id, amount in told.items():
        if amount > max(1, made[commit_id]):
            simulation.problem("event", f"{amount} events of commit {commit_id}")
    for (name, uid), records in refs.records.items():
        for commit in records.commits.values():
            for parent in commit.parents:
                bare = name == COPY and refs.repository(name)
                if parent not in records.commits and not (bare and bare.is_bare):
                    simulation.problem("history", f"{commit.id} has no parent in {name} {uid}")
            fresh = commit.message.startswith("#") and name == REPO
            if fresh and not told[commit.id]:
                simulation.problem("event", f"{told[commit.id]} events of commit {commit}")


def _check_merges(simulation: "Simulation", repository: Repository | None) -> None:
    """A merge commit has what all best common ancestors and its parents say."""
    if repository is None:
        return
    found = simulation.world.refs.records_of(repository).commits
    made = [each for each in found.values() if each.message.startswith("#") and each.parents[1:]]
    if not made:
        return
    parents: Mapping[str, Sequence[str]] = {each.id: each.parents for each in found.values()}
    contents: Mapping[str, Records] = {
        each.id: dict(
            OpenRepository(simulation.reader, repository).metarange(each.metarange_id).records()
        )
        for each in found.values()
    }
    for each in made:
        onto, source = each.parents
        base = base_of(parents, contents, source, onto)
        expected = merged(base, contents[source], contents[onto], "source-wins")
        wrong = [path for path, *_ in differences(expected, contents[each.id])]
        if wrong:
            simulation.problem("merge", f"{each.message} has other objects at {wrong}")


def _check_protection(simulation: "Simulation") -> None:
    """A branch that is protected from the start changes by merges only."""
    refs = simulation.world.refs
    repository = refs.repository(REPO)
    protected = {rule.pattern for rule in repository.protection_rules} if repository else set()
    for event in refs.events:
        is_move = event.kind != "merge_completed" and not event.kind.startswith("task_")
        if event.detail.get("branch") in protected and is_move:
            simulation.problem("protection", f"{event.kind} of branch {event.detail['branch']}")
    if protected:  # what is staged is committed at the end
        repositories.set_protection_rules(simulation.reader, REPO, ())


def _check_exports(simulation: "Simulation", repository: Repository | None) -> None:
    """An export is there as long as its branch is, unless somebody ended it."""
    world = simulation.world
    if repository is None or any(event.kind == "repository_deleted" for event in world.refs.events):
        return
    wanted = {branch for branch, wanted in simulation.is_exported.items() if wanted}
    first = {key[1] for key in simulation.exported_first if key[0] == repository.uid}
    ended = {branch for branch, wanted in simulation.is_exported.items() if not wanted}
    deleted = {
        str(event.detail["branch"]) for event in world.refs.events if event.kind == "branch_deleted"
    }
    for branch in (first | wanted) - ended - deleted:
        record = world.exports.branch_export(repository, branch)
        if record is None or record.is_forgotten:
            simulation.problem("export", f"branch {branch} was not deleted, and its export is gone")


def _check_objects(simulation: "Simulation") -> None:
    """What is named is there, and so is whatever Graveler did not make."""
    world = simulation.world
    there = world.objects.contents()
    for uri, content in simulation.start.foreign.items():
        if there.get(uri) != content and not (uri == DESCRIBED and uri in there):
            simulation.problem("foreign", f"{uri} is gone, which Graveler did not make")
    for uri in simulation.made_elsewhere:
        if uri not in there:
            simulation.problem("foreign", f"{uri} is gone, which another repository made")
    if simulation.start.expires:
        return  # what was named without a break was looked at when it was deleted
    gone = {uri for uri in simulation.made if uri not in there and f"{NAMESPACE}/data/" in uri}
    if not gone:
        return
    repository = world.refs.repository(REPO)
    if repository is None or repository.storage_namespace != NAMESPACE:
        return
    for name, uri in _named(simulation, repository):
        if uri in gone:
            simulation.problem("collected", f"{uri} is gone, which {name} names")


def _check_tokens(simulation: "Simulation") -> None:
    """Whatever is staged belongs to a branch, or is registered to be dropped."""
    refs = simulation.world.refs
    known = {token for _, token in refs.cleanups}
    for records in refs.records.values():
        known.update(token for branch in records.branches.values() for token in branch.tokens)
    for token in simulation.world.staging.tokens():
        if token not in known:
            simulation.problem("leak", f"staging token {token} is nobody's, and never dropped")


def _named(simulation: "Simulation", repository: Repository) -> list[tuple[str, str]]:
    """Every address that a commit or a branch's staging tokens name."""
    world, engine = simulation.world, simulation.reader
    found = []
    records = world.refs.records_of(repository)
    for commit in records.commits.values():
        content = OpenRepository(engine, repository).metarange(commit.metarange_id)
        found += [(f"commit {commit.message}", value) for _, value in content.records()]
    for branch in records.branches.values():
        for token in branch.tokens:
            changes = world.staging.changes(token).values()
            found += [(f"branch {branch.name}", value) for value in changes if value is not None]
    namespace = repository.storage_namespace
    return [(name, physical_uri(namespace, value_entry(value))) for name, value in found]


def _check_dumps(simulation: "Simulation") -> None:
    """Every dump that was answered can be restored."""
    engine = simulation.new_engine()
    for number, dump in enumerate(simulation.dumps):
        name = f"restored-{number}"
        try:
            repositories.create(engine, name=name, storage_namespace=NAMESPACE, bare=True)
            dumps.restore(engine, name, dump)
        except NotFoundError:
            raise
        except GravelerError as error:
            simulation.problem("dump", f"a dump cannot be restored: {error.message}")
