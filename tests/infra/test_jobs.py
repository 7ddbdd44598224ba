"""The Glue jobs, and the schedule of garbage collection."""

import ast
import json
import zipfile

import pytest

from graveler_jobs.export.options import parse as parse_export
from graveler_jobs.garbage_collection.options import parse as parse_collection
from layers.jobs.unpacking import FOLDER, PACKAGES
from tests.infra.conftest import ROOT
from tests.support.worlds.shapes import PROD

JOBS = ("export", "garbage-collection")


def jobs(deployment):
    return {
        each["Name"].removeprefix(f"{deployment.name}-"): each
        for each in deployment.resources("AWS::Glue::Job").values()
    }


def words(deployment, name):
    """What Glue puts on a job's command line."""
    arguments = jobs(deployment)[name]["DefaultArguments"]
    found = ["job.py", "--JOB_ID", "j_1", "--JOB_RUN_ID", "jr_1", "--JOB_NAME", name]
    for argument, value in arguments.items():
        found += [argument, deployment.flat(value)]
    return found[1:]


def assets(deployment):
    """The file in the synth's folder by the key that CDK uploads it to."""
    return {path.name.removeprefix("asset."): path for path in deployment.folder.glob("asset.*")}


def asset(deployment, url):
    return assets(deployment)[deployment.flat(url).rpartition("/")[2]]


def test_each_job_is_deployed(deployment):
    assert sorted(jobs(deployment)) == sorted(JOBS)
    folders = {path.parent.name for path in (ROOT / "graveler_jobs").glob("*/job.py")}
    assert folders == {name.replace("-", "_") for name in JOBS}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_runs_on_glue_6_for_a_bounded_time(deployment, name):
    job = jobs(deployment)[name]
    assert job["GlueVersion"] == "6.0"
    assert job["Timeout"] == 12 * 60
    assert job["MaxRetries"] == 0
    assert job["SecurityConfiguration"]
    assert job["ExecutionProperty"]["MaxConcurrentRuns"] >= 2


@pytest.mark.parametrize("name", JOBS)
def test_a_job_runs_the_script_of_this_checkout(deployment, name):
    script = asset(deployment, jobs(deployment)[name]["Command"]["ScriptLocation"])
    source = ROOT / "graveler_jobs" / name.replace("-", "_") / "job.py"
    assert script.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name", JOBS)
def test_a_job_brings_the_engine_and_all_jobs(deployment, name):
    code = asset(deployment, jobs(deployment)[name]["DefaultArguments"]["--extra-py-files"])
    assert code.suffix == ".zip"  # Spark takes no other name
    with zipfile.ZipFile(code) as archive:
        packed = set(archive.namelist())
    wanted = {
        f"{FOLDER}/{path.relative_to(ROOT).as_posix()}"
        for room in PACKAGES
        for path in (ROOT / room).rglob("*.py")
    }
    assert wanted <= packed
    assert {name for name in packed if not name.startswith(f"{FOLDER}/")} == {
        f"{package}/__init__.py" for package in PACKAGES
    }


@pytest.mark.parametrize("name", JOBS)
def test_a_job_installs_nothing_when_it_starts(deployment, name):
    arguments = jobs(deployment)[name]["DefaultArguments"]
    assert not [each for each in arguments if "python-modules" in each]


def test_a_package_with_a_stand_in_loses_no_code_of_its_own():
    """The copy of unpacking.py is imported in place of the package's `__init__.py`."""
    for package in PACKAGES:
        body = ast.parse((ROOT / package / "__init__.py").read_text()).body
        assert [type(each) for each in body] == [ast.Expr], package  # a docstring


def test_a_job_understands_its_arguments(deployment):
    """The jobs' own parsers are asked, Glue's arguments among ours."""
    options, others = parse_collection(words(deployment, "garbage-collection"))
    assert options.repository == ""
    assert options.do_mark
    assert others["refs_table"] == "<Refs48288B5D>"
    assert others["staging_table"] == "<Staging12D1754E>"
    assert others["region"] == "eu-west-1"
    started = ["--repository", "lake", "--branch", "main", "--run-id", "r"]
    export, others = parse_export([*words(deployment, "export"), *started])
    assert (export.repository, export.branch, export.run_id) == ("lake", "main", "r")
    assert others["refs_table"] == "<Refs48288B5D>"
    assert others["export_queue_url"].startswith("<EventsExportQueue")


def test_garbage_is_only_marked_where_the_settings_say_so(dev, prod):
    for deployment, deletes in ((dev, True), (prod, False)):
        options, _ = parse_collection(words(deployment, "garbage-collection"))
        assert options.do_sweep is deletes


