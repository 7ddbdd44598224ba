"""The spread of a token is in its name, and follows what the token before took."""

import pytest

from graveler.model.tokens import (
    ALL_PLAIN,
    BY_NEED,
    PLAIN,
    Spread,
    spread_after,
    spread_of,
    token_named,
)

UUID = "2f1b3c52-7a04-4c0e-9d3c-8e0d3c1a77aa"


@pytest.mark.parametrize("name", ["lake-main", "lake-a.8.64", "lake-.1.2:x", "l-1:2.3.4"])
@pytest.mark.parametrize("spread", [PLAIN, Spread(1, 8), Spread(32, 128)])
def test_a_token_says_its_spread_whatever_its_branch_is_called(name, spread):
    token = token_named(f"{name}:{UUID}", spread)
    assert spread_of(token) == spread
    assert token.startswith(f"{name}:{UUID}")


def test_tokens_of_earlier_versions_have_one_shard_and_25_gates():
    assert spread_of(f"lake-main:{UUID}") == Spread(shards=1, gates=25)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (0, Spread(1, 8)),
        (99, Spread(1, 8)),
        (100, PLAIN),
        (1_000, Spread(8, 64)),
        (7_999, Spread(8, 64)),
        (10**9, Spread(32, 128)),
    ],
)
def test_the_more_changes_a_token_took_the_wider_is_the_next_one(changes, expected):
    assert spread_after(changes, BY_NEED) == expected
    assert spread_after(changes, ALL_PLAIN) == PLAIN
