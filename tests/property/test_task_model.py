"""The machine of `test_engine_model`, where requests leave all of their work to tasks."""

from graveler.engine import Engine
from graveler.model.tasks import TaskSettings
from graveler.operations.tasks.requests import list_page
from graveler.operations.tasks.waiting import OUTCOME_LIFE_S
from tests.property.test_engine_model import EngineMachine
from tests.support.fakes.tasks import run_all
from tests.support.worlds.engine_machine import REPO
from tests.support.worlds.slices import predictable_slices


class TaskMachine(EngineMachine):
    """Tasks run while their requests wait for them."""

    def __init__(self) -> None:
        super().__init__()
        self.world.task_settings = TaskSettings(request_work_s=0, request_wait_s=10**6)
        self.world.clock.sleep = self.sleep  # type: ignore[method-assign]
        self.engines = [self.world.engine(), self.world.engine()]

    def sleep(self, seconds: float) -> None:
        self.world.clock.tick(seconds)
        with predictable_slices():
            run_all(self.world.task_queue, self.world.engine())

    @property
    def engine(self) -> Engine:
        """Return an engine that has forgotten the outcomes of equal requests."""
        self.world.clock.tick(OUTCOME_LIFE_S + 1)
        return super().engine

    def teardown(self) -> None:
        super().teardown()
        tasks = list_page(self.world.engine(), REPO, "", 1000).results
        made = {task.result["commit_id"] for task in tasks if task.result}
        assert made  # but for commits that take no time
        assert made <= self.model.commits.keys()


TestTasks = TaskMachine.TestCase
