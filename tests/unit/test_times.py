"""Times as people and clients write them."""

import pytest

from graveler.times import NS_PER_S, Moment, duration_s, unix_s
from tests.support.checks.cases import for_each

NOON = 1769860800


@for_each(
    ("text", "seconds"),
    [
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31t12:00:00z", NOON),
        ("2026-01-31T12:00:00.123456789012Z", NOON),
        ("2026-01-31T12:00:00,5Z", NOON),
        ("2026-01-31T12:00:00", NOON),
        ("2026-01-31T12:00", NOON),
        ("2026-01-31 12:00:00+00:00", NOON),
        ("2026-01-31T12:00:00+00", NOON),
        ("2026-01-31T07:00:00.000000-0500", NOON),
        ("2026-01-31T17:30:00+05:30", NOON),
        ("2026-01-31T17:30:00 05:30", NOON),
        ("2026-01-31 17:30 0530", NOON),
        ("2026-01-31 17:30:00 +0530", NOON),
        ("2026-01-31 07:00:00 -0500 EST", NOON),
        ("2026-01-31 09:00:00 -0300 -03", NOON),
        ("2026-01-31 12:00:00 +0000 UTC", NOON),
        ("2026-01-31 12:00 UTC", NOON),
        ("20260131T120000Z", NOON),
        ("2026-01-31", NOON - 12 * 3600),
        ("20260131", NOON - 12 * 3600),
        ("1969-12-31T23:59:59.5Z", -1),
    ],
)
def test_a_time_is_read_in_every_usual_form(text, seconds):
    assert unix_s(text) == seconds


@for_each(
    "text",
    ["", "now", "2026-02-30", "2026-02-30T00:00:00Z", "2026-01-31T25:00:00Z", "1769860800",
     "1769860800123", "2026-01-31x12:00:00", "2026-01-31T", "2026-01-31T12", "2026-01-31Z",
     "2026-0131", "2026-W05-6", "2026-01-31T12:00:00+2500", "2026-01-31T12:00:00+0",
     "2026-01-31 12:00 EST", "2026-01-31T12:00:00Z\n", "2026-01-31T12:00:00.5.5Z",
     "\u0662\u0660\u0662\u0666-01-31T12:00:00Z"],
)  # fmt: skip
def test_another_text_is_no_time(text):
    assert unix_s(text) is None


@for_each(
    ("wall_s", "monotonic_s", "is_young"),
    [(0, 0, True), (4, 4, True), (5, 4, False), (4, 5, False), (-1, 4, False), (4, -1, False)],
)
def test_a_moment_is_young_while_both_clocks_say_so(wall_s, monotonic_s, is_young):
    now = Moment(NS_PER_S * (NOON + wall_s), NS_PER_S * (100 + monotonic_s))
    assert Moment(NS_PER_S * NOON, NS_PER_S * 100).is_within(5, now) is is_young


def test_a_set_back_clock_is_told_from_a_frozen_process():
    before = Moment(NS_PER_S * NOON, NS_PER_S * 100)
    set_back, thawed = (Moment(NS_PER_S * (NOON + s), NS_PER_S * 101) for s in (-59, 61))
    assert (before.set_back_s(set_back), before.set_back_s(thawed)) == (60, -60)
    assert (before.passed_s(set_back), before.passed_s(thawed)) == (1, 61)


@for_each(
    ("text", "expected_s"),
    [
        ("3s", 3),
        ("1m30s", 90),
        ("1h2m3s", 3723),
        ("200ms", 0.2),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("2µs", 2e-6),
        ("2μs", 2e-6),
        ("1ns", 1e-9),
        ("-1s", -1),
        ("+1s", 1),
        ("0", 0),
    ],
)
def test_a_duration_is_read_as_go_reads_it(text, expected_s):
    assert duration_s(text) == pytest.approx(expected_s)


@for_each(
    "text",
    [
        "",
        "-",
        "1",
        "s",
        "1 s",
        "1s2",
        "1.s.",
        "1.2.3s",
        "1d",
        "1e3s",
        "٣s",
        "9" * 400 + "s",
        "2562048h",
    ],
)
def test_other_texts_are_not_durations(text):
    with pytest.raises(ValueError, match="is not a duration"):
        duration_s(text)
