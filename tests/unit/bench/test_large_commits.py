"""Large loads are staged whole, and their commits are measured."""

from collections.abc import Iterator

import pytest

from bench.dataset import Dataset
from bench.figures import in_fresh_process
from bench.large_commits.load import Load, additions, random_changes, stage
from bench.large_commits.run import measure
from bench.servers import servers
from graveler.model import Change, StagingToken


@pytest.mark.parametrize(
    "load", [additions(100), random_changes(5_000, 100)], ids=["new", "random"]
)
@pytest.mark.parametrize("count", [1, 3, 200])
def test_the_parts_of_a_load_are_the_load(load: Load, count: int) -> None:
    parts = [change for part in load.parts(count) for change in part.changes()]
    assert parts == list(load.changes())
    assert len(parts) == 100


def _staged(load: Load) -> Iterator[Change]:
    token = StagingToken("any")
    with servers() as made:
        stage(made.settings, token, load)
        yield from made.engine.staging.scan(token, b"", None)


@pytest.mark.server
@pytest.mark.long
def test_a_staged_load_is_what_a_commit_reads() -> None:
    load = Load(Dataset(9_000), range(0, 9_000, 3), version=1)
    assert list(in_fresh_process(_staged, load)) == list(load.changes())


@pytest.mark.server
@pytest.mark.long
@pytest.mark.parametrize(
    ("base_objects", "amount", "expected"),
    [
        (0, 300, {"300 additions, wall", "300 additions, processor"}),
        (4_000, 50, {"50 random changes, wall", "50 random changes, peak memory"}),
    ],
)
def test_a_commit_is_measured(tmp_path, base_objects, amount, expected):
    measured = in_fresh_process(measure, base_objects, amount, tmp_path)
    figures = {figure.name: figure.value for figure in measured}
    assert figures.keys() >= expected
    assert all(value > 0 for value in figures.values())
