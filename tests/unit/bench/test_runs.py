"""The benchmarks run, at a small size, and print and keep a figure for everything they promise."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench.dataset import Dataset
from bench.engine import function
from bench.engine import run as engine_run
from bench.engine.scale import Scale
from bench.figures import Figure, in_fresh_process, peak_memory_mb
from bench.files import CountedFiles, FolderFiles
from bench.profile import main as profile
from bench.report import Results
from bench.repository import NAMESPACE, make_repository, open_repository
from bench.reuse import run as reuse_run
from bench.reuse.model import Model, range_ends
from bench.reuse.year import WORKLOADS, Changed
from graveler.errors import CorruptDataError

OBJECTS = 4_000
SMALL = Scale(
    warming_lookups=400,
    lookups=400,
    hot_objects=50,
    cold_lookups=3,
    latency_s=0.001,
    changes=(1, 100),
    merged_changes=(10,),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """A process for each group of figures keeps their memory apart, and takes time to start."""
    for module in (engine_run, function, reuse_run):
        monkeypatch.setattr(module, "in_fresh_process", lambda measure, *args: measure(*args))


@pytest.mark.long
def test_every_section_of_the_engine_has_its_rows(folder, capsys):
    results = folder / "results"
    options = ["--objects", str(OBJECTS), "--folder", str(folder), "--results", str(results)]
    engine_run.main(options, SMALL)
    kept = json.loads((results / "engine.json").read_text())["runs"]["4,000"]
    assert list(kept) == [title for title, _ in engine_run.SECTIONS.values()]
    rows = {name for section in kept.values() for name in section}
    assert rows >= {
        "on disk",
        "hot, all in RAM, all cores",
        "zipf",
        "uniform, each opens its file",
        "cold, store of 1 ms, requests",
        "processor",
        "scan of 4,000",
        "page of the days of a table, cold",
        "commit of 100 clustered, again",
        "diff of 100 random",
        "merge of 10 random on each side",
        "import of 4,000 into an empty repository",
    }
    assert all(value >= 0 for section in kept.values() for value, _ in section.values())
    shown = capsys.readouterr().out
    table = (results / "engine.md").read_text()
    assert all(row in shown and row in table for row in rows)
    assert (results / "engine-by-size.svg").stat().st_size
    assert (results / "engine-by-change.svg").stat().st_size


def test_figures_of_other_sizes_are_kept(tmp_path):
    results = Results(tmp_path, "engine", "Title")
    results.keep("2,000", {"Section": [Figure("a", 1.5, "ms"), Figure("b", 2, "")]})
    Results(tmp_path, "engine", "Title").keep("900", {"Section": [Figure("a", 1234.5, "ms")]})
    Results(tmp_path, "engine", "Title").keep("900", {"Other": []})
    again = Results(tmp_path, "engine", "Title")
    assert again.runs == ["900", "2,000"]
    assert again.value("2,000", "Section", "a") == 1.5
    assert again.value("900", "Section", "b") is None
    assert "| a | 1,234 | 1.5 | ms |" in (tmp_path / "engine.md").read_text()


def _allocate(amount):
    filled = bytearray(amount)
    yield Figure("allocated", len(filled), "B")
    yield Figure("peak", peak_memory_mb(), "MB")


def _fail():
    yield Figure("one", 1, "")
    raise ValueError


def test_a_fresh_process_sends_its_figures_and_has_memory_of_its_own():
    large, small = (list(in_fresh_process(_allocate, amount)) for amount in (200 << 20, 1))
    assert large[0] == Figure("allocated", 200 << 20, "B")
    assert large[1].value > small[1].value + 150


def test_a_fresh_process_that_fails_is_noticed():
    with pytest.raises(RuntimeError, match="_fail"):
        list(in_fresh_process(_fail))


@pytest.mark.long
def test_reuse_is_measured_for_each_workload_and_raggedness(folder):
    results = folder / "results"
    options = ["--objects", "20000", "--days", "1", "--model-objects", "50000", "--model-days", "2"]
    reuse_run.main([*options, "--folder", str(folder), "--results", str(results)])
    runs = json.loads((results / "reuse.json").read_text())["runs"]
    assert set(runs) == {"2,048", "8,192", "50,000"}
    for sections in runs.values():
        engine, model = sections.values()
        for workload in WORKLOADS:
            reused = engine[f"{workload}: ranges reused"][0]
            foreseen = engine[f"{workload}: ranges reused, says the model"][0]
            assert reused == pytest.approx(foreseen, abs=3)
            assert 0 <= model[f"{workload}: ranges reused"][0] <= 100


def test_the_model_knows_where_the_engine_ends_ranges(folder):
    repository = make_repository(folder, 30_000, seed=2, raggedness=1_000)
    dataset = Dataset(30_000, seed=2)
    ends = range_ends(dataset, [1_000], folder)[1_000]
    headers = repository.content(repository.committed()).headers()
    assert [dataset.key(end) for end in ends.tolist()] == [header.max_key for header in headers]


def test_the_model_counts_the_ranges_that_a_commit_meets():
    model = Model(np.array([9, 19, 29]), bytes_per_record=2, metarange_bytes=5)
    written = model.commit(Changed(np.array([8, 25]), np.array([3, 1])))
    assert (written.ranges, written.reused, written.changes) == (3, 0, 4)
    assert written.bytes_written == 30 * 2 + 5
    assert model.commit(Changed(np.array([10]), np.array([10]))).reuse == pytest.approx(2 / 3)


@pytest.mark.parametrize("row", ["lookup", "scan", "commit", "diff"])
def test_a_row_can_be_profiled(folder, capsys, row):
    profile([row, "--objects", "3000", "--folder", str(folder)])
    assert "tottime" in capsys.readouterr().out
    assert open_repository(folder, 3_000) is not None


def test_files_are_written_once_and_read_from_what_lies_beneath(tmp_path):
    below = FolderFiles(tmp_path / "below")
    assert below.write(NAMESPACE, "a", b"first")
    files = CountedFiles(FolderFiles(tmp_path / "above", tmp_path / "below"))
    assert not files.write(NAMESPACE, "a", b"second")
    assert files.write(NAMESPACE, "b", b"0123456789")
    assert not files.write(NAMESPACE, "b", b"third")
    assert files.read_all(NAMESPACE, "a") == b"first"
    assert files.read_tail(NAMESPACE, "b", 3) == (b"789", 10)
    assert files.read(NAMESPACE, "b", 2, 3) == b"234"
    assert (files.traffic.reads, files.traffic.bytes_read) == (3, 11)
    with pytest.raises(CorruptDataError):
        files.read(NAMESPACE, "b", 8, 3)
    with pytest.raises(CorruptDataError):
        below.read_all(NAMESPACE, "b")
    assert [path.name for path in Path(tmp_path / "below").rglob("*") if path.is_file()] == ["a"]
