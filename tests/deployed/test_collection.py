"""What the schedule of garbage collection starts, run by real Spark under the job's role."""

import json
from urllib.parse import urlsplit

import pytest

from tests.support.servers.glue import GlueWorker, glue_python

__all__ = ["glue_python"]

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def test_the_schedule_starts_a_run_that_deletes_garbage_and_nothing_else(
    stacks, account, glue_python, tmp_path
):
    repository = stacks.repository("littered")
    where, uris = f"{repository}/branches/main/objects", []
    for content in ("replaced", "kept"):
        assert stacks.ask("POST", where, params={"path": "a"}, data=content).status_code == 201
        found = stacks.ask("GET", f"{repository}/refs/main/objects/stat", params={"path": "a"})
        uris.append(found.json()["physical_address"])

    (call,) = (
        json.loads(each["Input"])
        for each in stacks.scheduled()
        if each["Arn"].endswith("glue:startJobRun")
    )
    glue = account.client("glue")
    run = glue.start_job_run(**call)["JobRunId"]
    given = glue.get_job_run(JobName=call["JobName"], RunId=run)["JobRun"]["Arguments"]
    job = glue.get_job(JobName=call["JobName"])["Job"]

    archive = tmp_path / "jobs.zip"
    archive.write_bytes(_read(account, given["--extra-py-files"]))
    script = _read(account, job["Command"]["ScriptLocation"]).decode()
    worker = GlueWorker(glue_python, archive, tmp_path)
    words = [word for pair in given.items() for word in pair]
    key_id, secret = account.keys_of(job["Role"].rpartition("/")[2])
    environment = {
        "AWS_ENDPOINT_URL": account.endpoint,
        "AWS_ACCESS_KEY_ID": key_id,
        "AWS_SECRET_ACCESS_KEY": secret,
    }
    # What is younger than a day is kept otherwise.
    now = ["--debug_minimum_age_s", "0"]
    done = worker.run(call["JobName"], script, [*words, *now], environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [_is_there(account, uri) for uri in uris] == [False, True]
    assert stacks.ask("GET", f"{repository}/refs/main/objects?path=a").text == "kept"


def _read(account, uri: str) -> bytes:
    place = urlsplit(uri)
    answer = account.client("s3").get_object(Bucket=place.netloc, Key=place.path[1:])
    content: bytes = answer["Body"].read()
    return content


def _is_there(account, uri: str) -> bool:
    place = urlsplit(uri)
    listed = account.client("s3").list_objects_v2(Bucket=place.netloc, Prefix=place.path[1:])
    return bool(listed["KeyCount"])
