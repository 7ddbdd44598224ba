"""Messages reach the function as from SQS until it has processed them."""

import pytest

from graveler_embedded.lambda_runtime import LocalFunction
from graveler_embedded.queue_delivery import QueueDelivery
from tests.unit.local.conftest import World


def all_failed(event):
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]} for record in event["Records"]
        ]
    }


@pytest.fixture
def delivery(world: World, handler):
    return QueueDelivery(world.queues, "work", LocalFunction("tested", handler, timeout_s=10))


def test_nothing_is_delivered_of_an_empty_queue(delivery, handler):
    assert not delivery.deliver_next()
    assert handler.events == []


@pytest.mark.parametrize("answer", [None, {}, {"batchItemFailures": []}])
def test_a_processed_message_is_deleted(world, delivery, handler, answer):
    handler.answer = answer
    world.queues.send("work", "hello")
    assert delivery.deliver_next()
    world.clock.advance(10_000)
    assert not delivery.deliver_next()
    assert handler.bodies == ["hello"]


def test_a_message_has_the_shape_that_lambda_gives_it(world, delivery, handler):
    world.queues.send("work", "hello")
    world.clock.advance(1)
    delivery.deliver_next()
    (record,) = handler.events[0]["Records"]
    assert record.pop("messageId")
    assert record.pop("receiptHandle")
    assert record == {
        "body": "hello",
        "md5OfBody": "5d41402abc4b2a76b9719d911017c592",
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1000000000",
            "SenderId": "000000000000",
            "ApproximateFirstReceiveTimestamp": "1000001000",
        },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:work",
        "awsRegion": "us-east-1",
    }


@pytest.mark.parametrize("answer", [RuntimeError("out of luck"), all_failed, "no answer at all"])
def test_a_failed_message_is_retried_after_growing_pauses_and_becomes_a_dead_letter(
    world, delivery, handler, answer
):
    handler.answer = answer
    world.queues.send("work", "poison")
    for pause_s in (4, 16, 64):
        assert delivery.deliver_next()
        world.clock.advance(pause_s - 0.1)
        assert not delivery.deliver_next()
        world.clock.advance(0.1)
    assert not delivery.deliver_next()
    assert handler.bodies == ["poison"] * 3
    assert world.bodies("dead") == ["poison"]


def test_a_message_that_failed_once_may_succeed_the_next_time(world, delivery, handler):
    world.queues.send("work", "hello")
    handler.answer = RuntimeError("out of luck")
    delivery.deliver_next()
    handler.answer = None
    world.clock.advance(4)
    assert delivery.deliver_next()
    world.clock.advance(10_000)
    assert not delivery.deliver_next()
    counts = [e["Records"][0]["attributes"]["ApproximateReceiveCount"] for e in handler.events]
    assert counts == ["1", "2"]


def test_a_message_that_failed_does_not_hold_up_the_next_one(world, delivery, handler):
    handler.answer = RuntimeError("out of luck")
    world.queues.send("work", "poison")
    delivery.deliver_next()
    handler.answer = None
    world.queues.send("work", "hello")
    assert delivery.deliver_next()
    assert handler.bodies == ["poison", "hello"]


def test_a_message_whose_handling_was_cut_off_is_delivered_again(world, delivery, handler):
    class Killed(BaseException):
        """As kill -9: nothing of ours runs any more."""

    def die(event):
        raise Killed

    handler.answer = die
    world.queues.send("work", "hello")
    with pytest.raises(Killed):
        delivery.deliver_next()
    world.restart()
    world.queues.take_back("work", counts=True)
    handler.answer = None
    assert QueueDelivery(world.queues, "work", LocalFunction("tested", handler, 10)).deliver_next()
    assert handler.bodies == ["hello", "hello"]
    assert world.queues.counts("work").due == 0
