"""The page on continuous export: a branch as plain objects, by the command line and by the API."""

import json
from typing import Any
from uuid import uuid4

import lakefs
import pytest

from tests.seeds.clients import PROGRAMS, Clients, commit, files, wait_until
from tests.seeds.statements import said, shows
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

UNIT = "tests/unit/operations/exports"

STATEMENTS = {
    "003.01": said("the latest of a branch on an external object store using its native paths"),
    "003.02": said("read-only access … without any lakeFS-specific configuration"),
    "003.03": said("only AWS S3 is supported"),
    "003.04": said("lakefs://example@master might be stored on s3://company-bucket/example/latest"),
    "003.05": said("continue to use … s3://example/master, … other … and uncommitted versions"),
    "003.06": said("A one-time export copies all objects on a branch … once"),
    "003.07": said("A continuous export … updates that location in S3 after each … commit"),
    "003.08": said("… or a merge"),
    "003.09": said("a CLI that calls a simple REST API on the lakeFS server. Either can be used"),
    "003.10": said("continuous export on any number of your branches"),
    "003.11": said("lakectl export is the entrypoint to all export commands"),
    "003.12": said("lakectl export get lakefs://REPO@BRANCH"),
    "003.13": said("lakectl export set lakefs://REPO@BRANCH FLAGS..."),
    "003.14": said(
        "--continuous … Must be specified",
        "tests/unit/cli/test_export.py::test_set_insists_on_continuous_or_not",
    ),
    "003.15": said("set --continuous=false to immediately start one single export"),
    "003.16": said("--path: specifies the destination path"),
    "003.17": said("--status-path: … under which a file is written giving the status"),
    "003.18": said("--prefix-regex: … May be repeated"),
    "003.19": said("lakectl export run: Start exporting the requested branch now"),
    "003.20": said(
        "If an export fails, … lakeFS has no way of determining … when to try to proceed",
        f"{UNIT}/test_failures.py::test_a_failed_export_waits_for_a_repair_whatever_is_committed",
    ),
    "003.21": said("restart by using lakectl export repair lakefs://REPO@BRANCH"),
    "003.22": said("a PUT or a GET to /repositories/…/branches/…/continuous-export"),
    "003.23": said("exportPath, exportStatusPath, lastKeysInPrefixRegexp"),
    "003.24": said("Files will be exported under exportPath"),
    "003.25": said(
        "Status files will optionally be written under exportStatusPath",
        f"{UNIT}/test_status.py::test_without_a_status_path_nothing_is_reported",
    ),
    "003.26": said(
        "a _lakefs_success file … after all files under that prefix are exported",
        f"{UNIT}/test_marks.py::test_a_success_file_is_written_after_everything_under_its_directory",
    ),
    "003.27": said("Export current branch state just once … POST to …/export-hook"),
    "003.28": said(
        "Resume export after repairing with a POST to …/repair-export",
        "tests/integration/test_api_exports.py::"
        "test_failed_objects_are_reported_and_exported_after_a_repair",
    ),
    "003.29": said("When continuous export is enabled … its current state is exported to S3"),
    "003.30": said("From then on, every commit or merge operation … will be exported"),
    "003.31": said(
        "The commit or merge operation … returns as soon as export starts",
        f"{UNIT}/test_content.py::test_a_commit_does_not_wait_for_the_export",
    ),
    "003.32": said(
        "Multiple commits … may cause some otherwise-overlapping exports to be skipped",
        f"{UNIT}/test_content.py::test_commits_faster_than_exports_are_exported_together",
    ),
    "003.33": said("Eventually the last export will appear"),
    "003.34": said("status files to sequence operations after the appearance of all files"),
    "003.35": said(
        "highly parallel and does not maintain the … orders of the source files",
        "tests/property/test_export_steps.py::test_every_order_of_completion_keeps_the_promises",
    ),
    "003.36": said("an empty file _lakefs_success in each matching directory"),
    "003.37": said(
        "These status files are written last in their S3 prefix",
        f"{UNIT}/test_marks.py::test_a_success_file_is_written_after_everything_under_its_directory",
    ),
    "003.38": said("a file <REPO>-<BRANCH>-<COMMIT> … when done exporting"),
    "003.39": said("status: <STATUS>, signalled_errors: <NUM-ERRORS>"),
    "003.40": said("exported-successfully"),
    "003.41": said("export-failed"),
    "003.42": said("export-repaired"),
    "003.43": said(
        'valid only while the … _STATUS file shows "success" and the "commit" is unchanged',
        f"{UNIT}/test_status.py::test_an_earlier_success_is_superseded_before_anything_changes",
    ),
    "003.44": said(
        "will not export the same branch twice concurrently",
        f"{UNIT}/test_runners.py::test_two_runners_never_work_at_the_same_time",
    ),
    "003.45": said(
        "intermediate exports cannot be observed and may be dropped",
        f"{UNIT}/test_status.py::test_commits_without_an_export_of_their_own_have_no_status_file",
    ),
    "003.46": said(
        "does not create the _lakefs_success in failed directories",
        f"{UNIT}/test_marks.py::test_a_directory_with_a_failure_gets_no_success_file",
    ),
    "003.47": said("after these appear the export has run to completion"),
    "003.48": said("Any file can be listed and accessed"),
    "003.49": said(
        "Later commits might be exported concurrently",
        f"{UNIT}/test_runners.py::test_a_commit_during_an_export_is_exported_right_after_it",
    ),
    "003.50": said("_STATUS_<timestamp>.json contains success … and a relevant commit-ID"),
    "003.51": said(
        "workflows that are based on _SUCCESS files",
        f"{UNIT}/test_marks.py::test_a_success_file_of_hadoop_is_copied_last_in_its_directory",
    ),
    "003.52": said("Commit ID and message"),
    "003.53": said("Manifest of all objects in the commit, including: all keys"),
    "003.54": said("ETag of each file"),
}

