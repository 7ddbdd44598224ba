"""Garbage collection: its rules, and the lists that a collection reads."""

from typing import Annotated

from msgspec import Meta, Struct

from graveler.http.errors import ErrorBody
from graveler.retention.rules import RETENTION_DAYS_MAX, RetentionRules, make_rules

RetentionDays = Annotated[int, Meta(ge=0, le=RETENTION_DAYS_MAX)]


class BranchRule(Struct, frozen=True):
    branch_id: str
    retention_days: RetentionDays


class Rules(Struct, frozen=True):
    """The rules of a repository, in requests and in answers."""

    default_retention_days: RetentionDays
    # Required, as in lakeFS: for a misspelled field of a file, lakectl sends null and 0 days.
    branches: list[BranchRule]


def rules_of(body: Rules) -> RetentionRules:
    """Return the rules in a body.

    Raises:
        InvalidInputError: a branch's name is not valid, or occurs twice.
    """
    branch_days = [(rule.branch_id, rule.retention_days) for rule in body.branches]
    return make_rules(body.default_retention_days, branch_days)


def rules_body(rules: RetentionRules) -> Rules:
    return Rules(rules.default_days, [BranchRule(*each) for each in rules.branch_days.items()])


class CheckedRules(Struct, frozen=True):
    """Warnings about valid rules, before they are saved."""

    warnings: list[str]


class PreparedCommits(Struct, frozen=True):
    run_id: str
    gc_commits_location: str
    gc_addresses_location: str
    gc_commits_presigned_url: str


class PrepareCommitsStatus(Struct, frozen=True, omit_defaults=True):
    task_id: str
    completed: bool
    update_time: str
    result: PreparedCommits | None = None
    error: ErrorBody | None = None


class PrepareUncommitted(Struct, frozen=True):
    continuation_token: str | None = None


class PreparedUncommitted(Struct, frozen=True, omit_defaults=True):
    run_id: str
    gc_uncommitted_location: str
    continuation_token: str | None = None
