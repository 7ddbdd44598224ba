"""The messages of failed exports."""

import pytest

from graveler.export.record import shortened, summary

CAUSE = "has a key of 1031 bytes: S3 allows at most 1024 bytes"


@pytest.mark.parametrize("characters_max", [300, 2000])
def test_a_message_with_a_long_key_keeps_its_beginning_and_the_cause(characters_max):
    short = shortened(f"s3://out/latest/{'k' * 4000} {CAUSE}", characters_max)
    assert len(short) == characters_max
    assert short.startswith("s3://out/latest/k")
    assert short.endswith(f"k {CAUSE}")


def test_a_message_that_fits_stays_whole():
    assert shortened(CAUSE, len(CAUSE)) == CAUSE


def test_one_failure_is_one_task():
    assert summary(1, "broken") == "1 task failed\nbroken"
    assert summary(12, "broken") == "12 tasks failed\nbroken"