MARK = "_lakefs_success"


class Exported:
    """A branch `master-…` of the test's own, and what is exported of it."""

    def __init__(self, clients: Clients, repository: lakefs.Repository) -> None:
        self.clients = clients
        self.repository = repository
        self.branch = repository.branch(f"master-{uuid4().hex[:6]}").create("main")
        self.uri = f"lakefs://{repository.id}@{self.branch.id}"
        self.out = f"company/{self.branch.id}/latest"
        self.reports = f"company/{self.branch.id}/status"
        self.head = commit(self.branch, **{"a/1": "one", "b/2": "two", "c": "three"})
        self.to = ("--path", f"s3://{BUCKET}/{self.out}")
        self.to_both = (*self.to, "--status-path", f"s3://{BUCKET}/{self.reports}")

    def export(self, *words: str) -> str:
        return self.clients.graveler("export", words[0], self.uri, *words[1:])

    def ask(self, method: str, operation: str, **more: Any) -> Any:
        path = f"{self.repository.id}/branches/{self.branch.id}/{operation}"
        return self.clients.http(method, path, **more)

    def put(self, **body: Any) -> int:
        return int(self.ask("PUT", "continuous-export", json=body).status_code)

    def wait(self, head: str) -> None:
        """Wait until this commit is exported and nothing is left to do."""

        def is_there() -> bool:
            found = self.ask("GET", "export-status").json()
            is_idle = not found["isPending"] and found["state"] != "in-progress"
            return is_idle and found["exportedCommitId"] == head

        wait_until(is_there)

    def text(self, key: str) -> str:
        return self.clients.content(f"s3://{BUCKET}/{key}").decode()

    def objects(self) -> dict[str, str]:
        """Return what a plain client of S3 reads under the path."""
        return {key: self.text(f"{self.out}/{key}") for key in self.clients.stored(f"{self.out}/")}

    def status_file(self, head: str) -> str:
        return self.text(f"{self.reports}/{self.repository.id}-{self.branch.id}-{head}").strip()

    def manifest(self, head: str) -> dict[str, str]:
        """Return the ETags that the commit's manifest has, by key."""
        name = f"{self.repository.id}-{self.branch.id}-{head}.manifest.jsonl"
        lines = map(json.loads, self.text(f"{self.reports}/{name}").splitlines())
        return {line["key"]: line["etag"].strip('"') for line in lines}

    def latest_status(self) -> dict[str, Any]:
        names = [name for name in self.clients.stored(f"{self.reports}/") if "_STATUS_" in name]
        return dict(json.loads(self.text(f"{self.reports}/{max(names)}")))


