"""Random histories with a clock, garbage collected at random moments, and while users go on.

Whatever happened, every object of every active commit and of every branch reads back; and after a
run that nothing interrupted, what should be gone is gone.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.retention.liveness import LOOK_S
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.fakes.memory_objects import nothing
from tests.support.worlds.garbage_machine import FOREIGN, Users
from tests.support.worlds.lake import NAMESPACE, REPO


class CollectedRepository(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.users = Users()
        self.objects = self.users.world.objects
        self.metadata_files = set(self.objects.uris(f"{NAMESPACE}/_lakefs/"))

    @rule(data=st.data())
    def users_act(self, data: st.DataObject) -> None:
        for _ in range(data.draw(st.integers(1, 4))):
            self.users.act(data)

    @rule(hours=st.integers(0, 30))
    def time_passes(self, hours: int) -> None:
        self.users.world.clock.tick(hours * 3600)

    def collection(self) -> MemoryCollection:
        read_file = self.users.world.files.read_all
        return MemoryCollection(self.users.engine, read_file, REPO, MINIMUM_AGE_S)

    @rule()
    def collect(self) -> None:
        run = self.collection()
        run.run()
        assert len(run.ranges_read) == len(set(run.ranges_read))
        cutoff_ns = self.users.engine.clock.now_ns() - MINIMUM_AGE_S * 10**9
        old = {
            listed.uri
            for listed in self.objects.list_objects(f"{NAMESPACE}/data/")
            if listed.last_modified_ns < cutoff_ns
        }
        kept = self.users.live_uris() | self.users.covered_uris()
        kept |= self.users.claimed_uris() | self.users.recorded_uris()
        assert old - set(FOREIGN) <= kept

    @rule(data=st.data())
    def collect_while_users_act(self, data: st.DataObject) -> None:
        run = self.collection()

        def stall() -> None:
            self.users.world.clock.tick(LOOK_S + 1)
            assert not run.delete_batch()

        def shift() -> None:
            for _ in range(data.draw(st.integers(0, 2))):
                self.users.shift(data)

        def look_at_what_moves() -> None:
            run.between = shift
            run.look()
            run.between = nothing
            while run.delete_batch():
                pass

        looks = (run.list_candidates, run.look_at_staged, run.look_at_commits)
        for step in (*looks, run.mark, run.look, stall, look_at_what_moves, run.sweep):
            for _ in range(data.draw(st.integers(0, 2))):
                self.users.act(data)
            self.users.world.clock.tick(data.draw(st.sampled_from([0, 0, 600, 40_000])))
            step()

    @invariant()
    def everything_alive_reads_back(self) -> None:
        assert self.users.lost_uris() == set()

    @invariant()
    def nothing_else_is_touched(self) -> None:
        assert set(self.objects.uris()) >= {*FOREIGN, *self.metadata_files}


CollectedRepository.TestCase.settings = settings(stateful_step_count=30)
test_garbage = CollectedRepository.TestCase
