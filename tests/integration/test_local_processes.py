"""The supervisor's small promises: clear words, bounded logs, a clean environment."""

import errno
import os
import socket
import sys

import pytest

from graveler.http.schemas.credentials import AccessKey
from graveler_embedded import files, processes
from graveler_embedded.config import StackConfig
from graveler_embedded.java import JAVA
from graveler_embedded.processes import Child, StartError
from graveler_embedded.stores import start_dynamodb
from graveler_embedded.tcp_ports import free_port, is_free, is_listening


def python(code, tmp_path):
    return Child("tested", (sys.executable, "-c", code), tmp_path / "tested.log")


def test_a_process_that_ended_is_reported_with_its_last_words(tmp_path):
    child = python("import sys; print('first'); sys.exit('out of luck')", tmp_path)
    with pytest.raises(StartError, match=r"^tested ended with exit code 1: out of luck \(more in "):
        child.wait_until(lambda: False)


def test_a_task_that_failed_is_reported_by_its_last_words_alone(tmp_path):
    with pytest.raises(StartError, match=r"^out of luck \(more in .*tested\.log\)$"):
        python("import sys; sys.exit('out of luck')", tmp_path).wait_until_done()


def test_a_process_that_is_never_ready_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "START_TIMEOUT_S", 0)
    child = python("import time; time.sleep(60)", tmp_path)
    with pytest.raises(StartError, match="tested was not ready in time"):
        child.wait_until(lambda: False)
    assert child.stop() == -15


def test_a_process_that_does_not_stop_is_killed(tmp_path):
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    child = python(f"{code}; time.sleep(60)", tmp_path)
    child.wait_until(lambda: (tmp_path / "tested.log").read_text() == "1\n")
    assert child.stop(timeout_s=0.1) == -9


def test_java_starts_in_a_working_folder_that_was_deleted(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    Child("Java", (JAVA, "-version"), tmp_path / "java.log").wait_until_done()


def test_a_file_that_was_not_fetched_is_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAVELER_JARS", str(tmp_path))
    with pytest.raises(
        StartError, match=r"\.jar is missing: run `python -m graveler_embedded.fetching dyn"
    ):
        start_dynamodb(free_port(), None, tmp_path / "log")


def test_a_log_keeps_its_last_two_parts_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LOG_BYTES_MAX", 10)
    log = tmp_path / "api.log"
    with log.open("ab") as writer:  # as the process that goes on writing
        for text in (b"first and long\n", b"second and long\n", b"third\n"):
            writer.write(text)
            writer.flush()
            files.bound_log(log)
    assert log.read_bytes() == b"third\n"
    assert (tmp_path / "api.log.1").read_bytes() == b"second and long\n"


def test_a_log_that_the_user_deleted_ends_nothing(tmp_path):
    child = python("import time; time.sleep(60)", tmp_path)
    child.log.unlink()
    files.bound_log(child.log)
    child.kill()
    with pytest.raises(StartError, match=r"^tested ended with exit code -9: no output "):
        child.check_alive()


def test_functions_see_nothing_of_the_users_own_aws_account_or_proxy(tmp_path):
    config = StackConfig(
        port=1,
        s3_port=2,
        dynamodb_port=3,
        messaging_port=4,
        slices_port=5,
        data=tmp_path,
        keys=AccessKey("key", "secret"),
    )
    surrounding = {
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "token",
        "AWS_ENDPOINT_URL_S3": "https://s3.example.com",
        "AWS_ACCESS_KEY_ID": "production",
        "https_proxy": "http://proxy",
        "HTTP_PROXY": "http://proxy",
        "GRAVELER_RANGE_RAGGEDNESS_RECORDS": "10",
        "PATH": "/bin",
    }
    seen = config.handler_environment(surrounding)
    assert set(surrounding) & set(seen) == {
        "AWS_ACCESS_KEY_ID",
        "GRAVELER_RANGE_RAGGEDNESS_RECORDS",
        "PATH",
    }
    assert (seen["AWS_ACCESS_KEY_ID"], seen["AWS_SECRET_ACCESS_KEY"]) == ("key", "secret")
    assert seen["GRAVELER_S3_ENDPOINT"] == "http://127.0.0.1:2"


def test_a_port_that_only_root_may_use_is_not_in_use(monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(StartError, match=r"^cannot listen on port 80: Permission denied$"):
        is_free(80, patience_s=0)


def test_a_free_port_can_be_listened_on():
    port = free_port()
    assert is_free(port, patience_s=0)
    assert not is_listening(port)