@pytest.fixture
def exported(clients: Clients, repository: lakefs.Repository) -> Exported:
    return Exported(clients, repository)


SUCCESS = "status: exported-successfully, signalled_errors: 0"


@shows("003.01", "003.02", "003.04", "003.05", "003.07", "003.08", "003.09", "003.12", "003.13")
@shows("003.16", "003.17", "003.18", "003.24", "003.26", "003.29", "003.30", "003.33", "003.34")
@shows("003.36", "003.38", "003.39", "003.40", "003.47", "003.48", "003.50", "003.52")
@shows("003.53", "003.54")
def test_a_branch_is_exported_now_and_after_each_commit_and_merge(clients, exported):
    patterns = ("--prefix-regex", "^a$", "--prefix-regex", "^b/$")
    exported.export("set", "--continuous", *exported.to_both, *patterns)
    assert exported.ask("GET", "continuous-export").json() == {
        "exportPath": f"s3://{BUCKET}/{exported.out}",
        "exportStatusPath": f"s3://{BUCKET}/{exported.reports}",
        "lastKeysInPrefixRegexp": ["^a$", "^b/$"],
        "isContinuous": True,
    }
    assert f"Export Path: s3://{BUCKET}/{exported.out}\n" in exported.export("get")
    exported.wait(exported.head)
    marks = {f"a/{MARK}": "", f"b/{MARK}": ""}
    assert exported.objects() == {"a/1": "one", "b/2": "two", "c": "three"} | marks

    first = exported.head
    second = commit(exported.branch, "drop c", **{"c": None, "a/1": "uno"})
    exported.wait(second)
    assert exported.objects() == {"a/1": "uno", "b/2": "two"} | marks

    source = exported.repository.branch(f"{exported.branch.id}-source").create(exported.branch)
    commit(source, d="four")
    merged = source.merge_into(exported.branch, message="bring d")
    exported.wait(merged)
    assert exported.objects() == {"a/1": "uno", "b/2": "two", "d": "four"} | marks
    for head in (first, second, merged):
        assert exported.status_file(head) == SUCCESS
    at_the_store = clients.stored(f"{exported.out}/")
    assert exported.manifest(merged) == {
        key: at_the_store[key][0].strip('"') for key in ("a/1", "b/2", "d")
    }
    status = exported.latest_status()
    assert (status["status"], status["commit"], status["message"]) == (
        "success",
        merged,
        "bring d",
    )

    # Clients that know lakeFS still read this branch, its other versions, and what is staged.
    exported.branch.object("e").upload("not committed")
    bucket, branch = exported.repository.id, exported.branch.id
    for key, content in ((f"{branch}/d", b"four"), (f"{first}/c", b"three"), (f"{branch}/e", None)):
        read = clients.gateway.get_object(Bucket=bucket, Key=key)["Body"].read()
        assert read == (content or b"not committed")
    assert "e" not in exported.objects()


