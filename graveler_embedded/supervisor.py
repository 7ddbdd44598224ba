"""Starts the processes of the stack in order, watches them, and stops them in reverse.

Theory of operation. A process that ends is started again (`graveler_embedded.supervised`). The
supervisor holds the data folder by a lock that the kernel releases when it ends. Its children end
by the parent-death signal (`graveler_embedded.processes`). So after any end, even by SIGKILL, no
process is left. The ports, the lock and the data are free for the next start. Signals become
SystemExit, which unwinds the same stack of `stop` calls as a failure.
"""

import fcntl
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

import msgspec

from graveler_embedded import archives
from graveler_embedded.config import ENVIRONMENT, StackConfig, data_folder
from graveler_embedded.fetching import fetch
from graveler_embedded.files import write_private
from graveler_embedded.jars import SERVED, drop_damaged
from graveler_embedded.lambda_runtime import REGION
from graveler_embedded.processes import Child, StartError
from graveler_embedded.stores import BUCKET, start_dynamodb, start_s3proxy
from graveler_embedded.supervised import Say, Supervised
from graveler_embedded.tcp_ports import is_free, is_healthy, is_listening

# A stack that was just killed may hold its ports and its lock for this long.
PATIENCE_S = 5.0

WATCH_INTERVAL_S = 0.5

# Ctrl-C, a request to end, and a closed terminal.
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(environment: Mapping[str, str], say: Say) -> None:
    """Run the stack until a signal arrives; stop all its processes.

    Raises:
        SystemExit: a signal arrived.
        StartError: the stack cannot start, or one of its processes cannot be started again.
    """
    for number in _STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # such as SIGHUP under nohup
            signal.signal(number, _exit)
    data = data_folder(environment)
    with ExitStack() as stops:
        stops.enter_context(_lock(data))
        config = StackConfig.from_environment(environment, data)
        fetch(SERVED, say)
        stack = _Stack(config, config.handler_environment(environment), stops, say)
        try:
            stack.start()
            stack.keep_environment()
            say(_welcome(config))
            stack.make_later_starts_faster()
            while True:
                time.sleep(WATCH_INTERVAL_S)
                stack.watch()
        except SystemExit:
            with suppress(OSError):  # the terminal is closed
                say("Stopping")
            raise


class _Stack:
    """The processes of one stack."""

    def __init__(
        self, config: StackConfig, environment: Mapping[str, str], stops: ExitStack, say: Say
    ) -> None:
        self._config = config
        self._environment = environment
        self._stops = stops
        self._say = say
        self._processes: list[Supervised] = []
        self._archiving: Child | None = None

    def start(self) -> None:
        """Start all processes; return when requests can be served.

        Raises:
            StartError: a port is in use, or a process did not start.
        """
        config = self._config
        for port, names in (
            (config.port, "--port or GRAVELER_PORT"),
            (config.s3_port, "--s3-port or GRAVELER_S3_PORT"),
        ):
            if not is_free(port, PATIENCE_S):
                raise StartError(f"port {port} is in use: set {names} to another port")
        # A crash of the machine may leave a truncated file that looks like a cached one.
        shutil.rmtree(config.data / "cache", ignore_errors=True)
        self._say("Starting the stores: DynamoDB Local and S3Proxy")
        stores = (
            self._supervise(self._dynamodb, lambda: is_listening(config.dynamodb_port)),
            self._supervise(self._s3proxy, lambda: is_listening(config.s3_port)),
        )
        # It imports while the stores start, and waits for them itself.
        provision = self._python("provision")
        self._stops.callback(provision.stop)
        try:
            for store in stores:
                store.wait_until_ready()
        except StartError as error:
            if damaged := drop_damaged(SERVED):
                raise StartError(
                    f"{damaged[0]} was damaged and is deleted: start again, which fetches it anew"
                ) from error
            raise
        provision.wait_until_done()

        self._say("Starting the functions")
        port, slices_port = config.messaging_port, config.slices_port
        functions = (
            self._supervise(
                lambda: self._python("background", str(port), str(config.journal)),
                lambda: is_listening(port),
            ),
            self._supervise(
                lambda: self._python("slices", str(slices_port)),
                lambda: is_listening(slices_port),
            ),
            self._supervise(
                lambda: self._python("api", str(config.port)),
                lambda: is_healthy(config.port),
            ),
        )
        for function in functions:
            function.wait_until_ready()

    def keep_environment(self) -> None:
        """Store the functions' environment, by which jobs started by hand find the stack."""
        kept = self._config.data / ENVIRONMENT
        write_private(kept, msgspec.json.encode(self._environment))
        self._stops.callback(kept.unlink, missing_ok=True)

    def make_later_starts_faster(self) -> None:
        """Have missing archives of the stores' classes made."""
        if archives.missing():
            self._archiving = self._python("archives", str(self._config.log("archives").parent))
            self._stops.callback(self._archiving.stop)

    def watch(self) -> None:
        """Start processes that ended again, and bound the logs.

        Raises:
            StartError: a process cannot be started again.
        """
        for process in self._processes:
            process.watch()
        if self._archiving and self._archiving.has_ended:
            self._archiving = None

    def _dynamodb(self) -> Child:
        config = self._config
        data = config.data / "dynamodb"
        return start_dynamodb(config.dynamodb_port, data, config.log("dynamodb")).child

    def _s3proxy(self) -> Child:
        config = self._config
        data = config.data / "s3"
        return start_s3proxy(config.s3_port, data, config.keys, config.log("s3proxy")).child

    def _python(self, module: str, *arguments: str) -> Child:
        command = (sys.executable, "-m", f"graveler_embedded.{module}", *arguments)
        return Child(
            module, command, self._config.log(module), self._environment, self._config.data
        )

    def _supervise(self, start: Callable[[], Child], is_ready: Callable[[], bool]) -> Supervised:
        process = Supervised(start, is_ready, self._say)
        self._processes.append(process)
        self._stops.callback(process.stop)
        return process


def _exit(_number: int, _frame: object) -> None:
    # Ignore further signals, which would interrupt the stopping.
    for number in _STOPPING:
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
                    f"another stack uses {data}: stop it, or set --data or GRAVELER_DATA to "
                    "another folder"
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


def _welcome(config: StackConfig) -> str:
    keys = config.keys
    secret = shlex.quote(keys.secret_access_key)
    program = "graveler" if shutil.which("graveler") else Path(sys.executable).with_name("graveler")
    return f"""
Graveler is ready.

  web page           {config.endpoint}/
  endpoint           {config.endpoint}
  S3 API             {config.endpoint} (bucket = repository)
  access key ID      {keys.access_key_id}
  secret access key  {keys.secret_access_key}
  raw bucket         {config.s3_endpoint} (s3://{BUCKET}, the same key pair)
  data and logs      {config.data}
  events             tail -f {config.journal}
  bus and queues     {config.messaging_endpoint} (EventBridge, SQS and Glue)

For another terminal:

  export LAKECTL_SERVER_ENDPOINT_URL={config.endpoint}
  export LAKECTL_CREDENTIALS_ACCESS_KEY_ID={keys.access_key_id}
  export LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY={secret}
  export AWS_ENDPOINT_URL={config.endpoint} AWS_DEFAULT_REGION={REGION}
  export AWS_ACCESS_KEY_ID={keys.access_key_id} AWS_SECRET_ACCESS_KEY={secret}

  {program} repo create lakefs://first s3://{BUCKET}/first

Any s3://{BUCKET}/<name> is a storage namespace. Ctrl-C stops it; the data stay.
"""
