"""A stream that a test writes and rolls over, and a function whose results it scripts."""

from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

ARN = "arn:aws:dynamodb:local:000000000000:table/t/stream/now"


class Stream:
    """A stream as DynamoDB Local has it: a chain of shards, of which the last one is open."""

    def __init__(self):
        self.shards = {"shard-0": []}  # the eldest first
        self.parents: dict[str, str | None] = {"shard-0": None}
        self.last = 0
        self.describes_one_by_one = False

    def write(self, *names, kind="INSERT", prefix="outbox#", **image):
        open_shard = list(self.shards.values())[-1]
        for name in names:
            self.last += 1
            keys = {"partition": {"S": "p"}, "sort": {"S": prefix + name}}
            open_shard.append(
                {
                    "eventID": f"event-{self.last}",
                    "eventName": kind,
                    "eventVersion": "1.1",
                    "eventSource": "aws:dynamodb",
                    "awsRegion": "local",
                    "dynamodb": {
                        "ApproximateCreationDateTime": datetime(2026, 11, 20, tzinfo=UTC),
                        "Keys": keys,
                        "NewImage": {**keys, **image},
                        "SequenceNumber": f"{self.last:021}",
                        "SizeBytes": 100,
                        "StreamViewType": "NEW_IMAGE",
                    },
                }
            )

    def roll_over(self):
        parent = list(self.shards)[-1]
        name = f"shard-{len(self.shards)}"
        self.shards[name] = []
        self.parents[name] = parent

    def forget_shard(self, name):
        del self.shards[name]
        del self.parents[name]

    # The client's methods

    def describe_stream(self, **request):
        assert request["StreamArn"] == ARN
        names = list(self.shards)
        if "ExclusiveStartShardId" in request:
            names = names[names.index(request["ExclusiveStartShardId"]) + 1 :]
        page = names[:1] if self.describes_one_by_one else names
        described = [
            {"ShardId": name}
            | ({"ParentShardId": parent} if (parent := self.parents[name]) else {})
            for name in page
        ]
        more = {"LastEvaluatedShardId": page[-1]} if page != names else {}
        return {"StreamDescription": {"Shards": described, **more}}

    def get_shard_iterator(self, **request):
        name, after = request["ShardId"], 0
        if request["ShardIteratorType"] == "AFTER_SEQUENCE_NUMBER":
            after = int(request["SequenceNumber"])
            if after > self.last:
                raise _refusal("GetShardIterator", "ValidationException", "Invalid SequenceNumber")
        return {"ShardIterator": f"{name} {after}"}

    def get_records(self, **request):
        name, _, after = request["ShardIterator"].partition(" ")
        if name not in self.shards:
            raise _refusal("GetRecords", "TrimmedDataAccessException", "gone")
        left = [r for r in self.shards[name] if int(r["dynamodb"]["SequenceNumber"]) > int(after)]
        page = left[: request["Limit"]]
        answer: dict[str, Any] = {"Records": page}
        if len(page) < len(left) or name == list(self.shards)[-1]:
            last = page[-1]["dynamodb"]["SequenceNumber"] if page else after
            answer["NextShardIterator"] = f"{name} {last}"
        return answer


def _refusal(operation, code, message):
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


class Consumer:
    """A handler that takes all records but those that it is told to refuse."""

    def __init__(self):
        self.batches = []
        self.refused = set()
        self.error = None

    def __call__(self, event, _context):
        if self.error:
            raise self.error
        self.batches.append([name_of(record) for record in event["Records"]])
        self.last_event = event
        failures = [
            {"itemIdentifier": record["dynamodb"]["SequenceNumber"]}
            for record in event["Records"]
            if name_of(record) in self.refused
        ]
        return {"batchItemFailures": failures}

    @property
    def seen(self):
        return [name for batch in self.batches for name in batch]


def name_of(record):
    return record["dynamodb"]["Keys"]["sort"]["S"].removeprefix("outbox#")
