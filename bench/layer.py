"""The cold start of each function, from the artefacts: `python -m bench.layer`.

It builds the layer and the functions' code for this machine's processor, and runs them under
Lambda's own runtime client, with the functions' interpreter if it is installed, else with the
current one. The stores are local, AWS's other services emulated. The figures are processor time of
the function's process, from the start of its interpreter. It needs the package index.
"""

import logging
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from graveler_embedded.stores import start_dynamodb, start_s3proxy
from graveler_embedded.tcp_ports import free_port
from tests.support.fakes.function_events import EVENTS
from tests.support.servers import runtime
from tests.support.servers.runtime import Client, Lambda
from tests.support.servers.stack import KEYS

# Notes the processor time and the number of modules whenever the process asks for an event.
_PROBE = """
import os, sys, time
from awslambdaric import __main__, lambda_runtime_client

client = lambda_runtime_client.LambdaRuntimeClient
wait_next = client.wait_next_invocation

def wait(self):
    with open(os.environ["PROBE"], "a") as file:
        print(time.process_time(), len(sys.modules), file=file)
    return wait_next(self)

client.wait_next_invocation = wait
__main__.main(sys.argv)
"""
# The same without a handler: what the interpreter and the client take.
_EMPTY = (
    "import sys, types; sys.modules['graveler_functions.api.handler'] = m = types.ModuleType('m'); "
)
_EMPTY += "m.handler = None\n" + _PROBE

_BRANCH = "/repositories/lake/branches/main"
_REF = "/repositories/lake/refs/main"

Act = Callable[[Client], object]


def _upload(client: Client, path: str = "cold/new") -> None:
    client.send_upload(path, b"content")
    client.answer()


def _commit(client: Client) -> None:
    client.ask("POST", f"{_BRANCH}/commits", {"message": "cold", "allow_empty": True})


def _get(where: str) -> Act:
    def request(client: Client) -> None:
        client.send("GET", where)
        client.answer()

    return request


def _invoke(event: object) -> Act:
    return lambda client: client.api.invoke(event)


_REQUESTS: Mapping[str, Act] = {
    "stat": _get(f"{_REF}/objects/stat?path=cold/known"),
    "list": _get(f"{_REF}/objects/ls?prefix=cold/"),
    "get": _get(f"{_REF}/objects?path=cold/known"),
    "address": _get(f"{_BRANCH}/staging/backing?path=cold/next"),
    "branch": _get(_BRANCH),
    "upload": _upload,
    "commit": _commit,
    "users": _get("/auth/users"),
}

Sample = tuple[float, ...]  # of the start and of each event, ms; then the modules after the start


def _polls(probe: Path) -> Sample:
    lines = [line.split() for line in probe.read_text().splitlines()]
    times = [float(line[0]) * 1000 for line in lines]
    steps = [after - before for before, after in pairwise(times)]
    return (times[0], *steps, float(lines[0][1]))


def _sample(deployed: Lambda, name: str, act: Act | None, credential: str, program: str) -> Sample:
    """Start the function, send it the request twice; return the process's figures."""
    probe = deployed.folder / "probe"
    probe.unlink(missing_ok=True)
    with deployed.function(name, "-c", program, PROBE=str(probe)) as api:
        api.wait_for_polls(1)
        if act is not None:
            for _ in range(2):
                act(Client(api, credential))
                api.wait_for_polls(1)
    return _polls(probe)


def main() -> None:
    parser = ArgumentParser(prog="bench.layer")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without-bytecode", action="store_true")
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # moto's line for each request
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        dynamodb = start_dynamodb(free_port(), None, folder / "dynamodb.log")
        s3 = start_s3proxy(free_port(), folder / "objects", KEYS, folder / "s3proxy.log")
        try:
            dynamodb.wait_until_ready()
            s3.wait_until_ready()
            with runtime.emulated_aws(dynamodb.endpoint, s3.endpoint) as environment:
                is_compiled = not options.without_bytecode
                layer = runtime.build_layer(folder, is_compiled=is_compiled)
                deployed = runtime.deployed(folder, environment, layer, is_compiled=is_compiled)
                _measure(deployed, options.runs)
        finally:
            dynamodb.child.kill()
            s3.child.kill()


def _measure(deployed: Lambda, runs: int) -> None:
    credential = runtime.set_up(deployed)
    with deployed.function("api") as api:
        writer = Client(api, credential)
        _upload(writer, "cold/known")
        _commit(writer)

        def show(label: str, name: str, act: Act | None, program: str = _PROBE) -> None:
            samples = []
            for number in range(runs):
                _upload(writer, f"cold/{number}")  # what the commit commits
                samples.append(_sample(deployed, name, act, credential, program))
            columns = [(min(each), median(each)) for each in zip(*samples, strict=True)]
            figures = [f"{low:5.0f} ({middle:3.0f})" for low, middle in columns[:-1]]
            print(f"{label:24}  {'  '.join(figures):45}  {columns[-1][0]:5.0f} modules")

        print(f"Python {deployed.version}, ms of processor, lowest (median) of {runs}:")
        print(f"{'':24}  start, first event, the same again")
        show("runtime client alone", "api", None, _EMPTY)
        for name, event in EVENTS.items():
            if name != "api":
                show(name, name, _invoke(event))
        for label, act in _REQUESTS.items():
            show(f"api, {label}", "api", act)


if __name__ == "__main__":
    main()
