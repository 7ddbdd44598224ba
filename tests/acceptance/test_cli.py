"""The command `graveler` as users run it: a process of its own, with lakectl's variables."""

import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path

import pytest
import requests

from tests.acceptance.s3 import boto3_client, environment
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

# It stands beside the interpreter once the project is installed.
GRAVELER = Path(sys.executable).with_name("graveler")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(stack) -> Run:
    """Runs `graveler` with these arguments and the stack's credentials."""
    environment = {
        "PATH": "",
        "TZ": "America/New_York",
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
    }

    def run(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [GRAVELER, *args],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def prints(run) -> Callable[..., str]:
    """What `graveler` prints when it succeeds, which it must."""

    def prints(*args: str, **variables: str) -> str:
        done = run(*args, **variables)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return prints


@pytest.fixture
def s3(stack):
    return stack.s3


# fs stat, after the seed document on how lakeFS stores data


def fields(shown: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in shown.splitlines())


def test_stat_shows_every_version_of_an_object_where_it_lies(prints, repository, main):
    dev = repository.branch("dev").create(main)
    versions = [b"x" * 916_393, b"second", b"third", b""]
    began = datetime.now(UTC).timestamp() - 1
    for content in versions:
        dev.object("stats.csv").upload(content, content_type="text/csv")
        dev.commit("again")
    addresses = set()
    for back, content in enumerate(reversed(versions)):
        ref = f"dev~{back}" if back else "dev"
        shown = prints(
            "fs", "stat", "--pre-sign=false", f"lakefs://{repository.id}/{ref}/stats.csv"
        )
        found = fields(shown)
        assert list(found) == [
            *("Path", "Modified Time", "Size", "Human Size", "Physical Address", "Checksum"),
            "Content-Type",
        ]
        assert found["Path"] == "stats.csv"
        assert found["Modified Time"].endswith((" -0500 EST", " -0400 EDT"))
        when = datetime.strptime(found["Modified Time"][:25], "%Y-%m-%d %H:%M:%S %z").timestamp()
        assert began <= when <= datetime.now(UTC).timestamp()
        assert found["Size"] == f"{len(content)} bytes"
        assert found["Checksum"] == md5(content).hexdigest()
        assert found["Content-Type"] == "text/csv"
        assert found["Physical Address"].startswith(f"s3://{BUCKET}/{repository.id}/data/")
        addresses.add(found["Physical Address"])
        if back in (0, 3):
            assert found["Human Size"] == ("0 B" if back == 0 else "916.4 kB")
    assert len(addresses) == len(versions)


def test_stat_names_the_address_that_holds_the_bytes(prints, s3, repository, main):
    main.object("a b/ä%20?#.txt").upload("here", metadata={"owner": "me"})
    shown = prints("fs", "stat", f"lakefs://{repository.id}/main/a b/ä%20?#.txt")
    head, metadata = shown.split("Metadata:\n")
    assert metadata == "\t\n\towner              = me\n"
    bucket, _, key = fields(head)["Physical Address"].removeprefix("s3://").partition("/")
    assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == b"here"


def test_stat_can_show_a_url_that_opens_the_object(prints, repository, main):
    main.object("a").upload("here")
    found = fields(prints("fs", "stat", "--pre-sign", f"lakefs://{repository.id}/main/a"))
    assert requests.get(found["Physical Address"], timeout=300).content == b"here"
    assert "Physical Address Expires" in found


# Uncommitted changes


def test_uncommitted_changes_explain_a_diff_and_a_merge_of_nothing(run, repository, main):
    main.object("a").upload("1")
    main.commit("first")
    dev = repository.branch("dev").create(main)
    for path in ("a", "b"):
        dev.object(path).upload("2")
    refs = f"lakefs://{repository.id}/main", f"lakefs://{repository.id}/dev"
    done = run("diff", *refs)
    assert (done.returncode, done.stdout) == (0, f"Left ref: {refs[0]}\nRight ref: {refs[1]}\n")
    assert done.stderr == "hint: dev has 2 uncommitted changes: commit them first\n"
    done = run("merge", *reversed(refs))
    assert (done.returncode, done.stdout) == (1, f"Source: {refs[1]}\nDestination: {refs[0]}\n")
    assert done.stderr == (
        "error: nothing to merge: dev has 2 uncommitted changes: commit them first\n"
    )
    dev.commit("second")
    assert run("merge", *reversed(refs)).returncode == 0
    assert run("diff", *refs).stderr == ""


def test_annotate_names_no_commit_for_a_restored_object_until_it_is_committed(
    prints, repository, main
):
    for path in ("dir/a", "b"):
        main.object(path).upload("1")
    first = main.commit("first").id
    main.object("dir/a").delete()
    main.commit("deleted")
    lake = f"lakefs://{repository.id}"
    prints("fs", "cp", f"{lake}/{first}/dir/a", f"{lake}/main/dir/a")
    shown = [line.split() for line in prints("annotate", f"{lake}/main/").splitlines()]
    assert [row[:3] for row in shown] == [["b", "admin", first[:16]], ["dir/", "uncommitted"]]
    assert prints("annotate", "-r", f"{lake}/main/dir/").split() == ["dir/a", "uncommitted"]
    restored = main.commit("restored").id
    assert prints("annotate", f"{lake}/main/dir/").split()[:3] == ["dir/a", "admin", restored[:16]]


# export, after the seed document on continuous export


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what a commit sets off in the background."""
    ends = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.2)


def keys_under(s3, bucket: str, prefix: str) -> set[str]:
    found = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
    return {each["Key"].removeprefix(prefix) for each in found}


def test_a_session_of_continuous_export(prints, s3, repository, main):
    branch = f"lakefs://{repository.id}@main"
    out, reports = f"out/{repository.id}/", f"reports/{repository.id}/"
    main.object("tables/users/1.csv").upload("1,Ada")
    main.object("notes.txt").upload("hello")
    first = main.commit("first").id
    to = ("--path", f"s3://{BUCKET}/{out}", "--status-path", f"s3://{BUCKET}/{reports}")
    assert prints("export", "set", branch, "--continuous", *to, "--prefix-regex", "users$") == ""
    assert prints("export", "get", branch) == (
        f"Branch: lakefs://{repository.id}/main\n"
        f"Export Path: s3://{BUCKET}/{out[:-1]}\n"
        f"Export status path: s3://{BUCKET}/{reports[:-1]}\n"
        "Last Keys In Prefix Regexp:\n"
        "\tusers$\n"
        "Continuously exported\n"
    )

    shown = fields(prints("export", "status", "--follow", branch))
    assert shown["State"] == "exported-successfully"
    assert shown["Export-ID"].startswith(f"{repository.id}-main-{first}-")
    assert shown["Commit"] == shown["Exported Commit"] == first
    assert shown["Progress"] == "2 of 2 objects"
    marked = "tables/users/_lakefs_success"
    assert keys_under(s3, BUCKET, out) == {"tables/users/1.csv", "notes.txt", marked}
    assert s3.get_object(Bucket=BUCKET, Key=f"{out}notes.txt")["Body"].read() == b"hello"
    assert f"{repository.id}-main-{first}" in keys_under(s3, BUCKET, reports)

    main.object("notes.txt").delete()
    second = main.commit("second").id
    wait_until(lambda: second in prints("export", "status", "--follow", branch))
    assert keys_under(s3, BUCKET, out) == {"tables/users/1.csv", marked}


def test_a_failed_export_waits_for_its_repair(run, prints, s3, repository, main):
    branch, bucket = f"lakefs://{repository.id}@main", f"{repository.id}-elsewhere"
    main.object("a").upload("1")
    commit = main.commit("first").id
    prints("export", "set", branch, "--continuous", "--force", "--path", f"s3://{bucket}/out")
    done = run("export", "status", "--follow", branch)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("State: export-failed\n")
    assert "Error: " in done.stdout

    s3.create_bucket(Bucket=bucket)
    assert prints("export", "repair", branch) == ""
    shown = fields(prints("export", "status", "--follow", branch))
    assert (shown["State"], shown["Exported Commit"]) == ("exported-successfully", commit)
    assert keys_under(s3, bucket, "out/") == {"a"}
    assert "incorrect status" in run("export", "repair", branch).stderr


# tasks


@pytest.fixture
def commit_async(stack, repository) -> Callable[[], str]:
    """Starts a task that commits what is staged on main; returns its ID."""

    def commit_async() -> str:
        answer = requests.post(
            f"{stack.endpoint}/api/v1/repositories/{repository.id}/branches/main/commits/async",
            json={"message": "by a task"},
            auth=(stack.access_key_id, stack.secret_access_key),
            timeout=300,
        )
        assert answer.status_code == 202
        return str(answer.json()["id"])

    return commit_async


def test_a_session_with_tasks(run, prints, repository, main, commit_async):
    uri = f"lakefs://{repository.id}"
    for name in "abc":
        main.object(name).upload(name)
    made = commit_async()
    shown = fields(prints("tasks", "wait", uri, made))
    assert (shown["Task-ID"], shown["Kind"], shown["State"]) == (made, "commit", "completed")
    assert shown["Commit"] == main.get_commit().id
    assert shown["Progress"] == "3 of 3 objects"
    assert fields(prints("tasks", "show", uri, made)) == shown

    empty = commit_async()
    done = run("tasks", "wait", uri, empty)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: task {empty} failed: commit: no changes")
    assert done.stderr.endswith("then send the request that started it again\n")

    rows = prints("tasks", "list", uri).splitlines()
    # Those of one second come in any order.
    listed = {tuple(row.split("\t")[:3]) for row in rows if row}
    assert listed == {(empty, "commit", "failed"), (made, "commit", "completed")}
    assert "has ended: it is completed" in run("tasks", "cancel", uri, made).stderr


# Failures


def test_a_failure_is_one_line_and_an_exit_code(run, stack, repository, main):
    main.object("a").upload("1")
    uri = f"lakefs://{repository.id}/main/a"
    endpoint = {"LAKECTL_SERVER_ENDPOINT_URL": "http://127.0.0.1:1"}
    key = {"LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "wrong"}
    for args, variables, code, told in [
        (("fs", "stat", f"{uri}b"), {}, 1, "not found: no object"),
        (("fs", "stat", f"lakefs://{repository.id}/nope/a"), {}, 1, "'nope'"),
        (("fs", "stat", f"lakefs://{repository.id}"), {}, 1, "lakefs://REPO/REF/PATH"),
        (("fs", "stat", uri), endpoint, 1, "connection refused"),
        (("fs", "stat", uri), key, 1, "error authenticating request"),
        (("export", "get", f"lakefs://{repository.id}@main"), {}, 1, "no export configuration"),
        (("export", "get", f"lakefs://{repository.id}@nope"), {}, 1, "nope"),
        (("export", "get", "lakefs://no-such-repository@main"), {}, 1, "no-such-repository"),
        (("export", "run", f"lakefs://{repository.id}@main"), {}, 1, "no export configuration"),
    ]:
        done = run(*args, **variables)
        assert (done.returncode, done.stdout) == (code, ""), args
        assert done.stderr.startswith("error: ")
        assert told in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_hook_that_stops_a_commit_is_named_with_the_answer_of_its_target(
    run, stack, repository, main
):
    # Any server that refuses with a text.
    url = f"{stack.endpoint}/api/v1/repositories"
    hook = f"{{id: check_schema, type: webhook, properties: {{url: '{url}'}}}}"
    text = f"name: quality\non: {{pre-commit: }}\nhooks: [{hook}]"
    main.object("_lakefs_actions/quality.yaml").upload(text)
    done = run("commit", f"lakefs://{repository.id}/main", "-m", "guarded")
    assert (done.returncode, done.stdout) == (1, f"Branch: lakefs://{repository.id}/main\n")
    assert done.stderr.startswith(
        'error: the check "check_schema" stopped this commit: {"message":'
    )
    assert "error authenticating request" in done.stderr
    assert done.stderr.endswith(" (401 Unauthorized)\n")


# Names with a colon, as in the examples of lakeFS's concepts


def test_a_branch_and_a_tag_have_a_colon_in_every_interface(
    prints, stack, s3, repository, main, tmp_path
):
    lake, out = f"lakefs://{repository.id}", f"s3://{BUCKET}/out/{repository.id}"
    main.object("a").upload("1")
    first = main.commit("first").id
    prints("branch", "create", f"{lake}/dev:joe", "-s", f"{lake}/main")

    gateway, place = boto3_client(stack), {"Bucket": repository.id, "Key": "dev:joe/b"}
    gateway.put_object(**place, Body=b"2")
    gateway.copy_object(Bucket=repository.id, Key="dev:joe/c", CopySource=place)
    prints("commit", f"{lake}/dev:joe", "-m", "second")
    dev = repository.branch("dev:joe")
    second = dev.get_commit().id
    repository.tag("dev:jane").create("dev:joe@")
    assert prints("log", f"{lake}/dev:joe~1", "--oneline").startswith(first[:12])
    assert dev.object("c").reader("r").read() == "2"
    assert [change.path for change in main.diff(repository.ref("dev:jane"))] == ["b", "c"]
    listed = gateway.list_objects_v2(Bucket=repository.id, Delimiter="/")["CommonPrefixes"]
    assert [each["Prefix"] for each in listed] == ["dev:joe/", "main/"]

    to = ("--path", out, "--status-path", f"{out}-reports", "--continuous=false")
    prints("export", "set", f"{lake}@dev:joe", *to)
    prints("export", "status", "--follow", f"{lake}@dev:joe")
    reports = keys_under(s3, BUCKET, f"out/{repository.id}-reports/")
    assert f"{repository.id}-dev:joe-{second}" in reports

    dump = str(tmp_path / "refs.json")
    prints("refs-dump", lake, "-o", dump)
    prints("repo", "create-bare", f"{lake}-2", repository.properties.storage_namespace)
    prints("refs-restore", f"{lake}-2", "--manifest", dump)
    for ref in ("dev:joe", "dev:jane"):
        assert prints("fs", "cat", f"{lake}-2/{ref}/c") == "2"


# content types, guessed as `aws s3 cp` does


def test_every_upload_has_the_content_type_of_the_files_name(
    prints, stack, repository, main, tmp_path
):
    def aws(*args: str) -> None:
        command: list[str | Path] = [GRAVELER.with_name("aws"), *args]
        subprocess.run(command, env=environment(stack), check=True, capture_output=True)

    folder, uri = tmp_path / "in", f"lakefs://{repository.id}/main"
    folder.mkdir()
    names = ("a.csv", "b.json", "c.csv.gz", "d ü.html", "e.unknown")
    for name in names:
        (folder / name).write_bytes(b"x" * 300_000)  # by presigned URL
    (folder / "f.csv").write_bytes(b"small")
    prints("fs", "upload", "-r", "-s", str(folder), f"{uri}/folder")
    prints("fs", "sync", str(folder), f"{uri}/synced")
    prints("local", "init", f"{uri}/mirrored/", str(folder))
    prints("local", "commit", str(folder), "-m", "Files", "--force")
    for name in names:
        prints("fs", "upload", "-s", str(folder / name), f"{uri}/one/{name}")
        aws("s3", "cp", str(folder / name), f"s3://{repository.id}/main/aws/{name}")
    stored = {each.path: each.content_type for each in main.objects(max_amount=100)}
    for name in names:
        at = f"aws/{name}"
        expected = stored[at].replace("binary/", "application/")  # S3's word for unknown
        ours = {stored[f"{where}/{name}"] for where in ("folder", "synced", "mirrored", "one")}
        assert (name, ours) == (name, {expected})
    assert stored["folder/f.csv"] == stored["mirrored/f.csv"] == "text/csv"


# What was seen: distances, heads, choices, restores


def test_branches_with_what_is_seen_of_them_are_merged_by_choice(repository, main, run, prints):
    lake = f"lakefs://{repository.id}"
    for path in ("both", "d/1", "d/2"):
        main.object(path).upload("0")
    main.commit("first")
    dev = repository.branch("dev").create(main)
    dev.object("both").upload("dev")
    seen = main.get_commit()
    dev.commit("on dev\n\nand more")
    main.object("both").upload("main")
    main.object("d/1").delete()
    head = main.commit("on main").get_commit()
    counted = prints("diff", "--ahead-behind", f"{lake}/main...dev")
    assert "dev is 1 ahead of main, and 1 behind" in counted
    assert run("diff", "--ahead-behind", f"{lake}/main").returncode == 1
    (row,) = [each for each in prints("branch", "list", "-v", lake).splitlines() if "dev" in each]
    assert row.split("\t")[1] == dev.head.id
    assert row.endswith("on dev")

    merge = ("merge", f"{lake}/dev", f"{lake}/main")
    moved = run(*merge, "--resolve", "both=source-wins", "--if-head", seen.id)
    assert (moved.returncode, head.id in moved.stderr) == (1, True)
    assert run(*merge, "--resolve", "both").returncode == 1
    assert run(*merge, "--strategy", "source-wins", "--if-head", "").returncode == 1
    twice = ("--resolve", "both=source-wins", "--resolve", "both=dest-wins")
    assert "twice" in run(*merge, *twice).stderr
    wrong = ("--resolve", "both=source-wins", "--resolve", "d/1=dest-wins")
    assert "'d/1' is not in conflict" in run(*merge, *wrong).stderr
    assert "--resolve decides it" in run(*merge).stderr
    prints(*merge, "--resolve", "both=source-wins", "--if-head", head.id)
    assert prints("fs", "cat", f"{lake}/main/both") == "dev"

    shown = prints("fs", "history", f"{lake}/main/d/1")
    assert [line.split("\t")[0] for line in shown.splitlines()] == ["removed", "added"]
    assert len(prints("fs", "history", f"{lake}/main/both", "--amount", "1").splitlines()) == 1
    assert run("fs", "restore", f"{lake}/main/d/1", "--from", "main~9").returncode == 1
    assert "no commit of main" in run("fs", "history", f"{lake}/main/none").stderr
    prints("fs", "restore", f"{lake}/main/d/1", "--from", seen.id)
    assert prints("fs", "cat", f"{lake}/main/d/1") == "0"
    main.object("both").upload("staged")
    prints("fs", "restore", f"{lake}/main/both", "--from", "main")
    assert prints("fs", "cat", f"{lake}/main/both") == "dev"
    main.object("d/new").upload("1")
    done = run("fs", "restore", "-r", f"{lake}/main/d/", "--from", f"{lake}/main~1")
    assert (done.returncode, done.stdout) == (0, "restored: 2 objects\n")
    assert f"graveler tasks cancel {lake} PR" in done.stderr
    assert [each.path for each in main.objects(prefix="d/")] == ["d/2"]
    refused = run("fs", "restore", "-r", f"{lake}/main/typo/", "--from", "main~1")
    assert (refused.returncode, "typo/" in refused.stderr) == (1, True)
