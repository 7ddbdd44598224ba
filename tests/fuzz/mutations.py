"""Ways in which a request can be wrong. Each changes a draft in place."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import quote

from tests.fuzz.drafts import AUTHORIZATION, Draft

Mutation = Callable[[Random, Draft], None]

LONG = "x" * 5000

# Texts for names, refs, paths and values, before they are encoded.
TEXTS = (
    *("", " ", ".", "..", "../..", "/", "//", "a/", "/a", "a//b", "a/../b", "\\", "-", "_", "~"),
    *("main~", "main~1", "main~-1", "main~99999999999", "main^", "main^0", "main^2", "main@"),
    *("main$", "main@$", "main~1$", "$", "@", "^", "main^{commit}", "refs/heads/main", "HEAD"),
    *("\x00", "a\x00b", "\n", "a\r\nSet-Cookie: x=y", "\t", "\x7f", "\u202e", "\ufeff", "\ufffd"),
    *("é", "e\u0301", "ß", "İ", "💥", "\U0010ffff", "%", "%2", "%zz", "%2e%2e", "%2f", "%00"),
    *("%ff", "%25ff", "%2525", "%c0%af", "a+b", "a&b=c", "a;b", "a#b", "a?b", "'", '"', "<x>"),
    *("true", "TRUE", "null", "None", "NaN", "-0", "0x10", "1e3", "1_000", "١٢٣", "{}", "[]"),
    *("0", "1", "-1", "1000", "1001", "2147483648", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775809", "9" * 400, "a" * 64, "g" * 64, "A" * 63, LONG, "é" * 2000),
    *("s3://", "s3://bucket", "s3://bucket/repo", "s3://bucket/x/..", "file:///etc/passwd"),
    *("0000-00-00T00:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59-14:00", "_lakefs/x"),
)
# Bytes that no encoder would send.
RAW = ("%", "%f", "%ff", "%c3%28", "%ed%a0%80", "%00", "%0d%0a", "%2F", "%252F", "%25", "+", "")
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400),
    *(0.5, -0.0, 1e308, 1e-320, float("inf"), float("nan")),
    *([], {}, [[]], [None], {"": ""}, {"a": {"a": {}}}, [1, "a", None, {}], "\ud800", "\udfff x"),
    *([LONG] * 20, {LONG: LONG}, {"\ud800": "a"}, [{"pattern": "*"}] * 400),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "", "X")
HEADERS: dict[str, tuple[str, ...]] = {
    "content-type": (
        *("", "text/html", "application/json; charset=utf-16", "multipart/form-data", ";", LONG),
        *('multipart/form-data; boundary="', "multipart/form-data; boundary=b", "\xe9/\xff"),
        *("application/x-www-form-urlencoded", "application/json\r\nX: y", "a" * 300),
    ),
    "range": (
        *("bytes=0-", "bytes=-1", "bytes=-0", "bytes=5-2", "bytes=99-", "bytes=0-0,1-1", "bytes="),
        *(
            "bytes=-",
            f"bytes={'9' * 50}-",
            "items=0-1",
            "bytes=a-b",
            "",
            "bytes=0-18446744073709551616",
        ),
    ),
    "if-none-match": ("*", '"x"', 'W/"x"', "", ",,,", "\xff", " * "),
    "if-match": ("*", '"x"', "", '"'),
    "if-range": ("*", '"x"', "", "Wed, 21 Oct 2015 07:28:00 GMT"),
    "accept": ("", "*/*", "text/plain", "\xff"),
    "accept-encoding": ("gzip", "gzip;q=0", "\xff", ""),
    "x-request-id": ("", "x" * 129, "\xff", "a\r\nb", "id"),
    "x-lakefs-meta-\xe9": ("\xff", "", LONG),
    "x-lakefs-internal-": ("", "v"),
    "host": ("", "s3.local.lakefs.io", "[::1", "x" * 300),
    "content-length": ("-1", "0", "99999999999"),
    "x-graveler-setup-token": ("", "one-time", "\xff"),
    "user-agent": ("", "\xff", LONG),
}
CREDENTIALS = (
    "",
    "Basic",
    "Basic !",
    "Basic YTpi",
    "Basic /w==",
    "Bearer",
    "Bearer x",
    "Bearer a.b.c",
)
BODIES = (
    *(b"", b" ", b"null", b"[]", b"{", b'"', b"\xff", b"\xef\xbb\xbf{}", b"\x00", b"{}{}", b"nan"),
    *(
        b"[" * 100_000,
        b'{"a":' * 20_000,
        b"1" * 100_000,
        b"-",
        b"1e999999",
        b'"\\ud800"',
        b"{'a':1}",
    ),
    *(
        b'{"a":1,"a":2}',
        b"--b\r\n",
        b"--b\r\nContent-Disposition: form-data; name=content\r\n\r\nx",
    ),
    *(b"--b\r\nContent-Disposition: form-data; name=content\r\n\r\nx\r\n--b--", b"{\xc3\x28}"),
)


def text_of(random: Random) -> str:
    return random.choice(TEXTS)


def encoded(random: Random, text: str) -> str:
    """Return the text percent-encoded once, twice, or not at all where that can be sent."""
    once = quote(text, safe="")
    return random.choice((once, once, quote(once, safe=""), quote(text, safe="/:~$@^")))


def change_name(random: Random, draft: Draft) -> None:
    if draft.names:
        name = random.choice(sorted(draft.names))
        draft.names[name] = random.choice((encoded(random, text_of(random)), random.choice(RAW)))


def swap_name(random: Random, draft: Draft) -> None:
    """Name another thing that exists."""
    if draft.names:
        name = random.choice(sorted(draft.names))
        draft.names[name] = random.choice(("repo", "bare", "empty", "main", "dev", "spare", "v1"))


def change_value(random: Random, draft: Draft) -> None:
    if draft.query:
        at = random.randrange(len(draft.query))
        value = random.choice((encoded(random, text_of(random)), random.choice(RAW)))
        draft.query[at] = (draft.query[at][0], value)


def drop_parameter(random: Random, draft: Draft) -> None:
    if draft.query:
        del draft.query[random.randrange(len(draft.query))]


def repeat_parameter(random: Random, draft: Draft) -> None:
    if draft.query:
        name, _ = random.choice(draft.query)
        place = random.randrange(len(draft.query) + 1)
        draft.query.insert(place, (name, encoded(random, text_of(random))))


def add_parameter(random: Random, draft: Draft) -> None:
    names = ("x", "", "%ff", "amount", "after", "presign", "force", "graveler-task", "path", "&&")
    value = random.choice((encoded(random, text_of(random)), ":1", "x:3", "::"))
    draft.query.append((random.choice(names), value))


def change_header(random: Random, draft: Draft) -> None:
    name = random.choice(sorted(HEADERS))
    draft.headers[name] = random.choice(HEADERS[name])


def change_credentials(random: Random, draft: Draft) -> None:
    draft.headers[AUTHORIZATION] = random.choice(CREDENTIALS)


def change_method(random: Random, draft: Draft) -> None:
    draft.method = random.choice(METHODS)


def change_field(random: Random, draft: Draft) -> None:
    """Replace, drop, add or copy one value anywhere in the JSON body."""
    places = list(_places(draft.body))
    if not places:
        return
    draft.body = json.loads(json.dumps(draft.body))
    holder, key = random.choice(list(_places(draft.body)))
    kind = random.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[random.choice((*TEXTS, "\ud800"))] = random.choice(VALUES)
    elif kind == 2:
        holder[key] = random.choice(TEXTS)
    elif kind == 3 and isinstance(holder, list):
        holder.extend([holder[key]] * random.choice((1, 2, 1500)))
    else:
        holder[key] = random.choice(VALUES)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items: Any = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def replace_body(random: Random, draft: Draft) -> None:
    draft.raw_body = random.choice((*BODIES, json.dumps(random.choice(VALUES)).encode()))


def damage_body(random: Random, draft: Draft) -> None:
    """Cut the body off, or change some of its bytes."""
    content = bytearray(draft.content or b"")
    if not content:
        return
    for _ in range(random.randrange(1, 4)):
        content[random.randrange(len(content))] = random.randrange(256)
    draft.raw_body = bytes(content[: random.randrange(len(content) + 1)] or content)


def break_base64(random: Random, draft: Draft) -> None:
    draft.is_base64_broken = True
    draft.raw_body = draft.content or b"x"


def use_function_url(random: Random, draft: Draft) -> None:
    draft.is_function_url = True


# Each with its weight.
MUTATIONS: dict[Mutation, int] = {
    change_name: 6,
    swap_name: 4,
    change_value: 8,
    drop_parameter: 3,
    repeat_parameter: 3,
    add_parameter: 2,
    change_header: 5,
    change_credentials: 1,
    change_method: 1,
    change_field: 14,
    replace_body: 3,
    damage_body: 3,
    break_base64: 1,
    use_function_url: 3,
}


def mutate(random: Random, draft: Draft) -> None:
    """Change the draft in one to four ways."""
    amount = random.choice((1, 1, 1, 2, 2, 3, 4))
    for mutation in random.choices(list(MUTATIONS), list(MUTATIONS.values()), k=amount):
        mutation(random, draft)
        draft.steps.append(mutation.__name__)
