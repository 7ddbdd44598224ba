"""`python -m bench.large_commits`: large commits over the real stores, DynamoDB Local and S3Proxy.

    python -m bench.large_commits --additions 200000 1000000 --bases 10000000 --changes 1000
    python -m bench.large_commits --stack .graveler --additions 200000

Changes are staged directly in the table, and the engine commits them in one pass. Each measurement
has its own process and servers. Random changes are made to a repository of `bench.repository`,
whose files are linked into the S3 server's folder.

With --stack, the changes are staged on a running stack, found by its data folder, which makes the
commit as its users get it: by a task and its slices.
"""

import base64
import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from uuid import uuid4

from bench.figures import Figure, in_fresh_process, peak_memory_mb, spent
from bench.large_commits.load import Load, additions, random_changes, stage
from bench.large_commits.names import ADDITIONS, ANSWERED, CHANGES, changes_name
from bench.report import Results, Sections, printed
from bench.repository import FOLDER, NAMESPACE, make_repository, open_repository
from bench.servers import servers_in
from graveler.aws.settings import DeploymentSettings
from graveler.aws.wiring import Adapters
from graveler.branches.lookup import current_branch
from graveler.engine import Engine
from graveler.model import MetaRangeID
from graveler.operations import commits, repositories
from graveler_embedded.job import environment_of_stack
from graveler_embedded.stores import BUCKET
from graveler_jobs.session import JobDeployment

TITLE = "Large commits by the engine over DynamoDB Local and S3Proxy"
STACK_TITLE = "Large commits on a running stack, until they are answered"
REPOSITORY = "large"
BRANCH = "main"


def measure(base_objects: int, amount: int, folder: Path) -> Iterator[Figure]:
    """Measure a commit of additions to nothing, or of random changes to a base."""
    load = random_changes(base_objects, amount) if base_objects else additions(amount)
    name = f"{amount:,} random changes" if base_objects else f"{amount:,} additions"
    with _prepared(base_objects, folder) as made:
        _, branch = current_branch(made.engine, REPOSITORY, BRANCH)
        with spent() as staging:
            stage(made.settings, branch.staging_token, load)
        yield Figure(f"{name}, staged directly", amount / staging.wall_s, "changes/s wall")
        with spent() as times:
            commits.commit(made.engine, REPOSITORY, BRANCH, commits.CommitRequest("large", "bench"))
        yield Figure(f"{name}, wall", times.wall_s, "s wall")
        yield Figure(f"{name}, processor", times.cpu_s, "s cpu")
        yield Figure(f"{name}, peak memory", peak_memory_mb(), "MB")


def engine_of(settings: DeploymentSettings) -> Engine:
    """Return the engine of a new function of the deployment."""
    return Adapters(settings).engine_signing(b"signing key")


