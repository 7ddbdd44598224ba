"""Uploads and downloads: what arrives, when requests fail and when they do not."""

import json
import mimetypes
import os
import threading
from hashlib import md5
from pathlib import Path

import pytest

from graveler_cli.client import LakeClient
from graveler_cli.configuration import RequestRetries
from graveler_cli.transfers import content_types, downloads, runner, together, uploads, verification
from graveler_cli.transfers.files import Links, walk
from graveler_cli.transfers.jobs import DownloadJob, TransferOptions, UploadJob
from graveler_cli.transfers.journals import boot_id
from graveler_cli.transfers.progress import TransferProgress
from graveler_cli.transfers.runner import TransferRunner
from tests.support.fakes.scripted_lake import checksum_in_parts

BRANCH = "lakefs://my-repo/main"
SMALL_PART = 64 * 1024


@pytest.fixture
def in_small_parts(monkeypatch):
    """Files of a few hundred kB are large."""
    monkeypatch.setattr(uploads, "PARTS_BYTES_MIN", 2 * SMALL_PART)
    monkeypatch.setattr(uploads, "DIRECT_BYTES_MAX", SMALL_PART)
    monkeypatch.setattr(uploads, "part_size", lambda _: SMALL_PART)


def upload(user, name, content, *more):
    Path(name).write_bytes(content)
    return user.prints("fs", "upload", "-s", name, f"{BRANCH}/{name}", *more)


def journals(folder):
    return [*(folder / "cache").rglob("*.parts")]


def test_a_small_file_takes_one_request(user, lake):
    shown = upload(user, "a", b"text", "--content-type", "text/plain", "--metadata", "k=v,l=w")
    assert shown.startswith("Path: a\n")
    assert lake.objects["a"].content == b"text"
    assert lake.objects["a"].metadata == {"k": "v", "l": "w"}
    assert len(lake.asked) == 1


@pytest.mark.parametrize("size", [1, 2 * SMALL_PART - 1, 4 * SMALL_PART])
def test_a_file_has_the_content_type_of_its_name_wherever_it_goes(user, lake, in_small_parts, size):
    """By one request of the API, by a presigned URL, and in parts."""
    upload(user, "a.csv", bytes(size))
    assert lake.objects["a.csv"].content_type == "text/csv"
    assert lake.put_types == ({"text/csv"} if size > 1 else set())
    upload(user, "b.csv", bytes(size), "--content-type", "x/y")
    assert lake.objects["b.csv"].content_type == "x/y"
    assert lake.put_types == ({"text/csv", "x/y"} if size > 1 else set())


def test_content_types_are_the_same_on_every_machine(tmp_path, monkeypatch):
    """Those of `aws s3 cp` where no file of the machine adds others, and Parquet's."""
    (tmp_path / "types").write_text("x/machine csv orc xyz")
    monkeypatch.setattr(mimetypes, "knownfiles", [str(tmp_path / "types")])
    monkeypatch.setattr(mimetypes, "inited", False)
    content_types._table.cache_clear()
    unknown = "application/octet-stream"
    found = {
        "a.csv": "text/csv",
        "a.CSV": "text/csv",
        "a b ü.json": "application/json",
        "a.csv.gz": "text/csv",
        "a.tar.gz": "application/x-tar",
        "a.gz": unknown,
        "a.parquet": "application/vnd.apache.parquet",
        "README.md": "text/markdown",
        "a.yaml": "application/yaml",
        "a.js": "text/javascript",
        "a.orc": unknown,
        "a.xyz": unknown,
        "a.csv/": unknown,
        "": unknown,
        ".csv": unknown,
        "data:x/machine;a,.csv": "text/csv",
        "http://[b.csv": "text/csv",
        "a\nb.csv": "text/csv",
    }
    assert {name: content_types.type_of(name) for name in found} == found
    assert content_types.type_of("data", "a/b.csv") == "text/csv"
    assert content_types.type_of("data.json", "b.csv") == "application/json"


def test_a_larger_file_goes_straight_to_the_object_store(user, lake):
    content = os.urandom(300_000)
    upload(user, "a", content, "--metadata", "Key=Ä")
    assert lake.objects["a"].content == content
    assert lake.objects["a"].metadata == {"Key": "Ä"}
    assert lake.amount("POST", "objects") == 0


def test_without_presigned_urls_all_goes_through_the_api(user, lake):
    lake.pre_sign = False
    content = os.urandom(300_000)
    upload(user, "a", content)
    assert lake.objects["a"].content == content
    assert user.prints("fs", "download", f"{BRANCH}/a", "b").startswith("download: ")
    assert lake.amount("PUT", "/store") == lake.amount("GET", "/store") == 0


