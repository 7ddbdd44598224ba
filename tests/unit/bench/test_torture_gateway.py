"""The torture's requests to the S3 gateway: what their answers imply, and who may have written."""

import threading
import time
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from bench.torture import gateway, gateway_actions, gateway_uploads, rounds
from bench.torture.client import Client
from bench.torture.history import Record, Translator
from bench.torture.http_client import Reply, UnsentError
from bench.torture.ledger import EQUAL, Content, Ledger, Row, Shown, checksum_of_parts, md5
from graveler.user_metadata import stored_metadata
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures import keys
from graveler_gateway.protocol.signatures.presented import parse
from tests.support.checks.linearizability import check_history

_NO_OBJECT = b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>not found: no object 'p'"
_NO_BRANCH = b"<?xml version='1.0'?><Error><Code>NoSuchBucket</Code><Message>branch not found: 'b'"
_NO_UPLOAD = b"<?xml version='1.0'?><Error><Code>NoSuchUpload</Code><Message>upload 'u' is gone"
_END = b"</Message></Error>"


def _error(status: int, text: bytes = b"") -> Reply:
    return Reply(status, text + _END if text else b"")


class _World:
    """What clients need of a world; there is no stack."""

    def __init__(self) -> None:
        self.stack = SimpleNamespace(port=1)
        self.key_pair = ("AKIA", "secret")
        self.ledger = Ledger()
        self.repository, self.paths, self.round_name = "repo", ("hot/a",), "r0"
        self.deleted_branches: tuple[str, ...] = ()

    def note(self, record: Record, reply: Reply) -> None:
        pass

    def note_unsent(self) -> None:
        pass


class _Wire:
    """A connection with an answer for each request."""

    def __init__(self, *replies: Reply) -> None:
        self.address = "127.0.0.1:1"
        self.sent: list[tuple[str, str, bytes | None, dict[str, str]]] = []
        self._replies = list(replies)

    def send(self, method, url, data, headers, _timeout_s) -> Reply:
        self.sent.append((method, url, data, headers))
        if not self._replies:
            raise UnsentError
        return self._replies.pop(0)


