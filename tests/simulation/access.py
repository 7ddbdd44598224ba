"""Rights: withdrawn, given again and used by processes that remember them, are frozen, or have a wrong clock."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from graveler.access.needs import Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.aws.dynamodb.accounts import DynamoAccountStore
from graveler.aws.dynamodb.tables import Tables
from graveler.errors import GravelerError
from graveler.http.rights import RIGHTS_AGE_MAX_S, Authorizer
from graveler.ports import Group, User
from graveler.times import NS_PER_S
from tests.simulation.schedule import Op

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

_USER, _GROUP, _POLICY = "ann", "readers", "reading"
_NEED = Permission("fs:ReadObject", "arn:lakefs:fs:::repository/lake/object/a")
_STATEMENT = Statement(Effect.ALLOW, (_NEED.action,), "*")
# For the judge's own reads of clocks.
_SLACK_S = 1
_NAPS_S = (1, 4, RIGHTS_AGE_MAX_S + 3, 30)

# Each of these takes the right away; each of those may give it.
_WITHDRAWALS: Mapping[str, Callable[[DynamoAccountStore], None]] = {
    "remove_member": lambda store: store.remove_member(_GROUP, _USER),
    "detach": lambda store: store.detach_from_group(_POLICY, _GROUP),
    "delete_group": lambda store: store.delete_group(_GROUP),
    "delete_policy": lambda store: store.delete_policy(_POLICY),
}
_GRANTS: Mapping[str, Callable[[DynamoAccountStore], None]] = {
    "create_group": lambda store: store.create_group(Group(_GROUP, 0)),
    "create_policy": lambda store: store.create_policy(Policy(_POLICY, (_STATEMENT,), 0)),
    "add_member": lambda store: store.add_member(_GROUP, _USER),
    "attach": lambda store: store.attach_to_group(_POLICY, _GROUP),
}


def _store_over(tables: Tables) -> DynamoAccountStore:
    no_secrets: Any = None
    return DynamoAccountStore(tables, no_secrets)


class Access:
    """The accounts of a schedule, and since when a right is withdrawn.

    withdrawn_ns: since then nobody has the right; None while somebody may give it.
    """

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._store = _store_over(simulation.world.refs.tables)
        self._store.create_user(User(_USER, 0))
        for grant in _GRANTS.values():
            grant(self._store)
        self.withdrawn_ns: int | None = None
        self._grants_begun = self._grants_ended = 0
        self._counts = dict.fromkeys((*_GRANTS, *_WITHDRAWALS), 0)
        self._authorizers: dict[str, tuple[Tables, Authorizer]] = {}

    def authorizer(self, actor: "Actor") -> Authorizer:
        """Return what the actor's process remembers."""
        tables, found = self._authorizers.get(actor.name, (None, None))
        if found is None or tables is not actor.tables:
            found = Authorizer(_store_over(actor.tables), actor.host.clock)
            self._authorizers[actor.name] = actor.tables, found
        return found

    def grant(self, name: str, store: DynamoAccountStore) -> None:
        self.withdrawn_ns = None
        self._grants_begun += 1
        try:
            _GRANTS[name](store)
        except GravelerError as error:
            if error.code in _UNCERTAIN:
                raise  # it may take effect at any time
            self._grants_ended += 1
            raise
        self._grants_ended += 1
        self._counts[name] += 1

    def withdraw(self, name: str, store: DynamoAccountStore) -> None:
        begun, is_alone = self._grants_begun, self._grants_begun == self._grants_ended
        self._counts[name] += 1
        _WITHDRAWALS[name](store)
        if is_alone and begun == self._grants_begun and self.withdrawn_ns is None:
            self.withdrawn_ns = self._simulation.world.clock.peek_ns

    def was_used(self, began_ns: int, withdrawn_ns: int | None) -> None:
        """Check a use that began then, and that was allowed."""
        late_s = 0.0 if withdrawn_ns is None else (began_ns - withdrawn_ns) / NS_PER_S
        if late_s > RIGHTS_AGE_MAX_S + _SLACK_S:
            self._simulation.problem("right", f"a right is used {late_s} s after its withdrawal")

    def judge(self) -> None:
        """A new group has nothing of an old one of its name, and a creation has one winner."""
        store, simulation = self._store, self._simulation
        with suppress(GravelerError):
            store.delete_group(_GROUP)
        store.create_group(Group(_GROUP, 0))
        left = (
            *store.members(_GROUP, "", "", 10).results,
            *store.groups_of(_USER, "", "", 10).results,
            *store.policies_of_group(_GROUP, "", "", 10).results,
            *store.effective_policies(_USER),
        )
        if left:
            simulation.problem("dangling", f"a new group has {left}")
        counts = self._counts
        for made, ended in (("create_group", "delete_group"), ("create_policy", "delete_policy")):
            if counts[made] > counts[ended]:
                simulation.problem(
                    "winner", f"{counts[made]} times {made} and {counts[ended]} {ended}"
                )


_UNCERTAIN = ("unknown_outcome", "throttled", "contention")


def use_right(actor: "Actor", op: Op) -> None:
    seen = actor.watcher(Access)
    began_ns, withdrawn_ns = actor.host.true_ns, seen.withdrawn_ns
    seen.authorizer(actor).of_request(_USER, {}).require(_NEED)
    if seen.withdrawn_ns == withdrawn_ns:  # else it was given again meanwhile
        seen.was_used(began_ns, withdrawn_ns)


def withdraw_right(actor: "Actor", op: Op) -> None:
    names = sorted(_WITHDRAWALS)
    name = names[actor.choose("way", len(names))]
    actor.watcher(Access).withdraw(name, _store_over(actor.tables))


def grant_right(actor: "Actor", op: Op) -> None:
    names = sorted(_GRANTS)
    name = names[actor.choose("way", len(names))]
    actor.watcher(Access).grant(name, _store_over(actor.tables))


def grant_all(actor: "Actor", op: Op) -> None:
    for name in _GRANTS:
        with suppress(GravelerError):
            actor.watcher(Access).grant(name, _store_over(actor.tables))


def nap(actor: "Actor", op: Op) -> None:
    """Let time pass, maybe uncounted by this machine, or after its clock was set back."""
    nap_s = _NAPS_S[actor.choose("nap", len(_NAPS_S))]
    way = actor.number % 3  # a machine has one kind of trouble
    if way == 0:
        actor.host.clock.freeze(nap_s)
        return
    if way == 1:
        actor.host.clock.step(-nap_s)
    actor.host.pass_time(nap_s)


ACCESS_ACTIONS: Mapping[str, Callable[["Actor", Op], None]] = {
    each.__name__: each for each in (use_right, withdraw_right, grant_right, grant_all, nap)
}