@pytest.mark.parametrize("size", [0, 1, 4 * SMALL_PART, 4 * SMALL_PART + 1])
@pytest.mark.parametrize("flags", [(), ("--pre-sign",), ("--pre-sign=false",)])
def test_what_was_uploaded_is_downloaded(user, lake, in_small_parts, tmp_path, size, flags):
    content = os.urandom(size)
    upload(user, "a", content, *flags)
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART), *flags)
    assert (tmp_path / "b").read_bytes() == content
    assert sorted(each.name for each in tmp_path.iterdir() if each.name != "cache") == ["a", "b"]
    assert journals(tmp_path) == []


@pytest.mark.parametrize("kind", ["drop", "lose", 429, 500, 503])
@pytest.mark.parametrize(
    ("method", "text"),
    [("POST", "/pmpu"), ("PUT", "/store"), ("PUT", "/pmpu/u1"), ("GET", "/config")],
)
def test_an_upload_in_parts_survives_faults(user, lake, in_small_parts, kind, method, text):
    content = os.urandom(5 * SMALL_PART)
    lake.fails(method, text, kind, times=2)
    upload(user, "a", content)
    assert lake.objects["a"].content == content


@pytest.mark.parametrize("kind", ["drop", "lose", 429, 503])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_presigned_upload_survives_faults(user, lake, kind, method):
    content = os.urandom(300_000)
    lake.fails(method, "/staging/backing", kind)
    lake.fails("PUT", "/store", kind)
    upload(user, "a", content)
    assert lake.objects["a"].content == content


def test_an_object_store_that_kept_other_bytes_gets_them_again(user, lake):
    lake.fails("PUT", "/store", "damage")
    upload(user, "a", os.urandom(300_000))
    assert lake.amount("PUT", "/store") == 2


def test_a_url_that_expired_is_asked_for_anew(user, lake, in_small_parts):
    content = os.urandom(4 * SMALL_PART)
    lake.life_s = 0  # until the server is asked for the URL of a part
    upload(user, "a", content)
    assert lake.objects["a"].content == content
    assert lake.amount("PUT", "/parts/") >= 1


def test_an_interrupted_upload_sends_only_what_is_missing(user, lake, in_small_parts, tmp_path):
    content = os.urandom(8 * SMALL_PART)
    (tmp_path / "a").write_bytes(content)
    lake.fails("PUT", "partNumber=5", 400, times=1)
    command = ("fs", "upload", "-s", "a", f"{BRANCH}/a", "-p", "1")
    assert "answered 400" in user.fails(*command)
    assert len(journals(tmp_path)) == 1
    stored = lake.amount("PUT", "/store") - 1
    lake.asked.clear()
    user.prints(*command)
    assert lake.objects["a"].content == content
    assert lake.amount("PUT", "/store") == 8 - stored
    assert lake.amount("POST", "/pmpu") == 0
    assert journals(tmp_path) == []


def test_a_file_that_changed_since_the_interruption_is_sent_anew(
    user, lake, in_small_parts, tmp_path
):
    (tmp_path / "a").write_bytes(os.urandom(8 * SMALL_PART))
    lake.fails("PUT", "partNumber=5", 400)
    command = ("fs", "upload", "-s", "a", f"{BRANCH}/a", "-p", "1")
    user.fails(*command)
    content = os.urandom(8 * SMALL_PART)
    (tmp_path / "a").write_bytes(content)
    user.prints(*command)
    assert lake.objects["a"].content == content


def test_an_upload_that_the_server_forgot_is_begun_anew(user, lake, in_small_parts, tmp_path):
    content = os.urandom(8 * SMALL_PART)
    (tmp_path / "a").write_bytes(content)
    lake.fails("PUT", "partNumber=5", 400)
    command = ("fs", "upload", "-s", "a", f"{BRANCH}/a", "-p", "1")
    user.fails(*command)
    lake.parts.clear()
    user.prints(*command)
    assert lake.objects["a"].content == content


def test_a_file_that_changes_while_it_is_read_is_refused(user, lake, in_small_parts, tmp_path):
    file = tmp_path / "a"
    file.write_bytes(os.urandom(4 * SMALL_PART))
    answered = lake.url

    def url(*arguments):
        file.write_bytes(b"short")
        return answered(*arguments)

    lake.url = url
    assert "changed while it was read" in user.fails("fs", "upload", "-s", "a", f"{BRANCH}/a")
    assert "a" not in lake.objects


