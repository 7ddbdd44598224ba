"""What once lost data, hung or told a key: each of these failed before it was mended."""

import os
import socket
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from graveler_cli.checkout.linked_folder import LinkedFolder
from graveler_cli.client import LakeClient
from graveler_cli.configuration import RequestRetries
from graveler_cli.errors import CommandError
from graveler_cli.transfers import comparing, uploads
from graveler_cli.transfers.downloads import Downloader
from graveler_cli.transfers.jobs import DownloadJob, TransferOptions
from graveler_cli.transfers.requests import RepeatedRequests
from graveler_cli.transfers.runner import TransferRunner
from graveler_cli.transfers.workers import TaskThreads
from graveler_cli.transport import CommandStoppedError
from tests.support.fakes import scripted_lake

BRANCH = "lakefs://my-repo/main"


@pytest.fixture
def server(lake):
    return LakeClient(f"{lake.endpoint}/api/v1", ("key", "secret"), RequestRetries())


def test_a_run_whose_output_nobody_reads_does_not_end_as_if_all_were_done(lake, server, tmp_path):
    for number in range(50):
        lake.has(f"d/{number:02}", b"1")

    def done(_job, _stats):
        raise BrokenPipeError

    runner = TransferRunner(server, "my-repo", "main", TransferOptions(4), warn=print)

    def jobs():
        for found in runner.listing("d/"):
            yield DownloadJob(found.path, tmp_path / found.path[2:], found)

    with pytest.raises(BrokenPipeError):
        runner.run(jobs(), done)


