"""The stack under test: its processes, and how they are killed, stopped and restarted."""

import itertools
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bench.torture.proxy import Proxy
from graveler_embedded.config import ROOT
from graveler_embedded.processes import Child, StartError
from graveler_embedded.tcp_ports import is_free, is_healthy

READY = "Graveler is ready."
_STARTS_MAX = 5

# The targets of blows, and a part of each target's command line.
_COMMANDS = {
    "dynamodb": "DynamoDBLauncher",
    "s3proxy": "s3proxy-",
    "background": "graveler_embedded.background",
    "api": "graveler_embedded.api",
}
TARGETS = (*_COMMANDS, "worker", "stack")


class TorturedStack:
    """The embedded stack on a data folder, with proxies between its functions and its stores."""

    def __init__(self, folder: Path, seed: str) -> None:
        self.data = folder / "data"
        ports = _free_ports(5)
        self.port, self.s3_port, self.dynamodb_port = ports[:3]
        self.dynamodb = Proxy("dynamodb", ports[3], self.dynamodb_port, f"{seed} dynamodb")
        self.s3 = Proxy("s3", ports[4], self.s3_port, f"{seed} s3")
        self._log = folder / "stack.log"
        self._old_logs = folder / "stack.old.log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name[:9] != "GRAVELER_"},
            **{n: os.environ[n] for n in ("GRAVELER_JARS",) if n in os.environ},
            "GRAVELER_DATA": str(self.data),
            "GRAVELER_PORT": str(self.port),
            "GRAVELER_S3_PORT": str(self.s3_port),
            "PROXIED_DYNAMODB_PORT": str(self.dynamodb_port),
            "PROXIED_DYNAMODB_PROXY": str(self.dynamodb.port),
            "PROXIED_S3_PROXY": str(self.s3.port),
        }
        self.starts = 0
        self.start()

    @property
    def proxies(self) -> tuple[Proxy, Proxy]:
        return self.dynamodb, self.s3

    def start(self) -> None:
        """Start the stack on its folder. Call it from the main thread: children die with theirs."""
        for attempt in range(_STARTS_MAX):
            self._keep_log()
            command = (sys.executable, "-m", "bench.proxied")
            self._process = Child("the stack", command, self._log, self.environment, ROOT)
            self.starts += 1
            try:
                self._process.wait_until(lambda: READY in self._log.read_text())
            except StartError as error:
                print(f"  the stack did not start: {error}", flush=True)
                self._process.kill()
                if attempt == _STARTS_MAX - 1:
                    raise
            else:
                break
        found = re.search(r"access key ID +(\S+)\s+secret access key +(\S+)", self._log.read_text())
        assert found
        self.access_key_id, self.secret_access_key = found[1], found[2]

    def revive(self) -> None:
        """Start the stack if it ended, and continue every stopped process."""
        for pid in self._pids():
            _send(pid, signal.SIGCONT)
        deadline = time.monotonic() + 90
        while not self.is_running() or not is_healthy(self.port):
            if not self.is_running():
                self.start()
            elif time.monotonic() > deadline:
                raise StartError("the API does not answer")
            time.sleep(0.1)

    def is_running(self) -> bool:
        try:
            self._process.check_alive()
        except StartError:
            return False
        return True

    def stop(self) -> None:
        self._process.stop(timeout_s=30)

    def kill(self, target: str) -> bool:
        """Kill a process with SIGKILL; return False if it does not exist."""
        if target == "stack":
            self._process.kill()
            return True
        pids = self.pids_of(target)
        for pid in pids[:1]:
            _send(pid, signal.SIGKILL)
        return bool(pids)

    def signal(self, target: str, number: signal.Signals) -> list[int]:
        """Send a signal to the first process of the target; return the signalled processes."""
        pids = self.pids_of(target)[:1]
        for pid in pids:
            _send(pid, number)
        return pids

    def resume(self, pids: list[int]) -> None:
        for pid in pids:
            _send(pid, signal.SIGCONT)

    def kill_workers(self) -> None:
        """End every process that serves requests; others take their place."""
        old = self.pids_of("worker")
        for pid in old:
            _send(pid, signal.SIGKILL)
        _wait(lambda: not set(old) & set(self.pids_of("worker")), 30, "workers stay")

    def pids_of(self, target: str) -> list[int]:
        """Return the processes of a target."""
        if target == "worker":
            return [pid for api in self.pids_of("api") for pid in _children(api)]
        wanted = _COMMANDS[target]
        return [pid for pid in _children(self._process.pid) if wanted in _command(pid)]

    def _pids(self) -> list[int]:
        found, new = [], [self._process.pid]
        while new:
            found += new
            new = [child for pid in new for child in _children(pid)]
        return found

    def _keep_log(self) -> None:
        if self._log.exists():
            with self._old_logs.open("ab") as old, self._log.open("rb") as log:
                shutil.copyfileobj(log, old)
            self._log.unlink()


def _free_ports(amount: int) -> list[int]:
    """Return ports below those of `free_port`, so that no other stack takes a dead one's port."""
    ports = (port for port in random.sample(range(12_000, 20_000), 1000) if is_free(port, 0))
    return list(itertools.islice(ports, amount))


def _wait(is_so: Callable[[], bool], timeout_s: float, message: str) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            raise StartError(message)
        time.sleep(0.05)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _children(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            # The name, in brackets, may hold anything; the state and the parent come after it.
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(int(folder.name))
    return sorted(found)


def _command(pid: int) -> str:
    """Return the command line of a process, "" after its end."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""
