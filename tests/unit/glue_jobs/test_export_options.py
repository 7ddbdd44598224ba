"""What an export job may be told on its command line, and what it says of it."""

import pytest
from pyspark.sql import SparkSession

from graveler.errors import InvalidInputError
from graveler.export.slices import SLICE_OBJECTS_MIN
from graveler_jobs.export.job import main
from graveler_jobs.export.options import ExportOptions, parse

BRANCH = ("--repository", "lake", "--branch", "main")


def test_a_branch_is_enough() -> None:
    options, settings = parse(BRANCH)
    assert options == ExportOptions(repository="lake", branch="main")
    assert options.slice_objects == SLICE_OBJECTS_MIN
    assert settings == {}


@pytest.mark.parametrize("dash", ["-", "_"])
def test_options_and_settings_with_dashes_or_underscores(dash: str) -> None:
    words = ["--run-id", "a-run", "--slice-objects", "7", "--refs-table", "refs"]
    words[::2] = [f"--{name[2:].replace('-', dash)}" for name in words[::2]]
    options, settings = parse([*BRANCH, *words])
    assert options == ExportOptions(
        repository="lake", branch="main", run_id="a-run", slice_objects=7
    )
    assert settings == {"refs_table": "refs"}


def test_words_that_glue_adds_are_passed_over() -> None:
    words = ["--JOB_NAME", "export", "--enable-metrics", "--TempDir", "s3://b/t", *BRANCH]
    assert parse(words) == (ExportOptions(repository="lake", branch="main"), {})


@pytest.mark.parametrize("words", [["--brunch", "main"], ["brunch"]], ids=" ".join)
def test_unknown_words_are_refused(words: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="brunch"):
        parse([*BRANCH, *words])


def test_a_job_that_knows_no_deployment_says_so_before_spark_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def start() -> SparkSession:
        raise AssertionError("nothing is to be done")

    assert main(BRANCH, {}, start) == 1
    assert "GRAVELER_REFS_TABLE" in capsys.readouterr().out
