"""On the embedded stack a change raises its event within seconds, and none is lost."""

import json
import os
import signal
import time
from pathlib import Path

import boto3
import pytest
import requests

from tests.integration.test_local_stack import ask, create_repository
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

PATIENCE_S = 300


def commit(stack, repository, number):
    """A commit on main of an empty change; its ID."""
    path = f"/repositories/{repository}/branches/main/commits"
    status, answer = ask(stack, "POST", path, {"message": f"{number}", "allow_empty": True})
    assert status == 201, answer
    return answer["id"]


def events(stack):
    """Every event that the stack has shown so far."""
    lines = (stack.data / "events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def committed(stack, repository):
    """The IDs of the commits that events have reported, in the order of the events."""
    return [
        event["detail"]["commit_id"]
        for event in events(stack)
        if event["detail-type"] == "Commit Created" and event["detail"]["repository"] == repository
    ]


def wait_until(is_done, patience_s=PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while not is_done():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.05)


def finished(stack, repository):
    """What events have told of ended exports."""
    return [
        event["detail"]
        for event in events(stack)
        if event["detail-type"] == "Export Finished" and event["detail"]["repository"] == repository
    ]


def without_repetitions(values):
    return list(dict.fromkeys(values))


def client(stack, service):
    return boto3.client(
        service,
        endpoint_url=stack.messaging_endpoint,
        region_name="us-east-1",
        aws_access_key_id=stack.access_key_id,
        aws_secret_access_key=stack.secret_access_key,
    )


def messages_of(stack, queue):
    """How many messages are in the queue, in whatever state."""
    sqs = client(stack, "sqs")
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return sum(int(value) for name, value in attributes.items() if "NumberOfMessages" in name)


def end_background(stack, number=signal.SIGKILL):
    """End the process that delivers, and wait until the stack has started it again."""
    before = stack.output.count("background is ready again")
    os.kill(process_of(stack, "events.jsonl"), number)
    wait_until(lambda: stack.output.count("background is ready again") > before)


def process_of(stack, file):
    """The ID of the process that was started with the file of the data folder."""
    (found,) = (
        int(process.name)
        for process in Path("/proc").iterdir()
        if process.name.isdecimal() and str(stack.data / file).encode() in words_of(process)
    )
    return found


def words_of(process):
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended meanwhile
        return []


def exported(stack, prefix):
    """The keys under the prefix of the bucket, without it."""
    pages = stack.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{prefix}/")
    return {item["Key"].removeprefix(f"{prefix}/") for item in pages.get("Contents", ())}


def upload(stack, repository, path, content):
    """Stage an object on main."""
    answer = requests.post(
        f"{stack.endpoint}/api/v1/repositories/{repository}/branches/main/objects",
        params={"path": path},
        data=content,
        headers={"Content-Type": "application/octet-stream"},
        auth=(stack.access_key_id, stack.secret_access_key),
        timeout=300,
    )
    assert answer.status_code == 201, answer.text


def export_continuously(stack, repository, prefix):
    """Have main exported from now on."""
    path = f"/repositories/{repository}/branches/main/continuous-export"
    configuration = {
        "exportPath": f"s3://{BUCKET}/{prefix}",
        "lastKeysInPrefixRegexp": [],
        "isContinuous": True,
    }
    status, answer = ask(stack, "PUT", path, configuration)
    assert status == 201, answer


def export_state(stack, repository):
    path = f"/repositories/{repository}/branches/main/export-status"
    status, answer = ask(stack, "GET", path)
    assert status == 200, answer
    return answer["state"]


def test_a_commit_raises_its_event_with_all_that_subscribers_need(stack):
    create_repository(stack, "told")
    commit_id = commit(stack, "told", 1)
    wait_until(lambda: committed(stack, "told"))
    told = [event for event in events(stack) if event["detail"]["repository"] == "told"]
    assert [event["detail-type"] for event in told] == ["Repository Created", "Commit Created"]
    event = told[-1]
    assert (event["source"], event["version"], event["resources"]) == ("graveler", "0", [])
    assert event["detail"]["commit_id"] == commit_id
    assert event["detail"]["branch"] == "main"
    assert event["detail"]["message"] == "1"


def test_each_event_is_shown_once_and_in_the_order_of_the_changes(stack):
    create_repository(stack, "ordered")
    commit_ids = [commit(stack, "ordered", number) for number in range(20)]
    wait_until(lambda: len(committed(stack, "ordered")) >= 20)
    assert committed(stack, "ordered") == commit_ids


def test_the_queue_is_empty_when_exports_have_looked_at_the_events(stack):
    create_repository(stack, "looked-at")
    commit(stack, "looked-at", 1)
    wait_until(lambda: committed(stack, "looked-at"))
    wait_until(lambda: messages_of(stack, "graveler-export") == 0)
    assert messages_of(stack, "graveler-export-dead-letters") == 0


def test_a_message_that_the_export_function_cannot_read_is_kept_for_another_try(stack):
    sqs = client(stack, "sqs")
    url = sqs.get_queue_url(QueueName="graveler-export")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="no JSON at all")
    wait_until(lambda: messages_of(stack, "graveler-export") == 1)
    wait_until(lambda: "did not accept message" in (stack.data / "logs/background.log").read_text())
    assert messages_of(stack, "graveler-export") == 1
    create_repository(stack, "not-held-up")
    commit(stack, "not-held-up", 1)
    wait_until(lambda: committed(stack, "not-held-up"))
    sqs.purge_queue(QueueUrl=url)


