"""What an attacker tries at the S3 gateway, in both of its homes."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from graveler.ports import SignedS3Request
from graveler_gateway.lake.port import ClientKeyPair
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.verified import ChunkSeed
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.fakes.access import EVERYTHING, allowing, denying
from tests.support.worlds.gateway_forms import Form
from tests.support.worlds.gateway_stack import HOST, REPO, CutBody, GatewayStack, Reply
from tests.support.worlds.sidecar import serve_over_the_api

ARN = f"arn:lakefs:fs:::repository/{REPO}"
KEY = f"/{REPO}/main/a"
QUARTER_OF_AN_HOUR_S = 15 * 60


@pytest.fixture(autouse=True, params=["engine", "api"])
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The home of the gateways that the test makes."""
    if request.param == "api":
        serve_over_the_api(monkeypatch)
    return str(request.param)


@pytest.fixture
def stack() -> GatewayStack:
    made = GatewayStack()
    made.put("main/a", b"old")
    return made


def put_head(stack: GatewayStack, content: bytes, path: str = KEY, **headers: str) -> RequestHead:
    """Return the signed head of an upload whose content is signed, too."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {"content-length": str(len(content)), **named}
    return stack.signed_raw("PUT", path, "", sent, content, "hash")


def presigned_url(
    stack: GatewayStack, monkeypatch: pytest.MonkeyPatch, expires_s: int
) -> RequestHead:
    """Return the head of a presigned GET, which was sent once."""
    kept: list[RequestHead] = []
    send = stack.send

    def keep(head: RequestHead, body: CutBody | None = None) -> Reply:
        kept.append(head)
        return send(head, body)

    with monkeypatch.context() as patch:
        patch.setattr(stack, "send", keep)
        stack.presigned("GET", KEY, expires_s=expires_s)
    return kept[0]


# Signatures


CHANGES: Mapping[str, Callable[[RequestHead], RequestHead]] = {
    "method": lambda head: replace(head, method="DELETE"),
    "path": lambda head: replace(head, raw_path=f"{KEY}b"),
    "query": lambda head: replace(head, raw_query="tagging="),
    "host": lambda head: replace(head, headers=_with(head, "host", "evil.example")),
    "signed header": lambda head: replace(head, headers=_with(head, "x-amz-meta-k", "evil")),
    "further header": lambda head: replace(head, headers=_with(head, "x-amz-tagging", "k=v")),
    "user": lambda head: replace(
        head,
        headers=_with(
            head,
            "authorization",
            (head.header("authorization") or "").replace(ACCESS_KEY_ID, "AKIAJOTHEROTHEROTHEQ"),
        ),
    ),
    "hash": lambda head: replace(
        head, headers=_with(head, "x-amz-content-sha256", "UNSIGNED-PAYLOAD")
    ),
}


def _with(head: RequestHead, name: str, value: str) -> tuple[tuple[str, str], ...]:
    others = tuple(pair for pair in head.headers if pair[0] != name)
    return (*others, (name, value))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_signed_request_cannot_become_another_one(
    stack: GatewayStack, change: Callable[[RequestHead], RequestHead]
) -> None:
    head = put_head(stack, b"new", x_amz_meta_k="v")
    reply = stack.send(change(head), CutBody(b"new"))
    assert (reply.status, reply.reads) == (403, 0)
    assert stack.get("main/a") == b"old"
    assert stack.send(head, CutBody(b"new")).status == 200


def test_a_signed_request_takes_no_other_content(stack: GatewayStack) -> None:
    reply = stack.send(put_head(stack, b"new"), CutBody(b"bad"))
    assert (reply.status, reply.code) == (400, "XAmzContentSHA256Mismatch")
    assert stack.get("main/a") == b"old"


def test_a_captured_request_is_refused_after_a_quarter_of_an_hour(stack: GatewayStack) -> None:
    head = put_head(stack, b"new")
    stack.world.clock.tick(QUARTER_OF_AN_HOUR_S + 60)
    reply = stack.send(head, CutBody(b"new"))
    assert (reply.status, reply.code, reply.reads) == (403, "RequestTimeTooSkewed", 0)
    assert stack.get("main/a") == b"old"


def test_a_captured_request_with_a_condition_overwrites_nothing(stack: GatewayStack) -> None:
    head = put_head(stack, b"new", f"/{REPO}/main/b", if_none_match="*")
    assert stack.send(head, CutBody(b"new")).status == 200
    stack.put("main/b", b"newer")
    assert stack.send(head, CutBody(b"new")).status == 412
    assert stack.get("main/b") == b"newer"


def test_a_presigned_url_ends_and_cannot_be_prolonged(
    stack: GatewayStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = presigned_url(stack, monkeypatch, 60)
    longer = replace(head, raw_query=head.raw_query.replace("Expires=60", "Expires=6000"))
    assert stack.send(head).content == b"old"
    assert stack.send(longer).code == "SignatureDoesNotMatch"
    stack.world.clock.tick(90)
    assert stack.send(head).status == 403


def test_a_presigned_url_ends_with_the_rights_of_its_user(
    stack: GatewayStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = presigned_url(stack, monkeypatch, 3600)
    stack.may(*EVERYTHING, denying(("fs:ReadObject", f"{ARN}/object/a")))
    assert stack.send(head).code == "AccessDenied"


def test_a_presigned_url_reads_and_writes_no_other_object(
    stack: GatewayStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack.put("main/ab", b"secret")
    head = presigned_url(stack, monkeypatch, 60)
    for changed in (
        replace(head, raw_path=f"{KEY}b"),
        replace(head, method="PUT"),
        replace(head, method="DELETE"),
        replace(head, raw_query=f"{head.raw_query}&response-content-type=text%2Fhtml"),
        replace(head, raw_query=f"{head.raw_query}&uploads="),
    ):
        reply = stack.send(changed, CutBody(b"new"))
        assert (reply.status, reply.reads) == (403, 0)
    assert stack.get("main/a") == b"old"


# Bodies


@pytest.mark.parametrize("kind", ["hash", "UNSIGNED-PAYLOAD"])
def test_a_user_without_rights_sends_no_body(stack: GatewayStack, kind: str) -> None:
    stack.may(allowing(("fs:ReadObject", f"{ARN}/object/*")))
    large = b"x" * 1024**2
    head = stack.signed_raw("PUT", KEY, "", {"content-length": str(len(large))}, large, kind)
    reply = stack.send(head, CutBody(large))
    assert (reply.status, reply.code, reply.reads) == (403, "AccessDenied", 0)
    assert stack.get("main/a") == b"old"


# Other users' uploads


@pytest.mark.parametrize(
    ("method", "query"),
    [
        ("GET", {}),
        ("PUT", {"partNumber": "1"}),
        ("POST", {}),
        ("DELETE", {}),
    ],
)
def test_an_upload_of_another_user_is_closed_to_whom_its_path_is(
    stack: GatewayStack, method: str, query: Mapping[str, str]
) -> None:
    begun = stack.ask("POST", f"/{REPO}/main/theirs/up", query={"uploads": ""})
    upload_id = begun.text("UploadId")
    part = {"uploadId": upload_id, "partNumber": "1"}
    etag = stack.ask("PUT", f"/{REPO}/main/theirs/up", b"1", query=part).headers["etag"]
    row = f"<Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part>"
    document = f"<CompleteMultipartUpload>{row}</CompleteMultipartUpload>".encode()
    stack.may(allowing(("fs:*", f"{ARN}/object/mine/*"), ("fs:ReadObject", f"{ARN}/object/*")))
    body = {"PUT": b"bad", "POST": document}.get(method, b"")
    asked = {"uploadId": upload_id, **query}
    theirs = stack.ask(method, f"/{REPO}/main/theirs/up", body, query=asked)
    mine = stack.ask(method, f"/{REPO}/main/mine/up", body, query=asked)
    assert (theirs.code, mine.code) == ("AccessDenied", "NoSuchUpload")
    stack.may(*EVERYTHING)
    listed = stack.ask("GET", f"/{REPO}/main/theirs/up", query={"uploadId": upload_id})
    assert listed.texts("Part/ETag") == [etag]


# Browsers


def test_a_form_stores_what_its_policy_and_its_user_may(stack: GatewayStack) -> None:
    assert Form(stack).send().status == 204
    assert stack.get("main/a") == b"new"


@pytest.mark.parametrize(
    ("bucket", "fields"),
    [
        ("other", {}),
        (REPO, {"key": "dev/a"}),
        (REPO, {"signature": "AAAAAAAAAAAAAAAAAAAAAAAAAAA="}),
        (REPO, {"x-amz-meta-k": "v"}),
        (REPO, {"Content-Type": "text/html"}),
        (REPO, {"policy": base64.b64encode(b'{"expiration": "2099-01-01T00:00:00Z"}').decode()}),
    ],
)
def test_a_form_cannot_become_another_one(
    stack: GatewayStack, bucket: str, fields: dict[str, str]
) -> None:
    stack.repository("other")
    stack.commit()
    stack.branch("dev")
    assert Form(stack).send(bucket, **fields).status == 403
    assert (stack.get("main/a"), stack.get("dev/a")) == (b"old", b"old")
    assert stack.keys({"prefix": "main/"}, "other") == []


def test_a_form_has_no_more_rights_than_its_user(stack: GatewayStack) -> None:
    stack.may(allowing(("fs:ReadObject", f"{ARN}/object/*")))
    assert Form(stack).send().code == "AccessDenied"
    assert Form(stack, access_key_id="AKIAJOTHEROTHEROTHEQ").send().code == "InvalidAccessKeyId"
    assert Form(stack, secret="guess").send().code == "SignatureDoesNotMatch"
    assert stack.get("main/a") == b"old"


def test_a_page_of_another_site_changes_nothing_without_a_policy(stack: GatewayStack) -> None:
    headers = [("host", HOST), ("content-type", "multipart/form-data; boundary=B")]
    body = b'--B\r\nContent-Disposition: form-data; name="key"\r\n\r\nmain/a\r\n'
    body += b'--B\r\nContent-Disposition: form-data; name="file"\r\n\r\nnew\r\n--B--\r\n'
    length = ("content-length", str(len(body)))
    reply = stack.send(RequestHead("POST", f"/{REPO}", "", [*headers, length]), CutBody(body))
    assert (reply.status, reply.code) == (403, "AccessDenied")
    assert stack.get("main/a") == b"old"


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("text/html", {}),
        ("image/svg+xml", {}),
        ("text/plain", {"response-content-type": "text/html"}),
    ],
)
def test_a_page_among_the_objects_runs_nothing_in_the_origin_of_the_api(
    stack: GatewayStack, stored: str, query: Mapping[str, str]
) -> None:
    stack.put("main/page", b"<script>alert(1)</script>", content_type=stored)
    headers = stack.presigned("GET", f"/{REPO}/main/page", query=query).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; ")
    assert headers["content-security-policy"].endswith("; sandbox")
    assert headers["x-content-type-options"] == "nosniff"


# Secrets


def test_no_secret_reaches_the_log(
    stack: GatewayStack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    head, form = put_head(stack, b"new"), Form(stack)
    url = presigned_url(stack, monkeypatch, 3600)
    policy = "eyJ"  # how every policy begins
    answers = [
        stack.send(head, CutBody(b"new")),
        stack.send(url),
        stack.send(replace(url, raw_query=f"{url.raw_query}0")),
        stack.send(replace(head, method="DELETE")),
        form.send(),
        form.send(signature="wrong"),
        stack.ask_chunked(KEY, b"new" * 9000),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(stack.connections, "take", lambda _: 1 // 0)
        answers += [stack.send(url), stack.send(head, CutBody(b"new"))]
    assert [each.status for each in answers] == [200, 200, 403, 403, 204, 403, 200, 500, 500]
    capsys.readouterr()
    for each in answers:
        each.record.write()
    text = capsys.readouterr().out
    assert (text.count("\n"), text.count("ZeroDivisionError") > 1) == (9, True)
    signature = (head.header("authorization") or "").rpartition("=")[2]
    hidden = (SECRET, signature, "X-Amz-", "Credential", policy, "memory:9000")
    assert [secret for secret in hidden if secret in text] == []


@pytest.mark.parametrize(
    "holder",
    [
        ClientKeyPair("AKIA", "secret-text", "ann"),
        ChunkSeed(b"secret-text", "20261123T000000Z", "scope", "signature"),
        SignedS3Request("GET", "https", "s3", 443, "/?X-Amz-Signature=secret-text", {}),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_what_holds_a_secret_does_not_print_it(holder: object) -> None:
    assert "secret-text" not in f"{holder} {holder!r}"
