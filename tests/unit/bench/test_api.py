"""The measurement of a server: what it sends, how it times, and which rows it has."""

import asyncio
import json
import socket
import threading
import time
from functools import partial

import pytest

from bench.api.client import AnswerError, Client
from bench.api.lake import Lake, Scale, key_of
from bench.api.load import Timed, prepared, run_jobs
from bench.api.row import Row, chosen
from bench.api.run import all_rows, main
from graveler_embedded.tcp_ports import HOST
from tests.support.servers.stack import Stack

SMALL = Scale(bases=(2_000,), objects=2_000)


@pytest.fixture
def answered():
    """Runs work with a client of a server that gives the answers; returns the requests as well.

    Each inner list is the pieces of an answer. After "Connection: close", the server closes.
    """
    listener = socket.create_server((HOST, 0))

    def serve(answers, requests):
        while answers:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with connection:
                is_closing = False
                while answers and not is_closing:
                    requests.append(connection.recv(100_000))
                    answer = answers.pop(0)
                    is_closing = b"Connection: close" in answer[0]
                    for piece in answer:
                        connection.sendall(piece)
                        time.sleep(0.002)

    def run(answers, work):
        requests: list[bytes] = []
        server = threading.Thread(target=serve, args=(answers, requests))
        server.start()

        async def with_client():
            client = Client(f"http://{HOST}:{listener.getsockname()[1]}", "key", "secret")
            try:
                return await work(client)
            finally:
                client.close()
                await asyncio.sleep(0)

        result = asyncio.run(with_client())
        server.join(timeout=30)
        return result, requests

    yield run
    listener.close()


def test_answers_are_read_whole_however_they_are_sent(answered):
    whole = [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"]
    in_pieces = [b"HTTP/1.1 404 Not", b" Found\r\nContent-Length: 5\r\n\r\nab", b"c", b"de"]
    chunked = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        b"1\r\nc\r\n0\r\n\r\n",
    ]
    empty = [b"HTTP/1.1 204 No Content\r\n\r\n"]

    async def work(client):
        request = client.encode("GET", "/x")
        return [await client.send(request) for _ in range(4)]

    answers, requests = answered([whole, in_pieces, chunked, empty], work)
    assert answers == [(200, b"abc"), (404, b"abcde"), (200, b"abc"), (204, b"")]
    assert len(requests) == 4


