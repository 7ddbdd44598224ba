"""The journey: its steps in order, and the run, which always cleans up."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from graveler_cli.acceptance import accounts, objects, refs, refusals, work, writers
from graveler_cli.acceptance.api import CheckFailedError, SkippedError, expect_equal
from graveler_cli.acceptance.report import AcceptanceReport, StepOutcome, StepReport
from graveler_cli.acceptance.world import AcceptanceWorld
from graveler_cli.errors import UsageError
from graveler_cli.interruptions import Interruption, interruptible

_MS_PER_S = 1000

# An interrupted request may still take effect, and create something.
_SETTLE_S = 2.0


@dataclass(frozen=True)
class JourneyStep:
    """One step; without an essential one, the others cannot run."""

    name: str
    run: Callable[[AcceptanceWorld], None]
    is_essential: bool = False


def read_configuration(world: AcceptanceWorld) -> None:
    """Read the server's configuration, and the current user."""
    config = world.api.send("GET", "/config").expect(200)
    versions = config.value("version_config")
    is_graveler = isinstance(versions, dict) and "graveler_version" in versions
    # lakeFS's own server has only its release.
    name = "graveler_version" if is_graveler else "version"
    world.version = config.text("version_config", name)
    world.can_import = config.value("storage_config", "import_support") is True
    for needed in ("pre_sign_support", "pre_sign_multipart_upload"):
        expect_equal(needed, config.value("storage_config", needed), True)  # noqa: FBT003
    world.user = world.api.send("GET", "/user").expect(200).text("user", "id")
    if not world.namespace:
        world.namespace = config.text("storage_config", "default_namespace_prefix")
    if not world.namespace:
        raise CheckFailedError(
            "the server suggests no storage namespace: name one with --namespace s3://BUCKET/PREFIX"
        )
    world.namespace = f"{world.namespace.rstrip('/')}/"
    world.api.send("GET", "/healthcheck").expect(204)
    stranger = world.api.as_user("AKIAJNOSUCHKEY00000Q", "wrong")
    stranger.send("GET", "/repositories").expect(401)


def create_repository(world: AcceptanceWorld) -> None:
    """Create a repository in a fresh namespace, find it, and refuse a second of its name."""
    world.create_repository(world.repository, "lake")
    found = world.api.send("GET", world.path).expect(200)
    expect_equal("the default branch", found.value("default_branch"), "main")
    listed = world.api.send("GET", "/repositories", prefix=world.repository).expect(200)
    expect_equal("the listed repositories", listed.each("id"), [world.repository])
    again = {"name": world.repository, "storage_namespace": f"{world.namespace}elsewhere"}
    world.api.send("POST", "/repositories", again).expect(409)
    world.upload("main", "README.md", b"Made by the acceptance suite of Graveler.\n")
    world.commit("main", "Begin")


JOURNEY = (
    JourneyStep("read-configuration", read_configuration, is_essential=True),
    JourneyStep("create-repository", create_repository, is_essential=True),
    JourneyStep("upload-by-api", objects.upload_by_api),
    JourneyStep("upload-by-presigned-url", objects.upload_by_presigned_url),
    JourneyStep("upload-in-parts", objects.upload_in_parts),
    JourneyStep("stat-and-list", objects.stat_and_list),
    JourneyStep("commit-and-log", refs.commit_and_log),
    JourneyStep("branch-in-isolation", refs.branch_in_isolation),
    JourneyStep("diff", refs.diff),
    JourneyStep("merge", refs.merge),
    JourneyStep("merge-conflict", refs.merge_conflict),
    JourneyStep("pull-request", refs.pull_request),
    JourneyStep("tag", refs.tag),
    JourneyStep("revert-and-cherry-pick", refs.revert_and_cherry_pick),
    JourneyStep("protect-branch", refs.protect_branch),
    JourneyStep("refuse-commit-by-hook", work.refuse_commit_by_hook),
    JourneyStep("commit-by-task", work.commit_by_task),
    JourneyStep("import-objects", work.import_objects),
    JourneyStep("export-branch", work.export_branch),
    JourneyStep("retention-rules", work.retention_rules),
    JourneyStep("user-with-policy", accounts.user_with_policy),
    JourneyStep("refuse-wrong-input", refusals.refuse_wrong_input),
    JourneyStep("concurrent-writers", writers.concurrent_writers),
    JourneyStep("dump-and-restore", work.dump_and_restore),
)

