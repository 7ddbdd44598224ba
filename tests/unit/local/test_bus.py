"""An event reaches the queues of matching rules, and the journal."""

import json

import pytest

from graveler_embedded import files
from graveler_embedded.bus import EventRule, LocalEventBus


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "events.jsonl"


@pytest.fixture
def bus(world, journal):
    rule = EventRule({"source": ["graveler"], "detail-type": ["Commit Created"]}, "work")
    return LocalEventBus("tested", [rule], world.queues, journal)


def lines(journal):
    return [json.loads(line) for line in journal.read_text().splitlines()]


def test_an_event_has_the_envelope_that_eventbridge_gives_it(world, bus):
    event_id = bus.put("graveler", "Commit Created", {"message": "für dich"}, time_s=1_800_000_000)
    assert [json.loads(body) for body in world.bodies()] == [
        {
            "version": "0",
            "id": event_id,
            "detail-type": "Commit Created",
            "source": "graveler",
            "account": "000000000000",
            "time": "2027-01-15T08:00:00Z",
            "region": "us-east-1",
            "resources": [],
            "detail": {"message": "für dich"},
        }
    ]


def test_only_events_that_match_the_rule_are_queued_but_all_are_recorded(world, bus, journal):
    bus.put("graveler", "Tag Created", {})
    bus.put("another", "Commit Created", {})
    bus.put("graveler", "Commit Created", {"id": "1"})
    assert [json.loads(body)["detail"] for body in world.bodies()] == [{"id": "1"}]
    assert [(line["source"], line["detail-type"]) for line in lines(journal)] == [
        ("graveler", "Tag Created"),
        ("another", "Commit Created"),
        ("graveler", "Commit Created"),
    ]


def test_every_rule_that_matches_gets_the_event(world, journal):
    everything = EventRule({}, "dead")
    also = EventRule({"source": ["graveler"]}, "work")
    LocalEventBus("tested", [everything, also], world.queues, journal).put("graveler", "X", {})
    assert len(world.bodies("work")) == len(world.bodies("dead")) == 1


def test_an_event_is_one_line_whatever_its_texts_hold(bus, journal):
    bus.put("graveler", "Commit Created", {"message": "one\ntwo\u2028three"})
    assert journal.read_bytes().count(b"\n") == 1
    assert json.loads(journal.read_bytes())["detail"] == {"message": "one\ntwo\u2028three"}


def test_the_file_is_there_before_the_first_event(bus, journal):
    assert journal.read_bytes() == b""


def test_the_file_is_bounded_and_loses_nothing_that_is_new(bus, journal, monkeypatch):
    monkeypatch.setattr(files, "LOG_BYTES_MAX", 500)
    numbers = [str(number) for number in range(20)]
    for number in numbers:
        bus.put("graveler", "Commit Created", {"number": number})
        assert journal.stat().st_size < 1000
    older = journal.with_name("events.jsonl.1")
    kept = [line["detail"]["number"] for line in lines(older) + lines(journal)]
    assert kept == numbers[-len(kept) :]
    assert len(kept) >= 2


def test_an_event_that_could_not_be_queued_is_not_recorded(bus, world, journal):
    world.queues.queues.clear()
    with pytest.raises(LookupError):
        bus.put("graveler", "Commit Created", {})
    assert journal.read_bytes() == b""