def _client(world: Any, *replies: Reply, seed: str = "1") -> tuple[Any, _Wire]:
    client: Any = Client(world, "c", Random(seed))
    client.http = wire = _Wire(*replies)
    return client, wire


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(gateway_uploads, "_PAUSES_S", (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("kind", "reply", "outcome"),
    [
        ("write", Reply(200), "ok"),
        ("write", _error(503), "unknown"),
        ("write", _error(500), "unknown"),
        ("write", Reply(0), "unknown"),
        ("write", _error(404, _NO_BRANCH), "no_branch"),
        ("write_if_absent", _error(412), "exists"),
        ("write_if_match", _error(412), "mismatch"),
        ("write_if_match", _error(404, _NO_OBJECT), "mismatch"),
        ("write_if_match", _error(404, _NO_BRANCH), "no_branch"),
        ("delete_if_match", _error(412), "mismatch"),
        ("delete", Reply(204), "ok"),
        ("write", _error(409), "refused"),
        ("read", _error(404, _NO_OBJECT), "ok"),
        ("read", _error(404, _NO_BRANCH), "no_branch"),
        ("read", _error(404), "ok"),
    ],
)
def test_an_answer_implies_an_effect(kind, reply, outcome):
    assert gateway.outcome_of(Record("1", "c", "s3", kind, "main", ("p",)), reply) == outcome


@pytest.mark.parametrize("seed", ["1", "2", "3", "4", "5", "6", "7", "8"])
def test_requests_are_signed_as_the_gateway_expects(seed):
    world = _World()
    client, wire = _client(world, *[Reply(200, b"<R/>", {"etag": '""'})] * 3, seed=seed)
    for action in (gateway_actions.s3_put, gateway_actions.s3_delete, gateway_actions.s3_list):
        action(client)
    for method, url, _, headers in wire.sent:
        path, _, query = url.partition("?")
        named = {name.lower(): str(value) for name, value in headers.items()}
        named |= {"host": wire.address}
        head = RequestHead(method, path, query, tuple(named.items()))
        presented = parse(head)
        assert presented is not None
        assert presented.access_key_id == "AKIA"
        presented.verify(
            head, "secret", int(time.time()), bucket_of_host="", signing_key=keys.signing_key
        )


def _completing(*replies: Reply) -> tuple[_World, Record, _Wire]:
    world = _World()
    client, wire = _client(world, *replies)
    record = Record("1", "c", "s3_complete", "write", "main", ("hot/a",))
    record.content = Content(b"data", checksum=checksum_of_parts([b"data"]))
    client.chance = Random("no repetition")
    gateway_uploads._complete(client, record, "u", b"<x/>")
    return world, record, wire


def _completed(checksum: str = "") -> Reply:
    etag = checksum or checksum_of_parts([b"data"])
    return Reply(200, f'<R><ETag>"{etag}"</ETag></R>'.encode())


def test_a_completion_is_repeated_until_its_answer_is_definite():
    world, record, wire = _completing(Reply(0), Reply(503), _completed())
    assert record.outcome == "ok"
    assert [url for _, url, _, _ in wire.sent[:3]] == ["/repo/main/hot/a?uploadId=u"] * 3
    assert not world.ledger.problems


def test_a_refusal_after_a_lost_answer_says_nothing_of_the_first_try():
    _, record, _ = _completing(Reply(0), _error(412))
    assert record.outcome == "unknown"


def test_a_completion_that_nobody_answers_may_have_taken_effect():
    _, record, _ = _completing(Reply(0))  # and then nobody listens
    assert record.outcome == "unknown"


def test_a_repeated_completion_that_finds_no_upload_is_a_problem():
    world, _, _ = _completing(Reply(0), _error(404, _NO_UPLOAD))
    assert len(world.ledger.problems) == 1


def test_a_completion_with_another_checksum_is_a_problem():
    world, _, _ = _completing(_completed("0" * 32 + "-1"))
    assert any("0" * 32 in problem for problem in world.ledger.problems)


def test_the_checksum_of_parts_is_that_of_their_digests():
    assert checksum_of_parts([b"a", b"b"]) == "96e024ba2074fe77e8e965ba43a704be-2"


def _put(number: str, content: Content, start: int, text: str = "") -> Record:
    return Record(
        number, "a", "s3_put", "write", "main", ("p",), start, start + 1, "ok", content, text
    )


def _read(number: str, shown: Shown | None, start: int) -> Record:
    record = Record(number, "b", "s3_head", "read", "main", ("p",), start, start + 1, "ok")
    record.seen = {"p": shown} if shown else {}
    return record


def _shown(content: Content, metadata: str | None = "") -> Shown:
    return Shown(content.checksum, len(content.data), metadata)


def _is_right(ledger: Ledger, *records: Record) -> bool:
    translator = Translator(ledger, {}, lambda _: {})
    operations = [each for record in records for each in translator.operations(record)]
    return not check_history(operations, {})


@pytest.mark.parametrize("address", ["s3://b/data/1", None])
def test_an_answer_without_address_is_compared_by_its_checksum(address):
    ledger = Ledger()
    first, second = Content(b"1"), Content(b"2")
    for content in (first, second):
        ledger.writes(content)
    if address:  # learnt from a reader of the API
        ledger.saw(Row(address, first.checksum, 1, ""), "a reader")
    writes = (_put("1", first, 1), _put("2", second, 3))
    assert _is_right(ledger, *writes, _read("3", _shown(second), 5))
    assert not _is_right(ledger, *writes, _read("3", _shown(first), 5))
    assert not _is_right(ledger, *writes, _read("3", None, 5))


def test_metadata_that_are_written_with_the_content_are_read_with_it():
    ledger, content = Ledger(), Content(b"1")
    ledger.writes(content)
    write = _put("1", content, 1, text="m1")
    assert _is_right(ledger, write, _read("2", _shown(content, "m1"), 3))
    assert _is_right(ledger, write, _read("2", _shown(content, None), 3))
    assert not _is_right(ledger, write, _read("2", _shown(content, ""), 3))


def test_a_conditional_write_replaces_what_it_requires():
    ledger = Ledger()
    contents = first, second, third = Content(b"1"), Content(b"2"), Content(b"3")
    for content in contents:
        ledger.writes(content)
    conditional = _put("3", third, 5)
    conditional.kind = "write_if_match"
    for required, is_right in ((second, True), (first, False)):
        conditional.required = required.checksum
        writes = (_put("1", first, 1), _put("2", second, 3), conditional)
        assert _is_right(ledger, *writes) is is_right


def test_equal_contents_say_nothing_of_their_address():
    ledger = Ledger()
    for number in range(2):
        ledger.writes(Content(EQUAL[0], f"s3://b/{number}"))
    shown = Shown(md5(EQUAL[0]), len(EQUAL[0]), "")
    ledger.showed(shown, "a reader")
    assert not ledger.problems
    assert _is_right(ledger, _read("1", shown, 1))


def test_data_that_do_not_belong_to_their_checksum_are_a_problem():
    ledger, content = Ledger(), Content(b"one")
    ledger.writes(content)
    ledger.showed(_shown(content), "a reader", b"one")
    assert not ledger.problems
    ledger.showed(_shown(content), "a reader", b"two")
    ledger.showed(Shown(md5(b"three"), 5), "a reader")
    assert len(ledger.problems) == 2


@pytest.mark.parametrize(("deleted", "outcome"), [((), "ok"), (("dev",), "refused")])
def test_an_empty_listing_may_be_one_of_a_deleted_branch(deleted, outcome):
    world = _World()
    world.deleted_branches = deleted
    client, _ = _client(world, Reply(200, b"<ListBucketResult/>"))
    client.a_branch = lambda: "dev"
    assert gateway_actions.s3_list(client).outcome == outcome


def test_a_client_that_breaks_is_a_problem(monkeypatch):
    world: Any = _World()
    broken = threading.Event()

    def act(client: Client, name: str) -> None:
        broken.set()
        raise ZeroDivisionError

    monkeypatch.setattr(rounds, "act", act)
    rounds._load(world, Random("1"), "s3_put", 1, lambda: broken.wait(5))
    assert "ZeroDivisionError" in world.ledger.problems[0]


def test_the_api_shows_the_metadata_that_clients_of_s3_write():
    written = stored_metadata({gateway.METADATA.removeprefix("x-amz-meta-"): "red"})
    row = {"physical_address": "s3://b/1", "checksum": "c", "size_bytes": 1, "metadata": written}
    assert Row.of(row).metadata == "red"
