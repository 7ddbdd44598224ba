from itertools import islice

from graveler.aws import deadlines
from graveler.aws.retries import RetryPolicy
from tests.unit.aws.scripted import FakeTime


def test_pauses_double_up_to_a_ceiling_and_end_with_the_time() -> None:
    time = FakeTime()
    attempts = list(time.retries(total_s_max=5.0).attempts())
    assert attempts == list(range(1, len(time.pauses_s) + 2))
    assert time.pauses_s[:7] == [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0]
    assert max(time.pauses_s) == 1.0
    assert 3.5 < time.now_s <= 5.0


def test_pauses_are_scattered() -> None:
    pauses: list[float] = []
    retries = RetryPolicy(total_s_max=1000.0, first_pause_s=1.0, sleep=pauses.append)
    list(islice(retries.attempts(), 50))
    assert len(set(pauses)) > 40
    assert all(0 <= pause <= 1.0 for pause in pauses)


def test_another_attempt_follows_one_that_took_all_of_the_time() -> None:
    assert list(FakeTime().retries(total_s_max=0.0).attempts()) == [1, 2]
    with deadlines.within(0.0):
        assert list(FakeTime().retries().attempts()) == []
