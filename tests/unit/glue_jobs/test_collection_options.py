"""What a collection may be told on its command line."""

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from graveler.errors import InvalidInputError
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler_jobs.garbage_collection.job import main
from graveler_jobs.garbage_collection.options import CollectionOptions, parse
from graveler_jobs.garbage_collection.run import _cutoff_ns
from graveler_jobs.session import job_settings
from tests.support.checks.cases import for_each

# As Glue calls a script.
OF_GLUE = (
    *("true", "--job-bookmark-option", "job-bookmark-disable", "--JOB_ID", "j_1", "true"),
    *("--JOB_RUN_ID", "jr_1", "--JOB_NAME", "gc", "--TempDir", "s3://b/t", "--enable-metrics"),
    *("--extra-py-files", "s3://b/code.zip", "--custom-logGroup-prefix", "/gc"),
)


def test_nothing_said_collects_everything_safely() -> None:
    options, others = parse([])
    assert options == CollectionOptions()
    assert (options.do_mark, options.do_sweep, options.age_s) == (True, True, MINIMUM_AGE_S)
    assert options.warnings == []
    assert others == {}


def test_every_option_with_dashes_or_underscores() -> None:
    options, _ = parse(
        [
            *("--repository", "lake", "--do-mark", "true", "--do_sweep", "true"),
            *("--minimum-age-s", "100801", "--maximum_deletions", "10"),
            *("--cutoff", "2022-03-31T12:00", "--output-uri", "s3://b/o"),
            *("--inventory_uri", "s3://b/manifest.json", "--deletes-per-s", "100"),
            *("--round-objects", "5", "--look-s", "60"),
        ]
    )
    assert options == CollectionOptions(
        repository="lake",
        minimum_age_s=100_801,
        maximum_deletions=10,
        cutoff_s=int(datetime(2022, 3, 31, 12, tzinfo=UTC).timestamp()),
        output_uri="s3://b/o",
        inventory_uri="s3://b/manifest.json",
        deletes_per_s=100,
        round_objects=5,
        look_s=60,
    )


@for_each("words", [["--dry-run"], ["--dry_run", "true"], ["--do_sweep", "false"]])
def test_a_dry_run_only_marks(words: list[str]) -> None:
    options, _ = parse(words)
    assert (options.do_mark, options.do_sweep) == (True, False)


def test_a_dry_run_that_is_none() -> None:
    assert parse(["--dry-run", "false"])[0].do_sweep


def test_a_mark_is_swept_later() -> None:
    options, _ = parse(["--repository", "lake", "--do-mark", "false", "--mark-id", "m"])
    assert (options.do_mark, options.do_sweep, options.mark_id) == (False, True, "m")


def test_settings_come_along_and_glues_own_arguments_are_passed_over() -> None:
    words = [*OF_GLUE, "--refs-table", "refs", "--staging_table=staging", "--region", "eu-west-1"]
    options, others = parse(words)
    assert options == CollectionOptions()
    assert others == {"refs_table": "refs", "staging_table": "staging", "region": "eu-west-1"}
    settings = job_settings(others, {})
    assert (settings.refs_table, settings.staging_table) == ("refs", "staging")
    assert settings.region == "eu-west-1"


@for_each(
    "words",
    [
        ["lake", "us-east-1", "--look-s", "60"],
        ["--look-s", "60", "--extra-x", "value", "lake", "us-east-1"],
        ["--dry-run", "false", "--region=us-east-1", "lake", "--look-s", "60"],
        ["lake", "us-east-1", "--repository", "lake", "--region", "us-east-1", "--look-s=60"],
        [*OF_GLUE, "lake", "us-east-1", "--look-s", "60"],
    ],
    ids=" ".join,
)
def test_repository_and_region_need_no_name(words: list[str]) -> None:
    options, others = parse(words)
    assert options == CollectionOptions(repository="lake", look_s=60)
    assert others == {"region": "us-east-1"}
    tables = {"GRAVELER_REFS_TABLE": "refs", "GRAVELER_STAGING_TABLE": "staging"}
    settings = job_settings(others, {**tables, "AWS_REGION": "eu-west-1"})
    assert settings.region == "us-east-1"


