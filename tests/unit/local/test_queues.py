"""A queue delivers at least once, when messages are due, and not forever."""

import logging
import sqlite3
import threading
import time

import pytest

from graveler_embedded.queues import MessageCounts, Queue, Queues, UnknownQueueError


def test_messages_are_received_once_and_in_the_order_of_their_sending(world):
    for body in ("first", "second", "third"):
        world.queues.send("work", body)
        world.clock.advance(1)
    assert [message.body for message in world.queues.receive("work", messages_max=2)] == [
        "first",
        "second",
    ]
    assert world.bodies() == ["third"]
    assert world.bodies() == []


def test_a_group_with_many_messages_does_not_delay_another_one(world):
    def send(body, group=""):
        world.queues.send("work", body, group=group)
        world.clock.advance(1)

    for number in range(3):
        send(f"flood {number}", "flood")
    first = world.queues.receive("work")
    send("quiet", "quiet")
    send("of no group")
    send("of no group either")
    others = [world.queues.receive("work")[0] for _ in range(5)]
    assert [message.body for message in first + others] == [
        "flood 0",
        "quiet",
        "of no group",
        "of no group either",
        "flood 1",
        "flood 2",
    ]


def test_messages_that_an_earlier_version_stored_are_delivered(tmp_path):
    path = tmp_path / "queues"
    Queues(path, [Queue(name="work")]).send("work", "old")
    database = sqlite3.connect(path)
    database.execute("ALTER TABLE messages DROP COLUMN message_group")
    database.close()
    queues = Queues(path, [Queue(name="work")])
    queues.send("work", "new", group="lake")
    assert [message.body for message in queues.receive("work", messages_max=2)] == ["old", "new"]


def test_a_queue_does_not_see_the_messages_of_another(world):
    world.queues.send("dead", "elsewhere")
    assert world.bodies("work") == []
    assert world.bodies("dead") == ["elsewhere"]


def test_a_delayed_message_comes_when_the_delay_is_over_and_not_before(world):
    world.queues.send("work", "later", delay_s=90)
    world.clock.advance(89.9)
    assert world.bodies() == []
    world.clock.advance(0.1)
    assert world.bodies() == ["later"]


def test_a_message_that_is_not_deleted_comes_again_after_the_visibility_timeout(world):
    world.queues.send("work", "again")
    first = world.queues.receive("work")[0]
    world.clock.advance(59.9)
    assert world.bodies() == []
    world.clock.advance(0.1)
    second = world.queues.receive("work")[0]
    assert (first.id, first.body, first.receives) == (second.id, "again", 1)
    assert second.receives == 2
    assert second.receipt != first.receipt
    assert second.sent_ms == 1_000_000_000
    assert second.first_received_ms == first.first_received_ms == 1_000_000_000


def test_a_receiver_may_choose_another_visibility_timeout(world):
    world.queues.send("work", "again")
    assert world.queues.receive("work", visibility_timeout_s=5)
    world.clock.advance(5)
    assert world.bodies() == ["again"]


def test_a_deleted_message_never_comes_again(world):
    world.queues.send("work", "done")
    world.queues.delete("work", world.queues.receive("work")[0].receipt)
    world.clock.advance(1000)
    assert world.bodies() == []
    assert world.queues.counts("work") == MessageCounts(0, 0, 0)


def test_an_old_receipt_neither_deletes_nor_delays_what_another_received_meanwhile(world):
    world.queues.send("work", "contended")
    old = world.queues.receive("work")[0]
    world.clock.advance(60)
    new = world.queues.receive("work")[0]
    world.queues.delete("work", old.receipt)
    world.queues.set_due("work", old.receipt, 500)
    world.clock.advance(60)
    assert world.bodies() == ["contended"]
    world.queues.delete("work", new.receipt)
    assert world.queues.counts("work").received == 1


def test_a_receiver_may_give_a_message_back_for_later(world):
    world.queues.send("work", "not now")
    world.queues.set_due("work", world.queues.receive("work")[0].receipt, 7)
    world.clock.advance(6.9)
    assert world.bodies() == []
    world.clock.advance(0.1)
    assert world.bodies() == ["not now"]


