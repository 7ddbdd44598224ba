"""Graveler and lakeFS beside each other: turns, ratios, tables, and stores that are far away."""

import json
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.api.row import Row
from bench.beside import far, near
from bench.beside.distance import Distance
from bench.beside.far import Waited
from bench.beside.near import Compared, Measured, turns
from bench.beside.systems import Spent
from bench.beside.tables import keep_far, keep_near
from graveler_embedded.config import ROOT
from graveler_embedded.processes import Child
from graveler_embedded.tcp_ports import HOST, free_port, is_listening

BYTES = bytes(range(256)) * 3_000


@pytest.fixture
def far_away(tmp_path):
    """Puts a server, which is a function of a connection, behind a proxy; returns its port."""
    listeners, proxies = [], []

    def serve(listener, answer):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def put(answer, round_trip_ms):
        listener = socket.create_server((HOST, 0), backlog=100)
        listeners.append(listener)
        threading.Thread(target=serve, args=(listener, answer), daemon=True).start()
        distance = Distance(free_port(), listener.getsockname()[1], round_trip_ms)
        command = [sys.executable, "-m", "bench.beside.distance", str(distance)]
        proxies.append(Child("a proxy", command, tmp_path / "log", folder=ROOT))
        proxies[-1].wait_until(lambda: is_listening(distance.port))
        return distance.port

    yield put
    for proxy in proxies:
        proxy.stop()
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _reverse(connection):
    """Answer what is sent, reversed, when the client has sent its end."""
    with connection, connection.makefile("rb") as sent:
        connection.sendall(sent.read()[::-1])


def _answer_lines(connection):
    with connection, connection.makefile("rb") as sent:
        for line in sent:
            connection.sendall(b"answer to " + line)


def test_bytes_pass_whole_both_ways_over_many_connections(far_away):
    port = far_away(_reverse, 2)

    def ask(number):
        sent = number.to_bytes(4, "big") + BYTES
        with socket.create_connection((HOST, port), timeout=60) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answer:
                return answer.read() == sent[::-1]

    with ThreadPoolExecutor(30) as pool:
        assert list(pool.map(ask, range(30))) == [True] * 30


def test_each_request_waits_a_round_trip_and_a_connection_one_more(far_away):
    port = far_away(_answer_lines, 50)
    waited_s = []
    began_s = time.monotonic()
    with socket.create_connection((HOST, port), timeout=60) as connection:
        for request in (b"one\n", b"two\n"):
            connection.sendall(request)
            assert connection.recv(100) == b"answer to " + request
            waited_s.append(time.monotonic() - began_s)
            began_s = time.monotonic()
    assert waited_s[0] >= 0.1
    assert waited_s[1] >= 0.05


def test_parts_of_a_request_are_each_late_and_in_order(far_away):
    arrived = []

    def note(connection):
        with connection:
            while part := connection.recv(4, socket.MSG_WAITALL):
                arrived.append((part, time.monotonic()))

    port = far_away(note, 100)
    sent = []
    with socket.create_connection((HOST, port), timeout=60) as connection:
        for part in (b"aaaa", b"bbbb", b"cccc", b"dddd"):
            sent.append((part, time.monotonic()))
            connection.sendall(part)
            time.sleep(0.01)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert [part for part, _ in arrived] == [part for part, _ in sent]
    late_s = [after - before for (_, before), (_, after) in zip(sent, arrived, strict=True)]
    assert min(late_s) >= 0.1


def test_parts_of_a_request_do_not_wait_for_each_other(far_away):
    """A request that is sent after ten parts over another connection does not overtake them."""
    arrived = []

    def answer_each(connection):
        with connection:
            while connection.recv(4, socket.MSG_WAITALL):
                arrived.append(connection)
                connection.sendall(b"done")

    port = far_away(answer_each, 300)
    addresses = (HOST, port)
    with (
        socket.create_connection(addresses, timeout=60) as one,
        socket.create_connection(addresses, timeout=60) as other,
    ):
        for connection in (one, other):  # both are connected to the store
            connection.sendall(b"aaaa")
            assert connection.recv(4) == b"done"
        arrived.clear()
        for _ in range(10):
            one.sendall(b"aaaa")
            time.sleep(0.005)
        other.sendall(b"bbbb")
        assert other.recv(4) == b"done"
        assert len(arrived) > 5


