"""The names of the benchmarks. Nothing is imported, so that the help of the command line can show them."""

DOMAINS = ("cartpole-long", "cartpole-short", "mountaincar", "hiv", "map2d", "tree")
TRAINED = ("cartpole-long", "cartpole-short", "mountaincar", "hiv")
"""Those whose policies are learned; the others' are written down."""


def listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
