"""The embedded stack serves on after its processes were killed, and keeps what it acknowledged."""

import os
import signal
import time
from pathlib import Path

import pytest

from graveler_embedded.tcp_ports import is_healthy
from tests.integration.test_local_stack import create_repository, repositories
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server


def children_of(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def process_of(stack, word):
    """The ID of the process of the stack whose command has the word; None if there is none."""
    for pid in children_of(stack.pid):
        try:
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:  # it has ended meanwhile
            continue
    return None


def worker(stack):
    """The ID of a process that serves the API, without its server; waits until there is one."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        api = process_of(stack, "graveler_embedded.api")
        try:
            if workers := children_of(api):
                return workers[0]
        except OSError:
            pass
        time.sleep(0.02)
    raise AssertionError(stack.output)


def wait_until_healthy(stack):
    deadline = time.monotonic() + 300
    while not is_healthy(stack.port):
        assert time.monotonic() < deadline, stack.output
        time.sleep(0.1)


def test_the_api_serves_after_its_workers_were_killed_three_times_in_a_row(own_stack):
    create_repository(own_stack, "before")
    killed = set()
    for _ in range(3):
        pid = worker(own_stack)
        killed.add(pid)
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
    wait_until_healthy(own_stack)
    assert len(killed) > 1
    create_repository(own_stack, "after")
    assert {"before", "after"} <= set(repositories(own_stack))


@pytest.mark.parametrize(
    "word", ["graveler_embedded.api", "graveler_embedded.slices", "graveler_embedded.background"]
)
def test_a_killed_process_of_the_functions_is_replaced(own_stack, word):
    killed = process_of(own_stack, word)
    os.kill(killed, signal.SIGKILL)
    wait_until_replaced(own_stack, word, killed)
    create_repository(own_stack, word.replace("graveler_embedded.", "without-"))


@pytest.mark.parametrize("word", ["s3proxy", "DynamoDBLauncher"])
def test_a_killed_store_is_replaced_and_has_its_data(own_stack, word):
    own_stack.s3.put_object(Bucket=BUCKET, Key=word, Body=b"kept")
    create_repository(own_stack, f"on-{word.lower()}")
    killed = process_of(own_stack, word)
    os.kill(killed, signal.SIGKILL)
    wait_until_replaced(own_stack, word, killed)
    assert own_stack.s3.get_object(Bucket=BUCKET, Key=word)["Body"].read() == b"kept"
    assert f"on-{word.lower()}" in repositories(own_stack)


def wait_until_replaced(stack, word, killed):
    deadline = time.monotonic() + 300
    ready = stack.output.count("is ready again")
    while process_of(stack, word) in {None, killed} or stack.output.count("again") == ready:
        assert time.monotonic() < deadline, stack.output
        time.sleep(0.1)
    wait_until_healthy(stack)
