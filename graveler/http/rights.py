"""Checks whether the user of a request may do what it asks; policies are read and remembered here.

Theory of operation. A process remembers the policies of a user for RIGHTS_AGE_MAX_S, so a check
costs no request to the store. A right that is withdrawn works for that long at most. A refusal
never rests on remembered policies: they are read again first, once for each request. So a right
that is given works at once.

A refusal is a 401 with lakeFS's message. It comes before the operation reads anything, so it does
not show whether the resource exists.
"""

from collections.abc import Iterable

from graveler.access.conditions import Facts
from graveler.access.evaluate import Decision, Rights, Verdict
from graveler.access.needs import Need
from graveler.cache import AgingCache
from graveler.errors import GravelerError
from graveler.messages import Refusal
from graveler.ports import AccountStore, Clock

# As long as readers believe a repository's record. Reading policies takes a few requests to the
# store; at five seconds they are few beside the requests of a process in use.
RIGHTS_AGE_MAX_S = 5
# The rights of one user may take tens of kilobytes.
USERS_MAX = 200


class Authorizer:
    """Knows the rights of users; a process has one Authorizer."""

    def __init__(self, accounts: AccountStore, clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self._rights = AgingCache[str, Rights](clock.moment, RIGHTS_AGE_MAX_S, USERS_MAX)

    def of_request(self, user: str, facts: Facts) -> "RequestRights":
        """Return what the user may do in one request, about which the facts are known."""
        return RequestRights(self, user, facts)

    def rights(self, user: str) -> tuple[Rights, bool]:
        """Return the user's rights, and whether this call read them from the store."""
        held = self._rights.get(user)
        return (self.read_rights(user), True) if held is None else (held, False)

    def read_rights(self, user: str) -> Rights:
        """Return the user's rights, read from the store."""
        read_at = self._clock.moment()
        rights = Rights(user, self._accounts.effective_policies(user))
        self._rights.put(user, rights, read_at)
        return rights

    def forget(self) -> None:
        """Forget all rights: this process has just changed users, groups or policies."""
        self._rights.clear()


class RequestRights:
    """What a user may do in one request."""

    def __init__(self, authorizer: Authorizer, user: str, facts: Facts) -> None:
        self._authorizer = authorizer
        self._user = user
        self._facts = facts
        self._rights: Rights | None = None
        self._is_current = False

    def _known_rights(self) -> Rights:
        if self._rights is None:
            self._rights, self._is_current = self._authorizer.rights(self._user)
        return self._rights

    def _is_read_again(self) -> bool:
        """Read remembered rights again. Return False if this request has read them already."""
        if self._is_current:
            return False
        self._rights, self._is_current = self._authorizer.read_rights(self._user), True
        return True

    def allows(self, need: Need) -> bool:
        """Whether the user may; not for refusals, since remembered rights may be old."""
        return self._known_rights().decide(need, self._facts).is_allowed

    def allows_each(self, needs: Iterable[Need]) -> list[bool]:
        """Return for each need whether the user may.

        Raises:
            AccessDeniedError: there are needs, and the user has the right to none of them.
        """
        asked = list(needs)
        allowed = [self.allows(need) for need in asked]
        if asked and not all(allowed) and self._is_read_again():
            allowed = [self.allows(need) for need in asked]
        if asked and not any(allowed):
            self.require(asked[0])
        return allowed

    def require(self, need: Need) -> None:
        """Check that the user may.

        Raises:
            AccessDeniedError: no policy allows it, or one denies it.
        """
        decision = self._known_rights().decide(need, self._facts)
        if not decision.is_allowed and self._is_read_again():
            decision = self._known_rights().decide(need, self._facts)
        if not decision.is_allowed:
            raise _refusal(decision)

    def require_somewhere(self, action: str) -> None:
        """Check that the user may do the action to any resource at all.

        Raises:
            AccessDeniedError: no statement allows it.
        """
        if self._known_rights().allows_somewhere(action):
            return
        if not (self._is_read_again() and self._known_rights().allows_somewhere(action)):
            raise Refusal.NOTHING_ALLOWED.error(
                f"{action}: ask an administrator for a policy that allows it"
            )


def _refusal(decision: Decision) -> GravelerError:
    """Return lakeFS's error; the details name the resources, which the request named as well."""
    missing = " and ".join(map(str, decision.missing))
    if decision.verdict is Verdict.DENIED:
        return Refusal.DENIED.error(f"a policy denies {missing}", actions=decision.pattern)
    actions = ",".join(permission.action for permission in decision.missing)
    details = f"{missing}: ask an administrator for a policy that allows it"
    return Refusal.NOT_ALLOWED.error(details, actions=actions)
