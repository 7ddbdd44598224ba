"""The time of a check of access control: `python -m bench.access` prints one line for each case.

The statements are such as people write: a pattern of repositories, branches or paths each. Times
are of a warm process, which has compiled the user's policies; compiling them is measured as well.
"""

from collections.abc import Callable
from time import perf_counter

from graveler.access.evaluate import Rights
from graveler.access.needs import AllOf, Need, Permission
from graveler.access.policy import Conditions, Effect, Policy, Statement
from graveler.access.resources import (
    ALL,
    Below,
    branch_arn,
    namespace_arn,
    object_arn,
    repository_arn,
)
from graveler.access.standard import ADMINISTRATORS, policies_of

STATEMENTS = 50
CHECKS = 20_000
TRIES = 5

FACTS = {"SourceIp": "203.0.113.9"}
READ = Permission(
    "fs:ReadObject", object_arn("lake-49", "events/day=2026-01-31/part-00042.parquet")
)
READ_BELOW = Permission("fs:ReadObject", Below(object_arn("lake", "events/")))
CREATE = AllOf(
    (
        Permission("fs:CreateRepository", repository_arn("lake-49")),
        Permission("fs:AttachStorageNamespace", namespace_arn("s3://lakes/lake-49")),
    )
)


def many(
    effect: Effect, resource: Callable[[int], str], conditions: Conditions | None = None
) -> Policy:
    """Return a policy whose statements have these resources, by their number."""
    actions = ("fs:Read*", "fs:List*", "fs:WriteObject")
    statements = tuple(
        Statement(effect, actions, resource(number), conditions or {})
        for number in range(STATEMENTS)
    )
    return Policy("many", statements, 0)


def objects(number: int) -> str:
    return object_arn(f"lake-{number}", "*")


def with_many_stars(number: int) -> str:
    return object_arn(f"lake-{number}*", "*/day=????-??-*/part-*.parquet")


CASES: dict[str, tuple[tuple[Policy, ...], Need]] = {
    "an administrator reads": (policies_of(ADMINISTRATORS, 0), READ),
    "an administrator creates a repository": (policies_of(ADMINISTRATORS, 0), CREATE),
    "50 statements, the last one allows": ((many(Effect.ALLOW, objects),), READ),
    "50 statements that do not deny, then one that allows": (
        (
            many(Effect.DENY, lambda number: branch_arn(f"lake-{number}", "*")),
            *policies_of(ADMINISTRATORS, 0),
        ),
        READ,
    ),
    "50 statements with stars and question marks": ((many(Effect.ALLOW, with_many_stars),), READ),
    "50 statements whose conditions are false": (
        (many(Effect.ALLOW, lambda _: ALL, {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}}),),
        READ,
    ),
    "50 statements that do not deny a prefix, then one that allows": (
        (many(Effect.DENY, with_many_stars), *policies_of(ADMINISTRATORS, 0)),
        READ_BELOW,
    ),
    "50 statements, none allows": (
        (many(Effect.ALLOW, lambda number: objects(number + 100)),),
        READ,
    ),
}


def microseconds(do: Callable[[], object], times: int) -> float:
    """Return the time of a call, in the best of some tries."""
    best = float("inf")
    for _ in range(TRIES):
        start = perf_counter()
        for _ in range(times):
            do()
        best = min(best, (perf_counter() - start) / times)
    return best * 1e6


def main() -> None:
    print(f"{'':62} {'check':>9} {'compile':>9}")
    for name, (policies, need) in CASES.items():
        rights = Rights("ann", policies)
        check = microseconds(lambda: rights.decide(need, FACTS), CHECKS)  # noqa: B023 - at once
        compiling = microseconds(lambda: Rights("ann", policies), 100)  # noqa: B023 - at once
        print(f"{name:62} {check:6.2f} µs {compiling:6.0f} µs")


if __name__ == "__main__":
    main()
