"""The ASGI application on an event loop: what clients that send strangely get, and cost."""

import asyncio

from gateway.protocol.head import Head
from gateway.server.asgi import Asgi
from tests.support.gateway_stack import HOST, REPO, GatewayStack


def scope_of(head: Head) -> dict:
    return {
        "type": "http",
        "method": head.method,
        "raw_path": head.raw_path.encode("latin-1"),
        "path": head.raw_path,
        "query_string": head.raw_query.encode("latin-1"),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in head.headers],
        "client": ("127.0.0.1", 1),
    }


async def ask(asgi: Asgi, head: Head, messages: list[dict]) -> dict:
    """Return the start of the answer; a body whose messages are over never goes on."""

    async def receive() -> dict:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    sent = []

    async def send(message: dict) -> None:
        sent.append(message)

    await asgi(scope_of(head), receive, send)
    return sent[0]


FORM = Head(
    "POST",
    f"/{REPO}",
    "",
    [
        ("host", HOST),
        ("content-type", "multipart/form-data; boundary=B"),
        ("content-length", "1000000"),
    ],
)


def test_forms_that_do_not_arrive_hold_no_thread():
    stack = GatewayStack()
    stack.put("main/a")
    head = stack.signed("GET", f"/{REPO}/main/a")

    async def scenario() -> int:
        asgi = Asgi(stack.application, threads=2, idle_s=30)
        begun = {"type": "http.request", "body": b"--B\r\n", "more_body": True}
        forms = [asyncio.create_task(ask(asgi, FORM, [dict(begun)])) for _ in range(4)]
        await asyncio.sleep(0.1)
        async with asyncio.timeout(10):
            answer = await ask(asgi, head, [])
        for task in forms:
            task.cancel()
        return answer["status"]

    assert asyncio.run(scenario()) == 200


def test_a_form_that_breaks_off_is_incomplete():
    async def scenario() -> int:
        asgi = Asgi(GatewayStack().application, threads=2, idle_s=0.05)
        return (await ask(asgi, FORM, []))["status"]

    assert asyncio.run(scenario()) == 400


def test_a_header_that_cannot_be_sent_costs_only_its_control_characters(monkeypatch):
    stack = GatewayStack()
    heads: list[Head] = []
    monkeypatch.setattr(stack, "send", lambda head, _: heads.append(head))
    echoed = "uploads=&X-Amz-Checksum-Algorithm=a%0D%0ASet-Cookie:b"
    stack.presigned("POST", f"/{REPO}/main/a", query=echoed)
    asgi = Asgi(stack.application, threads=1, idle_s=1)
    answer = asyncio.run(ask(asgi, heads[0], []))
    assert (b"x-amz-checksum-algorithm", b"a  Set-Cookie:b") in answer["headers"]