def test_kill_9_of_the_delivering_process_loses_no_event(own_stack):
    create_repository(own_stack, "delivered")
    commit_ids = []
    for number in range(2):
        commit_ids += [commit(own_stack, "delivered", 5 * number + each) for each in range(5)]
        end_background(own_stack)
    wait_until(lambda: len(set(committed(own_stack, "delivered"))) == len(commit_ids))
    assert without_repetitions(committed(own_stack, "delivered")) == commit_ids
    wait_until(lambda: messages_of(own_stack, "graveler-export") == 0)
    assert messages_of(own_stack, "graveler-export-dead-letters") == 0


def test_a_restart_neither_loses_nor_repeats_events(own_stack):
    create_repository(own_stack, "restarted")
    commit_ids = [commit(own_stack, "restarted", 1)]
    wait_until(lambda: committed(own_stack, "restarted") == commit_ids)
    commit_ids.append(commit(own_stack, "restarted", 2))
    own_stack.restart()
    commit_ids.append(commit(own_stack, "restarted", 3))
    wait_until(lambda: len(committed(own_stack, "restarted")) >= 3)
    assert committed(own_stack, "restarted") == commit_ids


def test_a_commit_on_an_exported_branch_is_at_its_destination_within_seconds(stack):
    create_repository(stack, "exported")
    export_continuously(stack, "exported", "there")
    upload(stack, "exported", "a/b", b"1")
    commit(stack, "exported", 1)
    wait_until(lambda: exported(stack, "there") == {"a/b"})
    upload(stack, "exported", "c", b"2")
    commit(stack, "exported", 2)
    wait_until(lambda: exported(stack, "there") == {"a/b", "c"})


def test_the_end_of_an_export_is_an_event_too(stack):
    create_repository(stack, "ended")
    upload(stack, "ended", "a", b"1")
    commit_id = commit(stack, "ended", 1)
    export_continuously(stack, "ended", "ended-there")
    wait_until(lambda: finished(stack, "ended"))
    (detail,) = finished(stack, "ended")
    assert (detail["commit_id"], detail["objects"], detail["failed"]) == (commit_id, 1, 0)
    assert detail["status"] == "exported-successfully"


@pytest.mark.long
def test_an_export_whose_runner_was_killed_is_taken_over_and_comes_to_its_end(own_stack):
    """Half a minute or more passes: nobody may take over before the dead runner's lease ends."""
    create_repository(own_stack, "interrupted")
    for path in ("a", "b", "c"):
        upload(own_stack, "interrupted", path, b"x")
    commit(own_stack, "interrupted", 1)
    background = process_of(own_stack, "events.jsonl")
    os.kill(background, signal.SIGSTOP)
    export_continuously(own_stack, "interrupted", "there")
    os.kill(process_of(own_stack, "s3.properties"), signal.SIGSTOP)  # so that it takes its time
    os.kill(background, signal.SIGCONT)
    wait_until(lambda: export_state(own_stack, "interrupted") == "in-progress")
    end_background(own_stack)
    assert not (own_stack.data / "s3" / BUCKET / "there").exists()
    own_stack.restart()
    assert export_state(own_stack, "interrupted") == "in-progress"
    wait_until(lambda: exported(own_stack, "there") == {"a", "b", "c"}, patience_s=300)
