"""Changes that once were lost without a word: each of these failed before it was mended."""

import os
import socket
import threading
import time
from hashlib import md5
from pathlib import Path

import pytest

from graveler_cli.checkout import git
from graveler_cli.errors import CommandError
from graveler_cli.transfers import uploads
from graveler_cli.transport import KeptConnections
from tests.support.fakes.plain_lake import served

BRANCH = "lakefs://my-repo/main"
PART_BYTES = 1 << 16


@pytest.fixture
def in_small_parts(monkeypatch):
    """Files of a few hundred kB are large."""
    monkeypatch.setattr(uploads, "PARTS_BYTES_MIN", 2 * PART_BYTES)
    monkeypatch.setattr(uploads, "DIRECT_BYTES_MAX", PART_BYTES)
    monkeypatch.setattr(uploads, "part_size", lambda _: PART_BYTES)


def write_at(file: Path, text: str, mtime_ns: int) -> None:
    file.write_text(text)
    os.utime(file, ns=(mtime_ns, mtime_ns))


def test_a_change_within_the_second_of_a_commit_is_seen(graveler, tmp_path):
    """Times are compared in seconds: two versions of a second have the same one."""
    with served() as plain:
        graveler.environment["LAKECTL_SERVER_ENDPOINT_URL"] = plain.endpoint
        root = tmp_path / "folder"
        now_ns = time.time_ns() // 10**9 * 10**9
        plain.commit()
        graveler.prints("local", "init", "lakefs://lake/main/data/", str(root))
        write_at(root / "a", "one", now_ns + 100)
        graveler.prints("local", "commit", str(root), "-m", "1")
        write_at(root / "a", "two", now_ns + 200)
        assert "modified" in graveler.prints("local", "status", str(root))
        told = graveler.run("local", "pull", str(root)).stderr
        assert "1 uncommitted changes" in told
        graveler.prints("local", "commit", str(root), "-m", "2")
        assert plain.content == {"data/a": b"two"}
        assert "No diff found" in graveler.prints("local", "status", str(root))


def test_a_file_that_changed_but_kept_its_time_is_not_continued(user, lake, in_small_parts):
    """Encrypted containers are written in place, and keep their size and their time."""
    file = Path("a")
    file.write_bytes(b"1" * 8 * PART_BYTES)
    os.utime(file, (1, 1))
    lake.fails("PUT", "partNumber=5", 400)
    command = ("fs", "upload", "-s", "a", f"{BRANCH}/a", "-p", "1")
    user.fails(*command)
    with file.open("r+b") as stream:
        stream.write(b"2" * 8 * PART_BYTES)
    os.utime(file, (1, 1))
    user.prints(*command)
    assert lake.objects["a"].content == b"2" * 8 * PART_BYTES


def test_nothing_is_deleted_after_an_upload_that_failed(user, lake):
    """A file that was renamed is on the branch by one name at least."""
    lake.has("d/old", b"1")
    lake.has("d/gone", b"1")
    Path("in").mkdir()
    Path("in/new").write_text("1")
    lake.fails("POST", "d/new", 400)
    command = ("fs", "sync", "in", f"{BRANCH}/d/", "--delete")
    told = user.run(*command).stderr
    assert "nothing was deleted" in told
    assert {*lake.objects} == {"d/old", "d/gone"}
    assert user.prints(*command) == "upload: new\ndelete: gone\ndelete: old\n"
    assert {*lake.objects} == {"d/new"}


def test_a_folder_without_files_does_not_empty_a_path(user, lake):
    """As a disk that is not mounted."""
    lake.has("d/a", b"1")
    Path("in").mkdir()
    told = user.fails("fs", "sync", "in", f"{BRANCH}/d/", "--delete")
    assert told == "no files in in: to delete all that is below lakefs://my-repo/main/d/, use fs rm"
    assert [*lake.objects] == ["d/a"]


def test_what_uploads_leave_out_is_not_deleted(user, lake):
    for name in ("a", ".DS_Store", "b/.lakefs_ref.yaml", ".x.graveler-part", "c"):
        lake.has(f"d/{name}", b"1")
    Path("in").mkdir()
    Path("in/a").write_text("1")
    assert user.prints("fs", "sync", "in", f"{BRANCH}/d/", "--delete") == "delete: c\n"


