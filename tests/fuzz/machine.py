"""Sends mutated requests to the app in process, and judges every answer.

The oracle: no exception, no 500 and no 503; an answer that the operation declares, with an error in
lakeFS's shape; headers that a header can carry; and a refusal changes nothing.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from msgspec.structs import replace

from graveler.model import Branch, StagingToken
from graveler_functions.api.unserved import UNSERVED
from graveler_functions.http.events import encoded_path_of
from tests.fuzz.drafts import AUTHORIZATION, Draft, draft_of, event_of
from tests.fuzz.endpoint import Endpoint
from tests.fuzz.mutations import mutate
from tests.support.checks.contracts import operation_of
from tests.support.clients.api import ApiClient, Reply
from tests.support.fakes.memory import MemoryAccountStore, MemoryStagingStore
from tests.support.worlds.prepared_lake import prepared
from tests.support.worlds.valid_requests import valid_requests

NO_TOKEN = StagingToken("")
# After so many requests, a new copy of the lake: what one deleted, others need.
REQUESTS_OF_A_LAKE = 200


@dataclass
class Tally:
    """What a run did: requests by status, and its failures."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    accepted: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)


class Lake:
    """A copy of the prepared lake as the fuzzer's target; a new one after so many requests."""

    def __init__(self) -> None:
        self._requests = 0
        self._api = prepared().api.fork()

    @property
    def authorization(self) -> str:
        return self._api.authorization

    def judged(self, draft: Draft) -> Reply:
        self._requests += 1
        if self._requests % REQUESTS_OF_A_LAKE == 0:
            self._api = prepared().api.fork()
        return judged(self._api, draft)


def run(seed: int, requests: int, target: Lake | Endpoint | None = None) -> Tally:
    """Send that many requests, which the seed decides, to a lake of their own or to the target."""
    tally, random = Tally(), Random(seed)
    target = target or Lake()
    names = sorted(valid_requests())
    for number in range(requests):
        sent = valid_requests()[random.choice(names)]
        draft = draft_of(sent, {AUTHORIZATION: target.authorization})
        mutate(random, draft)
        tally.requests += 1
        try:
            reply = target.judged(draft)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the fuzzer has found it
            tally.failures.append(f"seed {seed}, request {number}: {problem!r:.1500}\n{draft}")
            continue
        if reply is not None:
            tally.statuses[reply.status] += 1
            if reply.status < 400:
                tally.accepted.add(sent.operation)
    return tally


def judged(api: ApiClient, draft: Draft) -> Reply:
    """Send the request and return its answer.

    Raises:
        AssertionError: the answer breaks a rule.
    """
    before = state_of(api)
    event = event_of(draft)
    reply = api.send(event)  # compares the answer with the operation's declaration
    # A copy that names the data of its source answers 429 if they are other ones by now.
    is_other_data = b"src_physical_address" in (draft.content or b"")
    assert reply.status not in {500, 503} | (set() if is_other_data else {429}), reply
    for name, value in reply.headers.items():
        assert isinstance(value, str), name
        assert value.isprintable(), (name, value)
        assert value.isascii(), (name, value)
    if reply.status == 501:
        assert _may_be_unserved(draft, event), reply
    if reply.status >= 400:
        after = state_of(api)
        changed = [name for name, state in before.items() if after[name] != state]
        assert not changed, f"{reply.status} {reply.content!r} changed {changed}"
    return reply


def _may_be_unserved(draft: Draft, event: Mapping[str, Any]) -> bool:
    operation = operation_of(draft.method, encoded_path_of(event))
    if operation is not None:
        return 501 in operation.contract.errors or draft.headers.get("host", "").startswith("s3.")
    return bool(UNSERVED) or "host" in draft.headers


def state_of(api: ApiClient) -> dict[str, object]:
    """Return all that users can see of the stores, to compare it later.

    A commit that is refused because it has no changes may have sealed the staging token. No user
    sees that.
    """
    world = api.world
    refs, exports = world.refs, world.exports
    records = {key: each.fork() for key, each in refs.records.items() if any(vars(each).values())}
    staged = {}
    for (name, _), each in records.items():
        for branch in each.branches.values():
            staged[name, branch.name] = _staged(world.staging, branch)
        each.branches = {
            branch.name: replace(branch, version=0, staging_token=NO_TOKEN, sealed_tokens=())
            for branch in each.branches.values()
        }
    return {
        "repositories": dict(refs._repositories),
        "deleted repositories": dict(refs._ending),
        "records": records,
        "events": len(refs.events),
        "collections": (dict(world.jobs._leases), list(world.collection_jobs.started)),
        "staged": staged,
        "objects": {uri: each.content for uri, each in world.objects._objects.items()},
        "uploads": {key: dict(each.parts) for key, each in world.objects._uploads.items()},
        "files": set(world.files.files),
        "exports": dict(exports._records),
        "places of exports": dict(exports._listed),
        "tasks to run": len(world.task_queue.waiting),
        **_state_of_accounts(api.accounts),
    }


def _state_of_accounts(accounts: MemoryAccountStore) -> dict[str, object]:
    """Return all of the store but its count of failed log-ins, which a refusal changes."""
    return {
        "users": dict(accounts._users),
        "groups": dict(accounts._groups),
        "policies": dict(accounts._policies),
        "members": set(accounts._members),
        "policies of users": set(accounts._of_users),
        "policies of groups": set(accounts._of_groups),
        "key pairs": dict(accounts._keys),
        "principals": dict(accounts._principals),
    }


def _staged(staging: MemoryStagingStore, branch: Branch) -> dict[bytes, bytes | None]:
    """Return what is staged on the branch, by path; newer tokens hide older ones."""
    changes: dict[bytes, bytes | None] = {}
    for token in (*reversed(branch.sealed_tokens), branch.staging_token):
        changes.update(staging._values.get(token, {}))
    return changes
