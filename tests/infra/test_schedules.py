"""How long a schedule can be silent before somebody has to look."""

import pytest

from infra.schedules import longest_gap_s

HOUR, DAY = 3_600, 86_400


@pytest.mark.parametrize(
    ("expression", "gap_s"),
    [
        ("rate(10 minutes)", 600),
        ("rate(1 hour)", HOUR),
        ("rate(7 days)", 7 * DAY),
        ("cron(0 3 ? * SUN *)", 7 * DAY),
        ("cron(0 3 ? * MON-FRI *)", 7 * DAY),  # at most
        ("cron(0 3 ? * SUN#1 *)", 35 * DAY),
        ("cron(0 3 ? * 5L *)", 35 * DAY),
        ("cron(0 3 1 * ? *)", 31 * DAY),
        ("cron(0 3 1 1,7 ? *)", 366 * DAY),
        ("cron(0 3 * * ? *)", DAY),
        ("cron(0 3 * * ? 2027)", 366 * DAY),
        ("cron(0/15 * * * ? *)", HOUR),
    ],
)
def test_the_longest_time_without_a_call(expression, gap_s):
    assert longest_gap_s(expression) == gap_s
