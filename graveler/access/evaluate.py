"""Decides whether a user's policies meet a need: deny over allow, and no without an allow.

Theory of operation. `Rights` compiles the policies of one user once. A check looks only at the
statements whose actions match. A dictionary holds them for each action that was asked for. Denying
statements come first, so the first statement that applies decides.

An unreadable part never gives a right. A malformed resource covers nothing in a statement that
allows, and everything in one that denies. Conditions that cannot be decided are false in the
former, and true in the latter.

A permission may be about all resources below a prefix. A statement that allows must cover every
one of them by itself. A statement that denies applies if it covers a single one.
"""

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from graveler.access.conditions import Facts, UndecidableError, holding
from graveler.access.needs import AllOf, Need, Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.access.resources import EVERYTHING, Below, Covers, covering, listed, parsed
from graveler.access.wildcards import compiled


class Verdict(Enum):
    """How a need is decided."""

    ALLOWED = "allowed"
    NOT_ALLOWED = "not allowed"  # no statement allows it
    DENIED = "denied"


class StatementSource(Struct, frozen=True):
    """A statement by its place; the number counts from 1."""

    policy: str
    number: int


class Decision(Struct, frozen=True):
    """A verdict with its reason.

    missing: the permissions that decided against the user.
    source: the statement that decided, if one did.
    pattern: the action as the denying statement names it, perhaps with wildcards.
    problem: why a condition of the denying statement cannot be decided.
    """

    verdict: Verdict
    missing: tuple[Permission, ...] = ()
    source: StatementSource | None = None
    pattern: str = ""
    problem: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.verdict is Verdict.ALLOWED


_ALLOWED = Decision(Verdict.ALLOWED)


class Rights:
    """The policies of one user, ready for checks."""

    def __init__(self, user: str, policies: Sequence[Policy]) -> None:
        statements = [
            _Compiled(StatementSource(policy.name, number), statement, user)
            for policy in policies
            for number, statement in enumerate(policy.statements, 1)
        ]
        self._statements = sorted(statements, key=lambda each: not each.is_deny)
        self._by_action: dict[str, tuple[_Compiled, ...]] = {}

    def decide(self, need: Need, facts: Facts) -> Decision:
        """Return whether the policies meet the need of a request with those facts."""
        if isinstance(need, Permission):
            return self._decide_permission(need, facts)
        if isinstance(need, AllOf):
            decision = _ALLOWED
            for each in need.needs:
                decision = self.decide(each, facts)
                if not decision.is_allowed:
                    return decision
            return decision
        allowed: Decision | None = None
        missing: list[Permission] = []
        for each in need.needs:
            decision = self.decide(each, facts)
            if decision.verdict is Verdict.DENIED:
                return decision
            if decision.is_allowed:
                allowed = allowed or decision
            missing += decision.missing
        return allowed or Decision(Verdict.NOT_ALLOWED, tuple(missing))

    def allows_somewhere(self, action: str) -> bool:
        """Whether a statement allows the action on any resource, whatever its conditions."""
        return any(not statement.is_deny for statement in self._of(action))

    def _of(self, action: str) -> "tuple[_Compiled, ...]":
        found = self._by_action.get(action)
        if found is None:
            found = tuple(each for each in self._statements if each.pattern_of(action))
            self._by_action[action] = found
        return found

    def _decide_permission(self, permission: Permission, facts: Facts) -> Decision:
        needed = permission.resource
        if is_below := isinstance(needed, Below):
            needed = needed.beginning
        arn = parsed(needed)
        for statement in self._of(permission.action):
            if not (statement.covers_below(arn) if is_below else statement.covers(arn)):
                continue
            problem = ""
            if statement.holds is not None:
                try:
                    if not statement.holds(facts):
                        continue
                except UndecidableError as error:
                    problem = str(error)
            if statement.is_deny:
                pattern = statement.pattern_of(permission.action)
                missing = (permission,)
                return Decision(Verdict.DENIED, missing, statement.source, pattern, problem)
            if not problem:
                return statement.allowed
        return Decision(Verdict.NOT_ALLOWED, (permission,))


class _Compiled:
    """A statement whose patterns are functions."""

    __slots__ = ("_actions", "allowed", "covers", "covers_below", "holds", "is_deny", "source")

    def __init__(self, source: StatementSource, statement: Statement, user: str) -> None:
        self.source = source
        self.is_deny = statement.effect is Effect.DENY
        self.holds = holding(statement.conditions)
        self.allowed = Decision(Verdict.ALLOWED, source=source)
        self._actions = [(pattern, compiled(pattern)) for pattern in statement.actions]
        found = [covering(each, user) for each in listed(statement.resource) or [""]]
        readable = [each for each in found if each is not None]
        if self.is_deny and len(readable) < len(found):
            readable = [EVERYTHING]
        # Whether the statement is about a resource, and about those below a prefix.
        self.covers = _covering_any([each.one for each in readable])
        self.covers_below = _covering_any(
            [each.some_below if self.is_deny else each.all_below for each in readable]
        )

    def pattern_of(self, action: str) -> str:
        """Return the first pattern that matches the action; "" if none does."""
        return next((pattern for pattern, matches in self._actions if matches(action)), "")


def _covering_any(resources: Sequence[Covers]) -> Covers:
    if len(resources) == 1:
        return resources[0]
    return lambda arn: any(covers(arn) for covers in resources)