@shows("003.06", "003.09", "003.15", "003.19", "003.22", "003.23", "003.25", "003.27")
def test_a_single_export_runs_each_time_it_is_asked_for(clients, exported):
    exported.export("set", "--continuous=false", *exported.to)
    exported.wait(exported.head)
    content = {"a/1": "one", "b/2": "two", "c": "three"}
    assert exported.objects() == content
    assert clients.stored(f"{exported.reports}/") == {}

    # The same head again, now with success files and reports.
    exported.export("set", "--continuous=false", *exported.to_both, "--prefix-regex", "^a$")
    wait_until(lambda: exported.ask("GET", "export-runs").json()["pagination"]["results"] == 2)
    exported.wait(exported.head)
    assert exported.objects() == content | {f"a/{MARK}": ""}
    assert exported.status_file(exported.head) == SUCCESS
    assert exported.manifest(exported.head).keys() == content.keys()

    # A file that was deleted or changed at the destination comes back.
    clients.store.delete_object(Bucket=BUCKET, Key=f"{exported.out}/c")
    clients.store.put_object(Bucket=BUCKET, Key=f"{exported.out}/a/1", Body=b"changed")
    assert exported.export("run").startswith(
        f"Export-ID:{exported.repository.id}-{exported.branch.id}-{exported.head}-"
    )
    wait_until(lambda: exported.ask("GET", "export-runs").json()["pagination"]["results"] == 3)
    assert exported.objects() == content | {f"a/{MARK}": ""}

    # A commit waits until somebody asks.
    head = commit(exported.branch, d="four")
    assert exported.ask("GET", "export-status").json()["exportedCommitId"] == exported.head
    answer = exported.ask("POST", "export-hook")
    assert (answer.status_code, head in answer.json()) == (201, True)
    exported.wait(head)
    assert exported.objects() == content | {f"a/{MARK}": "", "d": "four"}
    assert len(exported.ask("GET", "export-runs").json()["results"]) == 4


@shows("003.20", "003.21", "003.28", "003.41", "003.42")
def test_a_failed_export_is_repaired_and_goes_on(clients, exported):
    bucket = f"missing-{uuid4().hex[:8]}"
    words = ("--path", f"s3://{bucket}/out", *exported.to_both[2:])
    follow = ("graveler", "export", "status", "--follow", exported.uri)
    exported.export("set", "--continuous", "--force", *words)  # nothing can be listed yet
    assert "State: export-failed" in clients.run(*follow).stdout
    failed = exported.status_file(exported.head)
    assert failed.startswith("status: export-failed, signalled_errors: ")
    assert int(failed.rpartition(" ")[2]) > 0
    assert not exported.ask("GET", "export-status").json()["isPending"]

    clients.store.create_bucket(Bucket=bucket)
    assert exported.export("repair") == ""
    exported.wait(exported.head)
    assert exported.status_file(exported.head) == "status: export-repaired, signalled_errors: 0"
    assert set(clients.stored("out/", bucket)) == {"a/1", "b/2", "c"}
    head = commit(exported.branch, d="four")
    exported.wait(head)
    assert exported.status_file(head) == SUCCESS
    assert exported.ask("POST", "repair-export").status_code == 409


@shows("003.03", "003.10", "003.11", "003.22", "003.23", "003.25", "003.29", "003.30")
def test_the_fields_of_the_document_make_a_continuous_export(clients, exported, repository):
    body = {
        "exportPath": f"s3://{BUCKET}/{exported.out}",
        "exportStatusPath": f"s3://{BUCKET}/{exported.reports}",
        "lastKeysInPrefixRegexp": ["^$"],
    }
    other = Exported(clients, repository)
    assert exported.put(**body | {"exportPath": "gs://bucket/latest"}) == 400
    assert exported.put(**body) == 201
    assert other.put(exportPath=f"s3://{BUCKET}/{other.out}") == 201
    for each in (exported, other):
        each.wait(each.head)
        each.wait(commit(each.branch, d="four"))
    assert exported.objects() == other.objects() | {MARK: ""}
    assert clients.stored(f"{other.reports}/") == {}

    assert (PROGRAMS / "lakectl-export").exists()
    by_plugin = clients.run("lakectl-export", "get", exported.uri)
    assert (by_plugin.returncode, by_plugin.stdout) == (0, exported.export("get"))
    assert "Continuously exported\n" in by_plugin.stdout
    assert files(exported.branch) == {"a/1": "one", "b/2": "two", "c": "three", "d": "four"}