@pytest.mark.parametrize("command", [("download", "-r"), ("sync",)])
def test_an_object_with_the_name_of_an_unfinished_download_is_a_failure(user, lake, command):
    """It once became the content of the other file, or was lost, and the command succeeded."""
    lake.has("d/.x.graveler-part", b"object")
    lake.has("d/x", b"x")
    result = user.run("fs", *command, f"{BRANCH}/d/", "out", "-p", "1")
    assert result.exit_code == 1
    assert "d/.x.graveler-part: " in result.stderr
    assert Path("out/x").read_bytes() == b"x"
    user.prints("fs", "download", f"{BRANCH}/d/.x.graveler-part", "y")
    assert Path("y").read_bytes() == b"object"


def test_a_device_or_a_pipe_is_not_replaced(user, lake):
    """As /dev/null is, if root downloads to it."""
    lake.has("a", b"1")
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    for name in ("pipe", "link"):
        assert "is not a regular file" in user.fails("fs", "download", f"{BRANCH}/a", name)
    assert Path("pipe").is_fifo()
    assert Path("link").is_symlink()


def test_a_name_may_begin_with_a_tilde(user, lake):
    """As those that word processors give to their locks."""
    Path("~$letter").write_text("1")
    user.prints("fs", "upload", "-s", "~$letter", f"{BRANCH}/a")
    assert lake.objects["a"].content == b"1"
    assert "does not exist" in user.fails("local", "status", "~$none")


def test_the_checksum_is_that_of_what_was_sent_last(user, lake):
    """A connection that was open broke in the middle, and the body was sent again."""
    lake.encryption = "aws:kms"
    content = os.urandom(400_000)
    Path("in").mkdir()
    for name in ("a", "b"):
        Path("in", name).write_bytes(content)
    lake.fails("PUT", "/store/data/2", "drop")
    user.prints("fs", "upload", "-r", "-p", "1", "-s", "in", f"{BRANCH}/d/", "--pre-sign")
    assert {each.checksum for each in lake.objects.values()} == {md5(content).hexdigest()}


def test_content_that_was_not_read_is_not_taken_for_an_answer():
    """As that of an object that has changed, or is longer than the server said."""
    inner = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    begins = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n0123456789" % (10 + len(inner))
    rest = threading.Event()

    def serve(listening):
        with listening.accept()[0] as first:
            first.recv(1000)
            first.sendall(begins)
            rest.wait(20)
            first.sendall(inner)
            with listening.accept()[0] as second:
                second.recv(1000)
                second.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        connections = KeptConnections()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        answer = connections.open("GET", url)
        assert answer.read(10) == b"0123456789"
        answer.close()
        rest.set()
        assert connections.open("GET", url).read() == b"good"
        connections.close()
        thread.join(20)


def test_the_port_of_a_proxy_is_its_own_even_for_tls(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example.com")
    monkeypatch.setenv("no_proxy", "")
    pool, _ = KeptConnections()._pool_for("https://lake.example.com/a")
    assert (pool.proxy.host, pool.proxy.port) == ("proxy.example.com", 80)


@pytest.mark.parametrize(
    "text", ["at_head: [1]", "at_head: ''", "at_head: c\nactive_operation: [x]"]
)
def test_an_index_that_makes_no_sense_is_named(graveler, tmp_path, text):
    (tmp_path / ".lakefs_ref.yaml").write_text(f"src: lakefs://lake/main/data/\n{text}\n")
    assert ".lakefs_ref.yaml is broken (" in graveler.fails("local", "checkout", str(tmp_path))


def test_a_full_disk_leaves_what_git_ignores(tmp_path, monkeypatch):
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    write = Path.write_text

    def half(self, text, *more):
        write(self, text[:3], *more)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(CommandError, match="No space left"):
        git.ignore(tmp_path / "data", tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n"
    assert [each.name for each in tmp_path.iterdir()] == [".gitignore"]


@pytest.mark.parametrize("kind", ["a\nb", "テ"])
def test_a_content_type_that_cannot_be_a_header_is_named(user, lake, kind):
    Path("a").write_text("1")
    told = user.fails("fs", "upload", "-s", "a", f"{BRANCH}/a", "--content-type", kind)
    assert told.startswith("--content-type is ")
    assert lake.objects == {}
