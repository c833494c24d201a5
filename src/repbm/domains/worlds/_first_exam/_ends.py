"""Episodes that end by chance and are paid at the end only."""

from __future__ import annotations

import numpy as np

from repbm.domains.worlds._first_exam._parts import View, fixed, habit, nobody, reaching, scores_of, sigmoid, wish
from repbm.domains.worlds._world import World


def discharge(generator: np.random.Generator) -> World:
    """Patients who die, are discharged or stay until the log stops; the last row alone says how it went."""
    actions, spare = int(generator.integers(2, 5)), int(generator.integers(0, 4))
    horizon = int(generator.integers(5, 16))
    strengths = generator.permutation(np.linspace(0.0, generator.uniform(0.7, 1.2), actions))
    strain = generator.uniform(0.05, 0.2, actions) * (1.0 + strengths)
    lasting, noise, aging = generator.uniform(0.75, 0.95), generator.uniform(0.2, 0.4), generator.uniform(0.0, 0.3)
    dying, leaving = generator.uniform(-4.5, -3.0), generator.uniform(-3.0, -1.5)
    steep = generator.uniform(0.8, 1.6)
    died, left = ((0.0, 1.0), (-1.0, 1.0), (0.0, 100.0), (-10.0, 0.0))[int(generator.integers(4))]
    stayed = died + generator.uniform(0.4, 0.9) * (left - died)
    closes, clock = generator.random() < 0.5, generator.random() < 0.5
    columns = 3 + spare

    def severity(x: np.ndarray, action: np.ndarray) -> np.ndarray:
        help_ = strengths[action] * sigmoid(1.5 * x[:, 1] + 0.5)
        return lasting * x[:, 0] + 0.3 + aging * x[:, 2] - help_

    def initial(count: int, generator: np.random.Generator) -> np.ndarray:
        states = generator.normal(size=(count, columns + 1))
        states[:, 0] = 0.7 * states[:, 0] + 0.5
        states[:, 2] = np.where(states[:, 2] > 0.3, 1.0, 0.0)
        states[:, -1] = 0.0
        return states

    def step(
        states: np.ndarray, action: np.ndarray, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count, following = len(states), states.copy()
        following[:, 0] = np.clip(severity(states, action) + noise * generator.normal(size=count), -4.0, 4.0)
        following[:, 1] = 0.9 * states[:, 1] - strain[action] + 0.3 * generator.normal(size=count)
        following[:, 3:columns] = 0.6 * states[:, 3:columns] + 0.8 * generator.normal(size=(count, spare))
        following[:, -1] = states[:, -1] + 1.0
        dies = generator.random(count) < sigmoid(dying + steep * following[:, 0])
        leaves = ~dies & (generator.random(count) < sigmoid(leaving - steep * following[:, 0]))
        late = following[:, -1] > horizon - 0.5
        ended = dies | leaves
        reward = np.where(dies, died, np.where(leaves, left, np.where(late, stayed, 0.0)))
        return following, reward, ended | (late & closes)

    view = View.drawn(generator, columns + clock, plain=int(clock))
    usual = habit(generator, columns, actions, generator.uniform(0.3, 1.0), generator.uniform(0.1, 0.3))

    def usually(x: np.ndarray) -> np.ndarray:
        return usual(x[:, :columns])

    world = World(
        horizon=horizon,
        actions=actions,
        initial=initial,
        step=step,
        behavior=view.behavior(usually),
        policy=nobody,
        observe=view.observe,
        last_state=generator.random() < 0.5,
    )
    base, slope, caution = generator.uniform(0.5, 1.0), generator.uniform(0.2, 0.5), generator.uniform(0.0, 0.4)
    scores = scores_of(
        lambda x, action: -((strengths[action] - (base + slope * x[:, 0] - caution * (x[:, 1] < -0.5))) ** 2), actions
    )
    if generator.random() < 0.25:
        return fixed(world, view, scores)
    return reaching(world, view, usually, wish(generator, scores), generator)
