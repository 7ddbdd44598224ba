"""A user whose policies a test decides."""

import json
from collections.abc import Sequence
from typing import Any

from graveler.access.policy import Effect, Policy, Statement
from graveler.access.standard import ADMINISTRATORS, policies_of
from graveler.http.rights import RIGHTS_AGE_MAX_S
from graveler.ports import Credential, User
from graveler_functions.api.app import build_app
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, ApiClient, Reply, event
from tests.support.fakes.identities import CheckingSts
from tests.support.fakes.memory import MemoryAccountStore

USER = "bob"

Right = tuple[str, str]  # an action, and a resource


def allowing(*rights: Right, name: str = "allowing") -> Policy:
    return _policy(name, Effect.ALLOW, rights)


def denying(*rights: Right, name: str = "denying") -> Policy:
    return _policy(name, Effect.DENY, rights)


def _policy(name: str, effect: Effect, rights: Sequence[Right]) -> Policy:
    statements = tuple(Statement(effect, (action,), resource) for action, resource in rights)
    return Policy(name, statements, 1_700_000_000)


EVERYTHING = policies_of(ADMINISTRATORS, 1_700_000_000)


class ScriptedAccounts(MemoryAccountStore):
    """Accounts of one user, who has the policies that the test gives; counts how often they are
    read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.given: Sequence[Policy] = ()
        self.reads = 0

    def effective_policies(self, user: str) -> Sequence[Policy]:
        if user != USER:  # of whom a request may ask
            return super().effective_policies(user)
        self.reads += 1
        return self.given


class RestrictedClient(ApiClient):
    """A client of a user with given policies only, in the world of an administrator."""

    def __init__(self, admin: ApiClient) -> None:
        self.world, self.settings = admin.world, admin.settings
        self.scripted = ScriptedAccounts()
        credential = Credential(ACCESS_KEY_ID, SECRET, USER, 1_600_000_000)
        self.scripted.set_up(User(USER, 1_600_000_000), credential)
        self.accounts = self.scripted
        self.engine = self.world.engine()
        self.app = build_app(self.engine, self.accounts, self.settings, identities=CheckingSts())

    def may(self, *policies: Policy) -> None:
        """Replace the user's policies, and let the process forget the old ones."""
        self.scripted.given = policies
        self.world.clock.tick(RIGHTS_AGE_MAX_S)

    def ask_as(
        self, method: str, target: str, body: Any = None, below: str = "/api/v1", **headers: str
    ) -> Reply:
        """Send a request for a target as it is on the wire."""
        path, _, query = target.partition("?")
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {"authorization": self.authorization, **headers}
        return self.send(event(method, f"{below}{path}", query=query, headers=given, body=sent))
