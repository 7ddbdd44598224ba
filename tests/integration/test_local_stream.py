"""Records of DynamoDB Local's own streams are delivered once and in their order, over its restarts.

Its shards roll over every few hours, and records are forgotten after a day. A test cannot wait for
that: it makes them older in DynamoDB Local's database while that is stopped.
"""

import sqlite3
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from graveler_embedded.lambda_runtime import LocalFunction
from graveler_embedded.stores import start_dynamodb
from graveler_embedded.stream import ShardPositions, StreamDelivery
from graveler_embedded.tcp_ports import free_port
from tests.unit.local.scripted_stream import Consumer

pytestmark = pytest.mark.server

HOUR_MS = 60 * 60 * 1000


class Database:
    """A DynamoDB Local whose hours pass at will."""

    def __init__(self, folder):
        self.folder = folder
        self.start()

    def start(self):
        self.server = start_dynamodb(
            free_port(), self.folder / "data", self.folder / "dynamodb.log"
        )
        self.server.wait_until_ready()
        self.dynamodb, self.streams = (
            boto3.client(
                service,
                endpoint_url=self.server.endpoint,
                region_name="us-east-1",
                aws_access_key_id="any",
                aws_secret_access_key="any",
            )
            for service in ("dynamodb", "dynamodbstreams")
        )

    def stop(self):
        self.dynamodb.close()
        self.streams.close()
        self.server.child.stop()

    def restart(self, hours_later=0):
        """Stop and start again, so many hours later as far as the stream can tell."""
        self.stop()
        database = sqlite3.connect(self.folder / "data" / "shared-local-instance.db")
        with database:
            for table in ("ss", "us"):  # shards and records
                database.execute(
                    f"UPDATE {table} SET CreationDateTime = CreationDateTime - ?",
                    (hours_later * HOUR_MS,),
                )
        database.close()
        self.start()


class World:
    """A table with a stream, and what delivers the stream."""

    def __init__(self, database, folder):
        self.database = database
        self.folder = folder
        self.table = f"written-{uuid4().hex}"
        self.consumer = Consumer()
        self.dynamodb.create_table(
            TableName=self.table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "sort", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "sort", "KeyType": "HASH"}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        )

    @property
    def dynamodb(self):
        return self.database.dynamodb

    @property
    def streams(self):
        return self.database.streams

    def restart(self, hours_later=0):
        self.database.restart(hours_later)

    def write(self, *names):
        for name in names:
            self.dynamodb.put_item(TableName=self.table, Item=item(name))

    @property
    def stream_arn(self):
        return self.dynamodb.describe_table(TableName=self.table)["Table"]["LatestStreamArn"]

    @property
    def shards(self):
        return self.streams.describe_stream(StreamArn=self.stream_arn)["StreamDescription"][
            "Shards"
        ]

    def deliver(self):
        """What a new delivery on the stored positions gives to the function."""
        self.consumer.batches = []
        delivery = StreamDelivery(
            self.streams,
            self.stream_arn,
            ShardPositions(self.folder / "stream.json"),
            LocalFunction("tested", self.consumer, 10),
            {},
        )
        for _ in range(5):
            delivery.deliver_next()
        return self.consumer.seen


def item(name):
    return {"sort": {"S": f"outbox#{name}"}, "bytes": {"B": b"\x00\xff"}}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    made = Database(tmp_path_factory.mktemp("streams"))
    yield made
    made.stop()


@pytest.fixture
def world(database, tmp_path):
    return World(database, tmp_path)


def test_records_are_delivered_once_over_restarts(world):
    world.write("a", "b")
    assert world.deliver() == ["a", "b"]
    assert world.deliver() == []
    world.write("c")
    world.restart()
    world.write("d")
    assert world.deliver() == ["c", "d"]
    record = world.consumer.last_event["Records"][-1]
    assert record["dynamodb"]["NewImage"]["bytes"] == {"B": "AP8="}


def test_a_transaction_is_delivered_whole_and_a_cancelled_one_not_at_all(world):
    def transact(*names, condition):
        puts = [{"Put": {"TableName": world.table, "Item": item(name)}} for name in names]
        puts[-1]["Put"]["ConditionExpression"] = condition
        world.dynamodb.transact_write_items(TransactItems=puts)

    transact("a", "b", condition="attribute_not_exists(sort)")
    with pytest.raises(ClientError):
        transact("c", "d", condition="attribute_exists(sort)")
    assert sorted(world.deliver()) == ["a", "b"]


def test_nothing_is_lost_or_repeated_when_shards_roll_over(world):
    world.write("a")
    assert world.deliver() == ["a"]
    world.write("b")
    world.restart(hours_later=6)
    assert len(world.shards) == 2
    world.write("c")
    assert world.deliver() == ["b", "c"]
    world.restart(hours_later=6)
    world.write("d")
    assert len(world.shards) == 3
    assert world.deliver() == ["d"]


def test_new_records_are_delivered_when_the_stream_has_forgotten_all_old_ones(world):
    world.write("a", "b", "c")
    assert world.deliver() == ["a", "b", "c"]
    world.restart(hours_later=60)
    world.write("d")
    assert world.deliver() == ["d"]


def test_a_table_made_anew_is_delivered_from_its_first_record(world):
    world.write("a")
    assert world.deliver() == ["a"]
    description = world.dynamodb.describe_table(TableName=world.table)["Table"]
    world.dynamodb.delete_table(TableName=world.table)
    world.dynamodb.create_table(
        TableName=world.table,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=description["AttributeDefinitions"],
        KeySchema=description["KeySchema"],
        StreamSpecification=description["StreamSpecification"],
    )
    world.write("b")
    assert world.deliver() == ["b"]
