"""How the policies of the benchmarks are learned."""

from repbm.domains.training._benchmarks import train_benchmark_policy
from repbm.domains.training._hiv_policy import train_hiv_policy

__all__ = ["train_benchmark_policy", "train_hiv_policy"]
