"""Processes that serve one port: they share the work, and end and begin as an operator expects."""

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import pytest

from graveler_embedded.tcp_ports import free_port
from graveler_gateway.server.http import processes
from graveler_gateway.server.http.processes import Processes
from graveler_gateway.server.http.worker import _next
from tests.support.servers.http_server import RawClient, until
from tests.support.servers.served import FOLDER

GET = b"GET / HTTP/1.1\r\nHost: any\r\n\r\n"


class Program:
    """A program of some processes."""

    def __init__(self, folder, port, target="handler", workers=2, stop_s=20):
        self.folder, self.port, self.workers = folder, port, workers
        self.log = (folder / "log").open("a+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.servers.served", target, str(port), str(workers), str(stop_s)],
            env={**os.environ, FOLDER: str(folder)},
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )  # fmt: skip

    def asked(self):
        """Return the process that answers a new connection; None if none does."""
        with suppress(OSError), RawClient(self.port) as client:
            return int(client.ask(GET).content)
        return None

    def ready(self):
        """Wait until all its processes answer; return the one that does last."""
        answers = []

        def is_ready():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            answers.append(self.asked())
            return len({*answers} - {None}) >= self.workers

        until(is_ready)
        return answers[-1]

    def waiting(self, path=b"/wait"):
        """Return a client whose request has begun and is not answered."""
        client = RawClient(self.port)
        client.send(GET.replace(b"/ ", path + b" "))
        until((self.folder / "waits").exists)
        return client

    def go_on(self):
        (self.folder / "goes-on").touch()

    def signal(self, number):
        os.kill(self.process.pid, number)

    def exit_code(self):
        return self.process.wait(20)


@contextmanager
def program(folder, *args, **options):
    made = Program(folder, free_port(), *args, **options)
    try:
        yield made
    finally:
        with suppress(ProcessLookupError):
            os.killpg(made.process.pid, signal.SIGKILL)
        made.process.wait()
        made.log.close()


def is_running(pid):
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_connections_are_spread_evenly(tmp_path):
    with program(tmp_path) as served:
        served.ready()
        until(lambda: served.asked() != served.asked())  # both are ready
        answered = Counter(served.asked() for _ in range(10))
    assert sorted(answered.values()) == [5, 5]


def test_the_first_worker_serves_all_while_the_others_start(tmp_path):
    with program(tmp_path, target="late") as served:
        until(served.asked)
        until((tmp_path / "second").exists)
        assert len({served.asked() for _ in range(6)}) == 1
        (tmp_path / "goes-on").touch()
        served.ready()


def test_a_killed_worker_is_replaced_and_the_others_go_on(tmp_path):
    with program(tmp_path) as served:
        served.ready()
        with RawClient(served.port) as kept, RawClient(served.port) as ended:
            survivor, victim = int(kept.ask(GET).content), int(ended.ask(GET).content)
            os.kill(victim, signal.SIGKILL)
            assert ended.is_ended()
            # One that was on its way to the victim may be lost; its client connects again.
            assert survivor in [served.asked() for _ in range(4)]
            assert int(kept.ask(GET).content) == survivor
        until(lambda: served.asked() not in {survivor, victim})


def test_the_only_worker_is_replaced_and_connections_wait_for_it(tmp_path):
    with program(tmp_path, workers=1) as served:
        first = served.ready()
        os.kill(first, signal.SIGKILL)
        until(lambda: not is_running(first))
        assert served.ready() != first


def test_when_the_first_process_is_killed_the_workers_end_and_the_port_is_free(tmp_path):
    with program(tmp_path) as served:
        served.ready()
        workers = {served.asked() for _ in range(10)}
        served.signal(signal.SIGKILL)
        served.process.wait()
        until(lambda: not any(is_running(worker) for worker in workers))
        processes.listen("127.0.0.1", served.port).close()


def test_a_worker_that_cannot_start_ends_the_program_with_an_exit_code(tmp_path):
    with program(tmp_path, target="nothing") as served:
        assert served.exit_code() == 1
    log = (tmp_path / "log").read_text()
    assert "there are no stores" in log
    assert "tests.support.servers.served:nothing cannot serve" in log