CLEAN_UP = "clean-up"


def check_names(skipped: Collection[str]) -> None:
    """Check that the steps to skip exist, and can be skipped.

    Raises:
        UsageError: one does not.
    """
    allowed = [step.name for step in JOURNEY if not step.is_essential]
    for name in skipped:
        if name not in allowed:
            raise UsageError(f"{name!r} cannot be skipped: choose from {', '.join(allowed)}")


def run(
    world: AcceptanceWorld,
    skipped: Collection[str],
    show: Callable[[StepReport], None],
    warn: Callable[[str], None],
) -> AcceptanceReport:
    """Run the steps, then delete what they created, also after a failure or an interruption.

    Args:
        world: the run.
        skipped: names of steps to leave out.
        show: gets each step's report as soon as the step ends.
        warn: gets a text for the user when the run is interrupted.

    Returns:
        The report, with a step for the clean-up.
    """
    report = AcceptanceReport(world.api.endpoint)

    def add(step: StepReport) -> None:
        report.steps.append(step)
        show(step)

    with interruptible(warn) as interruption:
        try:
            _take_steps(world, skipped, report, add, interruption)
        finally:
            # Also if the output is a closed pipe or a closed terminal.
            interruption.begin_cleaning()
            cleaned = _clean_up(world, report)
        add(cleaned)
    report.places, report.store = [*world.places], world.store
    report.version, report.user = world.version, world.user
    return report


def _take_steps(
    world: AcceptanceWorld,
    skipped: Collection[str],
    report: AcceptanceReport,
    add: Callable[[StepReport], None],
    interruption: Interruption,
) -> None:
    reason = ""
    for step in JOURNEY:
        if reason or step.name in skipped:
            add(StepReport(step.name, StepOutcome.SKIPPED, 0, reason or "as asked"))
            continue
        done = _run_step(step, world, interruption)
        if done.outcome is StepOutcome.INTERRUPTED:
            report.is_interrupted = True
            reason = "interrupted"
        elif done.outcome is StepOutcome.FAILED and step.is_essential:
            reason = f"{step.name} failed"
        add(done)


def _run_step(step: JourneyStep, world: AcceptanceWorld, interruption: Interruption) -> StepReport:
    began_s = time.monotonic()
    outcome, reason = StepOutcome.OK, ""
    try:
        with interruption.open():
            step.run(world)
    except SkippedError as error:
        outcome, reason = StepOutcome.SKIPPED, error.format_message()
    except CheckFailedError as error:
        outcome, reason = StepOutcome.FAILED, error.format_message()
    except KeyboardInterrupt:
        outcome, reason = StepOutcome.INTERRUPTED, "by a signal"
    except Exception as error:  # noqa: BLE001 - one broken step must not hide the others
        outcome, reason = StepOutcome.FAILED, f"{type(error).__name__}: {error}"
    return StepReport(step.name, outcome, _elapsed_ms(began_s), reason)


def _clean_up(world: AcceptanceWorld, report: AcceptanceReport) -> StepReport:
    began_s = time.monotonic()
    outcome, reason = StepOutcome.OK, ""
    try:
        if report.is_interrupted:
            time.sleep(_SETTLE_S)
        report.left = world.clean_up()
    except KeyboardInterrupt:
        outcome, reason = StepOutcome.INTERRUPTED, "by a second signal"
        report.is_interrupted = True
        report.left = [each.name for each in world.created]
    if report.left:
        outcome, reason = StepOutcome.FAILED, f"still there: {', '.join(report.left)}"
    return StepReport(CLEAN_UP, outcome, _elapsed_ms(began_s), reason)


def _elapsed_ms(began_s: float) -> int:
    return round((time.monotonic() - began_s) * _MS_PER_S)
