"""Matrix products stay with one thread while retrieval, encoding and training make small ones."""

from __future__ import annotations

import threading

from threadpoolctl import threadpool_info, threadpool_limits

from graph_service.math_threads import one_math_thread


def threads() -> set[int]:
    """Threads of each linear algebra library of the process."""
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def test_the_limit_ends_with_the_last_block() -> None:
    with threadpool_limits(3, user_api="blas"):
        with one_math_thread():
            assert threads() == {1}
            with one_math_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {3}


def test_a_block_in_another_thread_that_outlives_this_one_keeps_the_limit() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with one_math_thread():
            begun.set()
            may_end.wait(600)

    with threadpool_limits(3, user_api="blas"):
        other = threading.Thread(target=hold)
        with one_math_thread():
            other.start()
            assert begun.wait(600)
        assert threads() == {1}
        may_end.set()
        other.join(600)
        assert threads() == {3}


def test_an_error_ends_the_limit() -> None:
    with threadpool_limits(3, user_api="blas"):
        try:
            with one_math_thread():
                raise KeyError
        except KeyError:
            pass
        assert threads() == {3}


def test_a_block_in_a_thread_that_has_ended_leaves_the_limit_to_others() -> None:
    def hold() -> None:
        with one_math_thread():
            pass

    other = threading.Thread(target=hold)
    other.start()
    other.join(600)
    with threadpool_limits(3, user_api="blas"):
        with one_math_thread():
            assert threads() == {1}
        assert threads() == {3}
