"""The time between two calls of a schedule, in EventBridge Scheduler's syntax."""

import re

_MINUTE_S = 60
_HOUR_S = 60 * _MINUTE_S
_DAY_S = 24 * _HOUR_S

_UNITS = {"minute": _MINUTE_S, "hour": _HOUR_S, "day": _DAY_S}
_ANY = ("*", "?")


def longest_gap_s(expression: str) -> int:
    """Return an upper bound of the seconds between two calls of `rate(…)` or `cron(…)`.

    Of a cron expression, the field of the longest unit that is restricted decides: some day of the
    week is a week, some day of the month the longest month.
    """
    if rate := re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression):
        return int(rate[1]) * _UNITS[rate[2]]
    hours, month_days, months, week_days, years = expression[len("cron(") : -1].split()[1:]
    is_one_week_of_month = "#" in week_days or "L" in week_days.upper()
    gaps_s = (
        (years not in _ANY or months not in _ANY, 366 * _DAY_S),
        (is_one_week_of_month, 35 * _DAY_S),
        (week_days not in _ANY, 7 * _DAY_S),
        (month_days not in _ANY, 31 * _DAY_S),
        (hours not in _ANY, _DAY_S),
        (True, _HOUR_S),
    )
    return next(gap_s for is_restricted, gap_s in gaps_s if is_restricted)
