"""Ports of stacks that begin at the same time differ, although servers bind them later."""

import subprocess
import sys

from graveler_embedded.tcp_ports import free_port

CHOICE = """
from graveler_embedded import tcp_ports
numbers = iter(({first}, {second}))
tcp_ports.secrets.randbelow = lambda _: next(numbers) - 20_000
print(tcp_ports.free_port())
"""


def test_a_port_that_was_given_is_not_given_again(monkeypatch):
    given = free_port()
    numbers = iter((given - 20_000, 7, 8, 9))
    monkeypatch.setattr("graveler_embedded.tcp_ports.secrets.randbelow", lambda _: next(numbers))
    assert free_port() in (20_007, 20_008, 20_009)


def test_another_process_gets_another_port_before_anything_listens():
    # No stack looks at the second one, and no outgoing connection gets it.
    given, second = free_port(), free_port() - 12_000
    code = CHOICE.format(first=given, second=second)
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(found.stdout) == second
