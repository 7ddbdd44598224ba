"""How staging tokens spread their changes; a token's name says it.

The name `<repository>-<branch>:<uuid4>` means one shard and 25 gates, as in all earlier versions.
`<repository>-<branch>:<uuid4>.<shards>.<gates>` has numbers of its own. They never change: a writer
that looked for fewer shards or gates than another one would lose changes.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from graveler.model import StagingToken


class Spread(NamedTuple):
    """Over how many partitions a token's changes are spread, and how many gates close it."""

    shards: int
    gates: int


PLAIN = Spread(shards=1, gates=25)

# By the least number of changes that a token took, the spread of the next one.
Spreads = Sequence[tuple[int, Spread]]
ALL_PLAIN: Spreads = ((0, PLAIN),)
# docs/adr/0045-tokens-are-spread-by-need.md has figures.
BY_NEED: Spreads = (
    (0, Spread(shards=1, gates=8)),
    (100, PLAIN),
    (1_000, Spread(shards=8, gates=64)),
    (8_000, Spread(shards=32, gates=128)),
)

# A token that is stored in JSON: earlier versions fail on one whose name has a spread.
JsonToken = StagingToken | tuple[StagingToken]

_SPREAD = re.compile(r":[0-9a-f-]{36}\.([0-9]+)\.([0-9]+)\Z")


def token_named(text: str, spread: Spread) -> StagingToken:
    """Return the token of the name `<repository>-<branch>:<uuid4>`, with the spread."""
    more = "" if spread == PLAIN else f".{spread.shards}.{spread.gates}"
    return StagingToken(text + more)


def spread_after(changes: int, spreads: Spreads) -> Spread:
    """Return the spread of the token after one that took so many changes."""
    return max((least, spread) for least, spread in spreads if least <= changes)[1]


@lru_cache(maxsize=1024)
def spread_of(token: StagingToken) -> Spread:
    """Return the spread that the token's name says."""
    found = _SPREAD.search(token)
    return PLAIN if found is None else Spread(*map(int, found.groups()))


def json_token(token: StagingToken) -> JsonToken:
    """Return the token as it is stored in JSON."""
    return token if spread_of(token) == PLAIN else (token,)


def token_of_json(stored: JsonToken) -> StagingToken:
    """Return the token that is stored in JSON."""
    return stored[0] if isinstance(stored, tuple) else stored
