"""The embedded stack keeps what it acknowledged, however it ends, and says what stops it."""

import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from graveler_embedded.config import ROOT
from graveler_embedded.jars import cache_folder
from graveler_embedded.tcp_ports import free_port, is_listening
from graveler_functions.web.handler import PAGE
from tests.support.servers.stack import BUCKET, OWN_PAIR, Stack

pytestmark = pytest.mark.server


def ask(stack, method, path, body=None):
    """The status and the JSON of an answer of the API."""
    request = urllib.request.Request(
        f"{stack.endpoint}/api/v1{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": authorization(stack),
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def upload(stack, path, blocks, **headers):
    """The status and the JSON of an upload to the branch main of the repository `uploads`."""
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=300)
    target = f"/api/v1/repositories/uploads/branches/main/objects?path={path}"
    fixed = {"Authorization": authorization(stack), "Content-Type": "application/octet-stream"}
    try:
        connection.request("POST", target, body=blocks, headers={**fixed, **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def authorization(stack):
    pair = f"{stack.access_key_id}:{stack.secret_access_key}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"


def create_repository(stack, name):
    namespace = {"name": name, "storage_namespace": f"s3://{BUCKET}/{name}"}
    status, answer = ask(stack, "POST", "/repositories", namespace)
    assert status == 201, answer


def repositories(stack):
    status, answer = ask(stack, "GET", "/repositories")
    assert status == 200, answer
    return [repository["id"] for repository in answer["results"]]


def wait_until_free(*ports):
    """Processes that lost their parent end at once; a loaded machine may take a moment to do so."""
    deadline = time.monotonic() + 300
    while any(map(is_listening, ports)):
        assert time.monotonic() < deadline, "something still listens"
        time.sleep(0.05)


def start(*command, **environment):
    """Start a stack that is expected to fail: its exit code and what it said."""
    kept = {name: value for name, value in os.environ.items() if name[:9] != "GRAVELER_"}
    jars = {name: os.environ[name] for name in ("GRAVELER_JARS",) if name in os.environ}
    done = subprocess.run(
        command or (sys.executable, "-m", "graveler_cli", "serve"),
        cwd=ROOT,
        env={**kept, **jars, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


def test_the_stack_prints_how_to_reach_it(stack):
    assert f"endpoint           {stack.endpoint}" in stack.output
    assert len(stack.access_key_id) == 20
    assert len(base64.b64decode(stack.secret_access_key)) == 30
    assert ask(stack, "GET", "/user")[1]["user"]["id"] == "admin"


def test_the_printed_variables_are_all_that_the_aws_cli_needs(stack, tmp_path):
    create_repository(stack, "for-the-aws-cli")
    printed = dict(re.findall(r"(AWS_\w+)=(\S+)", stack.output))
    assert printed["AWS_ENDPOINT_URL"] == stack.endpoint  # not the raw bucket
    listed = subprocess.run(
        (sys.executable, "-m", "awscli", "s3", "ls", "s3://for-the-aws-cli"),
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], **printed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout.split() == ["PRE", "main/"]


def test_a_browser_gets_the_web_page_where_the_stack_says(stack):
    assert f"web page           {stack.endpoint}/\n" in stack.output
    for path in ("/", "/repositories/lake/objects?ref=main"):
        with urllib.request.urlopen(f"{stack.endpoint}{path}", timeout=300) as answer:
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert answer.read() == (PAGE / "index.html").read_bytes()


def test_presigned_urls_lead_where_the_page_may_go(stack):
    create_repository(stack, "shown")
    path = "/repositories/shown/branches/main/staging/backing?path=a&presign=true"
    url = urlsplit(ask(stack, "GET", path)[1]["presigned_url"])
    with urllib.request.urlopen(stack.endpoint, timeout=300) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert f"; connect-src 'self' {url.scheme}://{url.netloc}; " in policy


def test_the_key_pair_and_all_state_are_private(stack):
    assert stack.data.stat().st_mode & 0o077 == 0
    for name in ("keys.json", "cipher.key", "s3.properties"):
        assert (stack.data / name).stat().st_mode & 0o777 == 0o600, name


def test_the_s3_endpoint_takes_the_same_key_pair(stack):
    s3 = stack.s3
    s3.put_object(Bucket=BUCKET, Key="probe", Body=b"x")
    assert s3.get_object(Bucket=BUCKET, Key="probe")["Body"].read() == b"x"


@pytest.fixture(scope="module")
def uploads(stack):
    """A repository for objects that come in every way that HTTP knows."""
    create_repository(stack, "uploads")


def test_a_chunked_body_of_unknown_length_arrives_whole(stack, uploads):
    blocks = [bytes([number]) * 100_000 for number in range(7)]
    status, answer = upload(stack, "chunked", iter(blocks))
    assert (status, answer["size_bytes"]) == (201, 700_000)
    assert answer["checksum"] == hashlib.md5(b"".join(blocks)).hexdigest()


@pytest.mark.parametrize("megabytes", [5, 11])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_that_cannot_pass_is_413_with_the_remedy(stack, uploads, megabytes, is_chunked):
    """5 MB are too much for Lambda once they are base64, 11 MB for API Gateway."""
    block = bytes(1024 * 1024)
    blocks = (block for _ in range(megabytes)) if is_chunked else block * megabytes
    status, answer = upload(stack, "large", blocks)
    assert status == 413
    assert "presigned URL" in answer["message"]


def test_head_returns_the_length_without_a_body(stack, uploads):
    assert upload(stack, "measured", b"12345")[0] == 201
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=300)
    try:
        for _ in range(2):  # on one connection: bytes left over would spoil the second answer
            connection.request(
                "HEAD",
                "/api/v1/repositories/uploads/refs/main/objects?path=measured",
                headers={"Authorization": authorization(stack)},
            )
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Content-Length"]) == (200, "5")
            assert answer.read() == b""
    finally:
        connection.close()


def test_the_client_is_told_to_continue_before_it_sends_the_body(stack, uploads):
    head = (
        "POST /api/v1/repositories/uploads/branches/main/objects?path=asked HTTP/1.1\r\n"
        f"Host: 127.0.0.1\r\nAuthorization: {authorization(stack)}\r\n"
        "Content-Type: application/octet-stream\r\nContent-Length: 5\r\n"
        "Expect: 100-continue\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", stack.port), timeout=300) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"12345")
        assert connection.recv(1000).startswith(b"HTTP/1.1 201 ")


def test_logs_of_the_functions_go_to_files_and_not_to_the_terminal(stack):
    ask(stack, "GET", "/repositories/none")
    assert (stack.data / "logs" / "api.log").exists()
    assert stack.output.endswith("Ctrl-C stops it; the data stay.\n\n")


def test_ctrl_c_ends_it_well_and_a_restart_with_the_same_key_pair_keeps_the_data(own_stack):
    create_repository(own_stack, "kept")
    own_stack.s3.put_object(Bucket=BUCKET, Key="object", Body=b"x")
    keys = own_stack.access_key_id, own_stack.secret_access_key
    assert own_stack.stop(signal.SIGINT) == 0
    assert own_stack.output.endswith("Stopping\n")
    wait_until_free(own_stack.port, own_stack.s3_port)

    ports = {"GRAVELER_PORT": "0", "GRAVELER_S3_PORT": "0"}
    changed = {**OWN_PAIR, "GRAVELER_SECRET_ACCESS_KEY": "changed"}
    code, said = start(GRAVELER_DATA=str(own_stack.data), **ports, **changed)
    assert code == 1
    assert said.startswith("error: this data folder was set up with a key pair other than chosen:")

    own_stack.start()
    assert (own_stack.access_key_id, own_stack.secret_access_key) == keys
    assert "kept" in repositories(own_stack)
    assert own_stack.s3.get_object(Bucket=BUCKET, Key="object")["Body"].read() == b"x"


@pytest.mark.long
def test_it_starts_right_after_kill_9_and_has_all_data(own_stack):
    names = [f"kept-{number}" for number in range(5)]
    for name in names:
        create_repository(own_stack, name)
    own_stack.kill()
    own_stack.start()
    assert set(names) <= set(repositories(own_stack))


def test_kill_9_of_its_parent_ends_it(tmp_path):
    """As of `make`: its `serve` passes --die-with-parent."""
    port, s3_port = free_port(), free_port()
    command = f"{sys.executable} -m graveler_cli serve --die-with-parent & wait"
    parent = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=ROOT,
        env={
            **os.environ,
            "GRAVELER_DATA": str(tmp_path / "data"),
            "GRAVELER_PORT": str(port),
            "GRAVELER_S3_PORT": str(s3_port),
        },
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while not (is_listening(port) and is_listening(s3_port)):
        assert time.monotonic() < deadline
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    wait_until_free(port, s3_port)


def test_what_another_stack_uses_is_refused_with_the_remedy(stack, tmp_path):
    ports = {"GRAVELER_PORT": "0", "GRAVELER_S3_PORT": "0"}
    refused = {
        f"another stack uses {stack.data}: stop it, or set --data or GRAVELER_DATA to another "
        "folder": {"GRAVELER_DATA": str(stack.data), **ports}
    }
    for flag, variable in zip(("--port", "--s3-port"), ports, strict=True):
        refused[f"port {stack.port} is in use: set {flag} or {variable} to another port"] = {
            "GRAVELER_DATA": str(tmp_path / variable),
            **ports,
            variable: str(stack.port),
        }
    with ThreadPoolExecutor() as threads:  # each waits for a while
        ends = list(threads.map(lambda environment: start(**environment), refused.values()))
    assert ends == [(1, f"error: {said}\n") for said in refused]


def test_two_stacks_with_key_pairs_of_their_own_run_side_by_side(stack, own_stack):
    assert (own_stack.access_key_id, own_stack.secret_access_key) == tuple(OWN_PAIR.values())
    create_repository(own_stack, "mine")
    assert "mine" not in repositories(stack)


@pytest.mark.parametrize(
    ("variable", "value", "remedy"),
    [
        ("GRAVELER_PORT", "http", "set it to a number"),
        ("GRAVELER_S3_PORT", "65536", "set it to a number"),
        ("GRAVELER_S3_PORT", "8000", "different ports"),
        ("GRAVELER_HOST", "127.0.0.2", "set it to 127.0.0.1 or 0.0.0.0"),
        ("GRAVELER_ACCESS_KEY_ID", "alone", "set both"),
        ("GRAVELER_DATA", "/dev/null/x", "cannot create"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(tmp_path, variable, value, remedy):
    code, said = start(**{"GRAVELER_DATA": str(tmp_path), variable: value})
    assert code == 1
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert variable in said
    assert remedy in said


def test_a_damaged_file_of_a_store_is_named_and_the_next_start_fetches_it(tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(cache_folder(), cache, copy_function=os.symlink)
    [jar] = (cache / "dynamodb").glob("DynamoDBLocal-*.jar")
    size_bytes = jar.stat().st_size
    jar.unlink()
    jar.write_bytes(bytes(size_bytes))
    ports = {"GRAVELER_PORT": "0", "GRAVELER_S3_PORT": "0"}
    end = start(GRAVELER_DATA=str(tmp_path / "data"), GRAVELER_JARS=str(cache), **ports)
    said = f"error: {jar} was damaged and is deleted: start again, which fetches it anew\n"
    assert end == (1, said)
    assert not jar.exists()


def answers(address: str, port: int | None) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


def test_in_a_container_the_api_and_the_raw_bucket_are_reached_from_outside(tmp_path):
    stack = Stack(tmp_path, GRAVELER_HOST="0.0.0.0")
    try:
        others = urlsplit(stack.messaging_endpoint).port
        # Only a server on all addresses answers at another one of the loopback interface.
        assert [answers("127.0.0.2", port) for port in (stack.port, stack.s3_port, others)] == [
            True,
            True,
            False,
        ]
        assert stack.endpoint in stack.output
    finally:
        assert stack.stop() == 0
