"""Tokens with a spread have other types than text, so that earlier versions fail on them."""

from base64 import b64encode

import msgspec
import pytest
from msgspec import json
from msgspec.structs import replace

from graveler.aws.dynamodb.branches import branch_item, branch_of
from graveler.aws.dynamodb.cleanup import _cleanup_of
from graveler.aws.dynamodb.records import cleanup_item
from graveler.branches.changes import StagedSource
from graveler.model import Branch, CommitID, Repository, RepositoryUID
from graveler.model.recorded_uploads import Completion, Upload
from graveler.model.tokens import PLAIN, Spread, token_named, token_of_json

LAKE = Repository("lake", RepositoryUID("d8qj3tkbtms0fh2ok8ng"), "s3://bucket/lake", "main", 1)
SPREAD = Spread(shards=8, gates=64)


def _token(number: int, spread: Spread):
    return token_named(f"lake-main:00000000-0000-4000-8000-{number:012x}", spread)


PLAIN_ONE, SPREAD_ONE = _token(1, PLAIN), _token(2, SPREAD)
MIXED = Branch("main", CommitID("c" * 64), SPREAD_ONE, (PLAIN_ONE, _token(3, SPREAD)))


def _arrived(item):
    """Return the item as an answer has it: bytes are base64."""
    return json.decode(json.encode(item.serialize()))


def _kinds(raw):
    return {name: next(iter(raw[name])) for name in ("staging_token", "restored_token")}


@pytest.mark.parametrize("restored", [PLAIN_ONE, SPREAD_ONE, ""])
def test_a_branch_keeps_its_tokens(restored):
    branch = replace(MIXED, restored_token=restored)
    assert branch_of(_arrived(branch_item(LAKE, branch))) == branch


def test_earlier_versions_fail_on_a_branch_with_a_spread_token():
    raw = _arrived(branch_item(LAKE, MIXED))
    assert _kinds(raw) == {"staging_token": "B", "restored_token": "S"}
    assert [next(iter(token)) for token in raw["sealed_tokens"]["L"]] == ["B", "S"]
    plain = Branch("main", CommitID("c" * 64), PLAIN_ONE)
    assert _kinds(_arrived(branch_item(LAKE, plain))) == dict.fromkeys(_kinds(raw), "S")


def test_earlier_versions_read_a_branch_when_its_spread_tokens_are_gone():
    branch = Branch("main", CommitID("c" * 64), PLAIN_ONE, restored_token=SPREAD_ONE)
    raw = _arrived(branch_item(LAKE, branch))
    assert _kinds(raw) == {"staging_token": "S", "restored_token": "S"}
    # Tables that the first version with spreads wrote.
    written = raw | {"restored_token": {"B": b64encode(SPREAD_ONE.encode()).decode()}}
    assert branch_of(written) == branch


def test_earlier_versions_fail_on_a_cleanup_of_a_spread_token():
    raw = _arrived(cleanup_item(1, [SPREAD_ONE, PLAIN_ONE]))
    assert [next(iter(token)) for token in raw["tokens"]["L"]] == ["B", "S"]
    assert _cleanup_of(raw).tokens == (SPREAD_ONE, PLAIN_ONE)


class _EarlierSource(msgspec.Struct, tag_field="kind", tag="staged"):
    tokens: tuple[str, ...]
    version: int


class _EarlierCompletion(msgspec.Struct):
    token: str


def test_earlier_versions_fail_on_a_slice_of_spread_tokens():
    stored = json.encode(StagedSource.of(MIXED))
    with pytest.raises(msgspec.ValidationError):
        json.decode(stored, type=_EarlierSource)
    read = json.decode(stored, type=StagedSource)
    assert tuple(map(token_of_json, read.tokens)) == MIXED.sealed_tokens
    plain = StagedSource.of(Branch("main", CommitID("c" * 64), SPREAD_ONE, (PLAIN_ONE,)))
    assert json.decode(json.encode(plain), type=_EarlierSource).tokens == (PLAIN_ONE,)


@pytest.mark.parametrize("token", [PLAIN_ONE, SPREAD_ONE])
def test_earlier_versions_fail_on_an_upload_completed_under_a_spread_token(token):
    upload = Upload("id", "main", b"path", "data/one", "store", "text/plain", 1)
    completed = upload.completed_by(Completion("x", 1, 2, "parts"), token)
    stored = json.encode(completed)
    assert json.decode(stored, type=Upload) == completed
    assert token_of_json(json.decode(stored, type=Upload).completed.token) == token
    document = json.encode(json.decode(stored)["completed"])
    if token == PLAIN_ONE:
        assert json.decode(document, type=_EarlierCompletion).token == token
    else:
        with pytest.raises(msgspec.ValidationError):
            json.decode(document, type=_EarlierCompletion)