def test_a_file_that_cannot_be_stored_does_not_stop_the_others(user, lake, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abc":
        (folder / name).write_bytes(name.encode())
    lake.fails("POST", "path=d/b", 412)
    result = user.run("fs", "upload", "-r", "-s", "in", f"{BRANCH}/d")
    assert result.exit_code == 1
    assert sorted(lake.objects) == ["d/a", "d/c"]
    assert "Uploaded: 2\n" in result.stdout
    assert result.stderr.splitlines() == [
        "error: upload d/b: fault 412",
        "error: upload: 1 of 3 failed: run the command again",
    ]


def test_files_that_are_stored_are_not_sent_again(user, lake, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"1")
    user.prints("fs", "upload", "-r", "-s", "in", f"{BRANCH}/d/")
    lake.asked.clear()
    shown = user.prints("fs", "upload", "-r", "-s", "in", f"{BRANCH}/d/")
    assert shown.endswith("\nUpload Summary:\n\nNo changes\n")
    assert lake.amount("POST", "") == 0


def test_wrong_credentials_end_the_run_at_once(user, lake, tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(30):
        (tmp_path / "in" / str(number)).write_bytes(b"1")
    lake.fails("POST", "", 401, times=100)
    result = user.run("fs", "upload", "-r", "-s", "in", f"{BRANCH}/d", "-p", "1")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["drop", "lose", "cut", "damage", 429, 500, 503])
def test_downloads_survive_faults(user, lake, tmp_path, kind):
    contents = {f"{number}": os.urandom(10_000) for number in range(5)}
    contents["large"] = os.urandom(5 * SMALL_PART)
    for name, content in contents.items():
        lake.has(f"d/{name}", content)
    lake.fails("GET", "/store/data/2", kind)
    lake.fails("GET", "/store/data/6", kind, times=2)
    user.prints("fs", "download", "-r", f"{BRANCH}/d", "out", "--part-size", str(SMALL_PART))
    assert {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()} == contents


def test_a_body_that_is_cut_off_is_continued_where_it_ended(user, lake, tmp_path):
    content = os.urandom(100_000)
    lake.has("a", content)
    lake.fails("GET", "/store", "cut")
    user.prints("fs", "download", f"{BRANCH}/a", "b")
    assert (tmp_path / "b").read_bytes() == content
    assert lake.ranges == ["bytes=50000-99999"]


def test_bytes_with_another_checksum_are_not_kept(user, lake, tmp_path):
    lake.has("a", b"content")
    lake.fails("GET", "/store", "damage", times=10)
    told = user.fails("fs", "download", f"{BRANCH}/a", "b")
    assert "do not have the checksum" in told
    assert [each.name for each in tmp_path.iterdir()] == []


def test_a_store_whose_tags_are_no_checksums_checks_the_requests_itself(user, lake, in_small_parts):
    lake.encryption = "aws:kms"
    content = os.urandom(4 * SMALL_PART)
    upload(user, "a", content, "--parallelism", "1")
    assert lake.objects["a"].content == content
    # What was sent without a checksum is sent again.
    assert lake.checked.count(True) == 4
    assert 1 <= lake.checked.count(False) <= 4


def test_a_store_whose_tags_are_checksums_gets_each_part_once(user, lake, in_small_parts):
    upload(user, "a", os.urandom(4 * SMALL_PART))
    assert lake.checked == [False] * 4


def test_the_tag_of_an_encrypted_object_is_no_checksum(user, lake, tmp_path):
    lake.has("a", b"content", checksum="0" * 32)
    lake.encryption = "aws:kms"
    user.prints("fs", "download", f"{BRANCH}/a", "b")
    assert (tmp_path / "b").read_bytes() == b"content"


def test_the_api_may_have_checksums_of_another_kind(user, lake, tmp_path):
    lake.has("a", b"content", checksum="0" * 32)
    lake.pre_sign = False
    lake.fails("GET", "objects?", "damage")
    user.prints("fs", "download", f"{BRANCH}/a", "b")
    assert (tmp_path / "b").read_bytes() == b"content"
    assert lake.amount("GET", "objects?") == 3
    assert user.prints("fs", "cat", f"{BRANCH}/a") == "content"


@pytest.fixture
def uploaded_in_small_parts(lake, monkeypatch):
    """The content of an object that has S3's checksum of parts of a usual size."""
    monkeypatch.setattr(verification, "_USUAL_PART_SIZES", (SMALL_PART, 3 * SMALL_PART // 2))
    content = os.urandom(4 * SMALL_PART + 1)
    lake.has("a", content, checksum=checksum_in_parts(content, SMALL_PART))
    return content


@pytest.mark.parametrize("part_bytes", [SMALL_PART, 80_000, 64 * SMALL_PART])
def test_damage_is_found_by_the_checksum_of_parts(
    user, lake, tmp_path, uploaded_in_small_parts, part_bytes
):
    lake.fails("GET", "/store", "damage")
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(part_bytes))
    assert (tmp_path / "b").read_bytes() == uploaded_in_small_parts


@pytest.mark.parametrize("checksum", ["0" * 32, f"{'0' * 32}-5"])
@pytest.mark.parametrize("part_bytes", [SMALL_PART, 64 * SMALL_PART])
def test_a_download_is_not_compared_if_the_user_says_so(
    user, lake, tmp_path, uploaded_in_small_parts, checksum, part_bytes
):
    lake.has("a", uploaded_in_small_parts, checksum=checksum)
    sized = ("--part-size", str(part_bytes))
    user.prints("fs", "download", f"{BRANCH}/a", "b", *sized, "--no-verify")
    assert (tmp_path / "b").read_bytes() == uploaded_in_small_parts
    assert lake.amount("GET", "/store") == -(-len(uploaded_in_small_parts) // part_bytes)


def test_undamaged_bytes_are_received_once(user, lake, tmp_path, uploaded_in_small_parts):
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART))
    assert lake.amount("GET", "/store") == 5


def test_bytes_that_arrive_twice_alike_are_right_if_the_size_of_parts_is_a_guess(
    user, lake, tmp_path, uploaded_in_small_parts
):
    lake.has(
        "a", uploaded_in_small_parts, checksum=checksum_in_parts(uploaded_in_small_parts, 60_000)
    )
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART))
    assert (tmp_path / "b").read_bytes() == uploaded_in_small_parts
    assert lake.amount("GET", "/store") == 10