def test_a_connection_that_the_store_closes_is_closed_for_the_client(far_away):
    def hang_up(connection):
        with connection:
            connection.recv(100)

    port = far_away(hang_up, 1)
    with socket.create_connection((HOST, port), timeout=60) as connection:
        connection.sendall(b"hello\n")
        assert connection.recv(100) == b""


def test_a_distance_is_told_to_the_proxies_process_whole():
    distance = Distance(9001, 8001, 2.5)
    assert Distance.parse(str(distance)) == distance


def test_who_comes_first_alternates_by_round_and_by_row():
    firsts = [[turns(number, index)[0] for index in range(4)] for number in range(2)]
    assert firsts == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert all(sorted(turns(number, 3)) == [0, 1] for number in range(5))


async def _nothing(_):
    return []


def _row(title, unit):
    return Row(title, "section", title, unit, prepare=_nothing)


def _compared(unit, ours, theirs):
    measured = [Measured(values, Spent(1, 2), 100) for values in (ours, theirs)]
    return Compared(_row("a row", unit), *measured)


def test_a_ratio_above_one_means_ahead_in_rates_and_in_durations():
    rate = _compared("requests/s", [100.0, 300.0, 200.0], [100.0, 100.0, 100.0])
    assert rate.ratio == 2
    assert rate.ratios == [1, 3, 2]
    duration = _compared("ms", [5.0, 5.0], [10.0, 20.0])
    assert duration.ratio == 3
    assert duration.ratios == [2, 4]


def test_processor_time_is_shown_for_a_request():
    measured = Measured([1.0], Spent(0.5, 0.25) + Spent(1.5, 0.75) - Spent(1, 0), 1_000)
    assert measured.system_cpu_ms == 1
    assert measured.stores_cpu_ms == 1


def test_the_table_of_near_stores_has_both_systems_and_their_ratio(tmp_path: Path):
    keep_near([_compared("requests/s", [30.0, 30.0], [20.0, 20.0])], tmp_path, "lakeFS 1.2")
    runs = json.loads((tmp_path / "beside.json").read_text())["runs"]
    assert {run: sections["Rows"]["a row"][0] for run, sections in runs.items()} == {
        "Graveler": 30,
        "lakeFS": 20,
        "Graveler ahead": 1.5,
    }
    table = (tmp_path / "beside.md").read_text()
    assert "| a row | 20 | 30 | 1.5 | requests/s |" in table
    assert "| a row | 10 | 10 | 1 | ms cpu |" in table
    assert "lakeFS 1.2, medians of 2 rounds" in table
    assert "a row" in (tmp_path / "beside.svg").read_text()


def test_a_row_that_costs_too_little_to_count_has_no_ratio_of_processor_time(tmp_path: Path):
    compared = _compared("ms", [1.0], [2.0])
    compared.ours.spent = Spent(0, 0)
    keep_near([compared], tmp_path, "lakeFS 1.2")
    assert "| a row | 10 | 0 |  | ms cpu |" in (tmp_path / "beside.md").read_text()


def test_the_table_of_far_stores_has_percentiles(tmp_path: Path):
    waited = Waited(_row("a row", "ms"), [0.01] * 9 + [0.2], [0.02] * 9 + [0.1])
    keep_far([waited], tmp_path, "lakeFS 1.2")
    table = (tmp_path / "far.md").read_text()
    assert "| a row | 20 | 10 | 0.5 | ms |" in table
    assert "| a row | 100 | 200 | 2 | ms |" in table
    assert "a row" in (tmp_path / "far.svg").read_text()


@pytest.mark.parametrize("part", [near, far], ids=["near", "far"])
def test_every_row_of_the_comparison_exists_in_every_size(part):
    for scale in (part.SCALE, part.QUICK):
        assert [row.name for row in part.rows_of(scale)] == list(part.NAMES)


def test_single_requests_are_timed_one_by_one():
    assert {row.connections for row in far.rows_of(far.SCALE)} == {1}
