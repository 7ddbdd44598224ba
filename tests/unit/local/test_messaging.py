"""boto3's own clients can publish, send and receive."""

import json
import threading
import urllib.error
import urllib.request
from datetime import UTC, datetime

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from graveler_embedded.bus import EventRule, LocalEventBus
from graveler_embedded.glue import JOBS_AT_ONCE, LocalGlue
from graveler_embedded.messaging import AwsServices, server
from graveler_embedded.tcp_ports import free_port


@pytest.fixture
def jobs(tmp_path):
    return LocalGlue(tmp_path / "logs" / "jobs.log")


@pytest.fixture
def endpoint(world, jobs, tmp_path):
    """A server on loopback, in front of the queues of the test's world."""
    bus = LocalEventBus(
        "bus", [EventRule({"source": ["ours"]}, "work")], world.queues, tmp_path / "journal"
    )
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with server(AwsServices(bus, world.queues, jobs, url), port) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield url
        running.shutdown()
        thread.join()


def client_of(name, endpoint):
    client = boto3.client(
        name,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
        config=Config(retries={"total_max_attempts": 1}),
    )
    yield client
    client.close()


@pytest.fixture
def events(endpoint):
    yield from client_of("events", endpoint)


@pytest.fixture
def sqs(endpoint):
    yield from client_of("sqs", endpoint)


@pytest.fixture
def work(sqs):
    """The URL of the queue `work`."""
    return sqs.get_queue_url(QueueName="work")["QueueUrl"]


def entry(**changes):
    known = {"EventBusName": "bus", "Source": "ours", "DetailType": "Made", "Detail": "{}"}
    return {name: value for name, value in (known | changes).items() if value is not None}


def code_of(refused, **parameters):
    with pytest.raises(ClientError) as caught:
        refused(**parameters)
    return caught.value.response["Error"]["Code"]


def test_a_published_event_is_in_the_queue_whole(world, events):
    answer = events.put_events(
        Entries=[
            entry(
                Detail='{"number": 1, "text": "ä"}',
                Time=datetime(2026, 11, 20, 12, 30, 15, 250_000, tzinfo=UTC),
                Resources=["this", "that"],
            )
        ]
    )
    assert answer["FailedEntryCount"] == 0
    (event,) = map(json.loads, world.bodies())
    assert event["id"] == answer["Entries"][0]["EventId"]
    assert event["detail"] == {"number": 1, "text": "ä"}
    assert event["time"] == "2026-11-20T12:30:15Z"
    assert event["resources"] == ["this", "that"]
    assert (event["source"], event["detail-type"]) == ("ours", "Made")


def test_a_bus_may_be_named_by_its_arn(world, events):
    arn = "arn:aws:events:us-east-1:000000000000:event-bus/bus"
    assert events.put_events(Entries=[entry(EventBusName=arn)])["FailedEntryCount"] == 0
    assert len(world.bodies()) == 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Detail": "no JSON"}, "MalformedDetail"),
        ({"Detail": "[]"}, "MalformedDetail"),
        ({"Detail": None}, "MalformedDetail"),
        ({"Source": None}, "InvalidArgument"),
        ({"DetailType": None}, "InvalidArgument"),
        ({"EventBusName": "none"}, "NotFound"),
        ({"EventBusName": None}, "NotFound"),
    ],
)
def test_a_bad_event_is_refused_and_the_others_are_accepted(world, events, changes, code):
    answer = events.put_events(Entries=[entry(), entry(**changes), entry()])
    assert answer["FailedEntryCount"] == 1
    assert [result.get("ErrorCode") for result in answer["Entries"]] == [None, code, None]
    assert len(world.bodies()) == 2


def test_a_request_takes_ten_events_at_most(world, events):
    assert events.put_events(Entries=[entry()] * 10)["FailedEntryCount"] == 0
    assert code_of(events.put_events, Entries=[entry()] * 11) == "ValidationException"
    assert len(world.bodies()) == 10


def test_a_request_takes_256_kb_at_most(world, events):
    fixed_bytes = len("ours") + len("Made") + len('{"a":""}') + 14
    room = 256 * 1024 - fixed_bytes
    now = datetime.now(UTC)
    fits, does_not = (entry(Time=now, Detail=f'{{"a":"{"x" * n}"}}') for n in (room, room + 1))
    assert events.put_events(Entries=[fits])["FailedEntryCount"] == 0
    assert code_of(events.put_events, Entries=[does_not]) == "ValidationException"
    assert len(world.bodies()) == 1


def test_a_message_is_sent_received_and_deleted(sqs, work):
    sent = sqs.send_message(QueueUrl=work, MessageBody="hello")
    assert sent["MD5OfMessageBody"] == "5d41402abc4b2a76b9719d911017c592"
    (message,) = sqs.receive_message(QueueUrl=work, AttributeNames=["All"])["Messages"]
    assert (message["MessageId"], message["Body"]) == (sent["MessageId"], "hello")
    assert message["MD5OfBody"] == sent["MD5OfMessageBody"]
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    sqs.delete_message(QueueUrl=work, ReceiptHandle=message["ReceiptHandle"])
    attributes = sqs.get_queue_attributes(QueueUrl=work, AttributeNames=["All"])["Attributes"]
    assert {attributes[name] for name in attributes if "Messages" in name} == {"0"}
    assert "Messages" not in sqs.receive_message(QueueUrl=work)


