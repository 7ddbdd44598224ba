"""Work that is begun in another thread."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, get_ident

import pytest

from graveler.threads import begun


def test_without_threads_the_caller_does_the_work_when_it_asks():
    done: list[int] = []
    take = begun(None, lambda: done.append(get_ident()))
    assert done == []
    take()
    assert done == [get_ident()]


def test_a_free_thread_does_the_work_before_the_caller_asks():
    with ThreadPoolExecutor(1) as threads:
        has_begun = Event()

        def work() -> int:
            has_begun.set()
            return get_ident()

        take = begun(threads, work)
        assert has_begun.wait(30)
        assert take() != get_ident()


def test_a_caller_whose_work_finds_no_free_thread_does_it_once():
    with ThreadPoolExecutor(1) as threads:
        may_end = Event()
        threads.submit(may_end.wait)
        done: list[int] = []
        begun(threads, lambda: done.append(get_ident()))()
        may_end.set()
    assert done == [get_ident()]


@pytest.mark.parametrize("has_threads", [False, True])
def test_what_the_work_raises_is_raised_where_the_result_is_asked_for(has_threads):
    with ThreadPoolExecutor(1) as threads:
        take = begun(threads if has_threads else None, lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            take()
