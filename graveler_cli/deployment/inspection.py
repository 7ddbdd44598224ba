"""The whole inspection: stacks, each of their resources by its kind, then the account."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from graveler_cli.deployment import compute, preflight, stores, watching
from graveler_cli.deployment.account import Account, CannotLookError
from graveler_cli.deployment.stacks import DeployedStack, Resource, read_stack
from graveler_cli.findings import Finding, FindingLevel, expect, missing, ok, unknown

# The check of each kind of resource. Tables are checked by name: after a restore, those in service
# are in no stack.
LOOKS: Mapping[str, Callable[[Account, Resource], Iterator[Finding]]] = {
    "AWS::CloudWatch::Alarm": watching.alarm,
    "AWS::CloudWatch::CompositeAlarm": watching.alarm,
    "AWS::Events::Rule": compute.rule,
    "AWS::Glue::Job": compute.job,
    "AWS::KMS::Key": stores.key,
    "AWS::Lambda::EventSourceMapping": compute.mapping,
    "AWS::Lambda::Function": compute.function,
    "AWS::S3::Bucket": stores.bucket,
    "AWS::SNS::Topic": watching.topic,
    "AWS::SQS::Queue": watching.queue,
    "AWS::Scheduler::Schedule": compute.schedule,
}

# The parameter of CDK's templates with the place of the bootstrap's version.
_BOOTSTRAP = "BootstrapVersion"

# The output of the storage stack with the stage.
_STAGE = "Stage"
_PRODUCTION = "prod"

# The role of the api function, which serves the users' requests.
_API_ROLE = "ApiFunctionRole"


def inspect(account: Account, name: str) -> Iterator[Finding]:
    """Yield the findings on the deployment whose service stack has the name.

    Raises:
        CommandError: there are no credentials.
    """
    account.id  # noqa: B018 - without credentials, nothing can be looked at
    stacks: list[DeployedStack] = []
    for stack_name in (f"{name}-storage", name):
        yield from _guarded(f"stack {stack_name}", partial(_stack, account, stack_name, stacks))
    gateway = f"{name}-gateway"
    look_at_gateway = partial(_stack, account, gateway, stacks, is_optional=True)
    yield from _guarded(f"stack {gateway}", look_at_gateway)
    outputs = {key: value for stack in stacks for key, value in stack.outputs.items()}
    # Before the first deployment, the name is all there is.
    production = outputs.get(_STAGE, name.rpartition("-")[2]) == _PRODUCTION
    resources = [each for stack in stacks for each in stack.resources]

    tables = [outputs[key] for key in ("RefsTable", "StagingTable") if key in outputs]
    for table in tables:
        is_refs = table == outputs.get("RefsTable")
        yield from _guarded(
            f"table {table}",
            partial(
                stores.table_in_service, account, table, is_refs=is_refs, is_production=production
            ),
        )
    for each in resources:
        look = LOOKS.get(each.kind)
        if look is not None:
            subject = f"{each.kind.rpartition('::')[2]} {each.logical_id}"
            yield from _guarded(subject, partial(look, account, each))
    # Before the first deployment, the default is expected. Stacks of `make dist` need no bootstrap.
    expected = {each.parameters.get(_BOOTSTRAP, "") for each in stacks} or {
        preflight.BOOTSTRAP_DEFAULT
    }
    for parameter in sorted(expected - {""}):
        yield from _guarded("CDK bootstrap", partial(preflight.bootstrap, account, parameter))
    yield from _account(account, resources, tables, outputs, is_production=production)


def _account(
    account: Account,
    resources: Sequence[Resource],
    tables: Sequence[str],
    outputs: Mapping[str, str],
    *,
    is_production: bool,
) -> Iterator[Finding]:
    yield from _guarded(
        "Lambda's concurrent executions",
        partial(preflight.concurrency, account, is_production=is_production),
    )
    yield from _guarded("quotas", partial(preflight.quotas, account))
    bucket = outputs.get("RepositoryBucket", "")
    for each in resources:
        if each.kind == "AWS::IAM::Role" and each.logical_id.startswith(_API_ROLE):
            yield from _guarded(
                f"role {each.physical_id}",
                partial(preflight.permissions, account, each, tables, bucket),
            )


def _stack(
    account: Account, name: str, found: list[DeployedStack], *, is_optional: bool = False
) -> Iterator[Finding]:
    """Yield the state of a stack, and add the stack to `found`."""
    stack = read_stack(account, name)
    subject = f"stack {name}"
    if stack is None:
        if not is_optional:
            yield missing(subject, "does not exist", "deploy it: docs/deploy.md")
        return
    found.append(stack)
    remedy = f'its state is {stack.status}: see "If a deployment fails" in docs/deploy.md'
    yield expect(subject, "is deployed", remedy, holds=stack.is_whole)
    if stack.is_whole and "ROLLBACK" in stack.status:
        text = "the last deployment was undone"
        yield Finding(FindingLevel.WARN, subject, text, "see the events of the stack")
    elif stack.is_whole:
        yield ok(subject, f"has {len(stack.resources)} resources")


def _guarded(subject: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield the findings of a check; a failed request becomes a finding."""
    try:
        yield from look()
    except CannotLookError as error:
        yield unknown(subject, error.reason, error.remedy)
    except (LookupError, TypeError, ValueError) as error:
        reason = f"the answer is not understood ({type(error).__name__}: {error})"
        yield unknown(subject, reason, "look in the console")
