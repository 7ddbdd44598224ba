"""The stack of `graveler serve` whose functions reach the stores through proxies.

Run as `python -m bench.proxied`, with ports in the environment: PROXIED_DYNAMODB_PORT (of the
store), PROXIED_DYNAMODB_PROXY and PROXIED_S3_PROXY.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self
from unittest.mock import patch

from graveler_cli.__main__ import main
from graveler_embedded import supervisor
from graveler_embedded.config import StackConfig
from graveler_embedded.tcp_ports import HOST


class ProxiedConfig(StackConfig):
    """A stack with a fixed port for DynamoDB Local, and proxies before both stores."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], data: Path) -> Self:
        found = super().from_environment(environment, data)
        return replace(found, dynamodb_port=int(environment["PROXIED_DYNAMODB_PORT"]))

    def handler_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        dynamodb, s3 = environment["PROXIED_DYNAMODB_PROXY"], environment["PROXIED_S3_PROXY"]
        return StackConfig.handler_environment(self, environment) | {
            "GRAVELER_DYNAMODB_ENDPOINT": f"http://{HOST}:{dynamodb}",
            "GRAVELER_S3_ENDPOINT": f"http://{HOST}:{s3}",
        }


if __name__ == "__main__":
    sys.argv[1:] = ["serve", "--die-with-parent"]
    with patch.object(supervisor, "StackConfig", ProxiedConfig):
        main()
