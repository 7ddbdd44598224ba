"""Staging tokens as attribute values of the refs table.

A token is text. One whose name has a spread is binary, so that versions that know no spreads fail
on it: they would look for its changes where there are none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graveler.aws.dynamodb.client import binary
from graveler.model import StagingToken
from graveler.model.tokens import PLAIN, spread_of

Value = Mapping[str, Any]


def token_value(token: StagingToken) -> Any:  # noqa: ANN401 - PynamoDB takes it for any value
    """Return the attribute value of a token."""
    return {"S": token} if spread_of(token) == PLAIN else {"B": token.encode()}


def tokens_value(tokens: Sequence[StagingToken]) -> Any:  # noqa: ANN401 - as before
    """Return the attribute value of a list of tokens."""
    return {"L": [token_value(token) for token in tokens]}


def token_of(value: Value) -> StagingToken:
    """Return the token of an attribute value that arrived."""
    return StagingToken(value["S"] if "S" in value else binary(value).decode())


def tokens_of(value: Value) -> list[StagingToken]:
    """Return the tokens of an attribute value that arrived."""
    return [token_of(each) for each in value["L"]]
