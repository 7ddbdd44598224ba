"""What happens on a deployment when a worker dies, or a message cannot be read."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests.deployed.conftest import REDELIVERED_S, queue_named, result_of, until

pytestmark = pytest.mark.long


def processes_of(account, function: str) -> list[int]:
    """The processes of a function's workers in this emulator."""
    variable = f"AWS_LAMBDA_FUNCTION_NAME={function}\0".encode()
    port = f":{urlsplit(account.endpoint).port}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:
            continue  # it has ended, or is another user's
        if variable in environment and port in environment:
            found.append(int(path.parent.name))
    return found


@contextmanager
def webhook(called: Callable[[int], None]) -> Iterator[str]:
    """Serve a hook; each call gets its number, from 1."""
    calls = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            calls.append(self.path)
            called(len(calls))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_commit_whose_worker_is_killed_in_the_middle_is_made_by_another_one(
    stacks, account, repository
):
    worker = f"{stacks.name}-hooks"
    killed: list[int] = []

    def kill(call: int) -> None:
        if call == 1:
            killed.extend(processes_of(account, worker))
            for process in killed:
                os.kill(process, signal.SIGKILL)

    branch = f"{repository}/branches/killed"
    assert stacks.ask(
        "POST", f"{repository}/branches", json={"name": "killed", "source": "main"}
    ).ok
    with webhook(kill) as url, redelivered_soon(stacks, "HookQueue"):
        action = {
            "name": "killing",
            "on": {"pre-commit": {"branches": ["killed"]}},
            "hooks": [{"id": "hook", "type": "webhook", "properties": {"url": url}}],
        }
        for path, content in (("_lakefs_actions/a.yaml", json.dumps(action)), ("a", "content")):
            written = stacks.ask("POST", f"{branch}/objects", params={"path": path}, data=content)
            assert written.ok, written.text
        before = stacks.ask("GET", branch).json()["commit_id"]
        commit = result_of(stacks, f"{branch}/commits", {"message": "made once"})
    assert killed
    log = stacks.ask("GET", f"{repository}/refs/killed/commits").json()["results"]
    assert [each["id"] for each in log[:2]] == [commit["id"], before]
    assert stacks.ask("GET", f"{repository}/refs/killed/objects?path=a").text == "content"
    assert stacks.ask("GET", f"{branch}/diff").json()["results"] == []


@contextmanager
def redelivered_soon(stacks, name: str) -> Iterator[str]:
    """Shorten the time after which the queue gives a message to another worker: it is 90 minutes."""
    queues, url = stacks.account.client("sqs"), queue_named(stacks, name)
    kept = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
    soon = {"VisibilityTimeout": str(REDELIVERED_S)}
    queues.set_queue_attributes(QueueUrl=url, Attributes=soon)
    try:
        yield url
    finally:
        queues.set_queue_attributes(QueueUrl=url, Attributes=kept["Attributes"])


@pytest.mark.parametrize(
    ("name", "letters", "alarm"),
    [
        ("TaskQueue", "TaskDeadLetters", "task-dead-letters"),
        ("HookQueue", "TaskDeadLetters", "task-dead-letters"),
        ("ExportQueue", "ExportDeadLetters", "export-dead-letters"),
    ],
)
def test_a_message_that_no_worker_can_read_ends_where_an_alarm_looks(
    stacks, account, name, letters, alarm
):
    """The emulator's alarms look at no dimensions, so this compares the name that they have."""
    queues = account.client("sqs")
    poison = json.dumps({"poison": name})
    with redelivered_soon(stacks, name) as queue:
        queues.send_message(QueueUrl=queue, MessageBody=poison)
        dead = queue_named(stacks, letters)
        (message,) = until(lambda: queues.receive_message(QueueUrl=dead).get("Messages"))
    assert message["Body"] == poison
    queues.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
    (watch,) = account.client("cloudwatch").describe_alarms(AlarmNames=[f"{stacks.name}-{alarm}"])[
        "MetricAlarms"
    ]
    assert watch["Dimensions"] == [{"Name": "QueueName", "Value": dead.rpartition("/")[2]}]
    (topic,) = watch["AlarmActions"]
    account.client("sns").get_topic_attributes(TopicArn=topic)  # it exists