def test_a_repository_may_have_the_name_that_glue_adds() -> None:
    assert parse(["true"])[0].repository == "true"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["lake", "us-east-1", "third"], "third"),
        ([*OF_GLUE, "lake", "us-east-1", "third"], "third"),
        (["lake", "--repository", "pond"], "'lake' and also 'pond'"),
        (["--repository=pond", "lake"], "'lake' and also 'pond'"),
        (["lake", "us-east-1", "--region", "eu-west-1"], "'us-east-1' and also 'eu-west-1'"),
        (["", "us-east-1"], "repository is empty"),
        (["lake", ""], "region is empty"),
        (["--repository", ""], "repository is empty"),
        (["--repository="], "repository is empty"),
        (["--repository"], "repository is empty"),
        (["--dry-run", "lake", "us-east-1"], "'lake'"),
    ],
)
def test_nothing_is_collected_if_it_is_not_clear_of_what(
    words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def start() -> SparkSession:
        raise AssertionError("nothing is to be done")

    assert main(words, {}, start) == 1
    assert named in capsys.readouterr().out


@for_each(
    "words",
    [
        ["--dryrun"],
        ["--dry-rum", "true"],
        ["--do-sweep", "maybe"],
        ["--maximum-deletions", "many"],
        ["--maximum-deletions"],
        ["--cutoff", "yesterday"],
        ["--minimum-age-s", "3600"],
        ["--debug-minimum-age-s", "-1"],
        ["--maximum-deletions", "-1"],
        ["--round-objects", "0"],
        ["--look-s", "0"],
        ["--do-mark", "false", "--do-sweep", "false"],
        ["--do-mark", "false"],
        ["--repository", "lake", "--mark-id", "m"],
        ["--do-mark", "false", "--mark-id", "m"],
        ["--inventory-uri", "s3://b/manifest.json"],
    ],
    ids=" ".join,
)
def test_invalid_options_are_refused(words: list[str]) -> None:
    with pytest.raises(InvalidInputError):
        parse(words)


def test_a_shorter_age_for_tests_is_said_loudly() -> None:
    options, _ = parse(["--debug-minimum-age-s", "60"])
    assert options.age_s == 60
    assert "debug_minimum_age_s is 60" in options.warnings[0]
    assert parse(["--debug-minimum-age-s", str(MINIMUM_AGE_S)])[0].warnings == []


@for_each(
    ("given", "objects"),
    [
        ({}, 1_000_000),
        ({"round_objects": 5}, 5),
        ({"deletes_per_s": 100}, 100 * 600 // 2),
        ({"deletes_per_s": 100, "look_s": 60}, 100 * 60 // 2),
        ({"deletes_per_s": 1, "look_s": 60}, 1000),  # one request, however slow
        ({"deletes_per_s": 10**6}, 1_000_000),
    ],
)
def test_a_slow_round_has_no_more_objects_than_its_look_lives(
    given: dict[str, int], objects: int
) -> None:
    assert CollectionOptions(**given).objects_per_round == objects  # type: ignore[arg-type] # numbers only


def test_no_secret_travels_to_executors() -> None:
    environment = {
        "AWS_REGION": "eu-west-1",
        "GRAVELER_REFS_TABLE": "refs",
        "GRAVELER_STAGING_TABLE": "staging",
        "GRAVELER_SETUP_TOKEN": "hidden",
        "AWS_SECRET_ACCESS_KEY": "hidden",
    }
    assert "hidden" not in repr(job_settings({}, environment))


def test_the_cutoff_is_the_earlier_of_age_and_time() -> None:
    now_ns = 10**6 * 10**9
    by_age_ns = now_ns - MINIMUM_AGE_S * 10**9
    assert _cutoff_ns(CollectionOptions(), MINIMUM_AGE_S, now_ns) == by_age_ns
    assert _cutoff_ns(CollectionOptions(cutoff_s=5), MINIMUM_AGE_S, now_ns) == 5 * 10**9
    assert _cutoff_ns(CollectionOptions(cutoff_s=10**6), MINIMUM_AGE_S, now_ns) == by_age_ns
