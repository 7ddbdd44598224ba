"""Every record of a stream reaches the function in its order, over failures and restarts."""

import pytest
from botocore.exceptions import ClientError

from graveler_embedded.lambda_runtime import LocalFunction
from graveler_embedded.stream import NotDoneError, ShardPositions, StreamDelivery
from tests.unit.local.scripted_stream import ARN, Consumer, Stream

PATTERN = {"eventName": ["INSERT"], "dynamodb": {"Keys": {"sort": {"S": [{"prefix": "outbox#"}]}}}}


class World:
    """A stream, a function, and positions in a file."""

    def __init__(self, folder):
        self.path = folder / "stream.json"
        self.stream = Stream()
        self.consumer = Consumer()
        self.restart()

    def restart(self):
        function = LocalFunction("tested", self.consumer, 10)
        positions = ShardPositions(self.path)
        self.delivery = StreamDelivery(self.stream, ARN, positions, function, PATTERN)

    def deliver_all(self):
        for _ in range(20):
            self.delivery.deliver_next()

    def seen(self):
        """What the function was given since the last call."""
        seen = self.consumer.seen
        self.consumer.batches = []
        return seen


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_records_written_before_and_after_the_start_are_delivered_in_their_order(world):
    world.stream.write("a", "b")
    world.deliver_all()
    world.stream.write("c")
    world.deliver_all()
    assert world.consumer.batches == [["a", "b"], ["c"]]


def test_only_new_outbox_items_are_delivered(world):
    world.stream.write("branch", prefix="branch#")
    world.stream.write("a")
    world.stream.write("a", kind="MODIFY")
    world.stream.write("a", kind="REMOVE")
    world.stream.write("tag", prefix="tag#")
    world.deliver_all()
    assert world.consumer.batches == [["a"]]


def test_an_event_has_the_shape_that_lambda_gives_it(world):
    world.stream.write("a", event={"S": "{}"}, bytes={"B": b"\x00\xff"})
    world.deliver_all()
    keys = {"partition": {"S": "p"}, "sort": {"S": "outbox#a"}}
    assert world.consumer.last_event == {
        "Records": [
            {
                "eventID": "event-1",
                "eventName": "INSERT",
                "eventVersion": "1.1",
                "eventSource": "aws:dynamodb",
                "awsRegion": "local",
                "eventSourceARN": ARN,
                "dynamodb": {
                    "ApproximateCreationDateTime": 1795132800,
                    "Keys": keys,
                    "NewImage": {**keys, "event": {"S": "{}"}, "bytes": {"B": "AP8="}},
                    "SequenceNumber": "000000000000000000001",
                    "SizeBytes": 100,
                    "StreamViewType": "NEW_IMAGE",
                },
            }
        ]
    }


def test_a_batch_has_at_most_a_hundred_records_and_reports_that_more_are_waiting(world):
    names = [str(number) for number in range(250)]
    world.stream.write(*names)
    assert [world.delivery.deliver_next() for _ in range(4)] == [True, True, False, False]
    assert [len(batch) for batch in world.consumer.batches] == [100, 100, 50]
    assert world.consumer.seen == names


def test_records_too_large_for_one_event_are_delivered_in_several(world):
    names = [str(number) for number in range(50)]
    world.stream.write(*names, event={"S": "x" * 300_000})
    world.deliver_all()
    assert len(world.consumer.batches) == 3
    assert world.consumer.seen == names


def test_a_restart_continues_behind_the_delivered_records(world):
    world.stream.write("a", "b")
    world.deliver_all()
    world.restart()
    world.stream.write("c")
    world.deliver_all()
    assert world.consumer.batches == [["a", "b"], ["c"]]


def test_other_items_are_not_read_again_after_a_restart(world):
    world.stream.write(*map(str, range(100)), prefix="branch#")
    world.deliver_all()
    world.restart()
    world.stream.write("a")
    assert world.delivery.deliver_next() is False
    assert world.consumer.batches == [["a"]]


def test_a_failed_record_is_delivered_again_with_all_behind_it_and_none_before_it(world):
    world.stream.write("a", "b", "c", "d")
    world.consumer.refused = {"c"}
    for _ in range(2):
        with pytest.raises(NotDoneError, match="tested did not process record 3"):
            world.delivery.deliver_next()
    world.consumer.refused = set()
    world.deliver_all()
    assert world.consumer.batches == [["a", "b", "c", "d"], ["c", "d"], ["c", "d"]]


def test_a_failure_is_not_forgotten_by_a_restart(world):
    world.stream.write("a", "b", "c")
    world.consumer.refused = {"b"}
    with pytest.raises(NotDoneError):
        world.delivery.deliver_next()
    world.restart()
    world.consumer.refused = set()
    world.deliver_all()
    assert world.consumer.batches == [["a", "b", "c"], ["b", "c"]]


def test_of_several_failures_the_first_one_counts(world):
    world.stream.write("a", "b", "c", "d")
    world.consumer.refused = {"d", "b"}
    with pytest.raises(NotDoneError):
        world.delivery.deliver_next()
    world.seen()
    world.consumer.refused = set()
    world.deliver_all()
    assert world.seen() == ["b", "c", "d"]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda consumer: setattr(consumer, "error", RuntimeError("out of luck")),
        lambda consumer: setattr(consumer, "refused", {"a", "b"}),
    ],
)
def test_a_batch_that_fails_completely_is_delivered_again_completely(world, break_it):
    world.stream.write("a", "b")
    break_it(world.consumer)
    with pytest.raises(NotDoneError):
        world.delivery.deliver_next()
    world.seen()
    world.consumer.refused, world.consumer.error = set(), None
    world.deliver_all()
    assert world.seen() == ["a", "b"]