def test_a_connection_that_the_server_closes_is_replaced(answered):
    closing = [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"]
    open_still = [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"]

    async def work(client):
        return [await client.send(client.encode("GET", "/x")) for _ in range(2)]

    answers, _ = answered([closing, open_still], work)
    assert [answer.body for answer in answers] == [b"a", b"b"]


def test_requests_are_of_the_api_with_the_key_pair_and_the_length():
    client = Client("http://host:1", "key", "secret")
    head, _, body = client.encode("POST", "/repositories", {"name": "a"}).partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /api/v1/repositories HTTP/1.1"
    assert "Authorization: Basic a2V5OnNlY3JldA==" in lines
    assert f"Content-Length: {len(body)}" in lines
    assert json.loads(body) == {"name": "a"}
    assert client.encode("GET", "/_health", is_absolute=True).startswith(
        b"GET /_health HTTP/1.1\r\n"
    )
    assert b"Content-Length: 0\r\n" in client.encode("POST", "/x")


def test_a_refusal_is_reported_with_its_request(answered):
    refused = [b"HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\n\r\nno: x"]

    async def work(client):
        with pytest.raises(AnswerError, match=r"GET /api/v1/x.*409.*no: x"):
            await client.expect(client.encode("GET", "/x"), 200)

    answered([refused], work)


def test_jobs_run_in_order_and_not_more_than_the_connections_at_a_time():
    running, most, order = 0, 0, []

    def job(number):
        async def run():
            nonlocal running, most
            order.append(number)
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return 2

        return run

    timed = asyncio.run(run_jobs([job(number) for number in range(20)], 3))
    assert order == list(range(20))
    assert most == 3
    assert len(timed.durations_s) == 20
    assert timed.amount == 40


def test_what_is_prepared_at_the_same_time_stays_in_order():
    async def make(number):
        for _ in range(10 - number):
            await asyncio.sleep(0)
        return number

    assert asyncio.run(prepared([partial(make, number) for number in range(10)])) == list(range(10))


def _refusing(refused):
    async def run():
        if refused:
            raise AnswerError("503")
        return 1

    return run


def test_one_refusal_of_many_is_reported_and_more_end_the_run(capsys):
    timed = asyncio.run(run_jobs([_refusing(i == 7) for i in range(400)], 4))
    assert timed.amount == 399
    assert "1 of 400 refused: 503" in capsys.readouterr().out
    with pytest.raises(AnswerError):
        asyncio.run(run_jobs([_refusing(i < 3) for i in range(400)], 4))
    with pytest.raises(AnswerError):
        asyncio.run(run_jobs([_refusing(True)], 4))


def test_percentiles_are_of_the_durations_and_rates_of_the_whole():
    timed = Timed([0.004, 0.001, 0.002, 0.003], wall_s=0.5, amount=4)
    assert timed.median_ms == 2.5
    assert timed.percentile_ms(95) == 4
    assert timed.percentile_ms(0) == 1
    assert timed.per_s == 8


async def _nothing(_):
    return []


def _row(name, unit="ms"):
    return Row(name, name[0], name, unit, prepare=_nothing)


def test_the_figure_of_a_row_is_a_rate_or_a_median():
    timed = Timed([0.001, 0.002, 0.009], wall_s=0.5, amount=30)
    assert _row("x", "objects/s").value(timed) == 60
    assert _row("x").value(timed) == 2


def test_rows_are_chosen_by_name_pattern_and_section():
    rows = [_row("a-1"), _row("a-2"), _row("b-1")]
    assert chosen(rows, []) == rows
    assert chosen(rows, ["b-1", "a-1"]) == [rows[2], rows[0]]
    assert chosen(rows, ["*-1"]) == [rows[0], rows[2]]
    assert chosen(rows, ["a"]) == rows[:2]
    with pytest.raises(ValueError, match=r"'c'.*a-1, a-2, b-1"):
        chosen(rows, ["c"])


def test_every_row_has_a_name_of_its_own():
    for scale in (SMALL, Scale(bases=(2_000, 20_000))):
        names = [row.name for row in all_rows(scale)]
        assert len(set(names)) == len(names)


def test_lakes_are_sent_the_same_requests():
    one, other = (Lake(Client("http://host:1", "a", "b"), SMALL, "s3://b") for _ in range(2))
    assert one.some_keys(2_000, 50) == other.some_keys(2_000, 50)
    assert one.neighbours(2_000, 50) == other.neighbours(2_000, 50)
    assert one.new("x") == other.new("x") != one.new("x")


def test_neighbours_are_keys_in_a_row_of_the_base():
    lake = Lake(Client("http://host:1", "a", "b"), SMALL)
    keys = lake.neighbours(2_000, 100)
    everything = [key_of(number) for number in range(2_000)]
    assert everything == sorted(everything)
    first = everything.index(keys[0])
    assert keys == everything[first : first + 100]
    assert lake.neighbours(50, 100) == everything[:50]


@pytest.mark.server
@pytest.mark.long
def test_every_row_of_a_running_system_has_its_figures(stack: Stack, capsys, tmp_path):
    sizes = "--n 12 --n1 4 --nstat 12 --reps 1 --branches 6 --bases 300 --big 300 --log 3 --conc 4"
    place = ["--ns", "s3://graveler/bench-api", "-o", str(tmp_path / "report.json")]
    main([stack.endpoint, stack.access_key_id, stack.secret_access_key, *sizes.split(), *place])
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert json.loads((tmp_path / "report.json").read_text()) == report
    rows = all_rows(Scale(bases=(300,), objects=300))
    assert list(report) == ["client", *(row.name for row in rows)]
    assert all(figures["value"] > 0 for figures in report.values())
    assert report["stat-branch"]["requests"] == 12
    assert report["post-1"]["requests"] == 4
    assert "stat by branch, 4 connections" in printed.err