def test_a_worker_that_can_start_no_more_is_tried_again_and_the_program_lives(tmp_path):
    with program(tmp_path, target="brief", workers=1) as served:
        os.kill(served.ready(), signal.SIGKILL)
        until(lambda: "FileExistsError" in (tmp_path / "log").read_text())
        (tmp_path / "began").unlink()
        assert served.ready()
    assert "a worker ended with -9" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_end_and_idle_connections_do_not_delay_it(tmp_path, number):
    with program(tmp_path) as served:
        served.ready()
        with served.waiting() as client, RawClient(served.port) as idle:
            served.signal(number)
            assert idle.is_ended()
            served.go_on()
            assert client.answer().status == 200
            assert served.exit_code() == 0
    assert (tmp_path / "log").read_text() == ""


def test_ctrl_c_in_a_terminal_lets_requests_end(tmp_path):
    with program(tmp_path) as served:
        served.ready()
        with served.waiting() as client:
            os.killpg(served.process.pid, signal.SIGINT)  # a terminal signals all processes
            served.go_on()
            assert client.answer().status == 200
            assert served.exit_code() == 0
    assert (tmp_path / "log").read_text() == ""


def test_a_second_signal_ends_requests(tmp_path):
    with program(tmp_path, stop_s=3600) as served:
        served.ready()
        with served.waiting(b"/hang") as client, RawClient(served.port) as idle:
            served.signal(signal.SIGINT)
            assert idle.is_ended()
            served.signal(signal.SIGINT)
            assert served.exit_code() == 0
            assert client.is_ended()


def test_a_request_that_does_not_end_is_ended_in_the_end(tmp_path):
    with program(tmp_path, stop_s=0.1) as served:
        served.ready()
        with served.waiting(b"/hang") as client:
            served.signal(signal.SIGTERM)
            assert served.exit_code() == 0
            assert client.is_ended()


def test_a_second_program_on_the_port_is_told(tmp_path):
    with program(tmp_path) as served:
        served.ready()
        (tmp_path / "second").mkdir()
        second = Program(tmp_path / "second", served.port)
        assert second.exit_code() == 1
        second.log.close()
        assert "Address already in use" in (tmp_path / "second" / "log").read_text()
        assert served.asked()


# What an operating system may do


def worker(sender):
    """A worker that has no process."""
    return processes._Worker(cast("subprocess.Popen", None), sender, 0.0)


def test_a_first_process_that_can_accept_nothing_goes_on_when_it_can(monkeypatch, caplog):
    class Listener(socket.socket):
        failures = 2

        def accept(self):
            if self.failures:
                self.failures -= 1
                raise OSError(24, "Too many open files")
            return super().accept()

    monkeypatch.setattr(processes, "_WATCH_S", 0.01)
    listener = Listener()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    first = Processes("any:target", listener, 0, 1.0)
    for _ in range(2):
        first._accept()
    assert caplog.text.count("Too many open files") == 2
    with socket.create_connection(listener.getsockname()):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            first._workers = [worker(ours)]
            first._accept()
            _next(theirs).close()
    listener.close()


def test_a_worker_that_takes_no_connections_does_not_stop_the_others():
    full, other = socket.socketpair(), socket.socketpair()
    with full[0], full[1], other[0], other[1], socket.socket() as connected:
        full[0].setblocking(False)
        with suppress(BlockingIOError):
            while True:
                full[0].send(b"\2")
        first = Processes("any:target", connected, 0, 1.0)
        first._workers = [worker(pair[0]) for pair in (full, other)]
        for _ in range(3):
            assert first._offer(connected)
            _next(other[1]).close()


def test_a_second_signal_counts_although_not_every_worker_was_told_of_the_first():
    class Sender(socket.socket):
        def close(self):
            super().close()
            first._stop()  # as a reaction to the worker's end

    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process, socket.socket() as listener:
        first = Processes("any:target", listener, 0, 3600.0)
        first._workers = [processes._Worker(process, Sender(), 0.0)]
        first._stop()
        first._end()
        assert process.returncode == -signal.SIGKILL


def test_a_connection_without_a_descriptor_is_lost_and_is_not_the_end():
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.send(b"\2")
            with pytest.raises(OSError, match="Too many open files"):
                _next(theirs)
        assert _next(theirs) is None