def test_a_delay_and_a_visibility_timeout_are_kept(world, sqs, work):
    sqs.send_message(QueueUrl=work, MessageBody="later", DelaySeconds=900)
    assert "Messages" not in sqs.receive_message(QueueUrl=work)
    world.clock.advance(900)
    (message,) = sqs.receive_message(QueueUrl=work, VisibilityTimeout=5)["Messages"]
    world.clock.advance(5)
    (message,) = sqs.receive_message(QueueUrl=work)["Messages"]
    sqs.change_message_visibility(
        QueueUrl=work, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
    )
    assert len(sqs.receive_message(QueueUrl=work)["Messages"]) == 1


def test_attributes_count_messages_and_only_requested_ones_are_returned(sqs, work):
    for delay_s in (0, 0, 0, 5, 5):
        sqs.send_message(QueueUrl=work, MessageBody="x", DelaySeconds=delay_s)
    sqs.receive_message(QueueUrl=work)
    attributes = sqs.get_queue_attributes(QueueUrl=work, AttributeNames=["All"])["Attributes"]
    assert attributes == {
        "QueueArn": "arn:aws:sqs:us-east-1:000000000000:work",
        "ApproximateNumberOfMessages": "2",
        "ApproximateNumberOfMessagesNotVisible": "1",
        "ApproximateNumberOfMessagesDelayed": "2",
        "VisibilityTimeout": "60",
    }
    asked = ["ApproximateNumberOfMessages"]
    answer = sqs.get_queue_attributes(QueueUrl=work, AttributeNames=asked)["Attributes"]
    assert answer == {"ApproximateNumberOfMessages": "2"}


def test_a_purged_queue_is_empty_and_others_are_not(world, sqs, work):
    for name in ("work", "work", "dead"):
        world.queues.send(name, "x")
    sqs.receive_message(QueueUrl=work)
    sqs.purge_queue(QueueUrl=work)
    world.clock.advance(1000)
    assert world.bodies("work") == []
    assert world.bodies("dead") == ["x"]


def test_the_queues_are_listed(sqs, endpoint):
    expected = [f"{endpoint}/000000000000/{name}" for name in ("work", "dead")]
    assert sqs.list_queues()["QueueUrls"] == expected


def test_an_unknown_queue_is_the_error_that_sqs_has_for_it(sqs, endpoint):
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.get_queue_url(QueueName="none")
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.send_message(QueueUrl=f"{endpoint}/000000000000/none", MessageBody="x")


@pytest.mark.parametrize(
    "parameters",
    [
        {"DelaySeconds": 901},
        {"DelaySeconds": -1},
        {"MessageBody": ""},
        {"MessageBody": "x" * (1024 * 1024 + 1)},
    ],
)
def test_requests_that_sqs_would_refuse_are_refused(sqs, work, parameters):
    request = {"QueueUrl": work, "MessageBody": "x", **parameters}
    assert code_of(sqs.send_message, **request) == "InvalidParameterValue"
    assert "Messages" not in sqs.receive_message(QueueUrl=work)


@pytest.mark.parametrize(
    "parameters",
    [{"MaxNumberOfMessages": 11}, {"WaitTimeSeconds": 21}, {"VisibilityTimeout": 43_201}],
)
def test_what_sqs_would_not_do_is_refused(sqs, work, parameters):
    assert code_of(sqs.receive_message, QueueUrl=work, **parameters) == "InvalidParameterValue"


def test_unsupported_parameters_are_refused_and_not_ignored(sqs, events, work):
    attributes = {"a": {"DataType": "String", "StringValue": "b"}}
    code = code_of(sqs.send_message, QueueUrl=work, MessageBody="x", MessageAttributes=attributes)
    assert code == "ValidationException"
    assert code_of(events.list_rules) == "UnknownOperationException"


def test_a_failure_of_ours_is_an_error_and_the_connection_goes_on(world, sqs, work, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(world.queues, "send", lambda *_: 1 / 0)
        assert code_of(sqs.send_message, QueueUrl=work, MessageBody="x") == "InternalFailure"
    assert sqs.send_message(QueueUrl=work, MessageBody="x")["MessageId"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_web_page_can_send_nothing(endpoint, world, method):
    """It can post a form without asking, but cannot name an operation."""
    body = json.dumps({"QueueUrl": "work", "MessageBody": "x"}).encode()
    request = urllib.request.Request(endpoint, body if method == "POST" else None, method=method)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value:
        assert refused.value.code in (400, 501)
    assert world.bodies() == []


# Glue


@pytest.fixture
def glue(endpoint):
    yield from client_of("glue", endpoint)


def start(glue, *words):
    arguments = dict(zip(words[::2], words[1::2], strict=True))
    return glue.start_job_run(JobName="garbage-collection", Arguments=arguments)["JobRunId"]


def test_a_job_runs_with_its_arguments_and_its_output_is_kept(glue, jobs, tmp_path):
    assert start(glue, "--repository", "lake", "--mark_id", "earlier").startswith("jr_")
    assert jobs.run_next() == 1
    log = (tmp_path / "logs" / "jobs.log").read_text()
    assert "mark_id names the run to sweep" in log


def test_only_so_many_jobs_run_at_once(glue, jobs):
    for _ in range(JOBS_AT_ONCE):
        start(glue, "--unknown", "x")
    with pytest.raises(ClientError, match="ConcurrentRunsExceededException"):
        start(glue, "--unknown", "x")
    jobs.run_next()
    start(glue, "--unknown", "x")


def test_an_unknown_job_is_not_started(glue):
    with pytest.raises(ClientError, match="EntityNotFoundException"):
        glue.start_job_run(JobName="cleaning", Arguments={})