@contextmanager
def _prepared(base_objects: int, folder: Path) -> Iterator[JobDeployment]:
    """A deployment with a repository whose head is the base; the engine has read nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    with servers_in(folder, in_memory=False) as (made, buckets):
        namespace = f"s3://{BUCKET}/{REPOSITORY}"
        repositories.create(made.engine, name=REPOSITORY, storage_namespace=namespace)
        if base_objects:
            metarange_id = _link(base_objects, folder, buckets / BUCKET / REPOSITORY / "_lakefs")
            request = commits.CommitRequest("base", "bench", source_metarange=metarange_id)
            commits.commit(made.engine, REPOSITORY, BRANCH, request)
        yield replace(made, engine=engine_of(made.settings))


def _link(objects: int, folder: Path, served: Path) -> MetaRangeID:
    """Serve the files of a generated repository."""
    base = open_repository(folder, objects) or make_repository(folder, objects)
    served.mkdir(parents=True, exist_ok=True)
    for file in (base.folder / NAMESPACE.partition("://")[2]).iterdir():
        os.link(file, served / file.name)
    return base.metarange_id


class Stack:
    """A running `make serve`, by its data folder."""

    def __init__(self, data: Path, port: int) -> None:
        environment = environment_of_stack(data)
        os.environ |= {name: environment[name] for name in environment if name.startswith("AWS_")}
        self.settings = DeploymentSettings.from_environment(environment)
        self.data = data
        self._port = port
        pair = (environment[f"GRAVELER_{name}"] for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
        self._authorization = "Basic " + base64.b64encode(":".join(pair).encode()).decode()

    def post(self, path: str, **body: str) -> tuple[int, bytes]:
        """Return the status and the body of the answer to a request of the API.

        Like lakectl, it follows redirects and repeats a request that is answered 503.
        """
        url, query = f"/api/v1/{path.partition('?')[0]}", path.partition("?")[2]
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        while True:
            connection = HTTPConnection("127.0.0.1", self._port)
            connection.request("POST", f"{url}?{query}", json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status not in (307, 503):
                return answer.status, content
            query = answer.headers.get("Location", "?").partition("?")[2]

    def stage(self, repository: str, branch: str, load: Load) -> None:
        """Stage the load on the branch."""
        _, found = current_branch(engine_of(self.settings), repository, branch)
        stage(self.settings, found.staging_token, load)


def measure_stack(stack: Stack, base_objects: int, amount: int, folder: Path) -> Iterator[Figure]:
    """Measure a commit over HTTP in a new repository: of additions, or of changes to a base."""
    repository = f"large-{uuid4().hex[:8]}"
    status, body = stack.post(
        "repositories", name=repository, storage_namespace=f"s3://{BUCKET}/{repository}"
    )
    if status != 201:
        raise RuntimeError(f"the repository was not created: {status} {body!r}")
    commits_path = f"repositories/{repository}/branches/{BRANCH}/commits"
    load = random_changes(base_objects, amount) if base_objects else additions(amount)
    if base_objects:
        served = stack.data / "s3" / BUCKET / repository / "_lakefs"
        base = _link(base_objects, folder, served)
        stack.post(f"{commits_path}?source_metarange={base}", message="base")
    stack.stage(repository, BRANCH, load)
    name = changes_name(amount) if base_objects else ANSWERED
    with spent() as times:
        status, body = stack.post(commits_path, message="large")
    if status != 201:
        raise RuntimeError(f"the commit was not made: {status} {body!r}")
    yield Figure(name, times.wall_s, "s wall")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the arguments select, print the figures, and store them as results."""
    options = _parse(arguments)
    if options.stack is not None:
        _measure_stack(Stack(options.stack, options.port), options)
        return
    results = Results(options.results, "large-commits-engine", TITLE)
    by_base: dict[int, list[Figure]] = {}
    for base, amount in _measurements(options):
        made = in_fresh_process(measure, base, amount, options.folder)
        by_base.setdefault(base, []).extend(printed(f"{amount:,} over {base:,}", made))
    for base, figures in by_base.items():
        sections: Sections = {"Commits": figures}
        results.keep(f"{base:,}", sections)


def _measure_stack(stack: Stack, options: Namespace) -> None:
    # Imported here, to keep plotting out of the memory of measuring processes.
    from bench.large_commits.plots import plot_commits  # noqa: PLC0415

    results = Results(options.results, "large-commits", STACK_TITLE)
    by_run: dict[str, Sections] = {}
    for base, amount in _measurements(options):
        name = f"{amount:,} over {base:,} on the stack"
        figures = printed(name, measure_stack(stack, base, amount, options.folder))
        run, section = (f"{base:,}", CHANGES) if base else (f"{amount:,}", ADDITIONS)
        by_run.setdefault(run, {}).setdefault(section, []).extend(figures)
        results.keep(run, by_run[run])
    plot_commits(results, options.results)


def _measurements(options: Namespace) -> Iterator[tuple[int, int]]:
    """Yield how many objects there are, and how many changes are made to them."""
    for amount in options.additions:
        yield 0, amount
    for base in options.bases:
        for amount in options.changes:
            yield base, amount


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.large_commits", description=__doc__)
    add = parser.add_argument
    add("--additions", type=int, nargs="*", default=[200_000, 1_000_000], help="first commits")
    add("--bases", type=int, nargs="*", default=[10_000_000], help="repositories to change")
    add("--changes", type=int, nargs="*", default=[1_000], help="random changes to each base")
    add("--folder", type=Path, default=FOLDER, help="generated repositories, servers' data")
    add("--results", type=Path, default=FOLDER / "results", help="where tables go")
    add("--stack", type=Path, help="the data folder of a running stack, to measure that")
    add("--port", type=int, default=8000, help="the port of the stack")
    return parser.parse_args(arguments)
