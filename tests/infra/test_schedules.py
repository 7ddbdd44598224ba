"""How long a schedule can be silent before somebody has to look."""

from infra.schedules import is_schedule, longest_gap_s
from tests.support.checks.cases import for_each

HOUR, DAY = 3_600, 86_400


@for_each(
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
    assert is_schedule(expression)
    assert longest_gap_s(expression) == gap_s


@for_each(
    "expression",
    [
        "cron(0,30 8-17 ? * mon-fri *)",
        "cron(5 */6 L * ? 2027-2030)",
        "cron(0 3 15W JAN-MAR/2 ? *)",
        "rate(1 days)",
    ],
)
def test_a_schedule_of_the_scheduler_is_accepted(expression):
    assert is_schedule(expression)


@for_each(
    "expression",
    [
        "rate(0 days)",
        "rate(1 week)",
        "cron(0 3 * * SUN *)",  # two fields of days
        "cron(0 3 ? * ? *)",
        "cron(60 3 ? * SUN *)",
        "cron(0 24 ? * SUN *)",
        "cron(0 3 0 * ? *)",
        "cron(0 3 ? 13 SUN *)",
        "cron(0 3 ? * 0 *)",
        "cron(0 3 ? * SUN#6 *)",
        "cron(0 3 ? * SUNDAY *)",
        "cron(0 3 ? * SUN)",
        "cron(0 3/0 ? * SUN *)",
        "cron(? 3 ? * SUN *)",
        "cron(a b c d e f)",
        "at(2027-01-01T00:00:00)",
    ],
)
def test_a_schedule_that_the_scheduler_would_refuse_is_none(expression):
    assert not is_schedule(expression)