def test_garbage_is_collected_of_all_repositories_or_of_those_that_are_named(dev, prod):
    def calls(deployment):
        return [
            json.loads(each["Target"]["Input"])
            for each in deployment.resources("AWS::Scheduler::Schedule").values()
            if deployment.flat(each["Target"]["Arn"]).endswith(":aws-sdk:glue:startJobRun")
        ]

    assert calls(dev) == [{"JobName": "graveler-dev-garbage-collection"}]
    assert calls(prod) == [
        {"JobName": "graveler-prod-garbage-collection", "Arguments": {"--repository": name}}
        for name in ("lake", "other")
    ]


def test_a_collection_stops_before_it_deletes_more_than_the_settings_say(dev, prod):
    options, _ = parse_collection(words(dev, "garbage-collection"))
    assert options.maximum_deletions == 1_000_000
    # A run that a person starts may say otherwise: its arguments replace the defaults.
    given = [*words(dev, "garbage-collection"), "--maximum_deletions", "5000000"]
    assert parse_collection(given)[0].maximum_deletions == 5_000_000
    assert parse_collection(words(prod, "garbage-collection"))[0].maximum_deletions is None


def test_the_api_function_knows_the_collection_that_there_is(dev, prod):
    for deployment, deletes in ((dev, "true"), (prod, "false")):
        name = jobs(deployment)["garbage-collection"]["Name"]
        told = [
            (variables["GRAVELER_COLLECTION_JOB"], variables["GRAVELER_COLLECTIONS_DELETE"])
            for each in deployment.resources("AWS::Lambda::Function").values()
            if "GRAVELER_COLLECTION_JOB" in (variables := each["Environment"]["Variables"])
        ]
        assert told == 2 * [(name, deletes)]  # its requests that wait have a function, too


def test_the_export_function_knows_the_job_that_there_is(deployment):
    (named,) = (
        each["Environment"]["Variables"]["GRAVELER_EXPORT_JOB"]
        for each in deployment.resources("AWS::Lambda::Function").values()
        if "GRAVELER_EXPORT_JOB" in each["Environment"]["Variables"]
    )
    assert named == jobs(deployment)["export"]["Name"]


def test_jobs_read_their_code_from_a_bucket_with_a_key(dev, prod):
    def keys(deployment):
        return {
            name.partition("Role")[0]: deployment.flat(statement["Resource"])
            for name, role in deployment.resources("AWS::IAM::Role").items()
            for policy in role.get("Policies", ())
            for statement in policy["PolicyDocument"]["Statement"]
            if statement["Sid"] == "DecryptCode"
        }

    assert keys(dev) == {}
    assert keys(prod) == dict.fromkeys(("JobsExport", "JobsGarbageCollection"), PROD["asset_key"])


def test_what_glue_writes_is_encrypted(deployment):
    configuration = deployment.one("AWS::Glue::SecurityConfiguration")
    encryption = configuration["EncryptionConfiguration"]
    assert encryption["CloudWatchEncryption"]["CloudWatchEncryptionMode"] == "SSE-KMS"
    assert encryption["JobBookmarksEncryption"]["JobBookmarksEncryptionMode"] == "CSE-KMS"
    assert encryption["S3Encryptions"] == [{"S3EncryptionMode": "SSE-S3"}]


def test_glue_finds_the_logs_that_end(deployment):
    """By the names that it gives them: prefix, security configuration, role."""
    configuration = deployment.one("AWS::Glue::SecurityConfiguration")["Name"]
    names = {
        deployment.flat(each["LogGroupName"])
        for each in deployment.resources("AWS::Logs::LogGroup").values()
        if "LogGroupName" in each
    }
    for name, job in jobs(deployment).items():
        prefix = deployment.flat(job["DefaultArguments"]["--custom-logGroup-prefix"])
        role = f"{deployment.name}-{name}-job-eu-west-1"
        assert f"{prefix}/{configuration}-role/{role}/error" in names
        assert f"{prefix}/{configuration}-role/{role}/output" in names


def test_a_failed_run_is_reported(deployment):
    (rule,) = (
        each
        for each in deployment.resources("AWS::Events::Rule").values()
        if each["EventPattern"]["source"] == ["aws.glue"]
    )
    assert sorted(rule["EventPattern"]["detail"]["jobName"]) == sorted(
        job["Name"] for job in jobs(deployment).values()
    )
    assert rule["EventPattern"]["detail"]["state"] == ["ERROR", "FAILED", "TIMEOUT"]
    assert deployment.flat(rule["Targets"][0]["Arn"]).startswith("<JobsFailed")