def test_encrypted_parts_have_no_checksum(user, lake, tmp_path, uploaded_in_small_parts):
    lake.has("a", uploaded_in_small_parts, checksum=f"{'0' * 32}-5")
    lake.encryption = "aws:kms"
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART))
    assert lake.amount("GET", "/store") == 5


def test_parts_that_arrived_are_not_asked_for_again(user, lake, tmp_path, monkeypatch):
    content = os.urandom(8 * SMALL_PART)
    lake.has("a", content)
    command = ("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART), "-p", "1")
    fetch = downloads.Downloader._fetch
    calls = []

    def failing(self, *arguments, **named):
        calls.append(1)
        if len(calls) == 5:
            raise OSError(28, "No space left on device")
        return fetch(self, *arguments, **named)

    monkeypatch.setattr(downloads.Downloader, "_fetch", failing)
    assert "no space left on device" in user.fails(*command)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        ".b.graveler-part",
        ".b.graveler-parts",
    ]
    lake.ranges.clear()
    user.prints(*command)
    assert len(lake.ranges) == 4
    assert (tmp_path / "b").read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["b"]


def test_parts_of_another_version_are_not_used(user, lake, tmp_path):
    size = 4 * SMALL_PART
    (tmp_path / ".b.graveler-part").write_bytes(b"x" * size)
    about = {"path": "a", "checksum": "old", "size_bytes": str(size)}
    lines = [json.dumps(about), *(json.dumps({"number": n, "tag": ""}) for n in (1, 2))]
    (tmp_path / ".b.graveler-parts").write_text("\n".join(lines) + "\n")
    content = os.urandom(size)
    lake.has("a", content)
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART))
    assert (tmp_path / "b").read_bytes() == content


