"""Linear algebra in one thread, whatever is loaded; other work side by side, with its results in order."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from repbm.core import in_threads, side_by_side, stream, work_alone
from repbm.critics import CriticSpec, Marginal, fit_critic
from repbm.domains.worlds import DEVELOPMENT
from repbm.estimators import Case, Corrected
from repbm.evaluation import evaluate

LATER = """
import numpy as np
from threadpoolctl import threadpool_info
from repbm.core import one_thread

def threads():
    return {each["num_threads"] for each in threadpool_info()}

before = threads()
with one_thread():
    assert threads() == {1}, threads()
assert threads() == before == {2}, (threads(), before)

import sklearn.ensemble  # comes with libraries of its own
more = len(threadpool_info())
with one_thread(), one_thread():
    assert threads() == {1}, threadpool_info()
assert threads() == {2} and len(threadpool_info()) == more, threadpool_info()

@one_thread()
def work():
    return threads()

assert work() == {1} and threads() == {2}
print(more)
"""

EXAMINED = """
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info
from repbm.doctor import examine
from repbm.logs import read_log
from repbm.policies import CallablePolicy

draws, seen = np.random.default_rng(0), set()
log = read_log({
    "episode": np.repeat(np.arange(40), 2), "obs": draws.normal(size=(80, 1)), "action": draws.choice(["a", "b"], 80),
    "reward": draws.normal(size=80), "terminated": np.tile([False, True], 40), "behavior_prob": np.full(80, 0.5),
})

def act(states):
    seen.update(each["num_threads"] for each in threadpool_info())
    return ["a"] * len(states)

examine(log, {"a": CallablePolicy(act)})
print(seen)
"""


def test_also_of_libraries_that_are_loaded_later() -> None:
    wide = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", LATER], env=wide, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1


def test_a_log_is_examined_in_one_thread() -> None:
    """Boosted trees in several threads wait for each other where cores are shared: for a minute in place of seconds."""
    wide = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", EXAMINED], env=wide, capture_output=True, text=True)
    assert done.stdout.strip() == "{1}", done.stdout + done.stderr


def test_results_come_in_the_order_of_their_items_however_long_each_takes() -> None:
    def waited(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    assert list(in_threads(waited, [0.05, 0.0, 0.02])) == [0.05, 0.0, 0.02]


def test_tasks_side_by_side_are_taken_here_and_come_in_order() -> None:
    here, taken = threading.get_ident(), set[int]()
    begun, most = [0], [0]

    def tasks() -> Iterator[Callable[[], tuple[int, bool]]]:
        for number in range(12):
            taken.add(threading.get_ident())
            yield lambda number=number: done(number)

    def done(number: int) -> tuple[int, bool]:
        begun[0] += 1
        most[0] = max(most[0], begun[0])
        time.sleep(0.02 if number == 0 else 0.002)
        begun[0] -= 1
        # What they do may share no further threads: those would wait for themselves.
        return number, list(in_threads(lambda one: threading.get_ident(), range(3))) == [threading.get_ident()] * 3

    assert side_by_side(tasks()) == [(number, (os.cpu_count() or 1) > 1) for number in range(12)]
    assert taken == {here}
    assert most[0] <= 4


def test_a_task_that_fails_beside_others_raises_its_error() -> None:
    def failing() -> int:
        raise ValueError("that one")

    with pytest.raises(ValueError, match="that one"):
        side_by_side([lambda: 1, failing, lambda: 2])


def test_after_an_error_those_that_have_begun_are_waited_for() -> None:
    """Libraries have as many threads as before then, and keep them: a task that ended later would limit them again."""
    begun, ended = threading.Event(), []

    def slow() -> None:
        begun.set()
        time.sleep(0.2)
        ended.append(True)

    def failing() -> None:
        assert begun.wait(20)
        raise ValueError("that one")

    def limits() -> list[int]:
        return [one["num_threads"] for one in threadpool_info()]

    before = limits()
    with pytest.raises(ValueError, match="that one"):
        side_by_side([slow], meanwhile=failing)
    assert ended == [True]
    assert limits() == before


def test_a_policy_is_asked_by_the_thread_that_evaluates() -> None:
    asked = set[int]()

    def policy(states: np.ndarray) -> np.ndarray:
        asked.add(threading.get_ident())
        return (states[:, 0] > 0).astype(int)

    world = DEVELOPMENT["noise-by-state"](np.random.default_rng(0))
    data, _ = world.log(60, np.random.default_rng(1))
    evaluate(data, policy, estimators="corrected", details=False)
    assert asked == {threading.get_ident()}


def test_what_is_done_meanwhile_is_done_here() -> None:
    done = list[int]()
    assert side_by_side(
        (lambda number=number: number for number in range(6)), lambda: done.append(threading.get_ident())
    )
    assert done == [threading.get_ident()]

    def failing() -> None:
        raise ValueError("meanwhile")

    with pytest.raises(ValueError, match="meanwhile"):
        side_by_side([lambda: 1, lambda: 2], failing)


@pytest.mark.parametrize("family", ["noisy-linear", "partial"])
def test_the_critic_behind_the_answer_is_that_of_one_thread_to_the_bit(family: str) -> None:
    world = DEVELOPMENT[family](stream(2, "world", family))
    data, _ = world.log(120, stream(2, "log", family))
    found: list[np.ndarray] = []

    def fit() -> None:
        case = Case.of(replace(data, behavior=np.full(len(data.rewards), 0.5)), world.evaluated(), 1.0, world.horizon)
        told = Corrected(fit_critic(case, CriticSpec(Marginal())).critic)(case)
        assert told.contributions is not None
        assert told.individual is not None
        found.append(np.concatenate([told.contributions, told.individual, [told.critic_error]]))

    def alone() -> None:
        work_alone()
        fit()

    fit()
    other = threading.Thread(target=alone)
    other.start()
    other.join()
    np.testing.assert_array_equal(found[0], found[1])
