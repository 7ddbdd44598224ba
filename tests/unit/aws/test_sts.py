"""The adapter of STS, over a connection that plays AWS."""

import ssl

import pytest

from graveler.access.identity_tokens import SignedRequest
from graveler.aws import sts
from graveler.errors import ThrottledError

REQUEST = SignedRequest(
    "sts.eu-west-1.amazonaws.com",
    {"Action": "GetCallerIdentity", "X-Amz-Signature": "s3cr3t", "X-Amz-Security-Token": "a+/="},
    {"Host": "sts.eu-west-1.amazonaws.com", "X-LakeFS-Server-ID": "lake.example.com"},
)
ANSWER = b"""<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<GetCallerIdentityResult><Arn>arn:aws:sts::123456789012:assumed-role/Reader/s=1@x</Arn>
<UserId>AROA:s</UserId><Account>123456789012</Account></GetCallerIdentityResult>
</GetCallerIdentityResponse>"""


class Connection:
    """Records the request, and gives the scripted answer."""

    status, body, error = 200, ANSWER, None
    last: "Connection"

    def __init__(self, host):
        self.made = [host]
        Connection.last = self
        self.closed = False
        self.budget = None

    def send(self, method, target, headers):
        self.made += [method, target, headers]
        if self.error is not None:
            raise self.error

    def answer(self):
        return self

    def read_all(self, most_bytes):
        return self.body[:most_bytes]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True


@pytest.fixture
def connection(monkeypatch):
    kind = type("Scripted", (Connection,), {})
    monkeypatch.setattr(sts, "opened", kind)
    return kind


def test_the_caller_s_arn_is_returned(connection):
    assert sts.Sts().caller_arn(REQUEST) == "arn:aws:sts::123456789012:assumed-role/Reader/s=1@x"
    made = Connection.last
    assert made.made == [
        ("https", REQUEST.host, 443),
        "POST",
        "/?Action=GetCallerIdentity&X-Amz-Signature=s3cr3t&X-Amz-Security-Token=a%2B%2F%3D",
        {**REQUEST.headers, "content-length": "0"},
    ]
    assert made.budget.left_s() <= 10
    assert made.closed


@pytest.mark.parametrize("status", [302, 400, 403])
def test_a_refused_request_is_nobody_s(connection, status):
    connection.status = status
    assert sts.Sts().caller_arn(REQUEST) is None


def test_an_answer_without_an_arn_is_nobody_s(connection):
    for body in (b"", b"<Arn></Arn>", b"<Arn>root</Arn>", b"x" * 70_000 + ANSWER):
        connection.body = body
        assert sts.Sts().caller_arn(REQUEST) is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_sts_in_trouble_is_asked_later(connection, status):
    connection.status = status
    with pytest.raises(ThrottledError, match="retry later"):
        sts.Sts().caller_arn(REQUEST)


@pytest.mark.parametrize(
    "error",
    [TimeoutError("s3cr3t"), ssl.SSLError("s3cr3t"), OSError("s3cr3t"), ConnectionError()],
)
def test_an_sts_that_does_not_answer_shows_no_part_of_the_request(connection, error):
    connection.error = error
    with pytest.raises(ThrottledError) as failed:
        sts.Sts().caller_arn(REQUEST)
    assert "s3cr3t" not in str(failed.value)
    assert failed.value.__suppress_context__
    assert Connection.last.closed
