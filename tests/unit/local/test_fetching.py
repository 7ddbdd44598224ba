"""The stores' files: fetched once, whole or not at all, whatever the network and the disk do."""

import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from unittest.mock import Mock

import pytest

from graveler_embedded import fetching, jars
from graveler_embedded.config import data_folder
from graveler_embedded.fetching import fetch
from graveler_embedded.jars import Jar
from graveler_embedded.processes import StartError

LARGE, SMALL = b"\x00 large" * 100_000, b"small"
PATHS = {"org/large/1/large-1.jar": LARGE, "org/small/2/small-2.jar": SMALL}


class Mirror(ThreadingHTTPServer):
    """Maven Central, as it is on a bad day."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.contents = dict(PATHS)
        self.asked: list[tuple[str, str | None]] = []
        self.knows_ranges = True
        self.failures = 0  # of the next answers for the large file
        self.failure_status = 503
        self.cut_bytes = 0  # an answer's maximum
        self.pause: Event | None = None  # in the middle of the large file

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked_for(self, name: str) -> list[str | None]:
        """Return the ranges that were asked of the file, in order."""
        return [range_ for path, range_ in self.asked if path.endswith(name)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Mirror

    def do_GET(self) -> None:
        mirror, range_ = self.server, self.headers["Range"]
        mirror.asked.append((self.path, range_))
        content = mirror.contents.get(self.path[1:])
        if content is None:
            self.send_error(404)
            return
        if mirror.failures and content is LARGE:
            mirror.failures -= 1
            self.send_error(mirror.failure_status)
            return
        begin = 0
        if range_ and mirror.knows_ranges:
            begin = int(range_.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        rest = content[begin:]
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if mirror.cut_bytes and len(rest) > mirror.cut_bytes:
            self.wfile.write(rest[: mirror.cut_bytes])
            self.close_connection = True
            return
        half = len(rest) // 2
        self.wfile.write(rest[:half])
        self.wfile.flush()
        if mirror.pause and len(content) == len(LARGE):
            mirror.pause.wait(60)
        self.wfile.write(rest[half:])

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Mirror]:
    listed = tuple(
        Jar(hashlib.sha256(content).hexdigest(), len(content), "store", path)
        for path, content in PATHS.items()
    )
    monkeypatch.setattr(jars, "pinned", lambda: listed)
    monkeypatch.setattr(fetching, "WAIT_S", 0.001)
    with Mirror() as server:
        monkeypatch.setenv("GRAVELER_MAVEN_URL", server.url + "/")
        monkeypatch.setenv("GRAVELER_JARS", str(tmp_path / "cache"))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        if server.pause:
            server.pause.set()
        server.shutdown()
        thread.join()


def stored(cache: Path) -> list[bytes]:
    """Return the contents of the files of the cache, with all that was left there."""
    return [path.read_bytes() for path in sorted(cache.glob("store/*"))]


def ignore(_text: str) -> None:
    pass


def test_files_are_fetched_once_and_then_without_any_network(mirror, tmp_path):
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]
    mirror.asked.clear()
    said: list[str] = []
    fetch(["store"], said.append)
    assert (mirror.asked, said) == ([], [])


def test_the_user_sees_how_much_is_fetched_from_where_and_how_far_it_is(mirror, tmp_path):
    said: list[str] = []
    fetch(["store"], said.append)
    first = f"Fetching 2 files (1 MB) from {mirror.url} into {tmp_path / 'cache'}, once"
    assert said[0] == first
    assert said[-1] == "  100 %"


def test_an_answer_that_is_cut_off_is_continued(mirror, tmp_path):
    mirror.cut_bytes = 300_000
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]
    assert mirror.asked_for("large-1.jar") == [None, "bytes=300000-", "bytes=600000-"]


def test_a_server_without_ranges_sends_the_whole_file_again(mirror, tmp_path):
    begun = tmp_path / "cache" / "store" / "large-1.jar.partial"
    begun.parent.mkdir(parents=True)
    begun.write_bytes(LARGE[:1000])
    mirror.knows_ranges = False
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


@pytest.mark.parametrize("status", [408, 416, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(mirror, tmp_path, status):
    mirror.failures, mirror.failure_status = 4, status
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


def test_a_server_that_stays_busy_is_asked_five_times(mirror):
    mirror.failures = 100
    with pytest.raises(StartError, match=r"\.jar: HTTP 503: "):
        fetch(["store"], ignore)
    assert len(mirror.asked_for("large-1.jar")) == fetching.ATTEMPTS + 1 == 5


@pytest.mark.parametrize("wrong", [b"x" * len(LARGE), LARGE + b"x", b"<html>log in</html>"])
def test_wrong_bytes_are_never_used(mirror, tmp_path, wrong):
    mirror.contents["org/large/1/large-1.jar"] = wrong
    with pytest.raises(StartError, match=r"large-1\.jar: .* other bytes .* GRAVELER_MAVEN_URL"):
        fetch(["store"], ignore)
    assert not (tmp_path / "cache" / "store" / "large-1.jar").exists()
    mirror.contents = dict(PATHS)
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


@pytest.mark.parametrize("begun", [b"x" * 10, b"x" * len(LARGE), b"x" * (len(LARGE) + 1)])
def test_a_partial_file_of_other_bytes_is_replaced(mirror, tmp_path, begun):
    partial = tmp_path / "cache" / "store" / "large-1.jar.partial"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(begun)
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


def test_a_portal_whose_page_has_another_length_each_time_ends_the_fetch(mirror, monkeypatch):
    mirror.knows_ranges = False
    answers = iter([*(b"<html>log in</html>", b"<html>log in, Ada</html>") * 20, LARGE])
    large = "org/large/1/large-1.jar"
    monkeypatch.setattr(
        mirror, "contents", Mock(get=lambda path: next(answers) if path == large else SMALL)
    )
    with pytest.raises(StartError, match="other bytes"):
        fetch(["store"], ignore)


def test_a_file_of_another_size_is_fetched_anew(mirror, tmp_path):
    cut = tmp_path / "cache" / "store" / "large-1.jar"
    cut.parent.mkdir(parents=True)
    cut.write_bytes(LARGE[:-1])
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


def test_a_file_that_the_disk_damaged_is_dropped_and_fetched_anew(mirror, tmp_path):
    fetch(["store"], ignore)
    large = tmp_path / "cache" / "store" / "large-1.jar"
    large.write_bytes(b"x" * len(LARGE))
    assert jars.drop_damaged(["store"]) == [large]
    assert jars.drop_damaged(["store"]) == []
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


def test_without_a_network_one_line_says_what_to_do(mirror, monkeypatch):
    monkeypatch.setenv("GRAVELER_MAVEN_URL", "http://127.0.0.1:1")
    with pytest.raises(StartError) as raised:
        fetch(["store"], ignore)
    remedy = "try again with a network, or set GRAVELER_MAVEN_URL to a mirror"
    assert str(raised.value).startswith("cannot fetch http://127.0.0.1:1/org/")
    assert f": Connection refused: {remedy}" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_the_mirror_has_not_is_named(mirror):
    del mirror.contents["org/large/1/large-1.jar"]
    with pytest.raises(StartError, match=r"large-1\.jar: HTTP 404: "):
        fetch(["store"], ignore)
    assert len(mirror.asked_for("large-1.jar")) == 1


def test_a_folder_that_cannot_be_written_is_named_with_the_remedy(mirror, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRAVELER_JARS", str(tmp_path / "file" / "cache"))
    with pytest.raises(StartError, match=r"cannot write to .*: Not a directory: .*GRAVELER_JARS"):
        fetch(["store"], ignore)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ca:che", r"GRAVELER_JARS: .*/ca:che has a ':': use another folder"),
        ("x" * 300, r"cannot write to .*: File name too long: .*GRAVELER_JARS"),
    ],
)
def test_a_folder_that_cannot_be_the_cache_is_named_before_the_fetch(
    mirror, monkeypatch, tmp_path, name, told
):
    monkeypatch.setenv("GRAVELER_JARS", str(tmp_path / name))
    with pytest.raises(StartError, match=told):
        fetch(["store"], ignore)
    assert mirror.asked == []


def test_without_a_home_the_variables_to_set_are_named(monkeypatch):
    """A container may run as a user that its system does not know."""
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(os, "getuid", lambda: 2_000_000_000)
    with pytest.raises(StartError, match=r"^this user has no home: set GRAVELER_JARS to a folder$"):
        jars.cache_folder()
    with pytest.raises(StartError, match=r"^this user has no home: set GRAVELER_DATA to a folder$"):
        data_folder({})


def as_process(prepare: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    """Start the fetch in a process of its own."""
    listed = [(jar.sha256, jar.size_bytes, jar.folder, jar.maven_path) for jar in jars.pinned()]
    code = (
        "import sys; from graveler_embedded import fetching, jars; "
        f"listed = [jars.Jar(*each) for each in {listed!r}]; jars.pinned = lambda: listed\n"
        "try: fetching.fetch(['store'], lambda text: print(text, flush=True))\n"
        "except fetching.StartError as error: sys.exit(str(error))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(fetching.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,  # noqa: PLW1509 - it calls the kernel only
    )


def wait_for_half(cache: Path) -> None:
    partial = cache / "store" / "large-1.jar.partial"
    deadline = time.monotonic() + 60
    while not partial.exists() or partial.stat().st_size < len(LARGE) // 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_fetch_that_was_killed_half_way_continues(mirror, tmp_path):
    mirror.pause = Event()
    killed = as_process()
    wait_for_half(tmp_path / "cache")
    killed.kill()
    killed.communicate()
    mirror.pause.set()
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]
    assert mirror.asked_for("large-1.jar") == [None, f"bytes={len(LARGE) // 2}-"]


def test_ctrl_c_ends_a_fetch_that_waits_for_the_network(mirror, tmp_path):
    mirror.pause = Event()
    process = as_process()
    wait_for_half(tmp_path / "cache")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0


def test_of_two_fetches_at_once_the_second_one_uses_what_the_first_one_fetched(mirror, tmp_path):
    mirror.pause = Event()
    first = as_process()
    wait_for_half(tmp_path / "cache")
    second = as_process()
    assert second.stdout is not None
    said = second.stdout.readline()
    assert said == f"Waiting for another process, which fetches into {tmp_path / 'cache'}\n"
    mirror.pause.set()
    assert [first.wait(60), second.wait(60)] == [0, 0]
    for process in (first, second):
        process.communicate()
    assert stored(tmp_path / "cache") == [LARGE, SMALL]
    assert len(mirror.asked) == 2


def test_an_answer_without_an_end_does_not_fill_the_disk(mirror):
    def limit() -> None:  # less than the answer
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))

    mirror.contents["org/large/1/large-1.jar"] = b"x" * 5_000_000
    _, said = as_process(limit).communicate(timeout=60)
    assert "large-1.jar: the answer has other bytes" in said


def test_a_full_disk_is_one_line_and_the_next_fetch_continues(mirror, tmp_path):
    def limit() -> None:  # a file has at most so many bytes, as a full disk would
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    process = as_process(limit)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert re.fullmatch(r"cannot write to .*: free some space, or set GRAVELER_JARS .*\n", said)
    fetch(["store"], ignore)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]
    assert mirror.asked_for("large-1.jar")[-1] == "bytes=400000-"


def test_a_proxy_of_the_environment_is_used(mirror, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAVELER_MAVEN_URL", "http://maven.example")
    monkeypatch.setenv("http_proxy", mirror.url)
    mirror.contents = {f"ttp://maven.example/{path}": it for path, it in PATHS.items()}
    process = as_process()  # urllib looks at the environment once
    process.communicate(timeout=60)
    assert stored(tmp_path / "cache") == [LARGE, SMALL]


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"GRAVELER_JARS": "/jars", "XDG_CACHE_HOME": "/caches"}, "/jars"),
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/graveler"),
        ({"XDG_CACHE_HOME": "caches"}, "/ada/.cache/graveler"),
        ({"XDG_CACHE_HOME": ""}, "/ada/.cache/graveler"),
        ({}, "/ada/.cache/graveler"),
    ],
)
def test_the_cache_is_the_users(monkeypatch, environment, folder):
    monkeypatch.setattr(os, "environ", {"HOME": "/ada", **environment})
    assert jars.cache_folder() == Path(folder)


def test_every_file_of_the_list_has_a_path_of_its_own():
    listed = jars.pinned()
    assert len({jar.path for jar in listed}) == len(listed)
    assert {jar.folder for jar in listed} >= set(jars.SERVED)
