"""A real Ray, of several nodes on this machine: the same results as here, also where a node is killed in the middle."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repbm.core import InputError
from repbm.engines import InProcess, Note, Ray, all_values, as_engine
from tests.test_engines import SPEC, check_failures

pytest.importorskip("ray")
# Sockets and files that Ray leaves to the garbage collector are no fault of ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of one CPU each: the driver joins the first, the second may be killed."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_health_check_period_ms", "500")
    monkeypatch.setenv("RAY_health_check_failure_threshold", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 1 << 27})
        made.second = made.add_node(num_cpus=1, object_store_memory=1 << 27)  # type: ignore[attr-defined]
        made.wait_for_nodes()
    yield made
    made.shutdown()


def _solved(shared: tuple[np.ndarray, Path, float]) -> Callable[[int, Note], tuple[np.ndarray, str, bool]]:
    matrix, folder, seconds = shared

    def work(task: int, note: Note) -> tuple[np.ndarray, str, bool]:
        import ray

        node = ray.get_runtime_context().get_node_id() if ray.is_initialized() else ""
        (folder / f"begun-{task}-{node}").touch()
        time.sleep(seconds)
        drawn = np.random.default_rng(task).normal(size=(300, 300))
        return np.linalg.solve(matrix + drawn, drawn[:, 0]), node, matrix.flags.writeable

    return work


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_gives(cluster: Any, tmp_path: Path) -> None:
    """And tasks that fail are told, while the others go on."""
    shared = np.eye(300) * 50, tmp_path, 0.3
    here = all_values(InProcess().map(_solved, range(6), shared=shared))
    with Ray(address=cluster.address) as engine:
        there = all_values(engine.map(_solved, range(6), shared=shared))
        assert [value.tobytes() for value, *_ in there] == [value.tobytes() for value, *_ in here]
        assert len({node for _, node, _ in there}) == 2
        # In the object store, not copied: nobody may write to it.
        assert not any(writeable for *_, writeable in there)
        check_failures(engine, tmp_path)


@pytest.mark.slow
def test_the_cluster_of_the_environment_is_joined_and_goes_on(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    shared = np.eye(300) * 50, tmp_path, 0.3
    for _ in range(2):  # it is not ours: it does not end with the engine
        with as_engine("ray") as engine:
            there = all_values(engine.map(_solved, range(4), shared=shared))
            assert ray.get_runtime_context().gcs_address == cluster.address
        assert not ray.is_initialized()
        nodes = {node for _, node, _ in there}
        assert len(nodes) == 2
        assert nodes <= {cluster.head_node.node_id, cluster.second.node_id}


@pytest.mark.slow
def test_a_node_is_killed_in_the_middle(cluster: Any, tmp_path: Path) -> None:
    import ray

    shared = np.eye(300) * 50, tmp_path, 1.0
    here = all_values(InProcess().map(_solved, range(10), shared=(*shared[:2], 0.0)))
    with Ray(address=cluster.address) as engine:
        tasks = engine.map(_solved, range(10), shared=shared)
        first = next(tasks)
        doomed = cluster.second.node_id
        until = time.monotonic() + 60
        while not list(tmp_path.glob(f"begun-*-{doomed}")) and time.monotonic() < until:
            time.sleep(0.05)
        assert list(tmp_path.glob(f"begun-*-{doomed}"))
        cluster.remove_node(cluster.second, allow_graceful=False)
        rest = list(tasks)
        assert sum(node["Alive"] for node in ray.nodes()) == 1
    done = sorted([first, *rest], key=lambda one: one.index)
    assert [one.index for one in done] == list(range(10))
    assert [one.result()[0].tobytes() for one in done] == [value.tobytes() for value, *_ in here]


@pytest.mark.slow
def test_a_ray_of_our_own_starts_and_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import ray

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    shared = np.eye(300) * 50, tmp_path, 0.0
    with Ray(2) as engine:
        there = all_values(engine.map(_solved, range(3), shared=shared))
        assert ray.cluster_resources()["CPU"] == 2
    assert not ray.is_initialized()
    assert [one[0].tobytes() for one in there] == [
        one[0].tobytes() for one in all_values(InProcess().map(_solved, range(3), shared=shared))
    ]


def test_an_address_where_no_cluster_is_ends_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(InputError, match=r"127\.0\.0\.1:1: no Ray cluster is joined"), Ray() as engine:
        list(engine.map(_solved, range(2), shared=(np.eye(2), tmp_path, 0.0)))
    assert os.environ["RAY_ADDRESS"] == "127.0.0.1:1"


@pytest.mark.slow
def test_an_evaluation_on_a_cluster_is_the_same(cluster: Any) -> None:
    from repbm import evaluate
    from repbm.evaluation import Fitting
    from tests.test_engines_evaluate import logged, policies, same

    options: dict[str, Any] = {"estimators": ["corrected", "repbm", "wis"], "fitting": Fitting(refits=3)}
    here = evaluate(logged(), policies(), **options)
    with Ray(address=cluster.address) as engine:
        same(here, evaluate(logged(), policies(), **options, engine=engine))


@pytest.mark.slow
def test_an_experiment_outlives_a_node(cluster: Any, tmp_path: Path) -> None:
    """After the first stored run the second node is killed: all rows arrive, and are the same."""
    from repbm.experiments import load_spec, reproduce

    spec = replace(load_spec("cartpole-short"), **SPEC)
    alone = reproduce(spec, 8, tmp_path / "alone")
    killed = []

    def progress(what: str, done: int, total: int) -> None:
        if done and not killed:
            killed.append(done)
            cluster.remove_node(cluster.second, allow_graceful=False)

    with Ray(address=cluster.address) as engine:
        together = reproduce(spec, 8, tmp_path / "together", progress=progress, engine=engine)
    assert killed == [1]
    assert together.rows().drop("seconds").equals(alone.rows().drop("seconds"))
