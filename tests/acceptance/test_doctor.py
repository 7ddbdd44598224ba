"""`graveler doctor`: the acceptance suite against the running stack, whole and with faults."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import pytest
import requests

from graveler_cli.acceptance.journey import JOURNEY
from graveler_embedded.config import ROOT
from graveler_functions.api.routes.configuration import API_VERSION
from tests.support.faults.spoiling_proxy import (
    Fault,
    Reply,
    answered,
    damaged,
    replaced,
    spoiling_proxy,
)
from tests.support.servers.stack import BUCKET, Stack

pytestmark = pytest.mark.server

GRAVELER = (sys.executable, "-c", "from graveler_cli.__main__ import main; main()", "doctor")


def environment(stack: Stack, endpoint: str = "") -> dict[str, str]:
    return {
        "PATH": "",
        "LAKECTL_SERVER_ENDPOINT_URL": endpoint or stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
    }


@pytest.fixture
def doctor(stack) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `graveler doctor` with these arguments."""

    def doctor(*args: str, endpoint: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*GRAVELER, *args],
            cwd=ROOT,
            env=environment(stack, endpoint),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return doctor


@pytest.fixture
def present(stack) -> Callable[[], dict[str, list[str]]]:
    """What the server has of everything that the suite creates."""

    def present() -> dict[str, list[str]]:
        key = (stack.access_key_id, stack.secret_access_key)
        found = {}
        for path in ("/repositories", "/auth/users", "/auth/policies"):
            url = f"{stack.endpoint}/api/v1{path}"
            rows = requests.get(url, params={"amount": 1000}, auth=key, timeout=300).json()
            found[path] = [row["id"] for row in rows["results"]]
        return found

    return present


def outcomes(report: Mapping[str, list[dict[str, str]]]) -> dict[str, str]:
    return {step["name"]: step["outcome"] for step in report["steps"]}


def test_doctor_shows_the_server_and_the_user(doctor, stack):
    done = doctor()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert f"ok       endpoint: {stack.endpoint}/api/v1 answers" in lines
    assert "ok       key pair: belongs to the user admin" in lines
    assert any(line.startswith("ok       server: Graveler, version ") for line in lines)
    assert lines[-1] == "Valid configuration"


def test_doctor_says_that_the_endpoint_is_wrong(doctor, stack):
    done = doctor(endpoint=f"{stack.endpoint}/elsewhere")
    assert (done.returncode, done.stderr) == (1, "")
    *_, remedy = done.stdout.splitlines()
    assert remedy.strip() == f"write {stack.endpoint}"


