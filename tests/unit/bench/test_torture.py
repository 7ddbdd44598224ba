"""The torture's own machinery: proxies that lose answers, plans, and what becomes of answers."""

import socket
import threading
import time
from random import Random

import pytest

from bench.torture import torment
from bench.torture.actions import ACTIONS
from bench.torture.history import ANY_METADATA, Record, Translator
from bench.torture.journal import Journal
from bench.torture.ledger import Content, Ledger, Row
from bench.torture.proxy import Proxy
from graveler_embedded.tcp_ports import HOST, free_port
from tests.support.checks.linearizability import Value, check_history


@pytest.fixture
def echo():
    """A server that answers each request with itself; requests are kept."""
    listener = socket.create_server((HOST, 0))
    got: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            while sent := connection.recv(1000):
                got.append(sent)
                connection.sendall(b"answer to " + sent)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1], got
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _ask(proxy: Proxy, text: bytes) -> bytes:
    with socket.create_connection((HOST, proxy.port), timeout=5) as connection:
        connection.sendall(text)
        return connection.recv(1000)


def test_a_calm_proxy_passes_everything_on(echo):
    port, got = echo
    proxy = Proxy("x", free_port(), port, "seed")
    assert _ask(proxy, b"one") == b"answer to one"
    assert got == [b"one"]
    assert not proxy.pending()


@pytest.mark.parametrize(("fault", "arrives"), [("lose", True), ("stall", True), ("refuse", False)])
def test_a_lost_answer_belongs_to_a_request_that_arrived(echo, fault, arrives):
    port, got = echo
    proxy = Proxy("x", free_port(), port, "seed")
    proxy.set_faults(**{fault: 1.0})
    with pytest.raises(ConnectionResetError):
        _ask(proxy, b"one")
    assert got == ([b"one"] if arrives else [])
    assert proxy.injected == {fault: 1}


def test_a_request_can_arrive_when_its_client_has_given_up(echo):
    port, got = echo
    proxy = Proxy("x", free_port(), port, "seed")
    proxy.set_faults(twice=1.0)
    with pytest.raises(ConnectionResetError):
        _ask(proxy, b"one")
    assert got == []
    assert len(proxy.pending()) == 1
    deadline = time.monotonic() + 10
    while proxy.pending() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert got == [b"one"]


def test_plans_follow_from_the_seed():
    assert torment.plan(Random("7")) == torment.plan(Random("7"))
    assert len({str(torment.plan(Random(f"{seed}"))) for seed in range(20)}) > 10


def _row(content: Content, address: str, metadata: str = "") -> Row:
    return Row(address, content.checksum, len(content.data), metadata)


def test_the_address_of_a_write_without_an_answer_is_learnt_from_readers():
    ledger, content = Ledger(), Content(b"unique")
    ledger.writes(content)
    ledger.saw(_row(content, "s3://b/data/1"), "a reader")
    assert content.address == "s3://b/data/1"
    assert ledger.with_data(b"unique") is content
    assert not ledger.problems


def test_content_that_is_seen_at_two_addresses_is_a_problem():
    ledger, content = Ledger(), Content(b"unique")
    ledger.writes(content)
    for address in ("s3://b/data/1", "s3://b/data/2"):
        ledger.saw(_row(content, address), "a reader")
    assert len(ledger.problems) == 1


def test_a_read_that_comes_after_another_write_is_a_violation():
    ledger = Ledger()
    first, second = Content(b"1", "s3://b/1"), Content(b"2", "s3://b/2")
    translator = Translator(ledger, {}, lambda _: {})
    records = [
        Record("1", "a", "stage", "write", "main", ("p",), 1, 2, "ok", first),
        Record("2", "a", "stage", "write", "main", ("p",), 3, 4, "ok", second),
        Record("3", "b", "stat", "read", "main", ("p",), 5, 6, "ok"),
    ]
    for content, is_right in ((second, True), (first, False)):
        records[2].seen = {"p": _row(content, content.address or "")}
        operations = [each for record in records for each in translator.operations(record)]
        assert (not check_history(operations, {})) is is_right


def test_content_alone_says_nothing_of_metadata():
    assert Value("a", "m") == Value("a", ANY_METADATA)
    assert Value("b", "m") != Value("a", ANY_METADATA)


def test_the_journal_may_be_cut_while_it_is_read(tmp_path):
    path = tmp_path / "events.jsonl"
    line = (
        '{"detail":{"kind":"commit_created","id":"%s","repository":"r","commit_id":"%s",'
        '"message":"#%s","parents":["0"]}}\n'
    )
    path.write_text(line % ("e1", "c1", "1"))
    journal = Journal(path)
    journal.read()
    path.with_name("events.jsonl.1").write_text(line % ("e1", "c1", "1") + line % ("e2", "c2", "2"))
    path.write_text("")
    journal.read()
    path.write_text((line % ("e3", "c3", "3")) + "half a li")
    journal.read()
    assert [commit for _, commit in journal.commits] == ["c1", "c2", "c3"]


def test_every_action_of_the_mixes_exists():
    from bench.torture.rounds import MIXES  # noqa: PLC0415

    assert {name for mix in MIXES.values() for name in mix.split()} <= set(ACTIONS)
