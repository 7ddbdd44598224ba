"""Policies in DynamoDB, their attachments, and the effective policies of a user."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from pynamodb.expressions.condition import Condition

from graveler.access.policy import Policy, Statement
from graveler.aws.dynamodb.accounts.groups import GroupRecords
from graveler.aws.dynamodb.accounts.records import (
    TRIES_MAX,
    busy,
    has_uid,
    holds_fewer,
    name_of,
    new_uid,
    not_found,
    page_of,
    reference_to,
    references_of,
    split,
    uid_of,
)
from graveler.aws.dynamodb.models import ACCOUNTS, GROUP, POLICY, USER, HolderItem, PolicyItem
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.errors import ConditionFailedError, TransactionCancelledError
from graveler.errors import InvalidInputError
from graveler.limits import HOLDERS_READ_MAX, POLICIES_ATTACHED_MAX
from graveler.messages import Refusal
from graveler.model import Page
from graveler.model.settings import changed, check_unchanged
from graveler.ports import PolicyHolder

_STATEMENTS = msgspec.json.Decoder(tuple[Statement, ...])

# The kinds of holders, in the order of their listings, and what their sort keys begin with.
_HOLDERS: tuple[tuple[Literal["group", "user"], str], ...] = (("group", GROUP), ("user", USER))

# Users whose groups and policies a process remembers, so that one request reads all of them.
_HOLDINGS_MAX = 10_000


def policy_of(raw: Raw) -> Policy:
    """Return the policy in the item."""
    return Policy(
        name_of(raw, POLICY),
        _STATEMENTS.decode(raw["statements"]["S"]),
        int(raw["creation_date"]["N"]),
    )


def policy_item(policy: Policy, uid: str) -> PolicyItem:
    """Return the item of a policy."""
    return PolicyItem(
        ACCOUNTS,
        POLICY + policy.name,
        creation_date=policy.creation_date,
        uid=uid,
        statements=_text_of(policy),
    )


def _text_of(policy: Policy) -> str:
    return msgspec.json.encode(policy.statements).decode()


def _is_unchanged(raw: Raw) -> Condition:
    """Return the condition that the policy is the one that was read, with its statements."""
    statements: str = raw["statements"]["S"]
    unchanged: Condition = has_uid(uid_of(raw)) & (PolicyItem.statements == statements)
    return unchanged


def _shown(name: str) -> str:
    return f"policy {name!r}"


class PolicyRecords(GroupRecords):
    """The part of AccountStore that stores policies."""

    __slots__ = ()

    def create_policy(self, policy: Policy) -> None:
        self._create(policy_item(policy, new_uid()))

    def policy(self, name: str) -> Policy | None:
        raw = self._item(POLICY + name)
        return None if raw is None else policy_of(raw)

    def policies(self, prefix: str, after: str, amount: int) -> Page[Policy]:
        return self._page(ACCOUNTS, POLICY, prefix, after, amount, policy_of)

    def update_policy(self, policy: Policy, if_match: str | None = None) -> None:
        sort = POLICY + policy.name
        condition: Condition = PolicyItem.sort.exists()
        if if_match is not None:
            condition = _is_unchanged(self._matching(policy.name, if_match))
        update = self.tables.update(
            key(ACCOUNTS, sort), [PolicyItem.statements.set(_text_of(policy))], condition
        )
        try:
            # UpdateItem could be refused because of its own attempt whose answer was lost.
            self.tables.transact([{"Update": update}])
        except TransactionCancelledError as error:
            raise (not_found(sort) if if_match is None else changed(_shown(policy.name))) from error

    def delete_policy(self, name: str, if_match: str | None = None) -> None:
        raw = self._matching(name, if_match)
        condition = has_uid(uid_of(raw)) if if_match is None else _is_unchanged(raw)
        # The holders' references with its uid are dead from now on.
        delete = self.tables.delete(key(ACCOUNTS, POLICY + name), condition)
        try:
            self.tables.dynamodb.call("DeleteItem", delete)
        except ConditionFailedError as error:
            # Deleted by another request, or by an earlier attempt of this one, or updated.
            found = self._item(POLICY + name)
            if found is not None and uid_of(found) == uid_of(raw):
                raise changed(_shown(name)) from error

    def _matching(self, name: str, if_match: str | None) -> Raw:
        """Return the policy's item.

        Raises:
            NotFoundError: it does not exist.
            PreconditionFailedError: it has another checksum than if_match.
        """
        [raw] = self._required(POLICY + name)
        check_unchanged(_shown(name), policy_of(raw), if_match)
        return raw

    # Attachments

    def attach_to_user(self, policy: str, user: str) -> None:
        self._attach(policy, USER + user)

    def attach_to_group(self, policy: str, group: str) -> None:
        self._attach(policy, GROUP + group)

    def _attach(self, policy: str, holder: str) -> None:
        for attempt in range(TRIES_MAX):
            holder_raw, policy_raw = self._required(holder, POLICY + policy)
            reference = reference_to(policy_raw, POLICY)
            attached = references_of(holder_raw, "policies")
            shown = holder.replace("#", " ", 1)
            if reference in attached:
                raise Refusal.ACCOUNT_EXISTS.error(f"policy {policy!r} on {shown}")
            if len(attached) >= POLICIES_ATTACHED_MAX and (
                attempt or not self._drop_dead(holder_raw, "policies", POLICY)
            ):
                raise InvalidInputError(
                    f"{shown} has {POLICIES_ATTACHED_MAX} policies, the most that are possible"
                )
            if self._add_policy(holder_raw, policy_raw, reference):
                return
        raise busy(holder.replace("#", " ", 1))

    def _add_policy(self, holder: Raw, policy: Raw, reference: str) -> bool:
        """Store the attachment; return False if the holder or the policy has changed."""
        fits = HolderItem.policies.does_not_exist() | (
            ~HolderItem.policies.contains(reference)
            & holds_fewer(HolderItem.policies, POLICIES_ATTACHED_MAX)
        )
        update = self.tables.update(
            key(ACCOUNTS, holder["sort"]["S"]),
            [HolderItem.policies.add({reference})],
            HolderItem.sort.exists() & has_uid(uid_of(holder)) & fits,
        )
        check = self.tables.check(key(ACCOUNTS, policy["sort"]["S"]), has_uid(uid_of(policy)))
        writes = [{"Update": update}, {"ConditionCheck": check}]
        return self._change(writes, holder["sort"]["S"], "policies", reference)

    def detach_from_user(self, policy: str, user: str) -> None:
        self._detach(policy, USER + user)

    def detach_from_group(self, policy: str, group: str) -> None:
        self._detach(policy, GROUP + group)

    def _detach(self, policy: str, holder: str) -> None:
        holder_raw, policy_raw = self._required(holder, POLICY + policy)
        self._drop_references(
            holder, uid_of(holder_raw), "policies", [reference_to(policy_raw, POLICY)]
        )

    def policies_of_user(self, user: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        return self._policies_of(USER + user, prefix, after, amount)

    def policies_of_group(self, group: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        return self._policies_of(GROUP + group, prefix, after, amount)

    def _policies_of(self, holder: str, prefix: str, after: str, amount: int) -> Page[Policy]:
        raw = self._item(holder)
        references = [] if raw is None else references_of(raw, "policies")
        found = [policy_of(each) for each in self._referenced(references, POLICY)]
        return page_of(found, lambda policy: policy.name, prefix, after, amount)

    def holders_of(self, policy: str, prefix: str, after: str, amount: int) -> Page[PolicyHolder]:
        raw = self._item(POLICY + policy)
        if raw is None:
            return Page(())
        reference, place = reference_to(raw, POLICY), ""
        found: list[PolicyHolder] = []
        for read, (holder, item) in enumerate(self._possible_holders(prefix, after)):
            if read == HOLDERS_READ_MAX or len(found) == amount:
                return Page(tuple(found), place)
            place = holder.place
            if reference in references_of(item, "policies"):
                found.append(holder)
        return Page(tuple(found))

    def _possible_holders(self, prefix: str, after: str) -> Iterator[tuple[PolicyHolder, Raw]]:
        """Yield the groups and then the users behind the place, each with its item."""
        last_kind, _, last_name = after.partition("/")
        left = HOLDERS_READ_MAX + 1
        for kind, sort in _HOLDERS:
            if kind < last_kind or left <= 0:
                continue
            name = last_name if kind == last_kind else ""
            request = self._query_after(ACCOUNTS, sort, prefix, name, left)
            for page in self.tables.pages(request) if request else ():
                left -= len(page)
                yield from ((PolicyHolder(kind, name_of(item, sort)), item) for item in page)

    # Effective policies

    def effective_policies(self, user: str) -> Sequence[Policy]:
        # One request reads the user and all records that decided the last time. Only newer records
        # take another request.
        asked = [USER + user, *self.memo.holdings.get(user, ())]
        found = self._items(asked)
        while missing := [sort for sort in self._holdings(user, found) if sort not in asked]:
            asked += missing
            found |= self._items(missing)
        if len(self.memo.holdings) >= _HOLDINGS_MAX:
            self.memo.holdings.clear()
        self.memo.holdings[user] = tuple(self._holdings(user, found))
        policies = self._live(self._held(user, found), POLICY, found)
        return tuple(policy_of(raw) for raw in policies)

    def _holdings(self, user: str, found: dict[str, Raw]) -> list[str]:
        """Return the sort keys of the user's groups and policies that the found items name."""
        groups = references_of(found.get(USER + user, {}), "groups")
        sorts = [GROUP + split(reference)[1] for reference in groups]
        sorts += [POLICY + split(reference)[1] for reference in self._held(user, found)]
        return list(dict.fromkeys(sorts))

    def _held(self, user: str, found: dict[str, Raw]) -> list[str]:
        """Return the references to policies of the user and of the groups that were found."""
        raw = found.get(USER + user, {})
        held = references_of(raw, "policies")
        for group in self._live(references_of(raw, "groups"), GROUP, found):
            held += references_of(group, "policies")
        return list(dict.fromkeys(held))
