"""Schedules in EventBridge Scheduler's syntax: their validity, and their longest gap.

As of November 2026, from "Schedule types in EventBridge Scheduler" in its guide.
"""

import re

_MINUTE_S = 60
_HOUR_S = 60 * _MINUTE_S
_DAY_S = 24 * _HOUR_S

_UNITS = {"minute": _MINUTE_S, "hour": _HOUR_S, "day": _DAY_S}
_ANY = ("*", "?")

_RATE = re.compile(r"rate\(([1-9]\d*) (minute|hour|day)s?\)")
_CRON = re.compile(r"cron\((\S+(?: \S+){5})\)")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WEEK_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
# The fields of a cron expression: the lowest and highest number, the names of the numbers, and a
# pattern of other items.
_FIELDS: tuple[tuple[int, int, list[str], str], ...] = (
    (0, 59, [], ""),
    (0, 23, [], ""),
    (1, 31, [], r"LW?|([1-9]|[12]\d|3[01])W"),
    (1, 12, _MONTHS, ""),
    (1, 7, _WEEK_DAYS, rf"L|([1-7]|{'|'.join(_WEEK_DAYS)})(L|#[1-5])"),
    (1970, 2199, [], ""),
)
_MONTH_DAY, _WEEK_DAY = 2, 4


def is_schedule(expression: str) -> bool:
    """Whether the scheduler accepts `rate(…)` or `cron(…)`."""
    if _RATE.fullmatch(expression):
        return True
    if not (cron := _CRON.fullmatch(expression)):
        return False
    fields = cron[1].split(" ")
    # One of the two selects days; the other must be `?`.
    if (fields[_MONTH_DAY] == "?") == (fields[_WEEK_DAY] == "?"):
        return False
    return all(
        (field == "?" and place in (_MONTH_DAY, _WEEK_DAY))
        or all(_is_item(item, *_FIELDS[place]) for item in field.split(","))
        for place, field in enumerate(fields)
    )


def _is_item(item: str, low: int, high: int, names: list[str], other: str) -> bool:
    """Whether an item of a field is `*`, a number, a range, one of these with a step, or other."""
    item = item.upper()
    if other and re.fullmatch(other, item):
        return True
    values, slash, step = item.partition("/")
    if slash and not re.fullmatch(r"[1-9]\d*", step):
        return False
    if values == "*":
        return True
    ends = [str(names.index(each) + low) if each in names else each for each in values.split("-")]
    return len(ends) <= 2 and all(
        re.fullmatch(r"\d{1,4}", end) and low <= int(end) <= high for end in ends
    )


def longest_gap_s(expression: str) -> int:
    """Return an upper bound of the seconds between two calls of `rate(…)` or `cron(…)`.

    In a cron expression, the longest unit with a restriction decides. A day of the week gives a
    week, a day of the month gives the longest month.
    """
    if rate := _RATE.fullmatch(expression):
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