def test_damaged_parts_of_an_older_run_are_received_again(user, lake, tmp_path):
    content = os.urandom(4 * SMALL_PART)
    lake.has("a", content)
    row = lake.row("a")
    about = {
        **{key: str(row[key]) for key in ("path", "checksum", "size_bytes", "mtime")},
        "part_bytes": str(SMALL_PART),
        "boot": boot_id(),
    }
    (tmp_path / ".b.graveler-part").write_bytes(bytes(len(content)))
    lines = [json.dumps(about), json.dumps({"number": 1, "tag": ""}), '{"num']
    (tmp_path / ".b.graveler-parts").write_text("\n".join(lines))
    user.prints("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(SMALL_PART))
    assert (tmp_path / "b").read_bytes() == content


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/abs", "a//b", "./x", ".."])
def test_no_object_is_written_outside_of_the_folder(user, lake, tmp_path, name):
    lake.has(f"d/{name}", b"evil")
    lake.has("d/ok", b"good")
    result = user.run("fs", "download", "-r", f"{BRANCH}/d", "out")
    assert result.exit_code == 1
    assert [each.name for each in tmp_path.rglob("*")] == ["out", "ok"]
    assert "cannot be the name of a file below" in result.stderr


@pytest.mark.parametrize("command", [["download", "-r"], ["sync"]])
def test_an_object_below_the_name_of_another_is_refused_and_the_rest_stored(
    user, lake, tmp_path, command
):
    below = [f"d/dir/{number:02}" for number in range(30)]  # more than end a run in a row
    for path in ("d/dir", "d/dir-a", *below, "d/dir0", "d/z"):
        lake.has(path, path.encode())
    for _ in range(2):
        result = user.run("fs", *command, f"{BRANCH}/d", "out", "--parallelism", "1")
        assert result.exit_code == 1
        stored = {each.name: each.read_bytes().decode() for each in (tmp_path / "out").iterdir()}
        assert stored == {name: f"d/{name}" for name in ("dir", "dir-a", "dir0", "z")}
        assert "d/dir/29: another object is a file where its folder would be" in result.stderr
        assert "no file can have their names" in result.stderr


def test_an_object_replaces_no_folder(user, lake, tmp_path):
    lake.has("d/a", b"new")
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "mine").touch()
    result = user.run("fs", "download", "-r", f"{BRANCH}/d", "out")
    assert (result.exit_code, "out/a is a folder: move it away" in result.stderr) == (1, True)
    assert (tmp_path / "out" / "a" / "mine").exists()


def test_links_do_not_lead_out_of_the_folder(user, lake, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    lake.has("d/sub/f", b"x")
    assert user.run("fs", "download", "-r", f"{BRANCH}/d", "out").exit_code == 1
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_a_link_is_refused_unless_the_configuration_says_what_to_do(user, lake, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to("target")
    command = ("fs", "upload", "-r", "-s", "in", f"{BRANCH}/d")
    assert "is not a regular file" in user.run(*command).stderr
    user.prints(*command, LAKECTL_LOCAL_SYMLINK_SUPPORT="true")
    assert lake.objects["d/link"].metadata["::lakefs::symlink-target"] == "target"
    down = ("fs", "download", "-r", f"{BRANCH}/d", "out")
    user.prints(*down, LAKECTL_LOCAL_SYMLINK_SUPPORT="true")
    assert (tmp_path / "out" / "link").readlink() == Path("target")


def test_jobs_are_taken_a_few_at_a_time(lake, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "JOBS_WAITING_MAX", 10)
    monkeypatch.setattr(together, "OBJECTS_MAX", 5)
    file = tmp_path / "a"
    file.write_bytes(b"1")
    lock, taken, done, most = threading.Lock(), 0, 0, 0

    def jobs():
        nonlocal taken, most
        for number in range(100):
            with lock:
                taken += 1
                most = max(most, taken - done)
            yield UploadJob(f"o/{number}", file)

    def finished(_job, _stats):
        nonlocal done
        with lock:
            done += 1

    server = LakeClient(f"{lake.endpoint}/api/v1", ("key", "secret"), RequestRetries())
    tally = TransferRunner(server, "my-repo", "main", TransferOptions(4), warn=print).run(
        jobs(), finished
    )
    assert tally.uploaded == len(lake.objects) == 100
    # Those that wait, those that run, and the group that is being put.
    assert most <= 10 + 4 + 5 + 1


def test_a_walk_is_in_the_order_of_a_listing(tmp_path):
    names = ["a.b", "a/c", "a/d/e", "a0", "ä", "b"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = [each.name for each in walk(tmp_path, Links())]
    assert found == sorted(names, key=str.encode)


def test_a_download_has_the_time_that_was_asked_for(lake, tmp_path):
    lake.has("a", b"1")
    server = LakeClient(f"{lake.endpoint}/api/v1", ("key", "secret"), RequestRetries())
    runner = TransferRunner(server, "my-repo", "main", TransferOptions(), warn=print)
    job = DownloadJob("a", tmp_path / "x" / "a", runner.stat("a"), mtime_s=1_000_000_000)
    runner.do(job)
    assert job.target.stat().st_mtime == 1_000_000_000
    assert md5(job.target.read_bytes()).hexdigest() == lake.objects["a"].checksum


def test_the_progress_of_a_download_knows_its_size(user, lake, tmp_path, monkeypatch):
    upload(user, "a", b"text")
    expected = []
    monkeypatch.setattr(TransferProgress, "expect", lambda _, size: expected.append(size))
    user.prints("fs", "download", f"{BRANCH}/a", str(tmp_path / "b"))
    assert expected == [4]
