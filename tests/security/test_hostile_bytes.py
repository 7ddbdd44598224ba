"""Bytes made to take all the memory, patterns made to take all the time, texts made for headers."""

import re

import pytest
from msgspec.structs import replace

from graveler.branches import staging
from graveler.entries import entry_value, value_entry
from graveler.errors import InvalidInputError
from graveler.limits import PROTECTION_RULES_MAX
from graveler.model import ProtectionRule
from graveler.operations import repositories
from graveler.sstable.format import VARINT, _checksum, open_block, seal_block
from tests.support.clients.api import ApiClient
from tests.support.fakes.engines import memory_world


def compressed(payload: bytes) -> bytes:
    """A block that says it is Snappy, with a checksum that is right."""
    return payload + b"\x01" + _checksum(payload + b"\x01")


@pytest.mark.parametrize("claimed", [2**20, 2**31, 2**32 - 1])
def test_a_block_that_claims_gigabytes_is_refused_before_they_are_taken(claimed):
    # The decoder would end the process, which no except clause stops.
    with pytest.raises(ValueError, match="cannot become"):
        open_block(compressed(VARINT[claimed] + b"\x00a"))


def test_the_most_compressed_block_is_not_refused():
    raw = bytes(1_000_000)
    assert len(seal_block(raw, compress=True)) < len(raw) // 20
    assert open_block(seal_block(raw, compress=True)) == raw


@pytest.mark.parametrize("pattern", ["{*,*}" * 190 + "b", "*a" * 490 + "b", "{" * 1000])
def test_no_protection_pattern_makes_writers_wait(pattern):
    """Python's own engine would take centuries for the first."""
    engine = memory_world().engine()
    repositories.create(engine, name="repo", storage_namespace="s3://bucket/repo")
    repositories.set_protection_rules(engine, "repo", [ProtectionRule(pattern)])
    staging.branch_for_staging(engine, "repo", "main", b"a", force=False)


def test_patterns_are_counted_and_measured():
    engine = memory_world().engine()
    repositories.create(engine, name="repo", storage_namespace="s3://bucket/repo")
    many = [ProtectionRule(f"b{number}") for number in range(PROTECTION_RULES_MAX + 1)]
    for rules in (many, [ProtectionRule("a" * 1001)]):
        with pytest.raises(InvalidInputError, match="branch protection patterns are allowed"):
            repositories.set_protection_rules(engine, "repo", rules)
    repositories.set_protection_rules(engine, "repo", many[1:])


HOSTILE_TEXTS = [
    'x\r\nSet-Cookie: internal_auth_session=evil\r\nX-A: "y',
    "\u2603 snow",
    "a\x00b",
    'a"b',
]
OBJECTS = "/repositories/repo/branches/main/objects"
READ = "/repositories/repo/refs/main/objects"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    api.world.objects.put("s3://elsewhere/o", b"hello", "t")
    return api


def description(**fields: object) -> dict[str, object]:
    return {"physical_address": "s3://elsewhere/o", "checksum": "c", "size_bytes": 5, **fields}


@pytest.mark.parametrize("checksum", [*HOSTILE_TEXTS, "a b", "x" * 257, '""'])
def test_a_checksum_that_no_header_can_carry_is_refused(api, checksum):
    body = description(checksum=checksum)
    staged = api.ask("PUT", OBJECTS, body, path="p")
    assert (staged.status, "checksum" in staged.message) == (400, True)
    backing = "/repositories/repo/branches/main/staging/backing"
    address = api.ask("GET", backing, path="p").json
    linked = api.ask("PUT", backing, {**body, "staging": address}, path="p")
    assert (linked.status, "checksum" in linked.message) == (400, True)
    assert api.paths() == []


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
@pytest.mark.parametrize("reading", [{}, {"range": "bytes=1-2"}, {"range": "bytes=9-"}])
def test_no_text_of_a_user_adds_a_header_to_an_answer(api, text, reading):
    path = f"dir/{text}"
    fields = description(content_type=text, metadata={text: text})
    assert api.ask("PUT", OBJECTS, fields, path=path).status == 201
    # As an older version stored it, or lakeFS.
    repository = api.engine.refs.repository("repo")
    token = api.engine.refs.branch(repository, "main").staging_token
    entry = value_entry(api.engine.staging.get(token, path.encode()).value)
    api.engine.staging.stage(token, [(path.encode(), entry_value(replace(entry, checksum=text)))])
    for method in ("GET", "HEAD"):
        for presign in ("false", "true"):
            reply = api.ask(method, READ, path=path, presign=presign, headers=reading)
            for name, value in reply.headers.items():
                assert re.fullmatch("[ -~]*", f"{name}: {value}")
            if "ETag" in reply.headers:
                assert re.fullmatch('"[!#-~]+"', reply.headers["ETag"])
