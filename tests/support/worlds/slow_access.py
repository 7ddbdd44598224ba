"""Access control as its rules say it, slowly: a reference for `graveler.access.evaluate`.

Nothing is compiled, and nothing of the fast evaluation is used.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from itertools import product

from graveler.access.needs import AllOf, Need, Permission
from graveler.access.policy import Policy, Statement
from graveler.access.resources import Below

ALLOW, NEUTRAL, DENY = "allow", "neutral", "deny"

# A pattern: characters, and these two.
STAR, ANY_ONE = 0, 1

# What follows a prefix. No pattern of a test has the last letter, or more characters than this.
LETTERS, LETTERS_MAX = "ab*z", 4


def matches(pattern: Sequence[str | int], text: str) -> bool:
    """Whether the pattern matches the text, by the definition of each wildcard."""
    # reached: how many parts of the pattern can match the text read so far.
    reached = behind_stars({0}, pattern)
    for character in text:
        reached = behind_stars(
            {
                place if pattern[place] == STAR else place + 1
                for place in reached
                if place < len(pattern) and pattern[place] in (STAR, ANY_ONE, character)
            },
            pattern,
        )
    return len(pattern) in reached


def behind_stars(reached: set[int], pattern: Sequence[str | int]) -> set[int]:
    """The same and more: a star may match nothing."""
    for place, part in enumerate(pattern):
        if place in reached and part == STAR:
            reached.add(place + 1)
    return reached


def pattern_of(text: str, user: str = "${user}") -> list[str | int]:
    pattern: list[str | int] = []
    while text:
        if text.startswith("${user}"):
            pattern += user
            text = text.removeprefix("${user}")
        else:
            pattern.append({"*": STAR, "?": ANY_ONE}.get(text[0], text[0]))
            text = text[1:]
    return pattern


def is_arn(text: str) -> bool:
    fields = text.split(":")
    return (
        len(fields) > 5
        and fields[:2] == ["arn", "lakefs"]
        and fields[2] != ""
        and ":".join(fields[5:]) != ""
    )


def covers(resource: str, user: str, needed: str) -> bool:
    if resource == "*":
        return True
    if not (is_arn(resource) and is_arn(needed)):
        return False
    ours, theirs = resource.split(":"), needed.split(":")
    return (
        ours[2] == theirs[2]
        and ours[4] == theirs[4]
        and matches(pattern_of(":".join(ours[5:]), user), ":".join(theirs[5:]))
    )


def below(beginning: str) -> Iterator[str]:
    """Return texts with the beginning: enough to decide for patterns of few letters."""
    for length in range(LETTERS_MAX + 1):
        for letters in product(LETTERS, repeat=length):
            yield beginning + "".join(letters)


def covers_needed(resource: str, user: str, needed: str | Below, effect: str) -> bool:
    """A right to all below a prefix must cover each resource; a deny covers it with a single one."""
    if isinstance(needed, str):
        return covers(resource, user, needed)
    found = (covers(resource, user, each) for each in below(needed.beginning))
    return any(found) if effect == "deny" else all(found)


def resources_of(statement: Statement) -> list[str]:
    text = statement.resource
    if not (text.startswith("[") and text.endswith("]")):
        return [text]
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if all(isinstance(each, str) for each in found) else []


def is_about(statement: Statement, user: str, permission: Permission) -> bool:
    if not any(matches(pattern_of(each, ""), permission.action) for each in statement.actions):
        return False
    resources = resources_of(statement)
    is_readable = bool(resources) and all(each == "*" or is_arn(each) for each in resources)
    if statement.effect == "deny" and not is_readable:
        return True
    needed, effect = permission.resource, statement.effect
    return any(covers_needed(each, user, needed, effect) for each in resources)


def holds(statement: Statement, facts: Mapping[str, str]) -> bool:
    """Whether all conditions hold; one that cannot be decided holds in a deny only."""
    try:
        return all(
            field in facts and condition_holds(operator, values, facts[field])
            for operator, fields in checked(statement)
            for field, values in fields.items()
        )
    except ValueError:
        return statement.effect == "deny"


def checked(statement: Statement) -> list[tuple[str, Mapping[str, Sequence[str]]]]:
    for operator, fields in statement.conditions.items():
        if operator not in ("IpAddress", "NotIpAddress", "StringLike", "StringNotLike"):
            raise ValueError(operator)
        if operator.endswith("IpAddress"):
            for values in fields.values():
                for value in values:
                    ip_network(value, strict=False)
    return list(statement.conditions.items())


def condition_holds(operator: str, values: Sequence[str], fact: str) -> bool:
    if operator.endswith("IpAddress"):
        found = any(ip_address(fact) in ip_network(value, strict=False) for value in values)
        ip_address(fact)
    else:
        found = any(matches(pattern_of(value, "${user}"), fact) for value in values)
    return found != ("Not" in operator)


def decide(user: str, policies: Sequence[Policy], need: Need, facts: Mapping[str, str]) -> str:
    if isinstance(need, Permission):
        effects = {
            str(statement.effect)
            for policy in policies
            for statement in policy.statements
            if is_about(statement, user, need) and holds(statement, facts)
        }
        return DENY if "deny" in effects else ALLOW if "allow" in effects else NEUTRAL
    results = [decide(user, policies, each, facts) for each in need.needs]
    if isinstance(need, AllOf):
        return next((each for each in results if each != ALLOW), ALLOW)
    if DENY in results:
        return DENY
    return ALLOW if ALLOW in results else NEUTRAL
