"""The stack behind proxies, of the torture and of stores that are far away."""

from pathlib import Path

from bench.proxied import ProxiedConfig


def test_its_stores_are_where_the_environment_says(tmp_path: Path) -> None:
    ports = {
        "PROXIED_DYNAMODB_PORT": "1",
        "PROXIED_DYNAMODB_PROXY": "2",
        "PROXIED_S3_PROXY": "3",
    }
    config = ProxiedConfig.from_environment(ports, tmp_path)
    assert config.dynamodb_port == 1
    environment = config.handler_environment(ports)
    assert environment["GRAVELER_DYNAMODB_ENDPOINT"].endswith(":2")
    assert environment["GRAVELER_S3_ENDPOINT"].endswith(":3")
