"""Rows of versions: branches, commits, diffs, merges."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

from bench.api.lake import Lake, Repository, Scale
from bench.api.load import Job, prepared, run_jobs
from bench.api.row import MILLISECONDS, Row, pair

_AMOUNTS = (1, 10, 100, 1_000)
_SPREADS = ("clustered", "random")
# Staging so many changes takes much longer than their commit, so there are fewer commits.
_MANY = 1_000
_REPEATS_MIN = 3
_Jobs = Callable[[Lake], Awaitable[Sequence[Job]]]


def rows(scale: Scale) -> Iterator[Row]:
    """Yield the rows of versions."""
    unit = MILLISECONDS
    branches = scale.branches
    yield from pair(scale, "branch-create", "branch", "create a branch", _creations, branches)
    yield from pair(scale, "branch-delete", "branch", "delete a branch", _removals, branches)
    yield Row("branch-list", "branch", "list the branches", unit, _branch_lists)
    for objects in scale.bases:
        of = "" if len(scale.bases) == 1 else f"-of-{objects}"
        for amount in _AMOUNTS:
            for spread in _SPREADS:
                name = f"commit-{amount}-{spread}{of}"
                title = f"commit of {amount:,} {spread} on {objects:,}"
                jobs = _of_commits(objects, amount, spread)
                yield Row(name, "commit", title, unit, jobs)
    small = "commit of 1 in a small repository"
    yield Row("commit-small", "commit", small, unit, _small_commits)
    for amount in (10, 1_000):
        for spread in _SPREADS:
            title = f"diff of {amount:,} {spread}"
            yield Row(f"diff-{amount}-{spread}", "diff", title, unit, _of_diffs(amount, spread))
    of_branches = "diff of two branches, 10 random"
    yield Row("diff-branches", "diff", of_branches, unit, _of_diffs(10, "random", of_branches=True))
    for amount in (10, 100):
        title = f"three-way merge, {amount} + {amount}"
        yield Row(f"merge-{amount}", "merge", title, unit, _of_merges(amount, amount))
    unchanged = "merge of 100, destination unchanged"
    yield Row("merge-unchanged", "merge", unchanged, unit, _of_merges(100, 0))


async def _creations(lake: Lake, amount: int) -> Sequence[Job]:
    base = await lake.base(lake.scale.bases[0])
    return _creating(lake, base, [lake.new("created") for _ in range(amount)])


async def _removals(lake: Lake, amount: int) -> Sequence[Job]:
    base = await lake.base(lake.scale.bases[0])
    names = [lake.new("removed") for _ in range(amount)]
    await run_jobs(_creating(lake, base, names), lake.scale.connections)
    paths = [f"{base.path}/branches/{name}" for name in names]
    return [lake.job(lake.client.encode("DELETE", path), 204) for path in paths]


def _creating(lake: Lake, base: Repository, names: Sequence[str]) -> Sequence[Job]:
    return [lake.job(lake.branching(base, name, "main"), 201) for name in names]


async def _branch_lists(lake: Lake) -> Sequence[Job]:
    async def make() -> Repository:
        made = await lake.create_repository("branches")
        jobs = _creating(lake, made, [f"branch-{i:04d}" for i in range(lake.scale.branches)])
        await run_jobs(jobs, lake.scale.connections)
        return made

    made = await lake.once("branches", make)
    job = lake.reading(f"{made.path}/branches?amount=1000", lake.scale.branches + 1)
    return [job] * lake.scale.repeats


def _keys(lake: Lake, objects: int, amount: int, spread: str) -> list[str]:
    pick = lake.some_keys if spread == "random" else lake.neighbours
    return pick(objects, amount)


def _of_commits(objects: int, amount: int, spread: str) -> _Jobs:
    async def prepare(lake: Lake) -> Sequence[Job]:
        base = await lake.base(objects)
        repeats = lake.scale.repeats
        if amount >= _MANY:
            repeats = min(repeats, max(_REPEATS_MIN, repeats // 2))

        async def stage(keys: Sequence[str]) -> Job:
            branch = await lake.changed(base, keys)
            return lake.job(lake.committing(base, branch), 201)

        all_keys = [_keys(lake, objects, amount, spread) for _ in range(repeats)]
        return await prepared([partial(stage, keys) for keys in all_keys])

    return prepare


async def _small_commits(lake: Lake) -> Sequence[Job]:
    small = await lake.once("small", lambda: lake.create_repository("small"))
    jobs = []
    for _ in range(lake.scale.repeats):
        branch = lake.new("branch")
        await lake.client.expect(lake.branching(small, branch, "main"), 201)
        await lake.stage(small, branch, ["a"])
        jobs.append(lake.job(lake.committing(small, branch), 201))
    return jobs


def _of_diffs(amount: int, spread: str, *, of_branches: bool = False) -> _Jobs:
    async def prepare(lake: Lake) -> Sequence[Job]:
        objects = lake.scale.objects
        base = await lake.base(objects)

        async def change() -> tuple[str, str]:
            branch = await lake.changed(base, _keys(lake, objects, amount, spread))
            return branch, await lake.commit(base, branch)

        branch, commit_id = await lake.once(f"diff {amount} {spread}", change)
        left, right = ("main", branch) if of_branches else (base.commit_id, commit_id)
        path = f"{base.path}/refs/{left}/diff/{right}?amount=1000&type=two_dot"
        return [lake.reading(path, min(amount, objects))] * (2 * lake.scale.repeats)

    return prepare


def _of_merges(source_changes: int, destination_changes: int) -> _Jobs:
    async def prepare(lake: Lake) -> Sequence[Job]:
        base = await lake.base(lake.scale.objects)

        async def commit_both(keys: Sequence[str]) -> Job:
            source = await lake.changed(base, keys[:source_changes])
            await lake.commit(base, source)
            destination = await lake.changed(base, keys[source_changes:])
            if destination_changes:
                await lake.commit(base, destination)
            path = f"{base.path}/refs/{source}/merge/{destination}"
            return lake.job(lake.client.encode("POST", path, {"message": "a merge"}), 200)

        changes = source_changes + destination_changes
        all_keys = [lake.some_keys(lake.scale.objects, changes) for _ in range(lake.scale.repeats)]
        return await prepared([partial(commit_both, keys) for keys in all_keys])

    return prepare
