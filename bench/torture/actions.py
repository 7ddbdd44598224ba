"""All actions of clients, by name."""

from collections.abc import Callable

from bench.torture import collection, gateway_actions, life_actions, life_edges, tasks
from bench.torture.client import Client
from bench.torture.history import Record
from bench.torture.http_client import UnsentError

# The methods of a client that are no actions.
_HELPERS = ("ask", "carry_out", "record", "a_branch", "a_path", "a_commit", "unique")
ACTIONS: dict[str, Callable[[Client], Record | None]] = {
    name: value
    for name, value in vars(Client).items()
    if not name.startswith("_") and name not in _HELPERS
}
for _module in (gateway_actions, tasks, life_actions, life_edges, collection):
    ACTIONS |= _module.ACTIONS


def act(client: Client, name: str) -> Record | None:
    """Do one action; return None if it made no request for the history."""
    try:
        return ACTIONS[name](client)
    except UnsentError:
        return None
