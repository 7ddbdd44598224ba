"""The stand-in of API Gateway hands over the objects that JSON would carry, in both directions."""

from collections.abc import Mapping
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from graveler_embedded.api_gateway import ApiRequest, ApiRoutes, application
from graveler_embedded.lambda_runtime import LambdaContext, LocalFunction
from graveler_gateway.server.http.heads import HeadRefusedError, parse_head

# What heads are made of, and what no head should have.
_PARTS = [
    b"/",
    b"?",
    b"&",
    b"=",
    b"%2F",
    b"%FF",
    b"%ED%A0%80",
    b"%00",
    b"%",
    b"+",
    b",",
    b'"',
    b" ",
]
TEXTS = st.lists(st.sampled_from(_PARTS) | st.binary(max_size=3), max_size=8).map(b"".join)
NAMES = st.sampled_from(
    [b"Cookie", b"Content-Type", b"X-Lakefs-Meta-K", b"X_Lakefs_Meta_K", b"Range", b"User-Agent"]
)
LINES = st.builds(b"%b: %b".__mod__, st.tuples(NAMES, TEXTS))
STARTS = st.builds(
    b"%b /%b HTTP/%b".__mod__,
    st.tuples(
        st.sampled_from([b"GET", b"HEAD", b"PUT", b"POST"]),
        TEXTS,
        st.sampled_from([b"1.0", b"1.1"]),
    ),
)
BODIES = st.binary(max_size=8) | st.text(max_size=8).map(str.encode)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=4),
    lambda parts: (
        st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=3), parts, max_size=3)
    ),
    max_leaves=6,
)
HEADERS = st.dictionaries(st.text(max_size=4), st.text(max_size=4) | st.none(), max_size=2)
ANSWERS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "statusCode": st.sampled_from([200, 204, "201", 304, 2.5, None]),
        "headers": HEADERS,
        "multiValueHeaders": st.dictionaries(st.text(max_size=4), st.lists(st.text()), max_size=2),
        "cookies": st.lists(st.text(max_size=4), max_size=2),
        "body": st.text(max_size=8) | st.sampled_from(["eA==", "eA"]) | JSON,
        "isBase64Encoded": st.booleans(),
        "other": JSON,
    },
)


class ByJson(LocalFunction):
    """A function whose events and answers are JSON, whatever their size."""

    def call(self, event: Mapping[str, Any]) -> Any:
        """Return what `invoke` returns, decoded."""
        return msgspec.json.decode(self.invoke(event))


@given(STARTS, st.lists(LINES, max_size=4), BODIES, ANSWERS)
def test_a_request_and_its_answer_are_the_same_without_json(
    start: bytes, lines: list[bytes], body: bytes, answer: object
) -> None:
    lines = [start, b"Host: h", b"Content-Length: %d" % len(body), *lines, b"", b""]
    try:
        head = parse_head(b"\r\n".join(lines))
    except HeadRefusedError:
        return
    request = ApiRequest(head.head, head.version, "127.0.0.1", body)
    events: list[dict[str, Any]] = []

    def handle(event: dict[str, Any], _context: LambdaContext) -> object:
        for name in ("requestId", "time", "timeEpoch"):  # differ between any two requests
            del event["requestContext"][name]
        events.append(event)
        return answer

    of_objects, of_json = (
        application(ApiRoutes(function("tested", handle, 1), {}))(request)
        for function in (LocalFunction, ByJson)
    )
    assert of_objects == of_json
    assert events[:1] == events[1:]
