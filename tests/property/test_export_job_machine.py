"""Exports keep their promises when jobs and the function take turns at runs, and crash.

The same as `ExportMachine`, except that the function leaves all but the smallest runs to jobs. Jobs
are started twice, late or by users, and jobs and function continue each other's runs.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from msgspec.structs import replace

from graveler.export.record import ExportRequest
from graveler.operations.exports.batch import export_in_batch
from tests.property.test_export_machine import STEPS, ExportMachine
from tests.support.faults.counting import engine_around
from tests.support.faults.runners import SteppedRunner
from tests.support.worlds.export_jobs import WorkersInTurns
from tests.support.worlds.export_world import REPO


class ExportJobMachine(ExportMachine):
    @initialize(objects_min=st.sampled_from([1, 3]))
    def deploy_jobs(self, objects_min: int) -> None:
        world = self.exported.world
        world.batch_jobs.is_deployed = True
        world.export_settings = replace(world.export_settings, batch_objects_min=objects_min)

    @precondition(lambda self: self.exported.world.batch_jobs.started)
    @rule(twice=st.booleans(), count=STEPS)
    def start_a_job_that_was_asked_for(self, twice: bool, count: int) -> None:
        if len(self.runners) < 3:
            started = self.exported.world.batch_jobs.started
            request, run_id = started[0] if twice else started.pop(0)
            self.start_job(request, run_id)
            self.step_runner(len(self.runners) - 1, count)

    @rule(count=STEPS)
    def start_a_job_by_hand(self, count: int) -> None:
        if len(self.runners) < 3:
            self.start_job(ExportRequest(REPO, "main"), "")
            self.step_runner(len(self.runners) - 1, count)

    def start_job(self, request: ExportRequest, run_id: str) -> None:
        self.runner_count += 1
        name = f"job {self.runner_count}"

        def work(runner: SteppedRunner) -> None:
            engine = engine_around(self.exported.engine(), runner)
            workers = WorkersInTurns(engine_around(self.exported.engine(), runner))
            export_in_batch(engine, request, run_id, runner=name, workers=workers)

        self.runners.append((SteppedRunner(name, work), request))

    def quiesce(self) -> None:
        jobs = self.exported.world.batch_jobs
        while jobs.started:
            self.start_job(*jobs.started.pop(0))
            self.step_runner(len(self.runners) - 1, 100_000)
            assert not self.runners
        # Jobs that never start must not keep exports from ending.
        jobs.is_deployed = False
        super().quiesce()


ExportJobMachine.TestCase.settings = settings(
    max_examples=settings().max_examples * 5 // 2, stateful_step_count=60
)
TestExportJobMachine = ExportJobMachine.TestCase