def test_a_message_that_fails_too_often_becomes_a_dead_letter_and_is_logged(world, caplog):
    world.queues.send("work", "poison")
    for _ in range(3):
        assert world.bodies() == ["poison"]
        assert world.bodies("dead") == []
        world.clock.advance(60)
    with caplog.at_level(logging.ERROR):
        assert world.bodies() == []
    assert world.bodies("dead") == ["poison"]
    assert "failed 3 times and is now in the queue dead: poison" in caplog.text


def test_dead_letters_stay_however_often_they_are_received(world):
    world.queues.send("dead", "poison")
    for _ in range(10):
        assert world.bodies("dead") == ["poison"]
        world.clock.advance(30)


def test_a_restart_keeps_messages_delays_and_counts(world):
    world.queues.send("work", "waiting")
    world.queues.send("work", "later", delay_s=100)
    world.queues.receive("work")
    world.restart()
    assert world.queues.counts("work") == MessageCounts(due=0, received=1, delayed=1)
    world.clock.advance(60)
    assert world.queues.receive("work")[0].receives == 2
    world.clock.advance(40)
    assert world.bodies() == ["later"]


@pytest.mark.parametrize(("counts", "receives"), [(True, 2), (False, 1)])
def test_messages_that_a_dead_process_received_are_due_at_once(world, counts, receives):
    world.queues.send("work", "interrupted")
    world.queues.send("work", "later", delay_s=100)
    stale = world.queues.receive("work")[0]
    world.restart()
    world.queues.take_back("work", counts=counts)
    taken = world.queues.receive("work", messages_max=10)
    assert [(message.body, message.receives) for message in taken] == [("interrupted", receives)]
    world.queues.delete("work", stale.receipt)
    assert world.queues.counts("work") == MessageCounts(due=0, received=1, delayed=1)


def test_a_queue_counts_what_is_due_received_and_delayed(world):
    for delay_s in (0, 0, 0, 10, 10, 20):
        world.queues.send("work", "x", delay_s)
    world.queues.receive("work")
    assert world.queues.counts("work") == MessageCounts(due=2, received=1, delayed=3)
    world.clock.advance(10)
    assert world.queues.counts("work") == MessageCounts(due=4, received=1, delayed=1)


def test_an_unknown_queue_is_named(world):
    for use in (
        lambda: world.queues.send("none", "x"),
        lambda: world.queues.receive("none"),
        lambda: world.queues.delete("none", "x"),
        lambda: world.queues.counts("none"),
    ):
        with pytest.raises(UnknownQueueError, match="there is no queue 'none'"):
            use()


def test_a_waiting_receiver_gets_a_message_sent_meanwhile(tmp_path):
    queues = Queues(tmp_path / "queues.sqlite", [Queue(name="work")])
    received = []
    receiver = threading.Thread(target=lambda: received.extend(queues.receive("work", wait_s=60)))
    receiver.start()
    queues.send("work", "at last")
    receiver.join(30)
    assert [message.body for message in received] == ["at last"]


def test_a_waiting_receiver_gets_a_message_that_becomes_due(tmp_path):
    queues = Queues(tmp_path / "queues.sqlite", [Queue(name="work")])
    queues.send("work", "later", delay_s=1)
    assert [message.body for message in queues.receive("work", wait_s=60)] == ["later"]


def test_waiting_ends_when_nothing_comes(tmp_path):
    queues = Queues(tmp_path / "queues.sqlite", [Queue(name="work")])
    before_s = time.monotonic()
    assert queues.receive("work", wait_s=0.1) == []
    assert time.monotonic() - before_s >= 0.1


def test_receivers_side_by_side_share_the_messages(tmp_path):
    queues = Queues(tmp_path / "queues.sqlite", [Queue(name="work")])
    received = []

    def receive():
        while messages := queues.receive("work", wait_s=1):
            received.extend(message.body for message in messages)

    receivers = [threading.Thread(target=receive) for _ in range(4)]
    for receiver in receivers:
        receiver.start()
    for number in range(100):
        queues.send("work", str(number))
    for receiver in receivers:
        receiver.join(60)
    assert sorted(received, key=int) == [str(number) for number in range(100)]
