"""Settings come from the environment, and requests of S3's clients go to the gateway."""

import pytest

from graveler_gateway.operations.request import OperationSettings
from graveler_gateway.server.routing import is_for_gateway
from graveler_gateway.server.settings import PREFIX, GatewaySettings, ServerSettings
from tests.support.checks.cases import for_each
from tests.support.clients.signed_heads import head


def settings(**variables):
    return GatewaySettings.from_environment({PREFIX + name: variables[name] for name in variables})


def test_an_empty_environment_means_the_defaults():
    assert settings() == GatewaySettings()
    assert GatewaySettings().operations == OperationSettings()
    assert ServerSettings.from_environment({}) == ServerSettings("0.0.0.0", 8080, 1, 25)


def test_the_environment_decides():
    made = settings(
        DOMAINS="S3.example, other.example", REGION="eu-west-1", REDIRECTS="true", THREADS="7",
        IDLE_S="9", HASHED_MB_MAX="0",
    )  # fmt: skip
    assert made == GatewaySettings(
        ("s3.example", "other.example"), OperationSettings("eu-west-1", True, 0), 7, 9
    )
    given = {"HOST": "127.0.0.1", "PORT": "9000", "WORKERS": "3", "STOP_S": "4"}
    server = ServerSettings.from_environment({PREFIX + name: given[name] for name in given})
    assert server == ServerSettings("127.0.0.1", 9000, 3, 4)


def test_the_region_is_that_of_the_process():
    environment = {"AWS_REGION": "eu-central-1"}
    assert GatewaySettings.from_environment(environment).operations.region == "eu-central-1"


def test_another_store_than_s3_hashes_less():
    environment = {"GRAVELER_S3_ENDPOINT": "http://127.0.0.1:9000"}
    found = GatewaySettings.from_environment(environment).operations.hashed_bytes_max
    assert found == 32 * 1024**2


WRONG = [
    *(
        (name, value)
        for name in ("THREADS", "IDLE_S")
        for value in ("0", "-1", "x", "1.5", "9" * 9)
    ),
    ("HASHED_MB_MAX", "x"),
    ("HASHED_MB_MAX", "5121"),
    ("REDIRECTS", "yes"),
]
WRONG_OF_SERVERS = [("PORT", "0"), ("PORT", "65536"), ("WORKERS", "65"), ("STOP_S", "\u0661")]


@for_each(("name", "value"), WRONG + WRONG_OF_SERVERS)
def test_a_wrong_value_names_the_variable(name, value):
    kind = ServerSettings if (name, value) in WRONG_OF_SERVERS else GatewaySettings
    with pytest.raises(ValueError, match=rf"^GRAVELER_GATEWAY_{name} is .*: set it to "):
        kind.from_environment({PREFIX + name: value})


SIGNED = "AWS4-HMAC-SHA256 Credential=A/20261123/r/s3/aws4_request,SignedHeaders=host,Signature=0"


@for_each(
    ("request_head", "expected"),
    [
        (head("GET", "/repo/main/a", authorization=SIGNED), True),
        (head("GET", "/api/v1/repositories", authorization=SIGNED), True),
        (head("GET", "/repo", authorization="AWS A:signature="), True),
        (head("GET", "/repo?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0"), True),
        (head("GET", "/any", host="s3.example:8000"), True),
        (head("GET", "/any", host="repo.S3.example"), True),
        (head("POST", "/repo", content_type="multipart/form-data; boundary=x"), True),
        (head("GET", "/api/v1/repositories", authorization="Basic x"), False),
        (head("GET", "/api/v1/repositories", authorization="Bearer x"), False),
        (head("GET", "/any"), False),
        (head("GET", "/any", host="nots3.example"), False),
        (head("POST", "/api/v1/repositories/r", content_type="multipart/form-data"), False),
        (head("GET", "/repo", content_type="multipart/form-data"), False),
    ],
)
def test_requests_of_s3s_clients_go_to_the_gateway(request_head, expected):
    assert is_for_gateway(request_head, ("s3.example",)) is expected