def test_the_whole_journey_works_and_leaves_nothing_behind(doctor, present, stack):
    before = present()
    done = doctor("--write", "--json", "--export-to", f"s3://{BUCKET}/exports-of-the-suite")
    report = json.loads(done.stdout)
    failed = [step for step in report["steps"] if step["outcome"] != "ok"]
    assert (done.returncode, failed, done.stderr) == (0, [], "")
    assert [step["name"] for step in report["steps"]][-1] == "clean-up"
    assert report["left"] == []
    assert present() == before
    (place,) = report["places"]
    prefix = place.removeprefix(f"s3://{BUCKET}/")
    keys = [each["Key"] for each in stack.s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
    ours = [key for key in keys if "graveler-acceptance" in key]
    assert ours, "the run stored objects"
    assert all(key.startswith(f"{prefix}/") for key in ours)


def test_the_report_is_a_line_for_each_step_and_says_what_stays(doctor, stack):
    done = doctor("--write", "--skip", "concurrent-writers", "--skip", "export-branch")
    assert (done.returncode, done.stderr) == (0, "")
    *lines, summary, stays, command = done.stdout.splitlines()
    assert {line.split()[0] for line in lines} == {"ok", "skipped"}
    assert [line.split()[1] for line in lines if line[:2] != "ok"] == [
        "export-branch",
        "concurrent-writers",
    ]
    assert summary.startswith("23 ok, 2 skipped in ")
    assert stays == "The objects of the run stay in the bucket. To delete them:"
    store = stack.s3.meta.endpoint_url
    place = f"s3://{BUCKET}/graveler-acceptance-"
    assert command.startswith(f"  aws s3 rm --endpoint-url {store} --recursive {place}")


FAULTS = (
    Fault("upload-by-api", r"GET .*/refs/uploads/objects\?path=folder%2Fa.csv", damaged),
    Fault("upload-by-presigned-url", r"GET .*/refs/presigned/objects/stat", replaced("csv", "xml")),
    Fault("upload-in-parts", r"GET .*/refs/parts/objects\?path=large", answered(200, "short")),
    Fault("stat-and-list", r"GET .*/listing/objects/ls\?prefix", replaced("in/4.txt", "in/9.txt")),
    Fault("commit-and-log", r"GET .*/refs/commits/commits", answered(200, '{"results": []}')),
    Fault("branch-in-isolation", r"GET .*/refs/main/objects\?path=only-here", answered(200, "1")),
    Fault("diff", r"GET .*/refs/left/diff/right", replaced('"changed"', '"added"')),
    Fault("merge", r"GET .*/refs/destination/objects\?path=theirs", damaged),
    Fault("merge-conflict", r"POST .*/refs/two/merge/one", answered(200)),
    Fault(
        "pull-request", r"GET .*/pulls/", replaced('"merged_commit_id":"', '"merged_commit_id":"0')
    ),
    Fault("tag", r"GET .*/refs/v1/objects", damaged),
    Fault("revert-and-cherry-pick", r"GET .*/refs/reverted/objects", damaged),
    Fault("protect-branch", r"POST .*/branches/stable/objects", answered(201)),
    Fault("refuse-commit-by-hook", r"POST .*/branches/hooked/commits", answered(201)),
    Fault("commit-by-task", r"GET .*/commits/async/", replaced('"id":"', '"id":"0')),
    Fault("import-objects", r"GET .*/refs/imported/objects\?", damaged),
    Fault("export-branch", r"GET .*/export-status", answered(503)),
    Fault("retention-rules", r"GET .*/settings/gc_rules", replaced("28", "29")),
    Fault("user-with-policy", r"PUT .*/policies/", answered(201, ""), is_forwarded=False),
    Fault("refuse-wrong-input", r"GET .*/graveler-acceptance-none", answered(200)),
    Fault("concurrent-writers", r"GET .*/refs/shared/objects\?path=1%2F2", damaged),
    Fault(
        "dump-and-restore", r"GET .*-again/tags/kept", replaced('"commit_id":"', '"commit_id":"0')
    ),
    Fault("clean-up", r"DELETE .*/auth/policies/", answered(204, ""), is_forwarded=False),
)


def test_each_step_finds_a_spoiled_answer_of_its_own(doctor, present, stack):
    before = present()
    place = f"s3://{BUCKET}/spoiled-exports"
    with spoiling_proxy(stack.endpoint, FAULTS) as proxy:
        done = doctor("--write", "--json", "--export-to", place, endpoint=proxy.endpoint)
    assert proxy.spoiled == {fault.name for fault in FAULTS}
    report = json.loads(done.stdout)
    found = outcomes(report)
    assert done.returncode == report["exit_code"] == 1
    assert {name for name, outcome in found.items() if outcome == "failed"} == proxy.spoiled
    assert all(step["reason"] for step in report["steps"] if step["outcome"] == "failed")
    assert set(found) - proxy.spoiled == {"read-configuration", "create-repository"}

    (policy,) = set(present()["/auth/policies"]) - set(before["/auth/policies"])
    assert report["left"] == [f"policy {policy}"]
    key = (stack.access_key_id, stack.secret_access_key)
    url = f"{stack.endpoint}/api/v1/auth/policies/{policy}"
    assert requests.delete(url, auth=key, timeout=300).status_code == 204
    assert present() == before


def test_a_server_that_is_no_graveler_is_checked_by_the_release_of_lakefs(doctor, stack):
    fault = Fault("config", "GET .*/config$", replaced('"graveler_version"', '"unknown"'))
    skipped = [word for step in JOURNEY if not step.is_essential for word in ("--skip", step.name)]
    with spoiling_proxy(stack.endpoint, [fault]) as proxy:
        report = json.loads(doctor("--write", "--json", *skipped, endpoint=proxy.endpoint).stdout)
    assert outcomes(report)["create-repository"] == "ok"
    assert report["version"] == API_VERSION


@pytest.mark.parametrize(
    ("request_", "step"),
    [("GET .*/config$", "read-configuration"), ("POST .*/repositories$", "create-repository")],
)
def test_without_its_beginning_the_journey_ends(doctor, present, stack, request_, step):
    before = present()
    with spoiling_proxy(stack.endpoint, [Fault(step, request_, answered(500))]) as proxy:
        done = doctor("--write", "--json", endpoint=proxy.endpoint)
    found = outcomes(json.loads(done.stdout))
    assert done.returncode == 1
    assert [name for name, outcome in found.items() if outcome == "failed"] == [step]
    assert found["upload-by-api"] == "skipped"
    assert found["clean-up"] == "ok"
    assert present() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_cleans_up(stack, present, number):
    before = present()

    def interrupt(reply: Reply) -> Reply:
        assert present() != before
        process.send_signal(number)
        return reply

    # The parent of the tests may ignore the signal, as nohup does, and children inherit that.
    heeding = f"import signal; signal.signal({number}, signal.SIG_DFL); {GRAVELER[2]}"
    with (
        spoiling_proxy(stack.endpoint, [Fault("commit", "POST .*/commits", interrupt)]) as proxy,
        subprocess.Popen(
            [sys.executable, "-c", heeding, "doctor", "--write"],
            cwd=ROOT,
            env=environment(stack, proxy.endpoint),
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        output, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert proxy.spoiled == {"commit"}
    ends = [line.split()[:2] for line in output.splitlines()]
    assert ["ok", "clean-up"] in ends
    assert "interrupted" in {outcome for outcome, _ in ends}
    assert present() == before


def test_a_run_whose_reader_has_gone_cleans_up(stack, present):
    before = present()
    with subprocess.Popen(
        [*GRAVELER, "--write"],
        cwd=ROOT,
        env=environment(stack) | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[1].split()[:2] == [b"ok", b"create-repository"]
        process.stdout.close()  # as `| head -3` does
        assert process.wait(timeout=300) == 1
    assert present() == before


def test_a_server_that_cannot_be_reached_fails_the_first_step(doctor):
    done = doctor("--write", endpoint="http://127.0.0.1:1")
    assert done.returncode == 1
    assert done.stdout.startswith("failed       read-configuration")
    assert "refused" in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--skip", "merge"], "add --write"),
        (["--write", "--skip", "dance"], "'dance' cannot be skipped: choose from upload-by-api"),
        (["--write", "--skip", "create-repository"], "cannot be skipped"),
        (["--write", "--namespace", "gs://bucket"], "s3://BUCKET/PREFIX"),
        (["--write", "--export-to", "here"], "s3://BUCKET/PREFIX"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_made(doctor, present, args, told):
    before = present()
    done = doctor(*args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert present() == before


def test_a_reader_finds_out_what_the_key_may_not_do(doctor, stack):
    name = f"reader-{time.time_ns()}"
    key = (stack.access_key_id, stack.secret_access_key)
    users = f"{stack.endpoint}/api/v1/auth/users"
    requests.post(users, json={"id": name}, auth=key, timeout=300).raise_for_status()
    requests.put(f"{users}/{name}/policies/FSReadAll", auth=key, timeout=300).raise_for_status()
    pair = requests.post(f"{users}/{name}/credentials", auth=key, timeout=300).json()
    variables = environment(stack) | {
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": pair["access_key_id"],
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": pair["secret_access_key"],
    }
    done = subprocess.run(
        [*GRAVELER, "--write"],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    requests.delete(f"{users}/{name}", auth=key, timeout=300).raise_for_status()
    assert done.returncode == 1
    (failed,) = [line for line in done.stdout.splitlines() if line[:6] == "failed"]
    assert "answered 401" in failed
