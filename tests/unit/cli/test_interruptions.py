"""Signals end a run of steps, whatever the step does with them."""

import os
import signal
from contextlib import suppress

import pytest

from graveler_cli.interruptions import interruptible


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_that_a_step_swallows_interrupts_the_next_one() -> None:
    with interruptible(lambda _: None) as interruption:
        with interruption.open(), suppress(KeyboardInterrupt):
            _interrupt()
        with pytest.raises(KeyboardInterrupt), interruption.open():
            pytest.fail("the next step began")
        interruption.begin_cleaning()


def test_a_signal_between_steps_interrupts_the_next_one() -> None:
    with interruptible(lambda _: None) as interruption:
        _interrupt()
        with pytest.raises(KeyboardInterrupt), interruption.open():
            pytest.fail("the next step began")


def test_only_the_second_signal_interrupts_a_clean_up() -> None:
    warned: list[str] = []
    with interruptible(warned.append) as interruption:
        with pytest.raises(KeyboardInterrupt), interruption.open():
            _interrupt()
        interruption.begin_cleaning()
        _interrupt()
        with pytest.raises(KeyboardInterrupt):
            _interrupt()
    assert len(warned) == 1
