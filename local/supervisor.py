"""Starts the processes of the stack in order, watches them, and stops them in reverse.

Theory of operation. The supervisor holds the data folder by a lock that the kernel releases when it
ends, and its children by the parent-death signal (`local.processes`). However it ends, even by
SIGKILL, nothing is left running, and the next start finds ports, lock and data free. Signals become
SystemExit, which unwinds the same stack of `stop` calls as a failure.

The processes of functions are started again when they end (`local.restarts`). A store that ends
takes the stack with it: what it had not written yet is not known.
"""

import fcntl
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import msgspec

from local.config import ENVIRONMENT, ROOT, Config, data_folder
from local.logs import bound
from local.ports import is_free, is_healthy, is_listening
from local.private_files import write_private
from local.processes import Child, StartError
from local.restarts import Restarted, Say
from local.stores import start_dynamodb, start_s3proxy

# A stack that was just killed may hold its ports and its lock for this long.
PATIENCE_S = 5.0

WATCH_INTERVAL_S = 0.5


def run(environment: Mapping[str, str], say: Say) -> None:
    """Run the stack until a signal arrives; stop all its processes.

    Raises:
        SystemExit: a signal arrived.
        StartError: the stack cannot start, a store ended, or a process cannot start again.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit)
    data = data_folder(environment)
    with ExitStack() as stops:
        stops.enter_context(_lock(data))
        config = Config.from_environment(environment, data)
        stack = _Stack(config, config.handler_environment(environment), stops)
        try:
            stack.start(say)
            stack.keep_environment()
            say(_welcome(config))
            while True:
                time.sleep(WATCH_INTERVAL_S)
                stack.watch()
        except SystemExit:
            say("Stopping")
            raise


class _Stack:
    """The processes of one stack."""

    def __init__(self, config: Config, environment: Mapping[str, str], stops: ExitStack) -> None:
        self._config = config
        self._environment = environment
        self._stops = stops
        self._stores: list[Child] = []
        self._functions: list[Restarted] = []

    def start(self, say: Say) -> None:
        """Start all processes; return when requests can be served.

        Raises:
            StartError: a port is in use, or a process did not start.
        """
        config = self._config
        for port, name in ((config.port, "GRAVELER_PORT"), (config.s3_port, "GRAVELER_S3_PORT")):
            if not is_free(port, PATIENCE_S):
                raise StartError(f"port {port} is in use: set {name} to another port")
        say("Starting the stores: DynamoDB Local and S3Proxy")
        dynamodb_data = config.data / "dynamodb"
        dynamodb = start_dynamodb(config.dynamodb_port, dynamodb_data, config.log("dynamodb"))
        self._keep(dynamodb.child)
        s3 = start_s3proxy(config.s3_port, config.data / "s3", config.keys, config.log("s3proxy"))
        self._keep(s3.child)
        dynamodb.wait_until_ready()
        s3.wait_until_ready()

        self._python("provision").wait_until_done()
        # A crash of the machine may leave a truncated file that looks like a cached one.
        shutil.rmtree(config.data / "cache", ignore_errors=True)

        say("Starting the functions")
        port = config.messaging_port
        self._restarted("background", lambda: is_listening(port), say, port, config.journal)
        slices_port = config.slices_port
        self._restarted("slices", lambda: is_listening(slices_port), say, slices_port)
        self._restarted("api", lambda: is_healthy(config.port), say, config.port)

    def keep_environment(self) -> None:
        """Store the functions' environment, by which jobs started by hand find the stack."""
        kept = self._config.data / ENVIRONMENT
        write_private(kept, msgspec.json.encode(self._environment))
        self._stops.callback(kept.unlink, missing_ok=True)

    def watch(self) -> None:
        """Start functions again that ended, and bound the logs.

        Raises:
            StartError: a store ended, or a function cannot start.
        """
        for store in self._stores:
            store.check_alive()
            bound(store.log)
        for function in self._functions:
            function.watch()
            bound(function.log)

    def _restarted(
        self, module: str, is_ready: Callable[[], bool], say: Say, *arguments: object
    ) -> None:
        words = [str(argument) for argument in arguments]
        process = Restarted(lambda: self._python(module, *words), is_ready, say)
        self._functions.append(process)
        self._stops.callback(process.stop)

    def _python(self, module: str, *arguments: str) -> Child:
        command = (sys.executable, "-m", f"local.{module}", *arguments)
        return Child(module, command, self._config.log(module), self._environment, ROOT)

    def _keep(self, store: Child) -> None:
        self._stores.append(store)
        self._stops.callback(store.stop)


def _exit(_number: int, _frame: object) -> None:
    # Ignore further signals, which would interrupt the stopping.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise SystemExit(0)


def _lock(data: Path) -> IO[bytes]:
    """Lock the data folder; return the file whose closing releases the lock.

    Raises:
        StartError: another stack holds the lock.
    """
    file = (data / "lock").open("ab")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                file.close()
                raise StartError(
                    f"another stack uses {data}: stop it, or set GRAVELER_DATA to another folder"
                ) from error
            time.sleep(0.1)
        else:
            return file


def is_running(data: Path) -> bool:
    """Whether a stack uses the data folder now."""
    with (data / "lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _welcome(config: Config) -> str:
    keys = config.keys
    return f"""
Graveler is ready.

  endpoint           {config.endpoint}
  access key ID      {keys.access_key_id}
  secret access key  {keys.secret_access_key}
  S3 endpoint        {config.s3_endpoint} (the same key pair)
  data and logs      {config.data}
  events             tail -f {config.journal}
  bus and queues     {config.messaging_endpoint} (EventBridge and SQS)

Any s3://graveler/<name> is a storage namespace. A first command:

  curl -u '{keys.access_key_id}:{keys.secret_access_key}' \\
    -H 'Content-Type: application/json' \\
    -d '{{"name": "first", "storage_namespace": "s3://graveler/first"}}' \\
    {config.endpoint}/api/v1/repositories

Ctrl-C stops it; the data stay.
"""