def test_a_folder_that_cannot_be_made_is_a_failure_of_its_file(tmp_path, monkeypatch):
    folder = LinkedFolder(tmp_path, keeps_folders=False)
    file = folder.partial("a/b", "x")
    file.write_bytes(b"1")

    def mkdir(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(CommandError, match=r"cannot change .*a: Permission denied"):
        folder.place(file, "a/b")


def test_a_folder_that_became_a_link_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    folder = LinkedFolder(root, keeps_folders=False)
    file = folder.partial("a/b", "x")
    file.write_bytes(b"1")
    made = Path.mkdir

    def mkdir(self, *arguments, **named):
        if self.name == "a":  # another thread was faster
            self.symlink_to(tmp_path / "outside")
        made(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(CommandError, match="is a link"):
        folder.place(file, "a/b")
    assert [*(tmp_path / "outside").iterdir()] == []


def test_an_upload_that_the_object_store_ended_is_begun_anew(user, lake, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "PARTS_BYTES_MIN", 2 << 16)
    monkeypatch.setattr(uploads, "DIRECT_BYTES_MAX", 1 << 16)
    monkeypatch.setattr(uploads, "part_size", lambda _: 1 << 16)
    content = os.urandom(8 << 16)
    (tmp_path / "a").write_bytes(content)
    lake.fails("PUT", "partNumber=5", 400)
    command = ("fs", "upload", "-s", "a", f"{BRANCH}/a", "-p", "1")
    user.fails(*command)
    lake.parts.clear()
    lake.signs_blindly = True
    user.prints(*command)
    assert lake.objects["a"].content == content


def test_an_interrupt_wakes_threads_that_wait_for_the_network():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        requests = RepeatedRequests(RequestRetries())
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        found = []

        def ask():
            try:
                requests.ask("GET", url)
            except CommandStoppedError as error:
                found.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        accepted, _ = silent.accept()
        with accepted:
            requests.stop()
            thread.join(20)
            assert found
        requests.close()


EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def requests_of(client):
    """Yield the body of each request, of the length that they name in one digit."""
    with client, client.makefile("rb") as sent:
        while head := [*iter(sent.readline, b"\r\n")] if sent.peek(1) else []:
            lengths = [line[-3:] for line in head if line.lower().startswith(b"content-length")]
            yield sent.read(int(lengths[0]) if lengths else 0)


def test_a_kept_connection_that_ends_with_a_request_on_its_way_is_no_failure():
    """Without repetitions; the body is sent again as well."""
    bodies = []

    def serve(listening):
        for _ in range(3):
            client = listening.accept()[0]
            for number, body in enumerate(requests_of(client)):
                bodies.append(body)
                if number == 1:
                    break
                client.sendall(EMPTY)
            client.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        requests = RepeatedRequests(RequestRetries(attempts_max=0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        for number in range(3):
            body = [b"%d" % number, b"abc"]
            requests.ask("PUT", url, {"Content-Length": "4"}, partial(iter, body))
        requests.close()
        thread.join(20)
    assert bodies == [b"0abc", b"1abc", b"1abc", b"2abc", b"2abc"]


def test_a_move_never_replaces_what_it_has_still_to_move(user, lake):
    lake.has("a/b/x", b"X")
    lake.has("a/b/b/x", b"Y")
    for word in ("mv", "cp"):
        told = user.fails("fs", word, "-r", "-p", "1", f"{BRANCH}/a/b/", f"{BRANCH}/a/")
        assert "a/b/b/" in told
    assert {name: each.content for name, each in lake.objects.items()} == {
        "a/b/x": b"X",
        "a/b/b/x": b"Y",
    }


@pytest.mark.parametrize("words", [["a"], ["-r", "a/"]], ids=["object", "folder"])
def test_a_move_from_a_tag_copies_nothing(user, lake, words):
    *options, path = words
    lake.has(f"{path}b" if options else path, b"X")
    before = {*lake.objects}
    told = user.fails("fs", "mv", *options, f"lakefs://my-repo/v1/{path}", f"{BRANCH}/c/")
    assert told == f"lakefs://my-repo/v1/{path} is not on a branch: use fs cp"
    assert {*lake.objects} == before


def test_a_folder_moves_up(user, lake):
    lake.has("a/b/x", b"X")
    user.prints("fs", "mv", "-r", f"{BRANCH}/a/b/", f"{BRANCH}/")
    assert [*lake.objects] == ["x"]


def test_a_pipe_is_no_file_to_upload(user, lake, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in user.fails("fs", "upload", "-s", "pipe", f"{BRANCH}/a")
    assert lake.objects == {}


@pytest.mark.parametrize("command", ["download", "sync"])
def test_a_link_of_the_same_run_does_not_lead_out(user, lake, tmp_path, command, monkeypatch):
    (tmp_path / "outside").mkdir()
    lake.has("d/sub", b"")
    lake.objects["d/sub"].metadata["::lakefs::symlink-target"] = str(tmp_path / "outside")
    lake.has("d/sub/f", b"x")
    words = ["download", "-r"] if command == "download" else ["sync"]
    run = Downloader.download

    def download(self, job):
        # The slowest of all: the link is there already.
        if job.path == "d/sub/f":
            for _ in range(500):
                if (tmp_path / "out" / "sub").is_symlink():
                    break
                time.sleep(0.01)
        return run(self, job)

    monkeypatch.setattr(Downloader, "download", download)
    result = user.run("fs", *words, f"{BRANCH}/d/", "out", LAKECTL_LOCAL_SYMLINK_SUPPORT="true")
    assert result.exit_code == 1
    assert [*(tmp_path / "outside").iterdir()] == []


def test_parts_of_two_versions_are_never_one_file(user, lake, tmp_path, monkeypatch):
    """An object whose checksum says nothing is replaced by one of the same size."""
    lake.pre_sign = False
    size = 4 << 16
    lake.has("a", b"1" * size, checksum="1" * 32 + "-4")
    content = scripted_lake._Handler.content
    asked = []

    def replaced(self, found, tag):
        asked.append(tag)
        content(self, found, tag)
        if len(asked) == 2:
            lake.has("a", b"2" * size, checksum="2" * 32 + "-4")

    monkeypatch.setattr(scripted_lake._Handler, "content", replaced)
    command = ("fs", "download", f"{BRANCH}/a", "b", "--part-size", str(1 << 16), "-p", "1")
    assert "changed since the download began" in user.fails(*command)
    assert not (tmp_path / "b").exists()
    user.prints(*command)
    assert (tmp_path / "b").read_bytes() == b"2" * size


def test_damaged_bytes_of_a_large_object_are_not_kept(user, lake, tmp_path):
    lake.has("a", os.urandom(6_000_000))
    lake.fails("GET", "/store", "damage", times=10)
    told = user.fails("fs", "download", f"{BRANCH}/a", "b", "--pre-sign")
    assert "do not have the checksum" in told
    assert not (tmp_path / "b").exists()


def test_a_path_that_does_not_exist_does_not_empty_a_folder(user, lake, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("1")
    told = user.fails("fs", "sync", f"{BRANCH}/typo/", "out", "--delete")
    assert "no objects in path" in told
    assert (tmp_path / "out" / "mine").exists()


def test_a_newer_object_of_the_same_size_is_downloaded(user, lake, tmp_path):
    lake.has("d/a", b"new", checksum="0" * 32 + "-77")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"old")
    os.utime(tmp_path / "out" / "a", (1, 1))
    user.prints("fs", "sync", f"{BRANCH}/d/", "out")
    assert (tmp_path / "out" / "a").read_bytes() == b"new"


def test_threads_that_an_interrupt_kept_from_beginning_are_not_waited_for(monkeypatch):
    workers = TaskThreads(1, 1)

    def start(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        workers.put(lambda: None)
    workers.end(1)


def test_a_large_file_that_changed_within_a_second_is_uploaded(user, lake, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "PARTS_BYTES_MIN", 2 << 16)
    monkeypatch.setattr(uploads, "part_size", lambda _: 1 << 16)
    monkeypatch.setattr(comparing, "part_size", lambda _: 1 << 16)
    (tmp_path / "in").mkdir()
    for content in (b"1" * 300_000, b"2" * 300_000):
        (tmp_path / "in" / "a").write_bytes(content)
        os.utime(tmp_path / "in" / "a", (1, 1))
        user.prints("fs", "sync", "in", f"{BRANCH}/d/", "--pre-sign")
        assert lake.objects["d/a"].content == content
    assert user.prints("fs", "sync", "in", f"{BRANCH}/d/", "--pre-sign") == ""


def test_a_large_file_is_uploaded_though_nothing_can_be_kept_for_the_next_run(
    user, lake, tmp_path, monkeypatch
):
    monkeypatch.setattr(uploads, "PARTS_BYTES_MIN", 2 << 16)
    monkeypatch.setattr(uploads, "DIRECT_BYTES_MAX", 1 << 16)
    monkeypatch.setattr(uploads, "part_size", lambda _: 1 << 16)
    (tmp_path / "a").write_bytes(b"1" * 300_000)
    (tmp_path / "file").write_text("no folder")
    cache = str(tmp_path / "file" / "cache")
    user.prints("fs", "upload", "-s", "a", f"{BRANCH}/a", XDG_CACHE_HOME=cache)
    assert len(lake.objects["a"].content) == 300_000
    assert lake.amount("POST", "/pmpu") == 1


def test_the_journal_of_an_older_version_does_not_stay(user, lake, tmp_path):
    (tmp_path / ".b.graveler-parts").write_text('{"path": "a"}\n{"number": 1, "tag": ""}\n')
    lake.has("a", b"small")
    user.prints("fs", "download", f"{BRANCH}/a", "b")
    assert [each.name for each in tmp_path.iterdir()] == ["b"]