@pytest.mark.parametrize("answer", ["no object", {"batchItemFailures": [{"itemIdentifier": "9"}]}])
def test_an_answer_that_names_no_record_of_the_batch_fails_it_whole(world, handler, answer):
    handler.answer = answer
    world.stream.write("a", "b")
    function = LocalFunction("tested", handler, 10)
    delivery = StreamDelivery(world.stream, ARN, ShardPositions(world.path), function, PATTERN)
    with pytest.raises(NotDoneError, match="record 1"):
        delivery.deliver_next()


@pytest.mark.parametrize("answer", [None, {}, {"batchItemFailures": []}])
def test_an_answer_without_failures_is_success(world, handler, answer):
    handler.answer = answer
    world.stream.write("a")
    function = LocalFunction("tested", handler, 10)
    delivery = StreamDelivery(world.stream, ARN, ShardPositions(world.path), function, PATTERN)
    delivery.deliver_next()
    delivery.deliver_next()
    assert len(handler.events) == 1


def test_a_shard_follows_when_its_parent_is_delivered(world):
    world.stream.write("a", "b")
    world.deliver_all()
    world.stream.write("c")
    world.stream.roll_over()
    world.stream.write("d")
    world.stream.roll_over()
    world.stream.write("e")
    world.deliver_all()
    assert world.consumer.seen == ["a", "b", "c", "d", "e"]


def test_a_shard_waits_while_a_record_of_its_parent_fails(world):
    world.stream.write("a")
    world.stream.roll_over()
    world.stream.write("b")
    world.consumer.refused = {"a"}
    for _ in range(3):
        with pytest.raises(NotDoneError):
            world.delivery.deliver_next()
    world.consumer.refused = set()
    world.deliver_all()
    assert world.consumer.seen == ["a", "a", "a", "a", "b"]


def test_a_restart_after_shards_rolled_over_repeats_nothing(world):
    world.stream.write("a")
    world.deliver_all()
    world.stream.roll_over()
    world.stream.write("b")
    world.deliver_all()
    world.restart()
    world.stream.write("c")
    world.deliver_all()
    assert world.consumer.seen == ["a", "b", "c"]


def test_all_pages_of_the_list_of_shards_are_read(world):
    world.stream.describes_one_by_one = True
    for name in "abc":
        world.stream.write(name)
        world.stream.roll_over()
    world.stream.write("d")
    world.deliver_all()
    assert world.consumer.seen == ["a", "b", "c", "d"]


def test_a_shard_whose_parent_was_deleted_is_read_from_its_beginning(world):
    world.stream.write("a")
    world.deliver_all()
    world.stream.roll_over()
    world.stream.write("b")
    world.stream.forget_shard("shard-0")
    world.restart()
    world.deliver_all()
    assert world.consumer.seen == ["a", "b"]
    assert "shard-0" not in world.path.read_text()


def test_a_shard_forgotten_while_it_is_read_is_left_for_its_child(world):
    world.stream.write("a")
    world.delivery.deliver_next()
    world.stream.roll_over()
    world.stream.write("b")
    world.stream.forget_shard("shard-0")
    with pytest.raises(ClientError):
        world.delivery.deliver_next()
    world.deliver_all()
    assert world.consumer.seen == ["a", "b"]


def test_a_position_that_the_stream_does_not_know_means_its_beginning(world):
    """DynamoDB Local counts anew when it has forgotten all records."""
    world.stream.write(*"abc")
    world.deliver_all()
    world.stream.shards["shard-0"].clear()
    world.stream.last = 0
    world.stream.write("d")
    world.restart()
    world.seen()
    world.deliver_all()
    assert world.seen() == ["d"]


class Enough(BaseException):
    """Ends what goes on forever."""


def test_pauses_grow_while_the_function_fails_and_are_short_again_when_it_does_not(
    world, monkeypatch
):
    pauses = []

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 10:
            world.consumer.error = None
        if len(pauses) == 12:
            raise Enough

    monkeypatch.setattr("graveler_embedded.stream.time.sleep", sleep)
    world.consumer.error = RuntimeError("out of luck")
    world.stream.write("a")
    with pytest.raises(Enough):
        world.delivery.deliver_forever()
    assert pauses[:10] == [0.5, 1, 2, 5, 10, 30, 30, 30, 30, 30]
    assert pauses[10:] == [0.2, 0.2]
    assert world.consumer.seen == ["a"]


def test_a_stream_that_cannot_be_read_for_a_while_is_read_later(world, monkeypatch):
    pauses = []

    def sleep(seconds):
        pauses.append(seconds)
        monkeypatch.setattr(
            world.stream, "get_records", type(world.stream).get_records.__get__(world.stream)
        )
        if len(pauses) == 3:
            raise Enough

    def unreachable(**_):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(world.stream, "get_records", unreachable)
    monkeypatch.setattr("graveler_embedded.stream.time.sleep", sleep)
    world.stream.write("a")
    with pytest.raises(Enough):
        world.delivery.deliver_forever()
    assert pauses == [0.5, 0.2, 0.2]
    assert world.consumer.seen == ["a"]
