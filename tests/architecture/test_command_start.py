"""A command imports what it needs, and no more: users wait for it, and shells complete with it.

`python -m bench.startup` measures it; ADR 27 has the figures.
"""

import json
import os
import subprocess
import sys
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from graveler_cli.summaries import SUMMARIES
from tests.architecture.test_portability import ROOT
from tests.support.clients.summaries import first_sentences

NEVER = {
    "boto3",
    "botocore",
    "graveler",
    "graveler_gateway",
    "lakefs",
    "lakefs_sdk",
    "pydantic",
    "requests",
}
# Only tables on a terminal and progress need rich; only a configuration file needs yaml.
OF_SOME = {"rich", "yaml", "pygments", "xml", "asyncio"}
OF_REQUESTS = {"ssl", "urllib3", "http.client"}

PROGRAM = """
import json, sys
sys.argv[1:] = json.loads(sys.argv[1])
from graveler_cli.__main__ import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


class _OneBranch(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        more = {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}
        results = [{"id": "main", "commit_id": "c1"}]
        content = json.dumps({"pagination": more, "results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: object) -> None:
        pass


@cache
def modules_of(*args: str) -> set[str]:
    """The modules that a whole command imports."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _OneBranch) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(ROOT / "tests"),  # without a configuration file
            "LAKECTL_SERVER_ENDPOINT_URL": f"http://127.0.0.1:{server.server_address[1]}",
            "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": "key",
            "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "secret",
        }
        command = [sys.executable, "-c", PROGRAM, json.dumps(args)]
        ended = subprocess.run(
            command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True
        )
        server.shutdown()
    assert ended.stdout
    return set(json.loads(ended.stderr.splitlines()[-1]))


LIST = ("branch", "list", "lakefs://lake")


@pytest.mark.parametrize("args", [LIST, (*LIST, "--json", "--amount", "3")])
def test_a_command_imports_neither_the_sdk_nor_what_only_people_need(args):
    assert modules_of(*args) & (NEVER | OF_SOME) == set()
    assert modules_of(*args) >= OF_REQUESTS


@pytest.mark.parametrize("args", [("--help",), ("branch", "--help"), ("branch", "list", "--help")])
def test_help_imports_nothing_that_speaks_to_a_server(args):
    assert modules_of(*args) & (NEVER | OF_SOME | OF_REQUESTS) == set()


def test_the_version_imports_neither_the_sdk_nor_what_only_people_need():
    # The engine's folder, which is empty, and nothing below it but the version.
    loaded = modules_of("--version")
    assert loaded & ((NEVER | OF_SOME) - {"graveler"}) == set()
    assert {each for each in loaded if each.startswith("graveler.")} == {"graveler.version"}


def test_a_command_imports_no_other_command():
    found = {name for name in modules_of(*LIST) if name.startswith("graveler_cli.commands.")}
    assert found == {"graveler_cli.commands.branch"}


def test_the_list_of_commands_says_what_their_own_help_says():
    # If not: python -m tests.support.clients.summaries
    assert first_sentences() == SUMMARIES


def test_the_list_of_commands_imports_none_of_them():
    assert not [name for name in modules_of("--help") if name.startswith("graveler_cli.commands.")]
